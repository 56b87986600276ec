from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs import GraphBatch, Modality
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import (
    FALSE,
    TRUE,
    A,
    Formula,
    conjunction,
    disjunction,
    evaluate,
    parse,
    predicate,
)
from gnn2logic.logic.build import threshold_from
from gnn2logic.logic.printing.english import nodes_in_english
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.molecules import MoleculeNames
from gnn2logic.logic.syntax import Modal, modal, negation

Operator = tuple[Modality, str]

NOUNS = {"C": ("carbon atom", "carbon atoms"), "O": ("oxygen atom", "oxygen atoms")}

# Formulas whose texts use all the words that the printer knows.
SPOKEN = (
    "true", "false", "!(U0 & A U1 > 3)", "1(0 U0 > 0) > 1/2", "I U0 > 1", "1-A U0 = 2",
    "1-I U0 > 1", "1-I-A U0 != 1", "I+A U0 <= 1/2", "A[r]^T U0 = 0", "A|A^T(1 U0 > 3) > 2",
    "1(2 <= A U0 <= 4) > 1", "!(1 U0 > 3 & 1 U1 > 2)", "A U0 <= 3", "A !x=1 > 0", '1 "x > 3" > 1',
    '1(!"x > 3") > 1', "1 U0 > 1/3", "1 U0 > 2/3", "1 U0 > 3/4", "A atom=N > 2",
    "!(U0 | A U1 > 3)", "I+A U0 = 0",
)  # fmt: skip


def operators(*texts: str) -> list[Operator]:
    """Return modal parameters with thresholds from texts such as ``A > 1/2``."""
    found = []
    for text in texts:
        modality, bound = text.split(" > ")
        formula = parse(f"{modality} U0 > 0")
        assert isinstance(formula, Modal)
        found.append((formula.modality, bound))
    return found


def all_formulas(names: tuple[str, ...], modals: list[Operator], size: int) -> list[Formula]:
    """Return every formula over this vocabulary up to a size."""
    by_size: dict[int, dict[Formula, None]] = {
        1: dict.fromkeys([TRUE, FALSE, *map(predicate, names)])
    }
    for n in range(2, size + 1):
        found: dict[Formula, None] = {}
        for inner in by_size[n - 1]:
            found[negation(inner)] = None
            for modality, bound in modals:
                found[modal(modality, inner, threshold_from(bound))] = None
        for left in range(1, n - 1):
            for a, b in itertools.product(by_size[left], by_size[n - 1 - left]):
                found[conjunction((a, b))] = None
                found[disjunction((a, b))] = None
        by_size[n] = {formula: None for formula in found if formula.size == n}
    return [formula for group in by_size.values() for formula in group]


def trial_batch(names: tuple[str, ...], relations: tuple[str, ...] = ("r", "s")) -> GraphBatch:
    common = {
        "names": names,
        "random_state": 1,
        "loops": True,
        "max_multiplicity": 2,
        "relations": relations,
    }
    sizes = [1, 2, 3, 4, 5, 6, 7] * 12
    return GraphBatch.concat(
        [
            random_graphs(len(sizes), sizes=sizes, density=density, directed=directed, **common)  # type: ignore[arg-type]
            for density in (0.3, 0.7)
            for directed in (False, True)
        ]
    )


@pytest.mark.parametrize(
    ("names", "modals"),
    [
        (("U0",), ("A > 0", "A > 1", "A > 1/2", "1 > 0", "1 > 1/2")),
        (("U0", "U1"), ("A > 2", "1 > 1", "A > 1/3", "1-I > 0")),
        (("U0",), ("I > 0", "I > 1", "I > 1/2", "0 > 1/2", "A > 0")),
        (("U0",), ("1-I > 0", "1-A > 0", "I+A > 0", "1-I-A > 0", "A^T > 0")),
        (("U0",), ("1-I > 1/2", "1-A > 1/2", "I+A > 1/2", "1-I-A > 1/2", "I+A^T > 1/2")),
        (("U0",), ("A[r] > 0", "A[s]^T > 0", "A|A^T > 0", "A[r] > 1/2", "I+A[r] > 0")),
        (("C", "O"), ("A > 2", "1 > 1", "A > 1/3", "1-I > 0")),
        (("C", "U0"), ("A > 0", "1 > 1", "A[r] > 0", "I+A > 1")),
        (("C",), ("I > 0", "I > 1", "0 > 1/2", "1-A > 0", "A^T > 0")),
        (("x=1", "x=2"), ("A > 2", "1 > 1", "A > 1/3", "1-I > 0")),
        (("x=1", "x > 3"), ("A > 0", "1 > 1", "I+A > 1", "A > 1/2")),
    ],
)
def test_inequivalent_formulas_have_different_texts(
    names: tuple[str, ...], modals: tuple[str, ...]
) -> None:
    """All formulas of size up to 6 over each vocabulary."""
    assert_texts_differ(names, modals, NOUNS, trial_batch(names))


