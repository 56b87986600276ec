from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from gnn2logic.exceptions import SimplificationError
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import FALSE, TRUE, Formula, evaluate, parse
from gnn2logic.logic.bounds import reading_size
from gnn2logic.logic.documents import formula_to_document
from gnn2logic.logic.simplification import check_same_truth, simplify, trial_graphs
from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.simplification.cover import minimal_cover
from gnn2logic.logic.syntax import predicate
from strategies import RELATIONS, any_graphs, formulas, plain_graphs


@settings(max_examples=150, deadline=None)
@given(formula=formulas(max_steps=10), graph=any_graphs)
def test_truth_is_kept_on_all_graphs(formula: Formula, graph: oracle.PlainGraph) -> None:
    result = simplify(formula)
    assert oracle.truth(formula_to_document(result), graph) == oracle.truth(
        formula_to_document(formula), graph
    )


@settings(max_examples=150, deadline=None)
@given(formula=formulas(max_steps=10), graph=plain_graphs("simple", max_nodes=7))
def test_truth_is_kept_on_simple_graphs(formula: Formula, graph: oracle.PlainGraph) -> None:
    result = simplify(formula, simple=True)
    assert oracle.truth(formula_to_document(result), graph) == oracle.truth(
        formula_to_document(formula), graph
    )


@settings(max_examples=150, deadline=None)
@given(formula=formulas(relations=RELATIONS, max_steps=10), simple=st.booleans())
def test_never_larger_and_settled(formula: Formula, simple: bool) -> None:
    result = simplify(formula, simple=simple)
    assert result.size <= formula.size
    assert result.modal_depth <= formula.modal_depth
    assert reading_size(result) <= reading_size(formula)
    again = simplify(result, simple=simple)
    assert again.size <= result.size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Constant folding, theory by theory.
        ("I U0 > 0", "U0"),
        ("I U0 > 1/3", "U0"),
        ("I U0 > 1", "false"),
        ("0 U0 > 0", "false"),
        ("A false > 3", "false"),
        ("A true > 1/2", "A true > 0"),
        ("1 true > 0", "true"),
        ("I+A true > 1/2", "true"),
        ("1-A true > 0", "1-A true > 0"),
        ("1(1 U0 > 3) > 0", "1 U0 > 3"),
        ("A(I(U0) > 0) > 2", "A U0 > 2"),
        # Boolean minimisation.
        ("(!U1 & !U0) | (!U1 & U0) | (U1 & U0)", "!U1 | U0"),
        ("U0 & U1 | !U0 & U1", "U1"),
        ("U0 | !U0", "true"),
        ("U0 & !U0", "false"),
        ("U0 & (U0 | U1)", "U0"),
        ("U0 & (U1 | U2)", "U0 & (U1 | U2)"),
        ("(U0 | U1) & (U0 | U2)", "U0 | U1 & U2"),
        # Thresholds of one count.
        ("A U0 > 2 & A U0 > 5", "A U0 > 5"),
        ("A U0 > 2 | A U0 > 5", "A U0 > 2"),
        ("A U0 > 5 & !(A U0 > 2)", "false"),
        ("A U1 = 0 | A U1 > 0 & A U1 > 1", "A U1 != 1"),
        ("A U0 = 3 | A U0 > 3 & A U0 < 12", "3 <= A U0 <= 11"),
        ("A U0 = 2 | A U0 = 3 | A U0 = 4", "2 <= A U0 <= 4"),
        # Shares.
        ("A U0 > 1/2 & A U0 > 0", "A U0 > 1/2"),
        ("A U0 > 1/2 & A U0 > 1/3", "A U0 > 1/2"),
        ("A U0 > 1/2 & A U0 = 0", "false"),
        # No more nodes satisfy phi than there are.
        ("A U0 > 5 & A true > 3", "A U0 > 5"),
        ("A U0 > 1/2 & A true > 0", "A U0 > 1/2"),
        # Inside of modal parameters.
        ("1(A(U0 & U1 | U0 & !U1) > 1) > 1/2", "1(A U0 > 1) > 1/2"),
        ("A(U0 | !U0) > 3", "A true > 3"),
    ],
)
def test_results_on_all_graphs(text: str, expected: str) -> None:
    assert simplify(parse(text)) is parse(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A U0 > 3 | I+A U0 > 3", "I+A U0 > 3"),
        ("A U0 > 3 & 1 U0 > 2", "A U0 > 3"),
        ("A U0 > 3 & I+A U0 < 3", "false"),
        ("U0 & I+A U0 > 0", "U0"),
        ("!U0 & I+A U0 > 2 & A U0 > 2", "!U0 & A U0 > 2"),
        ("A^T U0 > 3", "A U0 > 3"),
        ("A|A^T U0 > 3 & A U0 > 3", "A U0 > 3"),
        ("1-A true > 0", "true"),
        ("A true > 1 & 1 true > 2", "A true > 1"),
    ],
)
def test_results_on_simple_graphs_only(text: str, expected: str) -> None:
    formula = parse(text)
    assert simplify(formula, simple=True) is parse(expected)
    assert simplify(formula) is not parse(expected)


