"""What certificates promise: bounds that hold, and proofs that brute force agrees with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

import gnn2logic as gl
from gnn2logic.certification import agreement_bound, certify
from gnn2logic.distillation import corrections, find_disagreements
from gnn2logic.exceptions import EquivalenceError, ParameterError, UnsupportedInputError
from gnn2logic.logic import Formula
from gnn2logic.models.formula_network import FormulaNetwork


def rule_of(text: str, level: str = "graph") -> gl.IDTPredictor:
    return gl.from_formulas({1: text}, otherwise=0, names=["U0", "U1"], level=level)  # type: ignore[arg-type]


def network_of(text: str, level: str = "graph") -> FormulaNetwork:
    return gl.to_gnn(gl.parse(text), names=["U0", "U1"], level=level)  # type: ignore[arg-type]


# The bound --------------------------------------------------------------------------------------


def test_the_bound_is_that_of_scipy() -> None:
    for n, k in [(10, 10), (200, 197), (50, 1), (5, 0)]:
        interval = stats.binomtest(k, n, alternative="greater").proportion_ci(0.95, "exact")
        assert agreement_bound(k, n) == pytest.approx(interval.low, abs=1e-9)


@pytest.mark.parametrize("n", [1, 10, 60])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_bound_covers_the_truth_as_often_as_it_says(n: int, confidence: float) -> None:
    bounds = np.array([agreement_bound(k, n, confidence) for k in range(n + 1)])
    for share in np.linspace(0.01, 0.99, 50):
        # All outcomes with their chances: no simulation is needed for this.
        chance = stats.binom.pmf(np.arange(n + 1), n, share)
        assert chance[bounds <= share].sum() >= confidence - 1e-9


def test_certificates_cover_the_truth_when_the_sample_is_drawn_again_and_again() -> None:
    graphs = gl.random_graphs(4000, sizes=6, random_state=0)
    rule, network = rule_of("1 U0 > 4"), network_of("1 U0 > 5")
    truth = gl.fidelity(rule, network, graphs)
    assert 0.7 < truth < 0.99
    rng = np.random.default_rng(0)
    held = [
        certify(rule, network, graphs[rng.integers(4000, size=40)], confidence=0.8).agreement
        <= truth
        for _ in range(60)
    ]
    # 60 draws at 80 %: below 38 has a chance of less than one in a thousand.
    assert sum(held) >= 38


def test_a_sample_says_what_it_is_about() -> None:
    graphs = gl.random_graphs(150, sizes=6, random_state=0)
    same = certify(rule_of("1 U0 > 2"), network_of("1 U0 > 2"), graphs)
    assert same.holds is None
    assert not same
    assert same.agreement == agreement_bound(150, 150)
    assert "never differ" in str(same)
    for source in ("mutated", "random"):
        other = certify(
            rule_of("1 U0 > 2"),
            network_of("1 U0 > 3"),
            graphs,
            source=source,
            n_graphs=300,
            random_state=0,
        )
        assert other.holds is False
        assert other.n_compared == 300
        assert other.agreement == agreement_bound(300 - other.n_disagreements, 300)
        for found in other.counterexamples:
            assert rule_of("1 U0 > 2").predict(found.data)[0] == found.model != found.teacher
        again = certify(
            rule_of("1 U0 > 2"),
            network_of("1 U0 > 3"),
            graphs,
            source=source,
            n_graphs=300,
            random_state=0,
        )
        assert str(again) == str(other)


def test_random_graphs_are_like_the_given_ones() -> None:
    from gnn2logic.distillation.mutation import Material
    from gnn2logic.models.pyg_data import pyg_graphs

    graphs = pyg_graphs(gl.random_graphs(20, sizes=7, random_state=0))
    material = Material.of(graphs)
    rng = np.random.default_rng(0)
    for number, data in enumerate(graphs):
        drawn = gl.from_pyg([material.data(material.shuffled(number, rng))])
        assert drawn.is_simple
        assert (drawn.n_nodes, drawn.n_edges) == (data.num_nodes, data.num_edges)


# All small graphs -------------------------------------------------------------------------------

FORMULAS = ["1 U0 > 1", "1(A U0 > 1) > 0", "1(A true > 1/2 & U1) > 1", "1(1-A U0 > 1) > 0"]


@pytest.mark.parametrize("first", FORMULAS)
@pytest.mark.parametrize("second", FORMULAS[:2])
def test_all_graphs_are_tried(first: str, second: str) -> None:
    """The comparison of formulas evaluates them; this one runs a network."""
    certificate = certify(rule_of(first), network_of(second), grade="exhaustive", max_nodes=3)
    wanted = gl.equivalent(gl.parse(first), gl.parse(second), max_nodes=3)
    assert certificate.holds is bool(wanted)
    if not wanted:
        assert wanted.counterexample is not None
        found = certificate.counterexamples[0]
        assert found.graph.n_nodes == wanted.counterexample.n_nodes
        assert found.graph.n_edges == wanted.counterexample.n_edges
        assert found.model != found.teacher


def test_every_graph_is_there_once() -> None:
    rule = gl.from_formulas({1: "1(A U0 > 0) > 0"}, otherwise=0, names=["U0"])
    network = gl.to_gnn(gl.parse("1(A U0 > 0) > 0"))
    certificate = certify(rule, network, grade="exhaustive")
    assert certificate
    assert certificate.n_compared == 118  # as `equivalent` counts them
    assert certificate.max_nodes == 4
    assert "all 118 of them" in str(certificate)
    directed = certify(rule, network, grade="exhaustive", graph_class="directed", max_nodes=3)
    assert directed.n_compared == 2 + 10 + 104


@pytest.mark.parametrize("text", FORMULAS)
def test_one_changed_weight_is_found(text: str) -> None:
    rule, network = rule_of(text), network_of(text)
    assert certify(rule, network, grade="exhaustive", max_nodes=3)
    number = next(k for k, channel in enumerate(network.channels) if "> 1" in str(channel))
    with torch.no_grad():
        network.layer.bias[number] += 1
    changed = certify(rule, network, grade="exhaustive", max_nodes=3)
    assert changed.holds is False
    found = changed.counterexamples[0]
    assert rule.predict(found.data)[0] == found.model
    assert gl.as_teacher(network).predict(found.data)[0] == found.teacher != found.model


def test_sorts_of_nodes_come_from_the_data() -> None:
    graphs = gl.random_graphs(20, sizes=4, random_state=0)
    first = graphs.column("U0")
    one_hot = graphs.with_predicates(np.column_stack([first, ~first]), ["U0", "U1"])
    # The two differ only where a node is both or none of them.
    rule, network = rule_of("1(U0 & U1) > 0"), network_of("1(U0 & U1) > 1")
    assert certify(rule, network, one_hot, grade="exhaustive", max_nodes=3)
    assert not certify(rule, network, grade="exhaustive", max_nodes=3)


def test_nodes_and_scorecards() -> None:
    nodes = certify(
        rule_of("A U0 > 1", "node"), network_of("A U0 > 1", "node"), grade="exhaustive", max_nodes=3
    )
    assert nodes
    graphs = gl.random_graphs(80, sizes=5, random_state=0)
    formula: Formula = gl.parse("1 U0 > 2")
    card = gl.ScorecardClassifier(max_lines=1, n_layers=0, random_state=0)
    card.fit(graphs, formula.evaluate(graphs).astype(int))
    certificate = certify(card, network_of("1 U0 > 2"), graphs)
    assert certificate.n_compared == 80


def test_time_and_numbers_have_limits() -> None:
    rule, network = rule_of("1 U0 > 1"), network_of("1 U0 > 1")
    stopped = certify(rule, network, grade="exhaustive", max_nodes=5, time_limit=1e-6)
    assert stopped.holds is None
    assert "time ran out" in str(stopped)
    with pytest.raises(EquivalenceError, match="Set max_nodes to at most"):
        certify(rule, network, grade="exhaustive", max_nodes=7, max_graphs=1000)
    with pytest.raises(ParameterError, match="graphs must be given"):
        certify(rule, network)
    with pytest.raises(ParameterError, match="confidence"):
        certify(rule, network, gl.random_graphs(3, sizes=3, random_state=0), confidence=1)
    with pytest.raises(ParameterError, match="grade must be"):
        certify(rule, network, grade="perfect")
    with pytest.raises(UnsupportedInputError, match="fitted rule or scorecard"):
        certify(network, network)
    graphs = gl.random_graphs(30, sizes=4, random_state=0)
    numbers = np.arange(30.0)
    for model in (
        gl.IDTRegressor(n_layers=0, max_size=4, random_state=0),
        gl.ScorecardRegressor(max_lines=1, n_layers=0, random_state=0),
    ):
        with pytest.raises(UnsupportedInputError, match="predicts numbers"):
            certify(model.fit(graphs, numbers), network, graphs)
    with pytest.raises(ParameterError, match="at most n_compared"):
        agreement_bound(3, 2)


# Learning from counterexamples ------------------------------------------------------------------


def test_counterexamples_correct_the_rule() -> None:
    """Data in which two rules are the same; the counterexample tells them apart."""
    graphs = gl.random_graphs(60, sizes=4, density=0.0, random_state=0)
    network = gl.to_gnn(gl.parse("1(U0 & A U0 = 0) > 1"), names=["U0", "U1"])
    options: dict[str, Any] = {"algorithm": "layers", "random_state": 0}
    first = gl.distill(network, graphs, **options)
    before = certify(first, network, grade="exhaustive", max_nodes=3)
    assert before.holds is False
    again = gl.distill(network, graphs, counterexamples=before.counterexamples, **options)
    found = before.counterexamples[0].data
    assert again.predict([found])[0] == gl.as_teacher(network).predict([found])[0]


def test_rounds_of_counterexamples_end() -> None:
    graphs = gl.random_graphs(40, sizes=4, random_state=0)
    network = gl.to_gnn(gl.parse("1 U0 > 1"), names=["U0", "U1"])
    options: dict[str, Any] = {"algorithm": "layers", "random_state": 0}
    rule = gl.distill(network, graphs, counterexamples=3, **options)
    assert certify(rule, network, grade="exhaustive", max_nodes=4)
    with pytest.raises(ParameterError, match="rounds"):
        gl.distill(network, graphs, counterexamples=-1)
    with pytest.raises(ParameterError, match="sequence of graphs"):
        gl.distill(network, graphs, counterexamples="many")
    labels = gl.parse("1 U0 > 1").evaluate(graphs)
    with pytest.raises(ParameterError, match="only the teacher has labels"):
        gl.distill(network, graphs, labels, counterexamples=1)


def test_counterexamples_are_searched_until_there_are_none_or_time_is_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphs = gl.random_graphs(20, sizes=3, density=0.0, random_state=0)
    network = gl.to_gnn(gl.parse("1(U0 & A U0 = 0) > 1"), names=["U0", "U1"])
    options: dict[str, Any] = {"algorithm": "layers", "random_state": 0}
    numbers: list[int] = []

    def quick_search(*args: Any, **given: Any) -> Any:
        differences = find_disagreements(*args, **{**given, "budget": 40})
        numbers.append(len(differences))
        return differences

    monkeypatch.setattr(corrections, "find_disagreements", quick_search)
    once = gl.distill(network, graphs, **options)
    gl.distill(network, graphs, counterexamples="all", **options)
    # Rounds go on as long as there is anything to learn from, and no longer.
    assert len(numbers) > 1
    assert all(numbers[:-1])
    assert numbers[-1] == 0
    # No time for a single round: the rule is the one that learned from the graphs alone.
    numbers.clear()
    late = gl.distill(network, graphs, counterexamples="all", time_limit=1e-9, **options)
    assert str(late.formula(1)) == str(once.formula(1))
    assert not numbers


def test_limits_of_time_without_a_search_are_refused() -> None:
    graphs = gl.random_graphs(10, sizes=4, random_state=0)
    network = gl.to_gnn(gl.parse("1 U0 > 1"), names=["U0", "U1"])
    with pytest.raises(ParameterError, match="give max_time"):
        gl.distill(network, graphs, time_limit=3)
    with pytest.raises(ParameterError, match="leave it out"):
        gl.distill(network, graphs, counterexamples=[], time_limit=3)
    with pytest.raises(ParameterError, match="positive number of seconds"):
        gl.distill(network, graphs, counterexamples="all", time_limit=-1)
