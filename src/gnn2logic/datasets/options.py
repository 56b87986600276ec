"""Options that all generators share, checked."""

from __future__ import annotations

import numpy as np

from gnn2logic._validation import is_whole
from gnn2logic.exceptions import ParameterError

__all__ = ["RandomState", "check_count", "check_flag", "seeded"]

RandomState = int | np.random.Generator | None


def check_count(name: str, value: object, *, least: int = 1) -> int:
    """Return `value` if it is a whole number of at least `least`."""
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name} must be a whole number >= {least}. Got {value!r} instead.")
    return int(value)


def seeded(random_state: object) -> np.random.Generator:
    """Return the source of randomness that `random_state` stands for."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    return np.random.default_rng(check_count("random_state", random_state, least=0))


def check_flag(name: str, value: object) -> None:
    """Raise unless `value` is True or False: the text "false" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False. Got {value!r} instead.")