@pytest.mark.parametrize(
    ("names", "modals"),
    [
        (("carbon", "aromatic"), ("A > 0", "A > 1", "A > 1/2", "1 > 0")),
        (("carbon", "hydrogens=0"), ("A > 2", "1 > 1", "I+A > 0", "I+A > 1/2")),
        (("charge=+1",), ("I > 0", "I > 1/2", "1-A > 0", "1-I-A > 1", "1-I > 0")),
        (("ring=6", "U0"), ("A[double] > 0", "A[ring] > 1", "1 > 1/2", "A[r] > 0")),
        (("x=1", "metal"), ("A > 0", "1 > 1", "1-I-A > 1/2", "I+A > 1")),
    ],
)
def test_inequivalent_formulas_have_different_words_of_chemists(
    names: tuple[str, ...], modals: tuple[str, ...]
) -> None:
    batch = trial_batch(names, ("r", "double", "ring"))
    assert_texts_differ(names, modals, MoleculeNames(names), batch)


def assert_texts_differ(
    names: tuple[str, ...], modals: tuple[str, ...], words: Names, batch: GraphBatch
) -> None:
    by_text: dict[str, Formula] = {}
    total = 0
    for formula in all_formulas(names, operators(*modals), size=6):
        total += 1
        text = formula.to_english(words)
        other = by_text.setdefault(text, formula)
        if other is not formula:
            same = evaluate(formula, batch, level="node") == evaluate(other, batch, level="node")
            assert same.all(), f"{formula} and {other} both read: {text}"
    assert total > 10_000


def test_names_never_read_like_our_own_words() -> None:
    """A predicate or relation with any word of the printer's as its name keeps texts apart."""
    words = set(re.findall(r"[a-z]+", " ".join(parse(text).to_english() for text in SPOKEN)))
    seen: dict[str, Formula] = {}
    categories = [f"x={word}" for word in sorted(words)] + [f"{word}=x" for word in sorted(words)]
    for name in ["U0", *sorted(words), *categories, "not U0", "U0 and U1", "in group (1)", "x > 1"]:
        for formula in (
            predicate(name),
            A(predicate(name)) > 0,
            A[name](predicate("U0")) > 0,
            A[name](TRUE) > 1,
            ~predicate(name),
            predicate(name) & predicate("U1"),
        ):
            other = seen.setdefault(formula.to_english(), formula)
            assert other is formula, f"{formula} and {other}: {formula.to_english()}"
    for constant in (TRUE, FALSE, A(FALSE) > 0, A(TRUE) > 1):
        assert seen.setdefault(constant.to_english(), constant) is constant


