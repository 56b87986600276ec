"""Words, counts, cuts and gains against slow and obvious ways to say the same."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from gnn2logic import GraphBatch, Modality, parse, random_graphs
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins, Form
from gnn2logic.learning.search.graph_judging import GraphJudge
from gnn2logic.learning.search.levels import GraphLevel, NodeLevel
from gnn2logic.learning.search.node_judging import NodeJudge
from gnn2logic.learning.search.small_trees import best_small_trees
from gnn2logic.learning.search.words import GraphWords
from gnn2logic.logic.syntax import negation

LOCAL = [Modality.from_set(name) for name in ("I", "A", "I+A")]


def graphs(n: int = 40, *, largest: int = 90, seed: int = 0) -> GraphBatch:
    rng = np.random.default_rng(seed)
    return random_graphs(
        n, sizes=rng.integers(1, largest, n), density=0.1, random_state=rng, names=["U0", "U1"]
    )


def explained(groups: npt.NDArray[np.bool_], targets: npt.NDArray[np.float64]) -> float:
    """Return the share of the variance that a division explains."""
    rest = sum(
        float(((targets[side] - targets[side].mean()) ** 2).sum()) for side in (groups, ~groups)
    )
    return 1 - rest / float(((targets - targets.mean()) ** 2).sum())


@pytest.mark.parametrize("largest", [30, 200])
def test_words_keep_every_bit(largest: int) -> None:
    batch = graphs(largest=largest)
    layout = GraphWords(batch.sizes)
    columns = np.random.default_rng(1).random((5, batch.n_nodes)) < 0.4
    words = layout.pack(columns)
    np.testing.assert_array_equal(layout.unpack(words), columns)
    expected = [[part.sum() for part in np.split(c, batch.ptr[1:-1])] for c in columns]
    np.testing.assert_array_equal(layout.counts(words), expected)
    some = np.array([3, 0, 17])
    taken = GraphWords(batch.sizes[some]).pack(
        np.concatenate([columns[:, batch.ptr[g] : batch.ptr[g + 1]] for g in some], axis=1)
    )
    np.testing.assert_array_equal(words[:, layout.words_of(some)], taken)


@pytest.mark.parametrize("form", list(Form))
def test_cuts_are_the_conditions_that_they_say(form: Form) -> None:
    batch = graphs(60, largest=70)
    bins = CountBins(batch.sizes)
    phi = parse("A U0 > 1")
    truth = phi.evaluate(batch, level="node")
    counts = np.bincount(batch.graph_index, truth, minlength=batch.n_graphs).astype(np.int64)
    n_bins = bins.n_counts if form < Form.SHARE else bins.n_shares
    cuts = range(n_bins - 1)
    if form >= Form.SHARE:
        cuts = range(1 if form is Form.SHARE else 0, n_bins - 1, 2)
    for cut in cuts:
        condition = bins.condition(phi, form, cut)
        np.testing.assert_array_equal(
            bins.holds(counts, form, cut), condition.evaluate(batch), err_msg=str(condition)
        )


def test_shares_are_compared_with_simple_fractions() -> None:
    bins = CountBins(np.array([5, 12]))
    assert Fraction(1, 2) in bins.fractions
    assert max(fraction.denominator for fraction in bins.fractions) == 6


def test_columns_are_what_their_formulas_say() -> None:
    batch = graphs(30, largest=20)
    space = ColumnSpace(batch, LOCAL)
    literals = space.literals(space.inputs)
    assert {str(space.formulas[n]) for n in literals} >= {"A U0 > 1", "I+A U1 > 1/2"}
    deeper = space.literals(literals[:5])
    for number in [*space.inputs, *literals, *deeper]:
        np.testing.assert_array_equal(
            space.layout.unpack(space.words([number]))[0],
            space.formulas[number].evaluate(batch, level="node"),
            err_msg=str(space.formulas[number]),
        )


def test_equal_columns_and_complements_are_kept_once_with_the_shorter_name() -> None:
    batch = graphs(30, largest=20)
    space = ColumnSpace(batch, LOCAL)
    known = len(space)
    numbers = space.add_formulas([parse("U0 & (U0 | U1)"), parse("!U0"), parse("U0 & U1")])
    assert numbers[:2] == [space.inputs[1]] * 2
    assert len(space) == known + 1


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("largest", [6, 25, 90])
def test_gains_of_pairs_against_formulas(largest: int, some: bool) -> None:
    """All conditions on all conjunctions and disjunctions of two columns, evaluated one by one."""
    batch = graphs(50, largest=largest)
    rng = np.random.default_rng(2)
    targets, weights = rng.random(50), np.ones(50, dtype=np.int64)
    rows = np.flatnonzero(rng.random(50) < 0.7) if some else np.arange(50)
    space = ColumnSpace(batch, LOCAL)
    bins = CountBins(batch.sizes)
    judge = GraphJudge(space, bins, rows, targets, weights, price=0.0, least_weight=3)
    numbers = space.add_formulas([parse("A U1 > 1"), parse("U0")])
    gains = judge._pair_gains(numbers, np.array([0]), np.array([1]))
    for signs, (one, other) in enumerate(itertools.product((True, False), repeat=2)):
        phi = space.formulas[numbers[0]], space.formulas[numbers[1]]
        both = (phi[0] if one else negation(phi[0])) & (phi[1] if other else negation(phi[1]))
        for gain, column in zip(gains, (both, negation(both)), strict=True):
            best = -1.0
            for form, cut in _cuts(bins):
                truth = bins.condition(column, form, cut).evaluate(batch)[rows]
                if 3 <= truth.sum() <= len(rows) - 3:
                    best = max(best, explained(truth, targets[rows]))
            if best >= 0:
                assert gain[0, signs] / judge.variance == pytest.approx(best, abs=2e-3)


def _cuts(bins: CountBins) -> list[tuple[Form, int]]:
    counts = [(Form.COUNT, cut) for cut in range(bins.n_counts - 1)]
    return counts + [(Form.SHARE, cut) for cut in range(1, bins.n_shares - 1, 2)]


def test_gains_of_nodes_against_formulas() -> None:
    batch = graphs(20, largest=30)
    rng = np.random.default_rng(3)
    targets, weights = rng.random(batch.n_nodes), np.ones(batch.n_nodes, dtype=np.int64)
    rows = np.flatnonzero(rng.random(batch.n_nodes) < 0.6)
    space = ColumnSpace(batch, LOCAL)
    judge = NodeJudge(space, rows, targets, weights, price=0.0, least_weight=2)
    numbers = space.literals(space.inputs)[:6]
    for number, verdict in zip(numbers, judge.singles(numbers), strict=True):
        truth = space.formulas[number].evaluate(batch, level="node")[rows]
        assert verdict.gain == pytest.approx(explained(truth, targets[rows]), abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_small_trees_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_conditions, price = 90, 7, 0.01
    truths = rng.random((n_conditions, n_rows)) < 0.5
    sizes = rng.integers(1, 6, n_conditions)
    targets = rng.integers(0, 3, (n_rows, 2)) + truths[1:3].T
    weights = rng.integers(1, 4, n_rows)
    trees = best_small_trees(truths, sizes, targets, weights, prices=(price,), least_weight=4)
    total = _scatter(targets, weights)

    def fit(groups: list[npt.NDArray[np.bool_]]) -> float:
        if any(weights[g].sum() < 4 for g in groups):
            return -np.inf
        return 1 - sum(_scatter(targets[g], weights[g]) for g in groups) / total

    best = max(
        fit([r & t, r & ~t, ~r & f, ~r & ~f]) - price * (2 * sizes[i] + sizes[j] + sizes[k] + 4)
        for (i, r), (j, t), (k, f) in itertools.product(enumerate(truths), repeat=3)
    )
    (full,) = [t for t in trees if t.if_true is not None and t.if_false is not None]
    cost = 2 * sizes[full.root] + sizes[full.if_true] + sizes[full.if_false] + 4
    assert full.fit - price * cost == pytest.approx(best)


def _scatter(targets: npt.NDArray[np.int64], weights: npt.NDArray[np.int64]) -> float:
    mean = np.average(targets, axis=0, weights=weights)
    return float((weights[:, None] * (targets - mean) ** 2).sum())


def test_levels_have_rows_of_their_own() -> None:
    space = ColumnSpace(graphs(10), LOCAL)
    assert GraphLevel(space).n_rows == 10
    assert NodeLevel(space).n_rows == space.batch.n_nodes
