"""What is particular to the search with z3."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_calls import calls
from gnn2logic.exceptions import EquivalenceError
from gnn2logic.logic import ALL, A, Formula, parse, predicate
from gnn2logic.logic.equivalence import equivalent, find_model, smt
from gnn2logic.logic.equivalence.result import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.smt import _share_below


def test_a_model_that_does_not_check_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(formula: Any, batch: Any, *, level: str) -> Any:
        return np.zeros(batch.n_nodes, dtype=bool)

    monkeypatch.setattr(smt, "evaluate", nowhere)
    with pytest.raises(EquivalenceError, match="does not check when it is evaluated"):
        find_model(parse("A U0 > 0"), method="z3")


def test_time_that_runs_out_while_shrinking_keeps_the_counterexample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_time(solver: Any, variables: Any, model: Any) -> Any:
        raise OutOfTimeError

    monkeypatch.setattr(smt._TimedSolver, "lower", no_time)
    result = equivalent(parse("A U0 > 0"), parse("false"), method="z3")
    assert result.equal is False
    assert result.smallest is False
    assert result.counterexample is not None
    assert result.counterexample.n_nodes == 2


@given(
    share=st.fractions(0, 1).filter(lambda p: 0 < p < 1),
    largest=st.integers(1, 12),
)
@settings(max_examples=200, deadline=None)
def test_a_coarser_share_means_the_same_on_small_sets(share: Fraction, largest: int) -> None:
    coarse = _share_below(share, largest)
    assert coarse.denominator <= largest
    for size in range(largest + 1):
        for count in range(size + 1):
            assert (count > share * size) == (count > coarse * size)


def test_fine_shares_do_not_overflow() -> None:
    f = parse("A U0 > 12345678901234567890/24691357802469135781")
    assert equivalent(f, parse("A U0 >= 1/2 & A U0 > 0"), method="z3", max_nodes=6)
    assert not equivalent(f, parse("A U0 > 1/2"), method="z3", max_nodes=6)


def test_counts_beyond_any_machine_integer_are_false() -> None:
    assert equivalent(parse("A U0 > 99999999999999999999"), parse("false"), method="z3")


def test_work_grows_with_layers_and_not_with_paths() -> None:
    """There are 4 ** 3 paths through three layers and 4 ** 9 through nine."""

    def work(layers: int) -> int:
        return calls(lambda: _compare_layers(layers))

    _compare_layers(1)
    assert work(9) < 4 * work(3)


def test_shared_and_deep_formulas_stay_small() -> None:
    _compare_layers(150)


def _compare_layers(layers: int) -> None:
    phi = predicate("U0")
    for _ in range(layers):
        phi = _step(phi)
    assert equivalent(phi, phi & parse("1 true > 0"), max_nodes=3, method="z3")
    result = equivalent(phi, _step(phi) & predicate("U1"), max_nodes=3, method="z3")
    assert result.equal is False


def _step(phi: Formula) -> Formula:
    return ((A(phi) > 0) | (ALL(phi) > "1/2")) & ((A(~phi) > 0) | phi)


def test_z3_answers_beyond_what_can_be_enumerated() -> None:
    f = parse("1(A U0 > 6) > 0")
    result = equivalent(f, parse("false"), max_nodes=9, method="z3")
    assert result.counterexample is not None
    assert result.counterexample.n_nodes == 8
    assert equivalent(f, f & parse("1 U0 > 6"), max_nodes=9, method="z3")
    typed = find_model(
        parse("A[r] U0 > 3 & A[s] U0 > 3 & A true = 8 & 1-I-A true = 0"), max_nodes=9
    )
    assert typed.graph is not None
    assert typed.graph.n_nodes == 5


@pytest.mark.parametrize("near", ["A !U0 = 1 & A U0 = 0", "A U0 = 1 & A !U0 = 0"])
@pytest.mark.parametrize("far", ["1-I-A U0 = 1 & 1-I-A !U0 = 0", "1-I-A !U0 = 1 & 1-I-A U0 = 0"])
def test_sorting_the_nodes_loses_no_graph(near: str, far: str) -> None:
    found = find_model(parse(f"{near} & {far}"), max_nodes=3, method="z3")
    assert found.graph is not None
    assert found.graph.n_nodes == 3


def test_deadline() -> None:
    never = Deadline(None)
    never.check()
    assert never.remaining == float("inf")
    passed = Deadline(1e-9)
    time.sleep(0.001)
    assert passed.remaining == 0
    with pytest.raises(OutOfTimeError):
        passed.check()
