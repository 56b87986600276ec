"""What is printed is read back as the identical object; what cannot be read says why."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import FormulaError, FormulaSyntaxError
from gnn2logic.logic import (
    ALL,
    FALSE,
    TRUE,
    A,
    Formula,
    I,
    from_json,
    parse,
    parse_c2,
    predicate,
    to_c2,
    to_json,
)
from gnn2logic.logic.printing import to_latex, to_text, to_unicode
from strategies import formulas

ODD_NAMES = (
    "U0", "atom=7", "charge > 0.5", "A", "I", "T", "true", "TRUE", "False", "true=3", "A=1", "I.x",
    "1", "0", "größe", "日本", 'say "hi"', "back\\slash", "new\nline", "tab\t", "a & b", "$1",
    "$x$", "<b>", "x^T", "Aᵀ", "\u202eflip", "\x00", "e\u0301", "_", "a=", "a=+1", "a=-1", "a==b",
    "a.b=c.d", " ",
    "\U0001f600", "(", "x)", "\\textbf{x}", "50%", "A U0 > 1",
)  # fmt: skip
RELATIONS = ("a]^T", "r", "double bond", "a]b", "1", "^T", 'q"', "A|A^T", "日本")


@settings(max_examples=400, deadline=None)
@given(formula=formulas(names=ODD_NAMES, relations=RELATIONS, max_steps=10))
def test_text_unicode_and_json_round_trip(formula: Formula) -> None:
    assert parse(to_text(formula)) is formula
    assert parse(to_unicode(formula)) is formula
    assert from_json(to_json(formula)) is formula


@settings(max_examples=200, deadline=None)
@given(name=st.text(min_size=1).filter(lambda s: not re.search("[\ud800-\udfff]", s)))
def test_any_name_round_trips(name: str) -> None:
    formula = (A(predicate(name)) > 2) & (A[name].T(predicate("U0")) > 1)
    assert parse(str(formula)) is formula
    assert parse(formula.to_unicode()) is formula
    assert from_json(formula.to_json()) is formula


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("1(A(A U0 > 6) > 1/2) > 1/2", "1(A(A U0 > 6) > 1/2) > 1/2"),
        ("1(A(A U0>6)>0.5)>50%", "1(A(A U0 > 6) > 1/2) > 1/2"),
        ("A(!(A U1 = 1)) > 1", "A(A U1 != 1) > 1"),
        ("A U0 >= 3", "A U0 > 2"),
        ("A U0 <= 3", "A U0 < 4"),
        ("3 <= A true & A true <= 11", "3 <= A true <= 11"),
        ("2 < A true < 12", "3 <= A true <= 11"),
        ("11 >= A true", "A true < 12"),
        ("A U0 < 1", "A U0 = 0"),
        ("U0 && U1 || ~U2", "!U2 | U0 & U1"),
        ("U1 | U0", "U0 | U1"),
        ("U10 | U2 | U1", "U1 | U2 | U10"),
        ("!!U0", "U0"),
        ("U0 & (U1 & U0)", "U0 & U1"),
        ("true & U0 | false", "U0"),
        ("A U0 >= 50%", "A(!U0) <= 1/2"),
        ("A U0 < 25%", "A(!U0) > 3/4"),
        ("A U0 >= 100%", "A(!U0) = 0"),
        ("A U0 >= 0", "true"),
        ("A U0 < 0", "false"),
        ("A U0 > 100%", "false"),
        ("A(atom=7) > 1", "A(atom=7) > 1"),
        ("A atom=7 > 1", "A(atom=7) > 1"),
        ("1-I-(A|A^T) U0 > 1", "1-I-(A|A^T) U0 > 1"),
        ("1 - I - A^T U0 > 1", "1-I-A^T U0 > 1"),
        ("A [ r ] ^T U0 > 1", "A[r]^T U0 > 1"),
        ("A[1] U0 > 1", "A[1] U0 > 1"),
        ("¬U0 ∧ ⊤ ∨ Aᵀ ⊥ ≥ 2", "!U0 | A^T false > 1"),
        ("$1 := A U0 > 1; $1 & A $1 > 2", "A U0 > 1 & A(A U0 > 1) > 2"),
        ("A U0 > 31.2%", "A U0 > 39/125"),
        ("A U0 > 2/4", "A U0 > 1/2"),
        ("A U0 > 1/1", "false"),
        ("A U0 > 1.0%", "A U0 > 1/100"),
        ("A U0 >= 100.0%", "A(!U0) = 0"),
        ('A "TRUE" > 1 & "False"', '"False" & A "TRUE" > 1'),
        ("A(TRUE=7) > 1 & Trueish", "Trueish & A(TRUE=7) > 1"),
    ],
)
def test_reading_and_printing(text: str, printed: str) -> None:
    assert str(parse(text)) == printed


@pytest.mark.parametrize("word", ["TRUE", "True", "tRUE", "FALSE", "False", "true", "false"])
def test_predicates_named_like_constants_are_quoted(word: str) -> None:
    for name in (word, f"{word}=7", f"{word}.x", f"not_{word}"):
        formula = predicate(name) & (A(predicate(name)) > 1)
        assert parse(str(formula)) is parse(formula.to_unicode()) is formula
        assert parse_c2(str(to_c2(formula))) is to_c2(formula)
    assert str(predicate(word)) == f'"{word}"'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("A U1=1", "  A U1=1\n        ^", "Expected a comparison.*put spaces around the '='"),
        ("1(A U0 > ", "  1(A U0 > \n           ^", "Expected a number or a share.*Found the end"),
        ("10 U0 > 3", "  10 U0 > 3\n     ^", "Expected a comparison.*Found 'U'"),
        ("A U0 > 3/2", "  A U0 > 3/2\n         ^", "ratio must be between 0 and 1.*Got 3/2"),
        ("U0 &\n & U1", "   & U1\n   ^", r"Line 2, column 2: Expected a formula.*Found '&'"),
        ("A[r]|A^T U0 > 1", "  A[r]|A^T U0 > 1\n       ^", r"Only A\[r\]\|A\[r\]\^T"),
        ("$3 & U0", "  $3 & U0\n  ^", r"\$3 is used before it is defined"),
        ("$1 := U0; $1 := U1; $1", "  $1 := U0; $1 := U1; $1\n            ^", "defined twice"),
        ("", "  \n  ^", "Expected a formula.*Found the end"),
        ("A U0 > 3 U1", "  A U0 > 3 U1\n           ^", "Expected '&', '|' or the end. Found 'U'"),
        ('A "x\\q" > 1', '  A "x\\q" > 1\n    ^', "not an escape"),
        ("A U0 > 1/0", "  A U0 > 1/0\n         ^", "Got '1/0'"),
        ("3 > A U0 > 1", "  3 > A U0 > 1\n    ^", "An interval is written with < or <="),
        ("U0 # U1", "  U0 # U1\n     ^", "Found '#'"),
        ('A "" > 1', '  A "" > 1\n    ^', "must not be empty"),
        (f"A U0 > {'9' * 5000}", "^", "A threshold must read like"),
        ("(U0", "  (U0\n     ^", r"Expected '&', '\)' or '|'"),
        ('"abc', '  "abc\n  ^', "The quote is not closed"),
        ("A U0 > 1.0", "  A U0 > 1.0\n         ^", "Got 1.0; write 1 for the count, or 100%"),
        ("A U0 >= 1.", "  A U0 >= 1.\n          ^", "Got 1.; write 1 for the count, or 100%"),
        ("0.0 <= A U0", "  0.0 <= A U0\n  ^", "Got 0.0; write 0 .* or 0% for the share"),
        ("A U0 < .0", "  A U0 < .0\n         ^", "Got .0; write 0 for the count, or 0%"),
        ("A U0 != 2.0", "  A U0 != 2.0\n          ^", r"Got 2.0; write 2 for the count\.\n"),
        ("A U0 > 150%", "  A U0 > 150%\n         ^", "ratio must be between 0 and 1.*Got 3/2"),
        ("U0 | TRUE", "  U0 | TRUE\n       ^", 'Found TRUE; write true, or "TRUE" for a predicate'),
        ("A True > 2", "  A True > 2\n    ^", 'Found True; write true, or "True" for a predicate'),
        ("!FALSE", "  !FALSE\n   ^", 'Found FALSE; write false, or "FALSE" for a predicate'),
        ("\tU0 &\t& U1", "   U0 & & U1\n        ^", "Expected a formula"),
        # What a terminal would obey, or no file could hold, is shown as an escape.
        ("U0 & \x1b[2J", "  U0 & \\u001b[2J\n       ^", "Found '.x1b'"),
        ('"\u202e\ud800" & U0', '  "\\u202e\\ud800" & U0\n  ^', "must be valid Unicode text"),
        ('"\x07" & &', '  "\\u0007" & &\n             ^', "Expected a formula"),
    ],
)  # fmt: skip
def test_syntax_errors_show_the_place(text: str, line: str, message: str) -> None:
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    shown = str(caught.value)
    assert re.search(message, shown, re.DOTALL), shown
    assert line in shown, shown


def test_a_long_line_is_cut_around_the_place() -> None:
    text = " & ".join(["U0"] * 1000) + " & & U1"
    with pytest.raises(FormulaSyntaxError) as caught:
        parse(text)
    assert max(map(len, str(caught.value).splitlines())) < 150


def test_parse_wants_text() -> None:
    with pytest.raises(TypeError, match="Got int instead"):
        parse(3)  # type: ignore[arg-type]


def test_deep_nesting_needs_no_recursion() -> None:
    depth = 3000
    text = "A(" * depth + "U0" + ") > 0" * depth
    formula = parse(text)
    assert formula.modal_depth == depth
    assert parse(str(formula)) is formula
    assert len(formula.to_english()) < 200 * depth


@settings(max_examples=100, deadline=None)
@given(formula=formulas(names=ODD_NAMES, relations=RELATIONS))
def test_latex_is_balanced_and_escaped(formula: Formula) -> None:
    latex = to_latex(formula)
    plain = latex.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert not re.search(r"(?<!\\)[$#%&]", latex)


def test_latex_of_alike_names_differs() -> None:
    names = ("U0", "U_0", "A1", "I1", "a|b", "a b")
    assert len({predicate(name).to_latex() for name in names}) == len(names)
    assert predicate("A1").to_latex() != (A["1"](TRUE) > 0).to_latex().partition(r"\,")[0]
    assert "|" not in predicate("a|b").to_latex()


def test_latex_of_the_paper() -> None:
    assert parse("1(A U0 > 1/2) > 3").to_latex() == r"1(A\,U_{0} > \tfrac{1}{2}) > 3"
    assert parse("A[r]^T true > 3")._repr_latex_() == r"$A_{\text{r}}^{T}\,\top > 3$"


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (A(predicate("U0")) > 6, "A U0 > 6"),
        (A(predicate("U0")) >= 6, "A U0 >= 6"),
        (A(predicate("U0")) < 6, "A U0 < 6"),
        (A(predicate("U0")) <= "1/2", "A U0 <= 1/2"),
        (A(predicate("U0")) == 2, "A U0 = 2"),
        (A(predicate("U0")) != 2, "A U0 != 2"),
        ((I + A)(TRUE) > 0.5, "I+A true > 1/2"),
        ((1 - I - A.T)(TRUE) > Fraction(1, 3), "1-I-A^T true > 1/3"),
        ((1 - A["r"])(TRUE) > "50%", "1-A[r] true > 1/2"),
        ((A | A.T)(TRUE) > 1, "A|A^T true > 1"),
        ((A["r"] | A["r"].T)(TRUE) > 1, "A[r]|A[r]^T true > 1"),
        (ALL(~predicate("U0") & predicate("U1")) > 1, "1(!U0 & U1) > 1"),
        (A(FALSE) > -1, "true"),
        (A(TRUE) > 0.312, "A true > 39/125"),
    ],
)
def test_python_operators_build_the_same_formulas(built: Formula, text: str) -> None:
    assert built is parse(text)


def test_python_operators_refuse_nonsense() -> None:
    with pytest.raises(FormulaError, match="would count nodes twice"):
        I + I
    with pytest.raises(FormulaError, match="not there"):
        A - I
    with pytest.raises(FormulaError, match="different edges"):
        (1 - A.T) - (1 - I - A)
    with pytest.raises(FormulaError, match=r"Only A \| A\.T"):
        A | I
    with pytest.raises(TypeError, match=r"\(a < A\(phi\)\) & \(A\(phi\) < b\)"):
        _ = 1 < A(TRUE) < 3
    with pytest.raises(TypeError, match="compare it"):
        bool(A(TRUE))
    with pytest.raises(TypeError, match="no truth value"):
        bool(TRUE)
    with pytest.raises(TypeError, match="Got str instead"):
        A("U0")  # type: ignore[arg-type]
    with pytest.raises(FormulaError, match="between 0 and 1"):
        _ = A(TRUE) > 1.5
    for large in (10**5000, Fraction(1, 10**5000)):
        with pytest.raises(FormulaError, match="digits"):
            _ = A(TRUE) > large
    with pytest.raises(FormulaError, match="Only A without a relation"):
        I["r"]
    with pytest.raises(FormulaError, match="Only A without a relation"):
        A["r"]["s"]
    for unclear in (1.0, 0.0, np.float32(1), Decimal("1.0"), "1.0", " 0. "):
        with pytest.raises(FormulaError, match="may be a count or a share.* write [01] for the"):
            _ = A(TRUE) > unclear
    with pytest.raises(FormulaError, match=r"Got 2.0; write 2 for the count\."):
        _ = A(TRUE) > 2.0
    assert (A(TRUE) >= Fraction(1)) is parse("A true >= 100%")
    assert (A(TRUE) > np.float32(0.1)) is parse("A true > 1/10")
    for wrong in (float("nan"), None, True, "many", "1e-999999999", Decimal("1e-200000")):
        with pytest.raises(FormulaError, match="A threshold must"):
            _ = A(TRUE) > wrong


def rows(*nodes: str) -> str:
    """Return a document with these nodes."""
    return f'{{"format": "gnn2logic.formula", "version": 1, "nodes": [{", ".join(nodes)}]}}'


def neighbours_more_than(threshold: str) -> str:
    return rows(
        '{"op": "true"}', f'{{"op": "modal", "set": "A", "of": 0, "more_than": {threshold}}}'
    )


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not a formula document"),
        ("[]", "Expected `object`"),
        (rows(), "at least one node"),
        (rows('{"op": "true"}').replace('"version": 1', '"version": 9'), "version 9"),
        (rows('{"op": "xor"}').replace('"version": 1', '"version": 9'), "version 9"),
        (rows('{"op": "true"}').replace("gnn2logic.formula", "x"), "format"),
        (rows().replace("{", '{"version": 1, ', 1), "'version' twice"),
        (rows('{"op": "eval"}'), "eval"),
        (rows('{"op": "not", "of": 0}'), "earlier row. Got 0"),
        (rows('{"op": "true"}', '{"op": "and", "of": [-1]}'), "earlier row. Got -1"),
        (rows('{"op": "true", "x": 1}'), "unknown field `x`"),
        (rows('{"op": "predicate", "name": ""}'), "must not be empty"),
        (neighbours_more_than('"3/2"'), "between 0 and 1"),
        (neighbours_more_than('"1/0"'), "not a fraction"),
        (neighbours_more_than('"half"'), "'a/q'"),
        (neighbours_more_than("-1"), ">= 0"),
        (neighbours_more_than("1.5"), "Expected `int | str`"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": NaN}', "NaN"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_bad_documents(document: str | bytes, message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        from_json(document)
