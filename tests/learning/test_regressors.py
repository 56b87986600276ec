"""Rules that predict numbers: what they find, and the same ones whoever does the work."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import mean_absolute_error, r2_score

import gnn2logic as gl
from gnn2logic import GraphBatch, IDTNodeRegressor, IDTRegressor, parse, random_graphs
from gnn2logic.engines import LocalEngine
from gnn2logic.exceptions import (
    LabelError,
    ModelFileError,
    ParameterError,
    SingleClassWarning,
    UnsupportedInputError,
)
from gnn2logic.learning.search.numbers import NumberTargets

_LEFT = "text-align:left;vertical-align:top"
RULE = "1(U0 & A U1 > 1) > 2"


def some_graphs(seed: int, count: int = 200) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes, density = rng.integers(4, 14, size=count), rng.uniform(0.1, 0.7, size=count)
    return random_graphs(count, sizes=sizes, density=density, random_state=rng)


@pytest.fixture(scope="module")
def planted() -> tuple[GraphBatch, np.ndarray]:
    graphs = some_graphs(0)
    noise = np.random.default_rng(1).normal(size=len(graphs))
    return graphs, 2.0 + 3.0 * parse(RULE).evaluate(graphs) + 0.2 * noise


@pytest.fixture(scope="module")
def model(planted: tuple[GraphBatch, np.ndarray]) -> IDTRegressor:
    graphs, y = planted
    return IDTRegressor(1, target_name="gap", unit="eV", random_state=0).fit(graphs, y)


def numbers_by_formulas(model: Any, graphs: GraphBatch, level: Any = "graph") -> np.ndarray:
    """Return the number whose formula is true; one formula must be, and no other."""
    truths = np.array([model.formula(v).evaluate(graphs, level=level) for v in model.classes_])
    assert (truths.sum(axis=0) == 1).all()
    return np.asarray(model.classes_[truths.argmax(axis=0)])


def test_a_planted_rule_is_found(model: IDTRegressor) -> None:
    assert len(model.classes_) == 2
    assert gl.equivalent(model.formula(model.classes_[1]), parse(RULE), max_nodes=4)
    assert np.abs(model.classes_ - [2.0, 5.0]).max() < 0.1
    assert is_regressor(model)
    assert not is_classifier(model)


def test_leaves_are_rounded_means_and_scores_are_those_of_scikit_learn(
    model: IDTRegressor, planted: tuple[GraphBatch, np.ndarray]
) -> None:
    graphs, y = planted
    predicted = model.predict(graphs)
    for value in model.classes_:
        assert value == round(value, 3)
        assert value == pytest.approx(y[predicted == value].mean(), abs=0.00051)
    assert model.score(graphs, y) == pytest.approx(r2_score(y, predicted), abs=1e-12)
    rule = model.rules_.chosen
    assert rule.accuracy == pytest.approx(r2_score(y, predicted), abs=1e-12)
    assert rule.mae == pytest.approx(mean_absolute_error(y, predicted), abs=1e-12)
    assert rule.held_out is not None
    assert rule.held_out > 0.8
    other = some_graphs(5, 40)
    numbers = np.linspace(0, 5, 40)
    measured = model.rules(other, numbers).chosen
    assert measured.accuracy == pytest.approx(r2_score(numbers, model.predict(other)))
    assert sum(measured.support.values()) == pytest.approx(1.0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_formulas_say_what_is_predicted(model: IDTRegressor, seed: int) -> None:
    graphs = some_graphs(seed, 20)
    for rule in model.rules_:
        picked = model.pick(rule)
        assert (numbers_by_formulas(picked, graphs) == picked.predict(graphs)).all()
        assert (picked.prune().predict(graphs) == picked.predict(graphs)).all()


def test_outliers_move_means_and_not_medians(planted: tuple[GraphBatch, np.ndarray]) -> None:
    graphs, y = planted
    y = y.copy()
    y[::25] = 1e6
    robust = IDTRegressor(1, loss="absolute", random_state=0).fit(graphs, y)
    assert gl.equivalent(robust.formula(robust.classes_[-1]), parse(RULE), max_nodes=4)
    assert np.abs(robust.classes_ - [2.0, 5.0]).max() < 0.2
    plain = IDTRegressor(1, random_state=0).fit(graphs, y)
    assert plain.classes_.max() > 100


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_weights_are_repetitions_and_shards_and_threads_change_nothing(loss: str) -> None:
    graphs = some_graphs(2, 60)
    rng = np.random.default_rng(0)
    y = parse("1 U0 > 3").evaluate(graphs) + rng.normal(size=60)
    weights = rng.integers(0, 3, size=60)
    base = IDTRegressor(0, loss=loss, random_state=0, n_jobs=1)
    first = clone(base).fit(graphs, y, sample_weight=weights)
    y_unknown = np.where(weights > 0, y, np.nan)
    for other in (
        clone(base).set_params(n_shards=5).fit(graphs, y_unknown, sample_weight=10 * weights),
        clone(base)
        .set_params(engine=LocalEngine(2), n_jobs=2, n_shards=3)
        .fit(graphs, y, sample_weight=weights),
    ):
        assert str(other) == str(first)
    repeated = np.repeat(np.arange(60), weights)
    alike = clone(base).fit(graphs.take(repeated), y[repeated])
    # Folds are drawn from other rows, but what was learned from all of them is the same.
    assert alike.rules_[-1].accuracy >= 0
    numbers = NumberTargets.of(y, weights, first.loss)
    everywhere = np.arange(60)
    plain = NumberTargets.of(y[repeated], np.ones(len(repeated), dtype=np.int64), numbers.loss)
    assert numbers.exponent == plain.exponent
    assert numbers.label(everywhere) == plain.label(np.arange(len(repeated)))


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 4)), min_size=1).filter(
        lambda rows: any(weight for _, weight in rows)
    )
)
def test_leaves_are_means_and_medians(rows: list[tuple[float, int]]) -> None:
    numbers, weights = np.array([n for n, _ in rows]), np.array([w for _, w in rows])
    listed = np.repeat(numbers, weights)
    for loss, middle in (("squared", np.mean(listed)), ("absolute", np.median(listed))):
        targets = NumberTargets.of(numbers, weights, loss)  # type: ignore[arg-type]
        value = targets.value(targets.label(np.arange(len(rows))))
        assert value == pytest.approx(middle, abs=0.51 * 10.0**targets.exponent + 1e-9)


def test_saved_and_loaded(
    model: IDTRegressor, planted: tuple[GraphBatch, np.ndarray], tmp_path: Path
) -> None:
    graphs, y = planted
    path = tmp_path / "gap.idt.json"
    for each in (model, model.pick(0), model.prune()):
        each.save(path)
        loaded: Any = gl.load(path)
        assert str(loaded) == str(each)
        assert (loaded.predict(graphs) == each.predict(graphs)).all()
        again = IDTRegressor.load(path)
        assert again.get_params() == model.get_params()
        assert again.score(graphs, y) == each.score(graphs, y)
        for other in (IDTNodeRegressor, gl.IDTClassifier):
            with pytest.raises(ModelFileError, match="Got one that gives graphs a number"):
                other.load(path)
    document = json.loads(path.read_text())
    assert document["version"] == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "class"}, "version 3 predicts numbers"),
        ({"classes": [1.0, 2.0]}, "numbers of its chosen rule"),
        ({"classes": []}, "must be finite and rise"),
        ({"classes": [2.0, 1.0]}, "must be finite and rise"),
        ({"classes": ["a", "b"]}, "must be finite and rise"),
    ],
)
def test_damaged_files_are_refused(
    model: IDTRegressor, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    from gnn2logic._digests import digest_of_document

    path = tmp_path / "gap.idt.json"
    model.save(path)
    document = {**json.loads(path.read_text()), **change}
    document["digest"] = digest_of_document({k: v for k, v in document.items() if k != "digest"})
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        gl.load(path)


def test_nodes_with_a_mask() -> None:
    graph = random_graphs(1, sizes=400, density=0.01, random_state=0)
    truth = parse("A U0 > 2").evaluate(graph, level="node")
    mask = np.arange(400) % 2 == 0
    y = np.where(mask, 1.0 + 4.0 * truth, np.nan)
    model = IDTNodeRegressor(0, random_state=0).fit(graph, y, mask=mask)
    assert str(model.formula(5.0)) == "A U0 > 2"
    assert (model.predict(graph) == 1.0 + 4.0 * truth).all()
    assert (numbers_by_formulas(model, graph, "node") == model.predict(graph)).all()


def test_name_and_unit_are_said(
    model: IDTRegressor, planted: tuple[GraphBatch, np.ndarray], tmp_path: Path
) -> None:
    graphs, _ = planted
    assert "predicts gap in eV" in str(model)
    assert " R2 " in str(model)
    high = int(model.predict(graphs).argmax())
    said = str(gl.explain(model, graphs.take([high])))
    assert said.startswith(f"Predicted gap: {model.classes_[1]} eV")
    assert "another number" in said
    assert "class" not in said
    assert f"[{model.classes_[1]} eV]" in gl.export_text(model)
    assert "2 numbers" in model._model_html()
    loaded: Any = gl.load(_saved(model, tmp_path))
    assert str(gl.explain(loaded, graphs.take([high]))) == said


def test_tables_say_numbers_with_their_unit(
    model: IDTRegressor, monkeypatch: pytest.MonkeyPatch
) -> None:
    low, high = model.classes_
    table = str(model.rules_)
    assert "  held out  number in eV (share): formula" in table
    assert f" {low} (" in table
    assert f" {high} (" in table
    assert f"  {high} eV: " in str(model.prune())
    html = model._repr_html_()
    assert f"<b>{high} eV</b>: more than 2 nodes" in html
    heads = [part.split("<")[0] for part in html.split(f'<th style="{_LEFT}">')[2:]]
    assert heads == ["index", "size", "R2", "MAE", "held out", "number", "share", "formula"]
    columns: list[str] = []
    pandas = ModuleType("pandas")
    pandas.__dict__["DataFrame"] = lambda rows, columns: (rows, columns)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    rows, columns = model.get_rules()
    assert all(list(row) == columns for row in rows)
    assert {"r2", "mae", "held_out"} < set(columns)


def test_small_differences_of_large_numbers_are_shown() -> None:
    graphs = some_graphs(0)
    y = -7640.0 + 0.02 * parse("1 U0 > 4").evaluate(graphs)
    rules = IDTRegressor(0, random_state=0).fit(graphs, y)
    card = gl.ScorecardRegressor(n_layers=0, unit="h", random_state=0).fit(graphs, y)
    for at in (int(y.argmin()), int(y.argmax())):
        wanted = float(y[at])
        for model in (rules, card):
            first = str(gl.explain(model, graphs.take([at]))).split("\n")[0]
            told = float(first.removeprefix("Predicted number: ").removesuffix(" h"))
            assert abs(told - wanted) < 0.002
    constant = float(str(card).split(" = ")[1].split(" + ")[0])
    assert abs(constant - card.card_.intercept) < card.card_.slope / 10


def _saved(model: Any, folder: Path) -> Path:
    model.save(folder / "m.json")
    return folder / "m.json"


def test_one_number_for_all_is_a_constant_model() -> None:
    graphs = some_graphs(3, 20)
    with pytest.warns(SingleClassWarning, match="All targets are 2.34567; the model is constant"):
        model = IDTRegressor(0).fit(graphs, np.full(20, 2.34567))
    assert (model.predict(graphs) == 2.34567).all()
    assert model.score(graphs, np.full(20, 2.34567)) == 1.0


def test_bad_input(model: IDTRegressor) -> None:
    graphs = some_graphs(3, 20)
    y = np.arange(20.0)
    y[7] = np.nan
    for values, message in (
        (y, "Got nan for graph 7"),
        (y[:5], "each of the 20 graphs. Got shape"),
        ([*range(10), *["a"] * 10], "one number for each graph. Got 'a' for graph 10"),
        (np.zeros((20, 2)), "Got shape \\(20, 2\\)"),
        (None, "Got None instead"),
        (np.full(20, 1e200), "another unit, or logarithms"),
        (np.full(20, 1j), "y must hold one number for each graph"),
    ):
        with pytest.raises(LabelError, match=message):
            IDTRegressor(0).fit(graphs, values)
    with pytest.raises(ParameterError, match="loss must be one of 'squared', 'absolute'"):
        IDTRegressor(0, loss="huber").fit(graphs, np.arange(20.0))
    with pytest.raises(ParameterError, match="unit must be a text or None"):
        IDTRegressor(0, unit=3).fit(graphs, np.arange(20.0))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="This model predicts numbers"):
        model.predict_proba(graphs)
    with pytest.raises(LabelError, match="is not a number that the model predicts"):
        model.formula(17.5)


def test_what_is_about_classes_says_so(model: IDTRegressor) -> None:
    graphs = some_graphs(3, 20)
    with pytest.raises(UnsupportedInputError, match="Got an estimator that predicts numbers"):
        gl.stability(IDTRegressor(0), graphs, np.arange(20.0))
    ax = gl.plot_rules(model, [-0.5] + [1.0] * (len(model.rules_) - 1))
    assert ax.get_ylabel() == "R2 and fidelity"
    assert any(" eV: " in text.get_text() for text in gl.plot_rules(model).texts)
    with pytest.raises(ParameterError, match="fidelity is R2 for numbers, and must be at most 1"):
        gl.plot_rules(model, {0: 1.5})
    heading = gl.plot_explanation(gl.explain(model, graphs.take([0]))).get_title()
    assert heading == f"Predicted gap: {model.predict(graphs)[0]} eV"
    assert gl.plot_tree(model).get_title() == "Predicted gap"
    teacher = gl.Teacher(gl.to_gnn(parse("1 U0 > 2")))
    with pytest.raises(UnsupportedInputError, match="This model predicts numbers"):
        gl.disagreements(model, teacher, graphs)


def test_a_fit_goes_on_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gnn2logic.learning.search import outcome

    graphs = some_graphs(4, 60)
    y = parse("1 U0 > 3").evaluate(graphs) - 0.5
    y = y + np.random.default_rng(0).normal(size=60)
    estimator = IDTRegressor(0, random_state=0)
    expected = str(clone(estimator).fit(graphs, y))

    def breaks(*_: object) -> None:
        raise MemoryError

    path = tmp_path / "checkpoint"
    estimator.set_params(checkpoint=path)
    with monkeypatch.context() as patched:
        patched.setattr(outcome, "counterpart", breaks)
        with pytest.raises(MemoryError):
            estimator.fit(graphs, y)
    assert path.exists()
    assert str(estimator.fit(graphs, y)).split("\n")[1:] == expected.split("\n")[1:]
    assert not path.exists()


@pytest.mark.parametrize("estimator", [gl.ScorecardRegressor, gl.ScorecardNodeRegressor])
def test_scorecards_tell_that_all_targets_are_one_number(estimator: Any) -> None:
    graphs = gl.random_graphs(20, sizes=4, random_state=0)
    count = graphs.n_graphs if estimator is gl.ScorecardRegressor else graphs.n_nodes
    model = estimator(random_state=0)
    with pytest.warns(SingleClassWarning, match=r"All targets are 1\.5; the model is constant"):
        model.fit(graphs, np.full(count, 1.5))
    assert (model.predict(graphs) == 1.5).all()


def test_what_is_no_number_for_each_row_names_who_takes_it() -> None:
    graphs = gl.random_graphs(20, sizes=4, random_state=0)
    with pytest.raises(LabelError, match="several targets.*MultiTargetEstimator"):
        gl.IDTRegressor().fit(graphs, np.ones((20, 2)))
    with pytest.raises(LabelError, match="IDTRegressor and ScorecardRegressor learn numbers"):
        gl.IDTClassifier().fit(graphs, np.linspace(0, 1, 20))
