"""Names for long parts of formulas: every line is short, and together they say the same."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings

from gnn2logic.logic import Formula, parse
from gnn2logic.logic.printing.steps import LONGEST_LINE, ShortNames, in_steps
from strategies import formulas

# 39 to 76 comparisons of counts in four steps, as it was learned from BAMultiShapes.
SHAPES = (
    "11 <= 1(A(A true < 6 & I+A(A true < 6 & I+A(A true < 6) > 2) <= 2/3) < 5 & "
    "I+A(A true < 6 & I+A(A true < 6 & I+A(2 <= A true <= 5) < 2) = 0) > 2) <= 19"
)


def written_out(kinds: ShortNames, formula: Formula) -> str:
    """Return a formula as text, with what the names mean in their place."""
    texts = {name: kinds.logic(part) for part, name in kinds.names.items()}

    def meaning(match: re.Match[str]) -> str:
        return f"({re.sub(pattern, meaning, texts[match[1]])})"

    pattern = r"\(([a-z]+)\)"
    return re.sub(pattern, meaning, kinds.logic(formula))


@settings(max_examples=150, deadline=None)
@given(formulas(max_steps=14))
def test_nothing_is_lost(formula: Formula) -> None:
    kinds = ShortNames.of([formula])
    assert kinds.fit(formula)
    assert parse(written_out(kinds, formula)) is formula


def test_a_learned_rule_in_steps() -> None:
    rule = parse(SHAPES)
    kinds = ShortNames.of([rule], short=100)
    assert kinds.words(rule) == "between 11 and 19 nodes are in group (a)"
    assert kinds.logic(rule) == "11 <= 1 (a) <= 19"
    # What is made of others comes first, from left to right.
    assert [kinds.logic(part) for part in kinds.names] == [
        "A (b) < 5 & I+A (d) > 2",
        "A true < 6 & I+A (c) <= 2/3",
        "A true < 6 & I+A(A true < 6) > 2",
        "A true < 6 & I+A (e) = 0",
        "A true < 6 & I+A(2 <= A true <= 5) < 2",
    ]
    assert list(kinds.names.values()) == list("abcde")
    assert parse(written_out(kinds, rule)) is rule
    first, *steps = in_steps(rule).splitlines()
    assert first == kinds.words(rule)
    assert [line[2:5] for line in steps] == ["(a)", "(b)", "(c)", "(d)", "(e)"]
    assert max(map(len, steps)) <= 150


def test_short_sentences_need_no_names() -> None:
    short = parse("1(A U0 > 3 & I+A U1 > 2/5) > 1")
    assert ShortNames.of([short]).names
    assert in_steps(short) == short.to_english()


def test_what_a_sentence_combines_is_no_kind_of_node() -> None:
    """Parts about the whole graph stay in the sentence, however long it is."""
    parts = [f"1(A U{number % 2} > {number}) > {number}" for number in range(8)]
    rule = parse(" | ".join(f"({one} & {two})" for one, two in pairwise(parts)))
    assert ShortNames.of([rule]).names == {}
    assert "in group" not in in_steps(rule)


@pytest.mark.parametrize("outermost", ["", "1"])
def test_a_formula_that_is_huge_as_a_tree_is_quick(outermost: str) -> None:
    formula = parse("U0")
    for number in range(60):
        one = f"{outermost or 'A'}(U1) > {number}"
        formula = (formula & parse(one)) | (~formula & parse(f"A U0 > {number}"))
    assert formula.size > 10**12
    kinds = ShortNames.of([formula])
    assert sum(map(len, in_steps(formula).splitlines())) < 10**6
    assert kinds.fit(formula)
    assert not ShortNames({}).fit(formula)


def large_graph_rule() -> Formula:
    """Return a rule about graphs that is too long for one sentence."""
    parts = [parse(f"1(A U{number % 2} > {number}) > {number}") for number in range(40)]
    rule = parts[0]
    for number in range(1, 40):
        rule = (rule & parts[number]) | (~rule & parts[number * 7 % 40])
    return rule


def test_a_large_rule_about_graphs_is_not_about_a_node() -> None:
    rule = large_graph_rule()
    assert rule.size > 10**9
    for text in (in_steps(rule), rule.to_english()):
        assert "the node" not in text
        assert "kind" not in text
        assert "in a graph" not in text
        # What holds is said as often as it is used, and defined once.
        used = set(re.findall(r"condition \((\w+)\) holds", text))
        defined = re.findall(r"^(?:  |Condition )\((\w+)\) ", text, flags=re.MULTILINE)
        assert len(defined) == len(set(defined))
        assert used == set(defined)


def test_a_counted_part_may_be_about_the_graph() -> None:
    wide = " & ".join(f"1(A U{number % 2} > {number}) > {number}" for number in range(6))
    rule = parse(f"1(U0 & A({wide}) > 2) > 3")
    first, *steps = in_steps(rule).splitlines()
    assert first.endswith("neighbours in a graph where condition (a) holds")
    assert steps[0].startswith("  (a) ")
    assert "in group" not in in_steps(rule)
    node = parse(f"U0 & ({wide})")
    assert in_steps(node).startswith("the node is U0, and is in a graph ")


def test_what_is_repeated_is_explained_once() -> None:
    busy = "A(A true > 1) > 2"
    lines = [
        parse(f"1(A({busy}) > 1/3) > 7"),
        parse(f"1({busy}) > 1/4"),
        parse(f"1(U0 & !({busy})) > 2"),
    ]
    kinds = ShortNames.of(lines, longest=LONGEST_LINE)
    assert [kinds.words(line) for line in lines] == [
        "there are more than 7 nodes where more than a third of their neighbours are in group (a)",
        "more than a quarter of the nodes are in group (a)",
        "more than 2 nodes are U0 and not in group (a)",
    ]
    meaning = "nodes that have more than 2 neighbours with more than 1 neighbour"
    assert [line.strip() for line in kinds.lines()] == [f"(a) {meaning}"]
    for line in lines:
        assert parse(written_out(kinds, line)) is line
    assert ShortNames.of(lines[1:2], longest=LONGEST_LINE).names == {}


def test_neighbours_of_neighbours_of_neighbours_have_a_name() -> None:
    two = parse("1(A(A true > 6) > 1/2) > 6")
    assert in_steps(two) == two.to_english()
    three = parse("1(A(U0 & A(A true > 6) > 1/2) > 1) > 6")
    first, *steps = in_steps(three).splitlines()
    assert first == "more than 6 nodes have more than 1 neighbour in group (a)"
    assert steps == [
        "  (a) nodes that are U0, and have more than half of their neighbours with more than 6 "
        "neighbours"
    ]
    # Whatever else is around, nobody reads three steps at once.
    for text in in_steps(parse(SHAPES)).splitlines():
        assert len(re.findall(r"neighbours?\b", text.replace("and their neighbours", ""))) < 4
