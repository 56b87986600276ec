"""Reports about models that predict numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

import gnn2logic as gl
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.reporting import report

GRAPHS = gl.random_graphs(110, sizes=8, density=0.35, names=["N", "O"], random_state=0)
NOISE = np.random.default_rng(1).normal(size=110)
Y = 1.2 + 2.5 * gl.parse("1(N & A O > 1) > 2").evaluate(GRAPHS) + 0.2 * NOISE
TEST = slice(70, 110)


def learned(form: str) -> Any:
    estimator = {"rule": gl.IDTRegressor, "scorecard": gl.ScorecardRegressor}[form]
    model = estimator(n_layers=1, target_name="band <gap>", unit="eV", random_state=0)
    return model.fit(GRAPHS[:70], Y[:70])


@pytest.mark.parametrize("form", ["rule", "scorecard"])
def test_figures_are_those_of_scikit_learn_and_all_texts_name_the_target(form: str) -> None:
    model, truth, teacher = learned(form), Y[TEST], Y[TEST] + 0.3 * NOISE[TEST]
    page = report(model, GRAPHS[TEST], truth, teacher=teacher, n_examples=2, n_disagreements=3)
    document, predicted = page.to_dict(), model.predict(GRAPHS[TEST])
    ours, theirs, baseline = document["scores"]
    assert ours["r2"] == pytest.approx(r2_score(truth, predicted))
    assert ours["mae"] == pytest.approx(mean_absolute_error(truth, predicted))
    assert ours["fidelity_r2"] == pytest.approx(r2_score(teacher, predicted))
    assert ours["fidelity_mae"] == pytest.approx(mean_absolute_error(teacher, predicted))
    assert theirs["r2"] == pytest.approx(r2_score(truth, teacher))
    assert (theirs["fidelity_r2"], theirs["fidelity_mae"]) == (1, 0)
    assert baseline["r2"] == pytest.approx(0)
    assert document["target"] == {"name": "band <gap>", "unit": "eV"}
    (chosen,) = [row for row in document["trade_off"]["rows"] if row["chosen"]]
    for key in ("r2", "mae", "fidelity_r2", "fidelity_mae"):
        assert chosen[key] == pytest.approx(ours[key])
    html, markdown = page.to_html(), page.to_markdown()
    for text in (f"{ours['r2']:.2f}", f"{ours['mae']:.4g}", f"{theirs['mae']:.4g}", " eV"):
        assert text in html
        assert text in markdown
    assert "band &lt;gap&gt;" in html
    assert "band <gap>" not in html
    assert "in eV" in markdown
    for said in ("accuracy", "Macro F1", "Most common class", "classifies"):
        assert said not in html.split("<style>")[0] + html.split("</style>")[1].split("<script")[0]
        assert said not in markdown


def test_examples_are_of_all_thirds_and_the_furthest_off() -> None:
    model = learned("rule")
    errors = np.abs(model.predict(GRAPHS[TEST]) - Y[TEST])
    document = report(model, GRAPHS[TEST], Y[TEST], n_examples=1, n_disagreements=2).to_dict()
    shown = [example["graph"] for example in document["examples"]]
    assert set(np.argsort(-errors)[:2].tolist()) <= set(shown)
    ranks = np.argsort(np.argsort(Y[TEST]))[shown[:3]]
    assert sorted(rank * 3 // 40 for rank in ranks.tolist()) == [0, 1, 2]
    assert "the 2 on which the rule is furthest from the truth" in document["notes"][0]
    assert all(example["true"].endswith(" eV") for example in document["examples"])


def test_numbers_of_leaves_stand_beside_the_true_mean() -> None:
    model = learned("rule")
    document = report(model, GRAPHS[TEST], Y[TEST], n_examples=0).to_dict()
    predicted = model.predict(GRAPHS[TEST])
    for rule in document["rules"]:
        value = float(rule["class"].removesuffix(" eV"))
        assert rule["n_predicted"] == (predicted == value).sum()
        assert float(rule["mean"].removesuffix(" eV")) == pytest.approx(
            Y[TEST][predicted == value].mean(), rel=1e-3
        )


def test_nodes_have_numbers_and_reports_work_without_truth() -> None:
    graphs = gl.random_graphs(10, sizes=9, density=0.3, random_state=2)
    y = 4.0 * gl.parse("A U0 > 1").evaluate(graphs, level="node")
    model = gl.IDTNodeRegressor(n_layers=0, random_state=0).fit(graphs, y)
    mask = np.arange(90) % 2 == 0
    missing = np.where(mask, y, np.nan)
    page = report(model, graphs, missing, mask=mask, n_examples=1)
    assert page.to_dict()["scores"][0]["r2"] == 1
    assert "is about nodes" in page.to_markdown()
    assert page.to_markdown().startswith("# Rules for nodes\n")
    bare = report(model, graphs, n_examples=1)
    assert bare.to_dict()["baseline"] is None
    assert "nothing can be compared" in bare.to_html()


def test_errors_say_what_is_wanted() -> None:
    model = learned("scorecard")
    with pytest.raises(ParameterError, match="class_names is for models that tell classes"):
        report(model, GRAPHS, Y, class_names=["low", "high"])
    with pytest.raises(LabelError, match="y must hold finite numbers"):
        report(model, GRAPHS, np.full(110, np.nan))
    with pytest.raises(LabelError, match="numbers of the teacher cannot be used"):
        report(model, GRAPHS, Y, teacher=Y[:5])
