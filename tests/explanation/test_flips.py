"""The smallest change of counts against all counts in a range."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.explanation import explain
from gnn2logic.explanation.flips import CountChange, Situation, nearest_flips
from gnn2logic.graphs import Modality, from_edges
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic import TRUE, Formula, parse, predicate

COLUMNS = {0: TRUE, 1: predicate("U0"), 2: predicate("U1")}
LABELS = ("ant", "bee", "cat")
# Counts and thresholds are small, so the nearest counts are below this.
MOST = 16
ITSELF = Modality.from_set("I")
Term = tuple[Modality, Formula]


def tree_of(nodes: list[tuple[Split, int, int] | int]) -> Tree:
    """Return a tree from splits with their children (False, True), and classes at leaves."""
    values = np.zeros((len(nodes), len(LABELS)))
    for number, node in enumerate(nodes):
        if isinstance(node, int):
            values[number, node] = 1.0
    return Tree(
        tuple(None if isinstance(node, int) else node[0] for node in nodes),
        tuple(-1 if isinstance(node, int) else node[1] for node in nodes),
        tuple(-1 if isinstance(node, int) else node[2] for node in nodes),
        values,
        np.ones(len(nodes)),
    )


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Draw a tree about at most three terms."""
    terms = draw(
        st.lists(
            st.tuples(st.sampled_from([0, 1, 1, 2]), st.sampled_from(["1", "1", "A", "I"])),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    thresholds = st.one_of(
        st.integers(0, 4), st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)])
    )
    nodes: list[tuple[Split, int, int] | int] = []

    def grow(depth: int) -> int:
        here = len(nodes)
        nodes.append(draw(st.integers(0, len(LABELS) - 1)))
        if depth < 3 and draw(st.integers(0, 3)) > 0:
            column, name = draw(st.sampled_from(terms))
            split = Split(column, Modality.from_set(name), draw(thresholds))
            low = grow(depth + 1)
            nodes[here] = (split, low, grow(depth + 1))
        return here

    grow(0)
    return tree_of(nodes)


def reached(tree: Tree, counts: dict[Term, int], sizes: dict[Modality, int]) -> int:
    """Return the number of the leaf that counts lead to, counted from the left."""
    at = 0
    while (split := tree.splits[at]) is not None:
        count = counts[split.modality, COLUMNS[split.column]]
        size = counts.get((split.modality, TRUE), sizes[split.modality])
        factor = size if isinstance(split.threshold, Fraction) else 1
        true = count > split.threshold * factor
        at = (tree.true_child if true else tree.false_child)[at]
    return tree.leaves.index(at)


def cost_of(
    path: list[tuple[Split, bool]], counts: dict[Term, int], sizes: dict[Modality, int]
) -> int | None:
    """Return how far the nearest counts on a path are, by trying all of them; None if none are.

    Sets keep their size if that is possible, unless the tree counts all that is in them.
    """
    total = 0
    for modality in dict.fromkeys(split.modality for split, _ in path):
        demands = [(split, value) for split, value in path if split.modality == modality]
        inner = [own for where, own in counts if where == modality and own is not TRUE]
        size = sizes[modality]
        costs: dict[int, int] = {}
        for other in [size] if modality == ITSELF else range(MOST + 1):
            if other < size and (modality, TRUE) not in counts:
                continue
            for values in product(range(other + 1), repeat=len(inner)):
                new = {TRUE: other, **dict(zip(inner, values, strict=True))}
                if all(holds(split, new, other) == value for split, value in demands):
                    cost = sum(abs(new[own] - counts[modality, own]) for own in inner)
                    cost += abs(other - size)
                    costs[other] = min(cost, costs.get(other, cost))
        if not costs:
            return None
        is_fixed = (modality, TRUE) not in counts and size in costs
        total += costs[size] if is_fixed else min(costs.values())
    return total


def holds(split: Split, counts: dict[Formula, int], size: int) -> bool:
    factor = size if isinstance(split.threshold, Fraction) else 1
    return counts[COLUMNS[split.column]] > split.threshold * factor


