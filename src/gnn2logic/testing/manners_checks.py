"""Checks of the constructor, the parameters and the attributes of an estimator."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gnn2logic.testing.requirements import Level, require, require_error, sample


def check_constructor_only_stores_parameters(estimator: Any, level: Level) -> None:
    """Estimators are made by storing what is given, as it is, and nothing else."""
    names = list(estimator.get_params(deep=False))
    given = {name: object() for name in names}
    made = type(estimator)(**given)
    for name in names:
        require(
            getattr(made, name, None) is given[name],
            f"the constructor must store the parameter {name!r} as it is given.",
        )
    others = sorted(set(vars(made)) - set(names))
    require(
        not others,
        f"the constructor must set nothing but its parameters. Got the attributes {others}.",
    )


def check_parameters_can_be_read_set_and_cloned(estimator: Any, level: Level) -> None:
    """`get_params`, `set_params` and `clone` fit together."""
    before = estimator.get_params(deep=False)
    copied = clone(estimator).get_params(deep=False)
    require(
        {name: repr(value) for name, value in before.items()}
        == {name: repr(value) for name, value in copied.items()},
        f"a clone must have the same parameters. Got {copied}, expected {before}.",
    )
    for name, value in before.items():
        other = object()
        returned = estimator.set_params(**{name: other})
        require(returned is estimator, "set_params must return the estimator itself.")
        require(
            estimator.get_params(deep=False)[name] is other,
            f"get_params must return what set_params set for {name!r}.",
        )
        estimator.set_params(**{name: value})
    require_error(
        ValueError,
        lambda: estimator.set_params(no_such_parameter=1),
        "set_params must raise ValueError for a parameter that is not there.",
    )


def check_use_before_fit_raises(estimator: Any, level: Level) -> None:
    """Before `fit` there is nothing to predict with and nothing to read."""
    data = sample(level)
    uses = {"predict": data.graphs, "predict_proba": data.graphs, "formula": 0}
    for name, argument in uses.items():
        method = getattr(estimator, name, None)
        if method is not None:
            require_error(
                NotFittedError,
                partial(method, argument),
                f"{name} must raise NotFittedError before fit.",
            )


def check_fit_returns_self(estimator: Any, level: Level) -> None:
    """``fit(...)`` can be followed by ``.predict(...)``."""
    data = sample(level)
    returned = estimator.fit(data.graphs, data.y)
    require(
        returned is estimator,
        f"fit must return the estimator itself. Got {type(returned).__name__}.",
    )


def check_fitted_attributes_end_in_underscore(estimator: Any, level: Level) -> None:
    """`fit` leaves the parameters alone; what it learns ends in an underscore."""
    data = sample(level)
    before = dict(vars(estimator))
    estimator.fit(data.graphs, data.y)
    after = vars(estimator)
    for name, value in before.items():
        require(after.get(name) is value, f"fit must not change the parameter {name!r}.")
    learned = set(after) - set(before)
    bad = sorted(name for name in learned if not name.endswith("_") and not name.startswith("_"))
    require(not bad, f"attributes set by fit must end in an underscore. Got {bad}.")
    require("classes_" in learned, "fit must set classes_.")