@pytest.mark.parametrize("count", [20, 200, 1000])
@pytest.mark.parametrize("sign", [" & ", " | "])
def test_long_lists_are_quick(count: int, sign: str) -> None:
    """One-hot disjunctions and leaf sets of learned models look like this."""
    formula = parse(sign.join(f"a{number}" for number in range(count)))
    assert simplify(formula) is formula
    counts = parse(sign.join(f"A a{number} > 1" for number in range(count)))
    assert simplify(counts) is counts


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("| zz | !zz", "true"),
        ("| A x > 3 | A x > 2", "{} | A x > 2"),
        ("| (a0 & b0 & c)", "{}"),
        ("| !a0 | !b0", "true"),
    ],
)
def test_large_combinations_are_tidied(more: str, expected: str) -> None:
    """Complements, absorption and threshold order need no list of all paths."""
    many = " | ".join(f"(a{number} & b{number})" for number in range(12))
    assert simplify(parse(f"{many} {more}")) is parse(expected.format(many))
    dual = ~parse(f"{many} {more}")
    assert simplify(dual).size <= dual.size


def test_large_combinations_are_left_alone() -> None:
    parity = parse("U0")
    for number in range(1, 9):
        other = parse(f"U{number}")
        parity = (parity & ~other) | (~parity & other)
    assert simplify(parity) is parity


def test_checks_on_the_callers_graphs() -> None:
    directed = random_graphs(3, directed=True, random_state=0)
    formula = parse("A U0 > 3 | I+A U0 > 3")
    assert simplify(formula, graphs=directed) is formula
    with pytest.raises(SimplificationError, match="the graphs are not simple"):
        simplify(formula, simple=True, graphs=directed)


def test_a_wrong_result_is_never_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SimplificationError, match=r"A U0 > 2 differs from A U0 > 1 at node"):
        check_same_truth(parse("A U0 > 1"), parse("A U0 > 2"), simple=True)
    from gnn2logic.logic import simplification as package

    monkeypatch.setattr(package, "fold_modal", lambda *args, **kwargs: FALSE)
    with pytest.raises(SimplificationError, match="please report it"):
        package.simplify(parse("A U0 > 1"))


def test_trial_graphs_reach_high_thresholds() -> None:
    batch = trial_graphs(parse("1 U0 > 25"), simple=True)
    assert evaluate(parse("1 U0 > 25"), batch).any()
    assert batch.is_simple
    general = trial_graphs(parse("A[r] U0 > 2"), simple=False)
    assert general.has_loops
    assert general.has_multi_edges
    assert not general.is_symmetric
    assert np.array_equal(general.ptr, trial_graphs(parse("A[r] U0 > 2"), simple=False).ptr)


def test_constants_stay() -> None:
    assert simplify(TRUE) is TRUE
    assert simplify(FALSE) is FALSE


def test_a_conjunction_as_one_bound_and_as_two_is_covered() -> None:
    # A column of an earlier layer may be a conjunction of what later splits ask for one by one.
    both, some = parse("U0 & 1 U0 > 0"), parse("1 U0 > 0")
    here = predicate("U0")
    on = [
        Box({}).bound(here, False).bound(both, True),
        Box({}).bound(here, True).bound(some, False).bound(both, True),
        Box({}).bound(here, True).bound(some, True),
    ]
    off = [
        Box({}).bound(here, False).bound(both, False),
        Box({}).bound(here, True).bound(some, False).bound(both, False),
    ]
    assert minimal_cover(on, off, Theory(simple=False)) is both