def class_of(tree: Tree, leaf: int) -> int:
    return int(np.argmax(tree.values[tree.leaves[leaf]]))


@settings(max_examples=120, deadline=None)
@given(tree=trees(), data=st.data())
def test_no_smaller_change_gives_another_class(tree: Tree, data: st.DataObject) -> None:
    splits = [split for split in tree.splits if split is not None]
    sizes = {
        split.modality: 1 if split.modality == ITSELF else data.draw(st.integers(0, 6))
        for split in splits
    }
    counts: dict[Term, int] = {}
    for split in splits:
        inner, size = COLUMNS[split.column], sizes[split.modality]
        own = st.just(size) if inner is TRUE else st.integers(0, size)
        counts.setdefault((split.modality, inner), data.draw(own))
    leaf = reached(tree, counts, sizes)
    flips = nearest_flips(tree, Situation(COLUMNS, counts, sizes), leaf, LABELS)

    nearest: dict[str, int] = {}
    for other, path in enumerate(tree.paths()):
        label = LABELS[class_of(tree, other)]
        total = cost_of(path, counts, sizes)
        if class_of(tree, other) != class_of(tree, leaf) and total is not None:
            nearest[label] = min(total, nearest.get(label, total))
    assert {flip.label: flip.total for flip in flips} == nearest
    assert [flip.total for flip in flips] == sorted(nearest.values())
    for flip in flips:
        after, new_sizes = dict(counts), dict(sizes)
        for change in flip.changes:
            term = (change.modality, change.inner)
            size = sizes[change.modality]
            assert change.before == (size if change.inner is TRUE else counts[term])
            assert change.before != change.after
            if change.inner is TRUE:
                new_sizes[change.modality] = change.after
            if term in after:
                after[term] = change.after
        assert LABELS[class_of(tree, reached(tree, after, new_sizes))] == flip.label
        for (modality, _), count in after.items():
            assert count <= new_sizes[modality]


def test_splits_on_one_term_share_their_count() -> None:
    """An interval is left on its nearer side, and by one count only."""
    everything = Modality.from_set("1")
    tree = tree_of([(Split(1, everything, 2), 1, 2), 0, (Split(1, everything, 9), 3, 4), 1, 0])
    situation = Situation(COLUMNS, {(everything, COLUMNS[1]): 5}, {everything: 20})
    (flip,) = nearest_flips(tree, situation, 1, LABELS)
    assert (flip.label, flip.total) == ("ant", 3)
    assert [(change.before, change.after) for change in flip.changes] == [(5, 2)]


def test_a_share_follows_the_number_of_nodes() -> None:
    """One node more, and five are no longer more than half of ten."""
    everything = Modality.from_set("1")
    half = Split(1, everything, Fraction(1, 2))
    tree = tree_of([(Split(0, everything, 9), 1, 2), 0, (half, 3, 4), 0, 1])
    counts = {(everything, TRUE): 9, (everything, COLUMNS[1]): 5}
    (flip,) = nearest_flips(tree, Situation(COLUMNS, counts, {everything: 9}), 0, LABELS)
    # 5 of 9 are more than half; of 10 they are not, so one of the new kind is needed as well.
    assert {(change.inner, change.after) for change in flip.changes} == {
        (TRUE, 10),
        (COLUMNS[1], 6),
    }


def test_fewer_nodes_may_be_nearer_than_more_of_every_kind() -> None:
    """4 of 10 are less than half; 4 of 7 are more, and so for all kinds at once."""
    everything = Modality.from_set("1")
    columns = {0: TRUE, **{n: predicate(f"U{n}") for n in range(1, 5)}}
    nodes: list[tuple[Split, int, int] | int] = [(Split(0, everything, 0), 1, 2), 0]
    for column in range(1, 5):
        half = Split(column, everything, Fraction(1, 2))
        nodes += [(half, len(nodes) + 1, len(nodes) + 2), 0]
    tree = tree_of([*nodes, 1])
    counts = {(everything, inner): 10 if inner is TRUE else 4 for inner in columns.values()}
    (flip,) = nearest_flips(tree, Situation(columns, counts, {everything: 10}), 1, LABELS)
    assert [(change.inner, change.after) for change in flip.changes] == [(TRUE, 7)]


