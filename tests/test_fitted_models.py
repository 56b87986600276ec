"""What takes a fitted model takes it in every form, and names it alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import gnn2logic as gl
from gnn2logic.exceptions import UnsupportedInputError

NETWORK = gl.to_gnn(gl.parse("1 U0 > 2"))
GRAPHS = gl.random_graphs(60, sizes=5, density=0.4, random_state=0)

USES: dict[str, Callable[[Any], object]] = {
    "explain": lambda model: gl.explain(model, GRAPHS[0]),
    "witnesses": lambda model: gl.witnesses(model, GRAPHS[0]).nodes.tolist(),
    "recourse": lambda model: gl.recourse(model, GRAPHS[0]),
    "diff": lambda model: gl.diff(
        model, gl.from_formulas({1: "1 U0 > 1"}, otherwise=0, names=["U0", "U1"]), GRAPHS
    ),
    "certify": lambda model: (
        gl.certify(model, NETWORK, GRAPHS, grade="exhaustive", max_nodes=2).statement
    ),
    "disagreements": lambda model: gl.disagreements(model, NETWORK, GRAPHS),
    "find_disagreements": lambda model: gl.find_disagreements(
        model, NETWORK, GRAPHS, budget=50, random_state=0
    ),
    "report": lambda model: gl.report(model, GRAPHS, title="A", n_examples=1).to_markdown(),
}


@pytest.fixture(scope="module")
def distillers() -> list[Any]:
    return [
        gl.IDTDistiller(NETWORK, gl.IDTClassifier(n_layers=0, random_state=0)).fit(GRAPHS),
        gl.ScorecardDistiller(
            NETWORK, gl.ScorecardClassifier(max_lines=1, n_layers=0, random_state=0)
        ).fit(GRAPHS),
    ]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_distiller_is_as_good_as_its_model(
    use: Callable[[Any], object], distillers: list[Any]
) -> None:
    for distiller in distillers:
        assert str(use(distiller)) == str(use(distiller.fitted_model))


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_what_is_no_fitted_model_is_refused(use: Callable[[Any], object]) -> None:
    for model in ("1 U0 > 2", gl.parse("1 U0 > 2")):
        with pytest.raises(UnsupportedInputError, match="model must be a fitted rule or scorecard"):
            use(model)
    unfitted = (gl.IDTClassifier(), gl.ScorecardClassifier(), gl.IDTDistiller(NETWORK))
    for estimator in unfitted:
        with pytest.raises(NotFittedError):
            use(estimator)


def test_the_model_of_one_target_is_asked_for() -> None:
    y = np.column_stack([gl.parse("1 U0 > 2").evaluate(GRAPHS), GRAPHS.sizes > 4])
    y[0, 1] = False
    several = gl.MultiTargetEstimator(
        gl.ScorecardClassifier(max_lines=1, n_layers=0, random_state=0), targets=["first", "other"]
    ).fit(GRAPHS, y)
    for name, use in USES.items():
        if name != "report":  # it has a page for all of them
            with pytest.raises(UnsupportedInputError, match=r"'first', 'other': model\[name\]"):
                use(several)


@pytest.mark.parametrize("name", ["disagreements", "find_disagreements", "certify", "recourse"])
def test_where_classes_are_needed_numbers_are_refused(name: str) -> None:
    numbers = GRAPHS.sizes + np.arange(60.0)
    for estimator in (gl.IDTRegressor(n_layers=0), gl.ScorecardRegressor(max_lines=1, n_layers=0)):
        with pytest.raises(UnsupportedInputError, match="This model predicts numbers"):
            USES[name](estimator.fit(GRAPHS, numbers))


def test_a_model_is_called_model() -> None:
    for name in (*(USES.keys() - {"diff"}), "fidelity", "IDTExplainer", "plot_idt", "export_text"):
        assert next(iter(inspect.signature(getattr(gl, name)).parameters)) == "model", name
