"""Nodes of C2 and their texts: what is read, what is printed, and what errors say."""

from __future__ import annotations

import copy
import pickle

import pytest

from gnn2logic.exceptions import FeatureError, FormulaError, FormulaSyntaxError
from gnn2logic.logic.c2 import C2Formula, parse_c2
from gnn2logic.logic.c2 import build as c2
from gnn2logic.logic.c2.build import Swapper

# Nodes ---------------------------------------------------------------------------------------


def test_equal_formulas_are_one_object() -> None:
    left = parse_c2("E(x,y) & (U0(x) | U1(y)) & U0(x)")
    right = parse_c2("U0(x) & ((U1(y) | U0(x) | false) & !!E(x,y)) & true")
    assert left is right
    assert copy.deepcopy(left) is left
    assert pickle.loads(pickle.dumps(left)) is left


def test_attributes() -> None:
    formula = parse_c2("exists y (E(x,y) & exists x U0(x))")
    assert formula.free_variables == ("x",)
    assert formula.quantifier_depth == 2
    assert formula.size == 5
    assert parse_c2("E(y,x)").free_variables == ("x", "y")


def test_operators_build_connectives() -> None:
    p, q = parse_c2("U0(x)"), parse_c2("U1(y)")
    assert str((p & ~q) | c2.equal("x", "y")) == "x = y | U0(x) & !U1(y)"
    with pytest.raises(TypeError, match="has no truth value"):
        bool(p)
    with pytest.raises(AttributeError, match="immutable"):
        p.size = 3
    with pytest.raises(TypeError, match="parse_c2"):
        C2Formula()


def test_trivial_quantifiers_fold() -> None:
    edge = c2.edge("x", "y")
    assert c2.at_least(0, "y", edge) is c2.TRUE
    assert c2.at_least(2, "y", c2.FALSE) is c2.FALSE
    assert c2.counting("<", 0, "y", edge) is c2.FALSE
    assert c2.counting("=", 0, "y", edge) is c2.negation(c2.at_least(1, "y", edge))
    assert c2.equal("y", "y") is c2.TRUE


@pytest.mark.parametrize("variable", ["z", "", None, 1])
def test_other_variables_are_refused(variable: object) -> None:
    with pytest.raises(FormulaError, match="must be 'x' or 'y'"):
        c2.predicate("U0", variable)  # type: ignore[arg-type]


def test_bad_parts_are_refused() -> None:
    with pytest.raises(FormulaError, match="whole number"):
        c2.at_least(1.5, "x", c2.TRUE)  # type: ignore[arg-type]
    with pytest.raises(FormulaError, match="must count with"):
        c2.counting("~", 1, "x", c2.TRUE)
    with pytest.raises(FeatureError, match="must not be empty"):
        c2.edge("x", "y", "")


def test_swap_exchanges_free_and_bound_variables() -> None:
    formula = parse_c2("U0(x) & exists y (E[r](x,y) & x != y & exists x U1(x))")
    swap = Swapper()
    expected = "U0(y) & exists x (x != y & E[r](y,x) & exists y U1(y))"
    assert swap(formula) is parse_c2(expected)
    assert swap(swap(formula)) is formula


# Texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed", "unicode"),
    [
        ("∃≥2 y (E(x,y) ∧ ¬U0(y))", "exists>=2 y (E(x,y) & !U0(y))", "∃≥2 y (E(x,y) ∧ ¬U0(y))"),
        ("∀x ∃=2 y E(x,y)", "forall x exists=2 y E(x,y)", "∀ x ∃=2 y E(x,y)"),
        ("x=y", "x = y", "x = y"),
        ("!(x == y) || y ≠ x", "x != y", "x ≠ y"),
        ("exists y x = y", "exists y (x = y)", "∃ y (x = y)"),
        ("exists<3 y E(y,x)", "exists<=2 y E(y,x)", "∃≤2 y E(y,x)"),
        ("exists!=1 y E(y,x)", "!exists=1 y E(y,x)", "¬∃=1 y E(y,x)"),
        ("exists=0 y U0(y)", "!exists y U0(y)", "¬∃ y U0(y)"),
        ("U0(x) -> U1(x) -> U2(x)", "!U0(x) | !U1(x) | U2(x)", "¬U0(x) ∨ ¬U1(x) ∨ U2(x)"),
        ("⊤ & (⊥ | U10(x) | U9(x))", "U9(x) | U10(x)", "U9(x) ∨ U10(x)"),
        (
            "U0(x) & !exists>=3 y E(x,y) & exists>=2 y E(x,y) & !exists>=5 y E(x,y)",
            "U0(x) & exists=2 y E(x,y) & exists<=4 y E(x,y)",
            "U0(x) ∧ ∃=2 y E(x,y) ∧ ∃≤4 y E(x,y)",
        ),
        (
            'E["double bond"](x,y) | E[1-2](y,x)',
            'E[1-2](y,x) | E["double bond"](x,y)',
            'E[1-2](y,x) ∨ E["double bond"](x,y)',
        ),
        (
            '"charge > 0.5"(x) & atom=7(y)',
            'atom=7(y) & "charge > 0.5"(x)',
            'atom=7(y) ∧ "charge > 0.5"(x)',
        ),
    ],
)
def test_texts(text: str, printed: str, unicode: str) -> None:
    formula = parse_c2(text)
    assert str(formula) == printed
    assert formula.to_unicode() == unicode
    assert parse_c2(printed) is formula
    assert parse_c2(unicode) is formula


