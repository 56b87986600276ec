from __future__ import annotations

import itertools
import re

import pytest

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
from gnn2logic.logic.syntax import Modal, modal, negation

Operator = tuple[Modality, str]

# Formulas whose texts use all the words that the printer knows.
SPOKEN = (
    "true", "false", "!(U0 & A U1 > 3)", "1(0 U0 > 0) > 1/2", "I U0 > 1", "1-A U0 = 2",
    "1-I U0 > 1", "1-I-A U0 != 1", "I+A U0 <= 1/2", "A[r]^T U0 = 0", "A|A^T(1 U0 > 3) > 2",
    "1(2 <= A U0 <= 4) > 1", "!(1 U0 > 3 & 1 U1 > 2)", "A U0 <= 3",
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


def trial_batch(names: tuple[str, ...]) -> GraphBatch:
    common = {
        "names": names,
        "random_state": 1,
        "loops": True,
        "max_multiplicity": 2,
        "relations": ("r", "s"),
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
    ],
)
def test_inequivalent_formulas_have_different_texts(
    names: tuple[str, ...], modals: tuple[str, ...]
) -> None:
    """All formulas of size up to 6 over each vocabulary."""
    batch = trial_batch(names)
    by_text: dict[str, Formula] = {}
    total = 0
    for formula in all_formulas(names, operators(*modals), size=6):
        total += 1
        other = by_text.setdefault(formula.to_english(), formula)
        if other is not formula:
            same = evaluate(formula, batch, level="node") == evaluate(other, batch, level="node")
            assert same.all(), f"{formula} and {other} both read: {formula.to_english()}"
    assert total > 10_000


def test_names_never_read_like_our_own_words() -> None:
    """A predicate or relation with any word of the printer's as its name keeps texts apart."""
    words = set(re.findall(r"[a-z]+", " ".join(parse(text).to_english() for text in SPOKEN)))
    seen: dict[str, Formula] = {}
    for name in ["U0", *sorted(words), "not U0", "U0 and U1", "of kind (1)"]:
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
        ("1(A atom=7 > 1/3) > 39/125", "more than 31.2% of the nodes have more than 1/3 of their "
         "neighbours that are atom=7"),
        ('1 "more than 2" > 1', 'more than 1 node is "more than 2"'),
        ("1 nodes > 2", 'more than 2 nodes are "nodes"'),
        ('A["a b"]^T true > 1', 'the node has more than 1 in-neighbour along "a b"'),
        ("!(1 U0 > 3 | 1 U1 > 2)", "it is not the case that (more than 3 nodes are U0, or more "
         "than 2 nodes are U1)"),
        ("A(U0 & A true > 2) > 4", "the node has more than 4 neighbours that (are U0, and have "
         "more than 2 neighbours)"),
        ("true", "the node exists"),
    ],
)  # fmt: skip
def test_sentences(text: str, english: str) -> None:
    assert parse(text).to_english() == english
