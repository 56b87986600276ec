"""C2 and EMLC by example: the paper's formulas, refusals, and formulas too large to write."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from gnn2logic.exceptions import (
    FormulaError,
    GraphError,
    TranslationError,
)
from gnn2logic.graphs import GraphBatch
from gnn2logic.logic import ALL, A, Formula, parse, predicate
from gnn2logic.logic.c2 import build as c2
from gnn2logic.logic.c2 import from_c2, parse_c2, to_c2
from gnn2logic.logic.c2.build import Swapper

PAPER_GRAPH = GraphBatch(
    [[0, 1], [1, 0], [0, 0], [1, 1]],
    [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]],
)
PAPER_TEXT = "exists>1 y (E(x,y) & !exists=1 x (E(y,x) & U1(x)))"


def cycle(n: int) -> GraphBatch:
    ring = np.roll(np.eye(n, dtype=int), 1, axis=1)
    return GraphBatch(None, ring + ring.T)


# The paper -----------------------------------------------------------------------------------


def test_the_papers_formula_in_both_logics() -> None:
    formula = parse_c2(PAPER_TEXT)
    assert from_c2(formula) is parse("A(!(A U1 = 1)) > 1")
    assert to_c2(parse("A(!(A U1 = 1)) > 1")) is formula
    assert formula.evaluate(PAPER_GRAPH, level="node").tolist() == [False, True, True, False]


def test_two_regular_graphs() -> None:
    formula = parse_c2("forall x exists=2 y E(x,y)")
    assert formula.free_variables == ()
    assert from_c2(formula) is parse("1(A true != 2) = 0")
    path = GraphBatch(None, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    two_triangles = GraphBatch(None, np.kron(np.eye(2, dtype=int), 1 - np.eye(3, dtype=int)))
    answers = [formula.evaluate(g).item() for g in (cycle(3), cycle(7), two_triangles, path)]
    assert answers == [True, True, True, False]


def test_formula_c2_is_the_text_of_the_translation() -> None:
    formula = parse("1-I(A U0 > 2) > 0")
    assert str(formula.to_c2()) == "exists y (x != y & exists>=3 x (E(y,x) & U0(x)))"


# EMLC to C2 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "translated"),
    [
        ("A true > 2", "exists>=3 y E(x,y)"),
        ("1 U0 > 0", "exists y U0(y)"),
        ("1 true > 3", "exists>=4 y true"),
        ("1-I U0 > 0", "exists y (x != y & U0(y))"),
        ("1-A U0 > 1", "exists>=2 y (!E(x,y) & U0(y))"),
        ("I+A U0 > 1", "exists>=2 y ((x = y | E(x,y)) & U0(y))"),
        ("1-I-A U0 > 1", "exists>=2 y (x != y & !E(x,y) & U0(y))"),
        ("A^T U0 > 0", "exists y (E(y,x) & U0(y))"),
        ("A|A^T U0 > 0", "exists y ((E(x,y) | E(y,x)) & U0(y))"),
        ("1-(A|A^T) true > 0", "exists y !(E(x,y) | E(y,x))"),
        ('A["double bond"] true > 0', 'exists y E["double bond"](x,y)'),
        ("A[r]^T(A[s] U0 > 0) > 0", "exists y (E[r](y,x) & exists x (E[s](y,x) & U0(x)))"),
        ("I U0 > 0", "U0(x)"),
        ("I U0 > 1/2", "U0(x)"),
        ("I U0 > 1", "false"),
        ("0 U0 > 0", "false"),
        ("0 true > 1/2", "false"),
        ("A true > 1/2", "exists y E(x,y)"),
        ("A false > 1/2", "false"),
    ],
)
def test_to_c2(formula: str, translated: str) -> None:
    assert str(to_c2(parse(formula))) == translated


def test_the_variable_can_be_chosen() -> None:
    translated = to_c2(parse("U1 & A U0 > 0"), variable="y")
    assert str(translated) == "U1(y) & exists x (E(y,x) & U0(x))"
    with pytest.raises(FormulaError, match="must be 'x' or 'y'"):
        to_c2(parse("U1"), variable="v")  # type: ignore[arg-type]


def test_a_ratio_is_refused_with_the_reason() -> None:
    with pytest.raises(TranslationError, match="not first-order") as caught:
        to_c2(parse("A(1-I U0 > 2/3) > 3"))
    assert "'1-I U0 > 2/3'" in str(caught.value)
    assert "max_size=D" in str(caught.value)


def test_a_ratio_is_expanded_up_to_a_bound() -> None:
    expanded = to_c2(parse("A U0 > 1/2"), max_size=3)
    clauses = [
        f"exists={size} y E(x,y) & exists>={least} y (E(x,y) & U0(y))"
        for size, least in [(1, 1), (2, 2), (3, 2)]
    ]
    assert expanded is parse_c2(" | ".join(clauses))


@pytest.mark.parametrize("bound", [0, -1, 1.5, True, "3"])
def test_bad_bounds_are_refused(bound: object) -> None:
    with pytest.raises(TranslationError, match="max_size must be a whole number >= 1"):
        to_c2(parse("A U0 > 1/2"), max_size=bound)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["A U0 > 1", "I+A U0 > 2", "A^T true > 1", "A[r] U0 > 1/2"])
def test_counts_of_parallel_edges_are_refused(text: str) -> None:
    to_c2(parse(text), max_size=3)
    with pytest.raises(TranslationError, match="parallel edges") as caught:
        to_c2(parse(f"1({text}) > 0"), multi_edges=True, max_size=3)
    assert f"'{parse(text)}'" in str(caught.value)


@pytest.mark.parametrize("text", ["A U0 > 0", "I+A U0 = 0", "1-A U0 > 2", "1-I-A U0 > 2"])
def test_what_counts_nodes_is_translated_for_parallel_edges(text: str) -> None:
    assert to_c2(parse(text), multi_edges=True) is to_c2(parse(text))


# C2 to EMLC ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "translated"),
    [
        ("U0(y)", "U0"),
        ("E(x,x) | exists y E(y,y)", "false"),
        ("exists x (E(x,y) & U0(x))", "A U0 > 0"),
        ("exists y (U0(y) & exists y E(x,y))", "1 U0 > 0 & A true > 0"),
        ("exists>=2 y (E(x,y) & exists y U0(y))", "A(1 U0 > 0) > 1"),
        ("exists x exists x U0(x)", "1(1 U0 > 0) > 0"),
        ("exists y (x = y & U0(x))", "U0"),
        ("exists>=2 y (x = y & U0(x))", "false"),
        ("exists y (x = y | E(x,y) & U0(x))", "!U0 | I+A true > 0"),
        ("exists y (x = y | E(x,y) & !U0(x))", "U0 | I+A true > 0"),
        ("exists>=2 y (U0(x) & U1(x))", "U0 & U1 & 1 true > 1"),
        (
            "exists>=2 y (U0(x) | U1(x) | E(x,y))",
            "(U0 | U1) & 1 true > 1 | !(U0 | U1) & A true > 1",
        ),
        (
            "exists y (U0(x) & U1(x) & E(x,y) | U0(x) & !E(x,y) & U2(y))",
            "U0 & (!U1 & 1-A U2 > 0 | U1 & (A true > 0 | 1-A U2 > 0))",
        ),
        ("exists>=2 y (x != y | U0(x))", "1-I true > 1 | U0 & 1-I true > 0"),
        ("exists>=2 y (U0(y) & (E(x,y) | U1(x)))", "U1 & 1 U0 > 1 | !U1 & A U0 > 1"),
        ("exists>=2 y (E(x,y) & U0(x) | E(x,y) & !U0(x))", "A true > 1"),
        (
            "exists>=2 y (E(x,y) & U0(y) | !E(x,y) & U1(y))",
            "A U0 > 1 | 1-A U1 > 1 | A U0 > 0 & 1-A U1 > 0",
        ),
        (
            "exists>=2 y (x = y & U0(y) | E(x,y) & U1(y) | x != y & !E(x,y) & U2(y))",
            "A U1 > 1 | 1-I-A U2 > 1 | A U1 > 0 & 1-I-A U2 > 0 | U0 & A U1 > 0 | U0 & 1-I-A U2 > 0",
        ),
    ],
)
def test_from_c2(text: str, translated: str) -> None:
    assert from_c2(parse_c2(text)) is parse(translated)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("E(x,y)", "'E(x,y)' has two free variables"),
        ("U0(x) & U1(y)", "'U0(x) & U1(y)' has two free variables"),
        ("exists y (U0(y) & E[r](x,y))", "'E[r](x,y)' is a typed edge"),
        ("exists y E[r](y,y)", "'E[r](y,y)' is a typed edge"),
    ],
)
def test_what_emlc_cannot_say_is_refused_by_name(text: str, named: str) -> None:
    with pytest.raises(TranslationError, match=re.escape(named)):
        from_c2(parse_c2(text))


def test_too_many_cases_are_refused() -> None:
    shares = "exists>={} y (E(x,y) & U0(y) | !E(x,y) & U1(y))"
    with pytest.raises(TranslationError, match="max_cases"):
        from_c2(parse_c2(shares.format(10**9)))
    assert from_c2(parse_c2("exists>=1000000000 y E(x,y)")) is parse("A true > 999999999")
    pairs = " & ".join(f"(U{i}(x) | V{i}(y))" for i in range(30))
    with pytest.raises(TranslationError, match="larger than 100 cases"):
        from_c2(parse_c2(f"exists y ({pairs})"), max_cases=100)
    small = parse_c2(shares.format(20))
    assert from_c2(small, max_cases=21).modal_depth == 1
    with pytest.raises(TranslationError, match="larger than 20 cases"):
        from_c2(small, max_cases=20)


@pytest.mark.parametrize(
    "adjacency",
    [
        pytest.param([[0, 1], [0, 0]], id="directed"),
        pytest.param([[1, 1], [1, 0]], id="loop"),
        pytest.param([[0, 2], [2, 0]], id="parallel"),
    ],
)
def test_evaluating_on_other_graphs_is_refused(adjacency: list[list[int]]) -> None:
    batch = GraphBatch([[1], [0]], adjacency)
    with pytest.raises(GraphError, match="simple undirected graphs"):
        parse_c2("exists y E(x,y)").evaluate(batch)
    assert parse_c2("exists y (x != y & U0(y))").evaluate(batch, level="node").tolist() == [
        False,
        True,
    ]


def test_wrong_kinds_of_formulas() -> None:
    with pytest.raises(TypeError, match="a Formula of EMLC. Got a C2Formula instead"):
        to_c2(parse_c2("U0(x)"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a C2Formula. Got a Formula of EMLC instead"):
        from_c2(parse("U0"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Got str instead"):
        from_c2("U0(x)")  # type: ignore[arg-type]


# Large formulas ------------------------------------------------------------------------------


def layers(count: int) -> Formula:
    phi = predicate("U0")
    for _ in range(count):
        phi = (A(phi) > 0) & (A(phi) < 5) | (ALL(phi) > 2) & (A(~phi) > 3)
    return phi


def test_heavily_shared_formulas_stay_linear() -> None:
    phi = layers(200)
    formula = to_c2(phi)
    assert formula.size > 4**200
    text = str(formula)
    assert len(text) < 200 * 200
    assert len(formula.to_latex()) < 400 * 200
    assert parse_c2(text) is formula
    assert parse_c2(formula.to_unicode()) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert from_c2(formula) is phi
    # Each layer is defined once, for x and for y.
    assert text.count(":=") <= 201


def test_shared_formulas_about_two_variables_stay_linear() -> None:
    both = c2.edge("x", "y")
    for number in range(100):
        p, q = c2.predicate(f"U{number}", "x"), c2.predicate(f"U{number}", "y")
        both = (both & p) | (both & q & Swapper()(both))
    formula = c2.at_least(2, "y", both)
    text = str(formula)
    assert formula.size > 2**100
    assert len(text) < 100 * 200
    assert parse_c2(text) is formula


def test_deep_formulas_need_no_recursion() -> None:
    phi = predicate("U0")
    for _ in range(3000):
        phi = ~(A(phi) > 0) & predicate("U1")
    formula = to_c2(phi)
    assert formula.quantifier_depth == 3000
    assert parse_c2(str(formula)) is formula
    assert from_c2(formula) is phi


def test_many_conditions_on_the_outer_variable_are_one_case() -> None:
    conditions = " & ".join(f"U{i}(x)" for i in range(300))
    formula = parse_c2(f"exists>=2 y ({conditions} & E(x,y))")
    expected = " & ".join(f"U{i}" for i in range(300))
    assert from_c2(formula, max_cases=10) is parse(f"{expected} & A true > 1")