@pytest.mark.parametrize(
    ("text", "english"),
    [
        (
            "1(A(A true > 6) > 1/2) > 1/2",
            "more than half of the nodes have more than half of their neighbours "
            "with more than 6 neighbours",
        ),
        ("1 true > 12", "there are more than 12 nodes"),
        ("1 U1 > 0.5", "more than half of the nodes are U1"),
        ("A true > 0", "the node has at least one neighbour"),
        ("A U0 = 0", "the node has no neighbours that are U0"),
        ("A U0 = 1", "the node has exactly 1 neighbour that is U0"),
        ("A U0 != 2", "the node has not exactly 2 neighbours that are U0"),
        ("3 <= A true <= 11", "the node has between 3 and 11 neighbours"),
        ("A true <= 2", "the node has at most 2 neighbours"),
        ("!U0 & U1", "the node is U1 and not U0"),
        ("1(A atom=7 > 1/3) > 39/125", "more than 31.2% of the nodes have more than a third of "
         "their neighbours with atom 7"),
        ("1 U0 > 7/13", "more than 7/13 (53.8%) of the nodes are U0"),
        ("1 U0 <= 3/4", "at most three quarters of the nodes are U0"),
        ("1(atom=C | atom=N) > 2", "more than 2 nodes are carbon atoms or nitrogen atoms"),
        ("1(colour=red | colour=blue) > 2", "more than 2 nodes have colour blue or red"),
        ("A !colour=red = 0", "the node has no neighbours without colour red"),
        ("1(symbol=Cl & A chem=C > 0) > 2", "more than 2 chlorine atoms have at least one "
         "neighbouring carbon atom"),
        ("1(symbol=C & !chem=C) > 2", "more than 2 nodes are not carbon atoms, and have symbol C"),
        ("I+A U0 > 2", "the node has more than 2 of itself and its neighbours that are U0"),
        ("1(I+A U0 = 0) > 2", "more than 2 nodes have none of themselves and their neighbours that "
         "are U0"),
        ("1(!(2 <= A true <= 5)) > 3", "more than 3 nodes do not have between 2 and 5 neighbours"),
        ("1(!(U0 | A U1 > 1)) > 3", "more than 3 nodes neither are U0, nor have more than 1 "
         "neighbour that is U1"),
        ('A "age > 3" > 1', "the node has more than 1 neighbour with age above 3"),
        ('!"age > 3" & U0', "the node is U0, and does not have age above 3"),
        ('1 "my age > 3" > 1', 'more than 1 node is "my age > 3"'),
        ("1 kind=of > 1", 'more than 1 node is kind=of'),
        ('1 "more than 2" > 1', 'more than 1 node is "more than 2"'),
        ("1 nodes > 2", 'more than 2 nodes are "nodes"'),
        ('A["a b"]^T true > 1', 'the node has more than 1 in-neighbour along "a b" edges'),
        ("A[bond=DOUBLE] U0 > 1", "the node has more than 1 neighbour along a double bond that is "
         "U0"),
        ("A[bond=double] U0 > 1 & A[double] U0 > 1", "the node has more than 1 neighbour along a "
         "double bond that is U0, and has more than 1 neighbour along double edges that is U0"),
        ("!(1 U0 > 3 | 1 U1 > 2)", "it is not the case that (more than 3 nodes are U0, or more "
         "than 2 nodes are U1)"),
        ("A(U0 & A true > 2) > 4", "the node has more than 4 neighbours that (are U0, and have "
         "more than 2 neighbours)"),
        ("1(I+A U0 <= 1/3 | I+A U0 > 3/4) > 8", "there are more than 8 nodes where at most a "
         "third or more than three quarters of the node and its neighbours are U0"),
        ("1(U1 & A(A U0 > 1/3) > 0) > 1/6", "more than a sixth of the nodes are U1, and have at "
         "least one neighbour where more than a third of its neighbours are U0"),
        ("2 <= A true <= 3", "the node has 2 or 3 neighbours"),
        ("1(A(U0 | A true > 2) > 1/2) > 3 & 1 U0 > 1", "more than 1 node is U0, and there are more "
         "than 3 nodes where more than half of their neighbours (are U0, or have more than 2 "
         "neighbours)"),
        ("A true = 0 | A true > 3 | U0", "the node is U0, or has 0 or more than 3 neighbours"),
        ("1 U0 > 3 & (1 U1 < 3 | 1 U1 > 6)", "more than 3 nodes are U0, and at most 2 or more than "
         "6 nodes are U1"),
        ("true", "always"),
        ("false", "never"),
    ],
)  # fmt: skip
def test_sentences(text: str, english: str) -> None:
    assert parse(text).to_english() == english


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("1 C > 2", "there are more than 2 carbon atoms"),
        ("1 C = 0", "there are no carbon atoms"),
        ("C", "the node is a carbon atom"),
        ("1 O > 1/2", "more than half of the nodes are oxygen atoms"),
        ("1(C & !O) > 1", "more than 1 carbon atom is not an oxygen atom"),
        ("1(C & A O > 1) > 2 & 1 O > 0", "there is at least one oxygen atom, and more than 2 "
         "carbon atoms have more than 1 neighbouring oxygen atom"),
        ("A(O & ring=6) > 1", "the node has more than 1 neighbouring oxygen atom that is in a ring "
         "of 6"),
        ("1(sour | C) > 2", "more than 2 nodes are carbon atoms or tasting sour"),
        ("A[=] O > 0", "the node has at least one neighbouring oxygen atom along a double bond"),
        ("A[-] sour > 0", "the node has at least one neighbour along single bonds that is tasting "
         "sour"),
        ("I+A C > 1/2", "the node has more than half carbon atoms among itself and its "
         "neighbours"),
        ("1(I+A C = 0) > 2", "more than 2 nodes have no carbon atoms among themselves and their "
         "neighbours"),
        ("1(A C <= 1/3) > 2", "there are more than 2 nodes where at most a third of their "
         "neighbours are carbon atoms"),
    ],
)  # fmt: skip
def test_words_that_are_given(text: str, english: str) -> None:
    names: dict[str, str | tuple[str, str]] = {
        **NOUNS,
        "sour": "tasting sour",
        "double": ("double bond", "double bonds"),
        "single": "single bonds",
    }
    formula = parse(text.replace("[=]", "[double]").replace("[-]", "[single]"))
    assert formula.to_english(names) == english


def test_what_nodes_are_called() -> None:
    assert nodes_in_english(parse("C"), names=NOUNS) == "carbon atoms"
    nodes = nodes_in_english(parse("C & A O > 0"), names=NOUNS)
    assert nodes == "carbon atoms that have at least one neighbouring oxygen atom"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"U0": "U1"}, "different words to different predicates.*'U[01]' and 'U[01]'"),
        ({"U0": "red", "U1": "red"}, "different words"),
        ({"U0": ("a", "b", "c")}, "one thing and several"),
        ({"U0": "two\nlines"}, "in one line"),
        ({"U0": 3}, "in one line"),
        ({"U0": "nodes"}, "do not use already"),
        ({"U0": ""}, "do not use already"),
        (["red"], "must be a mapping"),
    ],
)
def test_words_that_would_mislead_are_refused(names: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse("1(U0 & A U1 > 1) > 2").to_english(names)
