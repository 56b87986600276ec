"""Small checks that several rooms share; each raises a friendly error or returns a clean value."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from gnn2logic.exceptions import FeatureError, ParameterError

# What people may give where random numbers are drawn.
RandomState = int | np.random.Generator | None

# Names ---------------------------------------------------------------------------------------


def check_names(names: Sequence[object], *, what: str) -> tuple[str, ...]:
    """Return `names` as a tuple of distinct, non-empty, printable-as-UTF-8 strings."""
    if isinstance(names, str):
        raise FeatureError(
            f"{what} names must be a sequence of strings. Got the single string {names!r} instead; "
            f"write [{names!r}]."
        )
    if not isinstance(names, Iterable):
        raise FeatureError(f"{what} names must be a sequence of strings. Got {names!r} instead.")
    checked = tuple(check_name(name, what=what) for name in names)
    seen: set[str] = set()
    for name in checked:
        if name in seen:
            raise FeatureError(f"{what} names must be distinct. Got {name!r} twice.")
        seen.add(name)
    return checked


def check_name(name: object, *, what: str) -> str:
    """Return `name` if it is a string that can name a predicate, relation or class."""
    if not isinstance(name, str):
        raise FeatureError(
            f"{what} name must be a string. Got {name!r} of type {type(name).__name__} instead."
        )
    if not name:
        raise FeatureError(f"{what} name must not be empty.")
    if not is_unicode(name):
        raise FeatureError(
            f"{what} name must be valid Unicode text. Got {name!r}, which cannot be encoded."
        )
    return str(name)  # a plain str, also for numpy.str_


def is_unicode(text: str) -> bool:
    """Whether a text can be written to a file: half of a surrogate pair is no character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Numbers and choices: `error` is the class that a room raises --------------------------------


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or of numpy; truth values are none."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, of Python or of numpy; truth values are none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_whole(
    name: str,
    value: object,
    *,
    least: int,
    most: int | None = None,
    error: type[ValueError] = ParameterError,
) -> int:
    """Return a whole number that is at least `least`, and at most `most` if that is given."""
    if is_whole(value) and least <= value and (most is None or value <= most):
        return int(value)
    limits = f">= {least}" if most is None else f"from {least} to {most}"
    raise error(f"{name} must be a whole number {limits}. Got {value!r} instead.")


def check_number(
    name: str, value: object, *, above: float | None = None, below: float | None = None
) -> float:
    """Return a finite number that is at least 0, or above `above`, and below `below` if given."""
    number = float(value) if is_number(value) else math.nan
    enough = number >= 0 if above is None else number > above
    if not enough or not math.isfinite(number) or (below is not None and number >= below):
        least = ">= 0" if above is None else f"> {above}"
        most = "" if below is None else f" and < {below}"
        raise ParameterError(f"{name} must be a number {least}{most}. Got {value!r} instead.")
    return number


def check_share(name: str, value: object, *, or_none: bool = False) -> float:
    """Return a number above 0 and at most 1; with `or_none`, a share of nothing is fine as well."""
    share = float(value) if is_number(value) else math.nan
    if 0 < share <= 1 or (or_none and share == 0):
        return share
    interval = "[0, 1]" if or_none else "(0, 1]"
    raise ParameterError(f"{name} must be a number in {interval}. Got {value!r} instead.")


def check_choice(
    name: str,
    value: object,
    allowed: Sequence[object],
    *,
    error: type[ValueError] = ParameterError,
) -> Any:
    """Return `value` if it is one of the allowed ones."""
    if not any(value is option or value == option for option in allowed):
        options = ", ".join(repr(option) for option in allowed)
        raise error(f"{name} must be one of {options}. Got {value!r} instead.")
    return value


def check_flag(name: str, value: object) -> None:
    """Raise unless `value` is True or False: the text "false" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False. Got {value!r} instead.")


def seed_from(random_state: object) -> int:
    """Return one number that all random streams of a fit are derived from."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return check_whole("random_state", random_state, least=0)


def generator_from(random_state: object) -> np.random.Generator:
    """Return the source of randomness that `random_state` stands for."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(check_whole("random_state", random_state, least=0))


# Everything else -----------------------------------------------------------------------------


def some_of(items: Sequence[object], *, limit: int = 8) -> str:
    """Return a short listing of `items` for an error message."""
    if not items:
        return "none"
    shown = ", ".join(repr(item) for item in items[:limit])
    return shown if len(items) <= limit else f"{shown}, ... ({len(items)} in all)"


def check_fitted(estimator: object, learned: str) -> None:
    """Raise scikit-learn's ``NotFittedError`` unless `estimator` has the attribute `learned`."""
    if not hasattr(estimator, learned):
        # Only here: models that were loaded from files must not wait for this import.
        from sklearn.exceptions import NotFittedError

        name = type(estimator).__name__
        raise NotFittedError(f"This {name} is not fitted yet. Call fit before using it.")


def to_numpy(values: Any) -> Any:
    """Return arrays of other frameworks as numpy, without importing them; others as they are."""
    if all(hasattr(values, step) for step in ("detach", "cpu", "numpy")):
        tensor = values.detach().cpu()
        try:
            return tensor.numpy()
        except TypeError:  # numpy has no bfloat16, and float32 holds all of its values exactly
            return tensor.float().numpy()
    return values