@pytest.mark.parametrize(
    "name",
    ["x", "y", "E", "x=7", "E=7", "xy", "true", "true.", "exists", "exists=1", "forall", "Ex",
     "A", "$1", 'say "hi"', "back\\slash", "new\nline", "größe", "a=", "a==b", "50%", "\u202e"],
)  # fmt: skip
def test_any_name_is_read_back(name: str) -> None:
    for formula in (c2.predicate(name, "y"), c2.edge("x", "y", name)):
        assert parse_c2(str(formula)) is formula
        assert parse_c2(formula.to_unicode()) is formula
        assert parse_c2(f"exists x {formula}") is c2.at_least(1, "x", formula)


def test_latex() -> None:
    formula = parse_c2('exists<=3 y (x != y & E["a_b"](x,y) & "50%"(y)) | !U12(x)')
    expected = (
        r"\neg U_{12}(x) \vee "
        r"\exists^{\leq 3} y\, (x \neq y \wedge E_{\text{a\_b}}(x,y) \wedge \text{50\%}(y))"
    )
    assert formula.to_latex() == expected
    assert formula._repr_latex_() == f"${expected}$"


def test_definitions_stand_for_parts() -> None:
    text = "$1(x) := exists y (E(x,y) & U0(y)); $2 := forall x $1(x); $1(y) & $2"
    assert parse_c2(text) is parse_c2(
        "exists x (E(y,x) & U0(x)) & forall x exists y (E(x,y) & U0(y))"
    )
    assert parse_c2("$1(x,y) := E(x,y) & U0(x); $1(y,x)") is parse_c2("E(y,x) & U0(y)")
    assert parse_c2("$7(y) := U0(y); $7(x)") is parse_c2("U0(x)")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "Expected a formula, such as true, U0(x)"),
        ("U0(x) &", 8, "Expected a formula"),
        ("U0", 3, "Expected '('. Found the end"),
        ("U0(x", 5, "Expected ')'. Found the end"),
        ("U0(z)", 4, "Expected a variable (there are only x and y). Found 'z'"),
        ("exists z E(x,y)", 8, "a variable (there are only x and y). Found 'z'"),
        ("exists>= y U0(y)", 10, "Expected a number. Found 'y'"),
        ("exists>=1/2 y U0(y)", 10, "Expected a variable"),
        ("x < y", 3, "Expected '!=' or '='. Found '<'"),
        ("E(x)", 4, "Expected ','. Found ')' instead. (Predicates named E"),
        ("x=7(x)", 3, "stand in double quotes"),
        ("U0(x) U1(x)", 7, "Expected '&', '->', '|' or the end. Found 'U'"),
        ("A U0 > 3", 3, "Expected '('"),
        ('""(x)', 1, "Predicate name must not be empty"),
        ('E[""](x,y)', 3, "Relation name must not be empty"),
        (r'"a\q"(x)', 1, r"\q is not an escape"),
        ("$1(x)", 1, "$1 is used before it is defined"),
        ("$1 := U0(x); $1", 1, "formula about x; write $1(x) := ..."),
        ("$1(x) := U0(x); $1", 17, "$1 was defined as $1(x). Got $1 instead."),
        ("$1 := true; $1 := true; $1", 13, "$1 is defined twice."),
        ("$1(x,y) := E(x,y); $1(x,x)", 25, "The two variables must differ. Got x twice."),
        (f"exists>={'9' * 5000} y U0(y)", 9, "too many digits (5000)"),
    ],
)
def test_syntax_errors_say_where_and_what(text: str, column: int, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_c2(text)
    first, shown, caret = str(caught.value).split("\n")
    assert first.startswith(f"Line 1, column {column}: ")
    assert message in first
    assert shown.strip() in text
    assert caret == " " * (column + 1) + "^"


def test_only_strings_are_parsed() -> None:
    with pytest.raises(TypeError, match="reads a string"):
        parse_c2(b"true")  # type: ignore[arg-type]
