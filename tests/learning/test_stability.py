"""Rules that come back, rules that do not, and what is said about them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.base import BaseEstimator

import gnn2logic as gl
from gnn2logic.exceptions import (
    LabelError,
    LongRuleWarning,
    MissingDependencyError,
    ParameterError,
    SingleClassWarning,
    UnsupportedInputError,
)


def graphs(n: int = 150, **settings: Any) -> gl.GraphBatch:
    return gl.random_graphs(n, **{"sizes": 8, "density": 0.4, "random_state": 0, **settings})


def noise(n: int = 150) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, 2, n)


class Scripted(BaseEstimator):  # type: ignore[misc]
    """It learns nothing: each fit has the next formula of a list."""

    script: ClassVar[list[str]] = []
    weights: ClassVar[list[Any]] = []
    seeds: ClassVar[list[Any]] = []
    warns: ClassVar[bool] = False

    def __init__(
        self, random_state: int | None = None, level: Literal["graph", "node"] = "graph"
    ) -> None:
        self.random_state = random_state
        self.level = level

    def fit(self, graphs: Any, y: Any, sample_weight: Any = None) -> Scripted:
        number = len(self.seeds)
        self.formula_ = gl.parse(self.script[number % len(self.script)])
        self.weights.append(sample_weight)
        self.seeds.append(self.random_state)
        self.classes_ = np.array([False, True])
        if self.warns:
            warnings.warn(f"rule {number} is long", LongRuleWarning, stacklevel=2)
        return self

    def predict(self, graphs: Any) -> Any:
        return self.formula_.evaluate(graphs, level=self.level)

    def formula(self, label: bool) -> gl.Formula:
        return self.formula_ if label else ~self.formula_


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(formulas: Iterable[str], **settings: Any) -> Scripted:
        monkeypatch.setattr(Scripted, "script", list(formulas))
        monkeypatch.setattr(Scripted, "weights", [])
        monkeypatch.setattr(Scripted, "seeds", [])
        return Scripted(**settings)

    return make


# Learned rules -------------------------------------------------------------------------------


def test_a_planted_rule_comes_back() -> None:
    batch = graphs(200)
    labels = gl.parse("1(A U0 > 2) > 2").evaluate(batch)
    search = gl.IDTClassifier(1, algorithm="search", modalities=["A"], relative=False)
    result = gl.stability(search, batch, labels, n_fits=3, random_state=0)
    (rule,) = result.rules
    assert str(rule.formulas[True]) == "1(A U0 > 2) > 2"
    assert (rule.count, rule.n_identical, rule.n_proved) == (3, 3, 3)
    assert result.agreement == 1.0
    assert result.accuracies == (1.0, 1.0, 1.0)
    assert {str(condition): n for condition, n in result.conditions.items()} == {
        "1(A U0 > 2) > 2": 3
    }
    assert result.counts == {"1(A U0 > 2)": 3}
    assert result.predicates == {"U0": 3}
    assert result.summary == "Stable: the most frequent rule came back in all 3 fits."


def test_noise_gives_other_rules_each_time() -> None:
    layers = gl.IDTClassifier(1, algorithm="layers", width=4, ccp_alpha=0.0, max_depth=3)
    result = gl.stability(layers, graphs(), noise(), n_fits=4, random_state=0)
    assert [rule.count for rule in result.rules] == [1, 1, 1, 1]
    assert result.agreement < 0.9
    assert 0.3 < result.accuracy_mean < 0.7
    assert result.accuracy_std > 0
    assert "Not stable: no two of the 4 fits gave the same rule." in str(result)


def test_one_random_state_gives_one_result() -> None:
    layers = gl.IDTClassifier(0, algorithm="layers", max_depth=2)
    first, again, longer, other = (
        gl.stability(layers, graphs(), noise(), n_fits=n, random_state=seed)
        for n, seed in ((2, 5), (2, 5), (3, 5), (2, 6))
    )
    assert str(first) == str(again)
    assert first.to_records() == again.to_records()
    assert longer.accuracies[:2] == first.accuracies
    assert other.accuracies != first.accuracies


def test_nodes_of_many_graphs_and_of_one() -> None:
    truth = gl.parse("A U0 > 2")
    for batch, drawn in ((graphs(30), "graphs"), (graphs(1, sizes=200, density=0.03), "nodes")):
        labels = truth.evaluate(batch, level="node")
        estimator = gl.IDTNodeClassifier(0)
        result = gl.stability(estimator, batch, labels, n_fits=3, random_state=0)
        assert result.drawn == drawn
        assert result.n_rows == batch.n_nodes
        assert result.rules[0].formulas[True] is truth
        assert result.accuracy_mean == 1.0
        assert "nodes left out of the draw" in str(result)


def test_labels_outside_of_a_mask_are_not_looked_at() -> None:
    batch = graphs(1, sizes=200, density=0.03)
    labels = gl.parse("A U0 > 2").evaluate(batch, level="node").astype(float)
    mask = np.arange(200) < 150
    labels[~mask] = np.nan
    result = gl.stability(
        gl.IDTNodeClassifier(0), batch, labels, n_fits=2, mask=mask, random_state=0
    )
    assert str(result.rules[0].formulas[1]) == "A U0 > 2"
    assert result.n_rows == 200
    seeds = gl.stability(
        gl.IDTNodeClassifier(0), batch, labels, n_fits=2, mask=mask, bootstrap=False, random_state=0
    )
    assert str(seeds.rules[0].formulas[1]) == "A U0 > 2"


def test_a_class_that_a_draw_has_lost_is_nowhere() -> None:
    batch = graphs(3)
    labels = np.repeat([0, 1, 2], 8)
    with pytest.warns(SingleClassWarning, match="1 of 3 fits gave this warning"):
        result = gl.stability(gl.IDTNodeClassifier(0), batch, labels, n_fits=3, random_state=0)
    assert all(list(rule.formulas) == [0, 1, 2] for rule in result.rules)
    assert any(gl.FALSE in rule.formulas.values() for rule in result.rules)


def test_the_rule_of_a_fitted_estimator_is_marked() -> None:
    batch = graphs()
    labels = gl.parse("1 U0 > 3").evaluate(batch)
    fitted = gl.IDTClassifier(0, random_state=0).fit(batch, labels)
    before = fitted.model_
    result = gl.stability(fitted, batch, labels, n_fits=2, random_state=0)
    assert result.given is result.rules[0]
    assert fitted.model_ is before
    assert "Stable: the fitted rule came back in all 2 fits." in str(result)
    astray = gl.IDTClassifier(0, random_state=0).fit(batch, ~gl.parse("1 U1 > 3").evaluate(batch))
    result = gl.stability(astray, batch, labels, n_fits=2, random_state=0)
    assert [(rule.count, rule.n_identical, rule.given) for rule in result.rules] == [
        (2, 2, False),
        (0, 0, True),
    ]
    assert "Not stable: the fitted rule came back in 0 of 2 fits." in result.summary


def test_graphs_in_a_store(tmp_path: Path) -> None:
    batch = graphs()
    labels = gl.parse("1 U0 > 3").evaluate(batch)
    store = gl.write_shards(tmp_path / "store", batch, y=labels, shard_nodes=400)
    assert store.n_shards > 1
    estimator = gl.IDTClassifier(0, algorithm="layers", max_depth=2)
    result = gl.stability(estimator, store, n_fits=2, random_state=0)
    assert str(result) == str(gl.stability(estimator, batch, labels, n_fits=2, random_state=0))


def test_a_network_is_distilled_again() -> None:
    pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")
    batch = graphs(100)
    truth = gl.parse("1 U0 > 3")
    distiller = gl.IDTDistiller(gl.to_gnn(truth))
    labels = truth.evaluate(batch).astype(int)
    result = gl.stability(distiller, batch, labels, n_fits=2, random_state=0)
    assert result.level == "graph"
    assert result.rules[0].count == 2
    assert str(result) == str(gl.stability(distiller, batch, labels, n_fits=2, random_state=0))


# What counts as the same ---------------------------------------------------------------------


def test_the_same_formula_a_proof_and_agreement_are_told_apart(scripted: Any) -> None:
    # On undirected graphs the first two are equal, and the fourth is so on graphs with edges alone.
    formulas = ["1(A U0 > 0) > 0", "1(U0 & A true > 0) > 0", "1(A U0 > 0) > 0", "1 U0 > 0", "false"]
    batch = graphs(density=0.9)
    assert (gl.parse(formulas[0]).evaluate(batch) == gl.parse(formulas[3]).evaluate(batch)).all()
    result = gl.stability(scripted(formulas), batch, noise() > 0, n_fits=5, random_state=0)
    most, least = result.rules
    assert str(most.formulas[True]) == "1(A U0 > 0) > 0"
    assert most.fits == (0, 1, 2, 3)
    assert (most.n_identical, most.n_proved, most.proved_nodes) == (2, 3, 6)
    assert [str(other[True]) for other in most.others] == ["1 U0 > 0", formulas[1]]
    assert (least.fits, least.is_constant) == ((4,), True)
    assert "equal to it on all simple graphs with at most 6 nodes" in str(result)
    assert result.summary.startswith(
        "Mostly stable: the most frequent rule came back in 4 of 5 fits. 2 of these have this very "
        "formula."
    )


def test_a_proof_whose_bound_is_too_small_does_not_count(scripted: Any) -> None:
    batch = graphs(sizes=6)
    for formulas in (["1 U0 > 6", "1 U0 > 7"], ["1 U0 > 6", "1 U0 > 6 & 1 true > 2"]):
        result = gl.stability(scripted(formulas), batch, noise() > 0, n_fits=2, random_state=0)
        (rule,) = result.rules
        assert (rule.count, rule.n_identical, rule.n_proved, rule.proved_nodes) == (2, 1, 1, None)
    far = gl.stability(
        scripted(formulas), batch, noise() > 0, n_fits=2, max_nodes=9, random_state=0
    )
    assert (far.rules[0].n_proved, far.rules[0].proved_nodes) == (2, 9)


def test_proofs_are_about_graphs_like_those_given(scripted: Any) -> None:
    formulas = ["1(A U0 > 0) > 0", "1(U0 & A true > 0) > 0"]
    directed = gl.GraphBatch([[1], [1], [1]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    batch = gl.GraphBatch.concat([directed] * 6)
    result = gl.stability(scripted(formulas), batch, [True, False] * 3, n_fits=2, random_state=0)
    assert result.graph_class == "directed"
    assert (result.rules[0].count, result.rules[0].n_proved) == (2, 1)


def test_agreement_is_the_mean_over_pairs(scripted: Any) -> None:
    formulas = ["1 U0 > 3", "1 U1 > 3", "true"]
    batch = graphs()
    result = gl.stability(scripted(formulas), batch, noise() > 0, n_fits=3, random_state=0)
    truth = [gl.parse(text).evaluate(batch) for text in formulas]
    pairs = [(truth[i] == truth[j]).mean() for i, j in ((0, 1), (0, 2), (1, 2))]
    assert result.agreement == pytest.approx(np.mean(pairs))
    assert result.predicates == {"U0": 1, "U1": 1}


def test_a_count_is_one_whatever_its_threshold(scripted: Any) -> None:
    formulas = ["1 U0 > 3", "1 U0 <= 4", "1 U0 > 1/2 & 1 U1 > 0"]
    result = gl.stability(scripted(formulas), graphs(), noise() > 0, n_fits=3, random_state=0)
    assert result.counts == {"1 U0": 3, "1 U1": 1}
    assert {str(condition): n for condition, n in result.conditions.items()} == {
        "1 U0 > 3": 1,
        "1 U0 > 4": 1,
        "1 U0 > 1/2": 1,
        "1 U1 > 0": 1,
    }
    assert "fits with each count, whatever its threshold\n     3  1 U0\n" in str(result)


# Draws ---------------------------------------------------------------------------------------


def test_draws_are_as_large_as_the_classes_and_differ(scripted: Any) -> None:
    labels = np.arange(150) < 4
    result = gl.stability(scripted(["true"]), graphs(), labels, n_fits=4, random_state=0)
    weights = np.array(Scripted.weights)
    assert weights[:, labels].sum(axis=1).tolist() == [4] * 4
    assert weights[:, ~labels].sum(axis=1).tolist() == [146] * 4
    assert len({row.tobytes() for row in weights}) == 4
    assert len(set(Scripted.seeds)) == 4
    expected = [labels[row == 0].mean() for row in weights]
    np.testing.assert_allclose(result.accuracies, expected)


def test_without_bootstrap_only_seeds_differ(scripted: Any) -> None:
    result = gl.stability(
        scripted(["true"]), graphs(), noise() > 0, n_fits=3, bootstrap=False, random_state=0
    )
    seeds = list(Scripted.seeds)
    assert Scripted.weights == [None] * 3
    assert len(set(seeds)) == 3
    assert np.isnan(result.accuracies).all()
    assert np.isnan(result.accuracy_mean)
    assert "left out of the draw" not in str(result)
    assert str(result).startswith("rules of 3 fits on the same 150 graphs, by random_state\n")
    gl.stability(scripted(["true"]), graphs(), noise() > 0, n_fits=3, random_state=0)
    assert seeds == Scripted.seeds


def test_nodes_of_a_graph_are_drawn_together(scripted: Any) -> None:
    batch = graphs(20)
    labels = gl.parse("U0").evaluate(batch, level="node")
    gl.stability(scripted(["U0"], level="node"), batch, labels, n_fits=2, random_state=0)
    for weights in Scripted.weights:
        of_graphs = weights.reshape(20, 8)
        assert (of_graphs == of_graphs[:, :1]).all()
        assert of_graphs[:, 0].sum() == 20


# What is said --------------------------------------------------------------------------------


def test_warnings_of_fits_are_shown_once(scripted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "warns", True)
    with pytest.warns(LongRuleWarning) as caught:
        gl.stability(scripted(["true"]), graphs(), noise() > 0, n_fits=3, random_state=0)
    (warning,) = caught
    assert str(warning.message) == ("3 of 3 fits gave this warning, here the first: rule 0 is long")
    assert warning.filename == __file__


def test_names_are_shown_safely(scripted: Any) -> None:
    batch = graphs()
    named = gl.GraphBatch(
        batch.predicates, batch.adjacency, ptr=batch.ptr, names=["<b>", "line\nbreak"]
    )
    formulas = [str(gl.ALL(gl.predicate(name)) > 3) for name in named.names]
    result = gl.stability(scripted(formulas), named, noise() > 0, n_fits=2, random_state=0)
    assert '"<b>"' in str(result)
    assert "line\\nbreak" in str(result)
    html = result._repr_html_()
    assert "<b>&quot;" not in html
    assert "&lt;b&gt;" in html
    assert result.summary in html


def test_a_long_table_is_cut(scripted: Any) -> None:
    formulas = [f"1 U{i % 2} > {i // 2}" for i in range(12)]
    result = gl.stability(scripted(formulas), graphs(), noise() > 0, n_fits=12, random_state=0)
    assert len(result.rules) > 8
    assert f"  and {len(result.rules) - 8} more rules" in str(result)


def test_a_frame_has_a_row_for_each_rule_and_class(
    scripted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = gl.stability(
        scripted(["1 U0 > 3", "true"]), graphs(), noise() > 0, n_fits=3, random_state=0
    )

    class DataFrame:
        def __init__(self, records: list[dict[str, Any]], columns: list[str]) -> None:
            self.records, self.columns = records, columns

    pandas = ModuleType("pandas")
    pandas.__dict__["DataFrame"] = DataFrame
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    frame = result.to_frame()
    assert [list(record) for record in frame.records] == [frame.columns] * 4
    first = frame.records[1]
    assert (first["formula"], first["count"], first["share"]) == ("1 U0 > 3", 2, 2 / 3)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas$"):
        result.to_frame()


# What is refused -----------------------------------------------------------------------------


class Bare(BaseEstimator):  # type: ignore[misc]
    def fit(self, graphs: Any, y: Any) -> Bare:
        return self

    def predict(self, graphs: Any) -> Any:
        return np.ones(graphs.n_graphs, dtype=bool)

    def formula(self, label: bool) -> gl.Formula:
        return gl.TRUE if label else gl.FALSE


def test_what_cannot_be_fitted_again_is_refused() -> None:
    from sklearn.tree import DecisionTreeClassifier

    batch, labels = graphs(), noise()
    with pytest.raises(ParameterError, match=r"n_fits must be a whole number >= 2\. Got 1"):
        gl.stability(gl.IDTClassifier(0), batch, labels, n_fits=1)
    with pytest.raises(ParameterError, match="bootstrap must be True or False"):
        gl.stability(gl.IDTClassifier(0), batch, labels, bootstrap=1)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedInputError, match="DecisionTreeClassifier without 'formula'"):
        gl.stability(DecisionTreeClassifier(), batch, labels)
    with pytest.raises(
        UnsupportedInputError, match=r"the class IDTClassifier .* IDTClassifier\(\)"
    ):
        gl.stability(gl.IDTClassifier, batch, labels)
    with pytest.raises(UnsupportedInputError, match="takes sample_weight"):
        gl.stability(Bare(), batch, labels)
    with pytest.raises(ParameterError, match="without one; leave bootstrap out"):
        gl.stability(Bare(), batch, labels, bootstrap=False)


def test_labels_that_do_not_fit_are_refused(scripted: Any) -> None:
    batch, labels = graphs(), noise()
    with pytest.raises(LabelError, match="Got 149 labels for 150 graphs"):
        gl.stability(gl.IDTClassifier(0), batch, labels[:-1])
    with pytest.raises(LabelError, match="Got None instead"):
        gl.stability(gl.IDTClassifier(0), batch)
    with pytest.raises(LabelError, match="150 graphs or 1200 nodes. Got 149 labels instead"):
        gl.stability(scripted(["true"]), batch, labels[:-1])
    with pytest.raises(LabelError, match="Got no list of labels instead"):
        gl.stability(scripted(["true"]), batch)
    with pytest.raises(ParameterError, match="mask chooses nodes"):
        gl.stability(gl.IDTClassifier(0), batch, labels, mask=np.ones(1200, dtype=bool))