def test_paths_without_counts_are_not_offered() -> None:
    everything = Modality.from_set("1")
    # More than 5 and at most 3: nothing is.
    tree = tree_of([(Split(1, everything, 5), 1, 2), 0, (Split(1, everything, 3), 3, 4), 1, 0])
    situation = Situation(COLUMNS, {(everything, COLUMNS[1]): 7}, {everything: 9})
    assert nearest_flips(tree, situation, 2, LABELS) == ()
    # Nor can a node not be itself.
    itself = Modality.from_set("I")
    tree = tree_of([(Split(0, itself, 0), 1, 2), 0, 1])
    assert (
        nearest_flips(tree, Situation(COLUMNS, {(itself, TRUE): 1}, {itself: 1}), 1, LABELS) == ()
    )


def test_huge_thresholds_take_no_time() -> None:
    everything = Modality.from_set("1")
    huge = 10**100
    half = Split(1, everything, Fraction(1, 2))
    tree = tree_of([(Split(0, everything, huge), 1, 2), 0, (half, 3, 4), 1, 0])
    counts = {(everything, TRUE): 9, (everything, COLUMNS[1]): 5}
    (flip,) = nearest_flips(tree, Situation(COLUMNS, counts, {everything: 9}), 0, LABELS)
    assert flip.total == huge + 1 - 9


def test_changes_as_formulas() -> None:
    near = Modality.from_set("A")
    phi = predicate("U0")
    assert CountChange(near, phi, 3, 2).formula is parse("A U0 = 2")
    assert CountChange(near, phi, 3, 0).formula is parse("A U0 = 0")
    assert CountChange(Modality.from_set("I"), phi, 1, 0).formula is parse("!U0")
    assert CountChange(Modality.from_set("I"), phi, 0, 1).formula is phi
    assert CountChange(near, phi, 3, 0).difference == -3


def test_no_count_is_larger_than_its_set() -> None:
    """Of two nodes three cannot be marked: a third node is needed, and is said to be."""
    everything = Modality.from_set("1")
    tree = tree_of([(Split(1, everything, 2), 1, 2), 0, 1])
    situation = Situation(COLUMNS, {(everything, COLUMNS[1]): 1}, {everything: 2})
    (flip,) = nearest_flips(tree, situation, 0, LABELS)
    assert flip.total == 3
    assert {(change.inner, change.before, change.after) for change in flip.changes} == {
        (TRUE, 2, 3),
        (COLUMNS[1], 1, 3),
    }


def test_counts_that_nobody_asks_for_fit_into_a_smaller_set() -> None:
    """Five marked nodes are not among three nodes."""
    everything = Modality.from_set("1")
    tree = tree_of([(Split(0, everything, 3), 1, 2), 0, (Split(1, everything, 4), 3, 4), 1, 1])
    counts = {(everything, TRUE): 6, (everything, COLUMNS[1]): 5}
    (flip,) = nearest_flips(tree, Situation(COLUMNS, counts, {everything: 6}), 2, LABELS)
    assert {(change.inner, change.after) for change in flip.changes} == {
        (TRUE, 3),
        (COLUMNS[1], 3),
    }


def test_explain_says_how_many_nodes_are_needed() -> None:
    model = from_formulas({"yes": "1 U0 > 2"}, otherwise="no", names=["U0"])
    found = explain(model, from_edges([(0, 1)], 2, [[1], [0]], names=["U0"]))
    assert found.flip is not None
    assert {str(change.formula) for change in found.flip.changes} == {"1 true = 3", "1 U0 = 3"}
    assert "There are exactly 3 nodes (now 2)." in " ".join(str(found).split())
