"""The smallest change of the counts that leads to a leaf of another class.

The final tree sees a graph as some counts: how many nodes of eps_S satisfy chi, for each of its
terms ``S chi``. A path to a leaf is a box of such counts, so the nearest point of the box is found
one term at a time. Decisions about one term share its count, and no count is larger than its set.
The sizes of sets stay as they are, unless the tree counts ``S true`` (that count is the size) or
only a larger set has room for the counts.

This is about the counts of the final tree alone. Changing a graph may change several of them at
once, and not every combination of counts belongs to a graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from gnn2logic.explanation.path import GraphDecisions, largest_count
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.formulas import final_columns, leaf_classes
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.syntax import TRUE, Formula, Threshold, conjunction, modal, negation

__all__ = ["CountChange", "Flip", "Situation", "flips_at", "nearest_flips"]

Term = tuple[Modality, Formula]
Demands = dict[Formula, list[tuple[Threshold, bool]]]

# Sizes further away from the nearest possible one are not tried; no graph needs as many.
_REACH = 10_000
_ITSELF = Modality.from_set("I")


@dataclass(frozen=True)
class CountChange:
    """One count that is another one.

    Parameters
    ----------
    modality : Modality
    inner : Formula
        S and chi of the term: the nodes in eps_S that satisfy chi are counted.
    before, after : int
    """

    modality: Modality
    inner: Formula
    before: int
    after: int

    @property
    def difference(self) -> int:
        """How many more there are afterwards; negative for fewer."""
        return self.after - self.before

    @property
    def formula(self) -> Formula:
        """The new count as a formula: ``S chi = after``."""
        if self.modality == _ITSELF:
            return self.inner if self.after else negation(self.inner)
        at_most = negation(modal(self.modality, self.inner, self.after))
        if self.after == 0:
            return at_most
        return conjunction((modal(self.modality, self.inner, self.after - 1), at_most))


@dataclass(frozen=True)
class Flip:
    """Counts near those of the graph that the model gives another class.

    Parameters
    ----------
    label : object
        The other class.
    changes : tuple of CountChange
        The counts that differ; all others stay.
    """

    label: Any
    changes: tuple[CountChange, ...]

    @property
    def total(self) -> int:
        """The sum of all differences, without their signs."""
        return sum(abs(change.difference) for change in self.changes)


@dataclass(frozen=True)
class Situation:
    """All that the final tree sees of a graph.

    Parameters
    ----------
    formulas : mapping of column to Formula
        What the columns mean.
    counts : mapping of (Modality, Formula) to int
        The count of every term of the tree.
    sizes : mapping of Modality to int
        The sizes of the sets that are looked at.
    """

    formulas: Mapping[int, Formula]
    counts: Mapping[Term, int]
    sizes: Mapping[Modality, int]


def flips_at(
    decisions: GraphDecisions, row: int, leaf: int, labels: Sequence[Any]
) -> tuple[Flip, ...]:
    """Return what would lead a node from its leaf of the final tree to other classes."""
    formulas = final_columns(decisions.model)
    splits = [split for split in decisions.model.final.splits if split is not None]
    situation = Situation(
        formulas,
        {
            (split.modality, formulas[split.column]): int(decisions.count(split)[row])
            for split in splits
        },
        {split.modality: decisions.size(split, row) for split in splits},
    )
    return nearest_flips(decisions.model.final, situation, leaf, labels)


def nearest_flips(
    tree: Tree, situation: Situation, leaf: int, labels: Sequence[Any]
) -> tuple[Flip, ...]:
    """Return the smallest change of counts for every class that another leaf has, nearest first.

    Parameters
    ----------
    tree : Tree
        The final tree.
    situation : Situation
    leaf : int
        The leaf of the graph, counted from the left.
    labels : sequence
        The classes by number.
    """
    classes = leaf_classes(tree)
    best: dict[int, tuple[tuple[int, int, int], Flip]] = {}
    for number, path in enumerate(tree.paths()):
        leaf_class = classes[number]
        if leaf_class == classes[leaf]:
            continue
        changes = _nearest(path, situation)
        if changes is not None:
            flip = Flip(labels[leaf_class], changes)
            rank = (flip.total, len(changes), number)
            if leaf_class not in best or rank < best[leaf_class][0]:
                best[leaf_class] = (rank, flip)
    return tuple(flip for _, flip in sorted(best.values(), key=lambda entry: entry[0]))


def _nearest(
    path: Sequence[tuple[Split, bool]], situation: Situation
) -> tuple[CountChange, ...] | None:
    """Return the changes to the nearest counts on a path; None if no counts are on it."""
    by_modality: dict[Modality, Demands] = {}
    for split, value in path:
        demands = by_modality.setdefault(split.modality, {})
        inner = situation.formulas[split.column]
        threshold = split.threshold
        if inner is TRUE and isinstance(threshold, Fraction):
            # All of a set is more than a share of it as soon as there is anything.
            threshold = 0
        demands.setdefault(inner, []).append((threshold, value))
    changes: list[CountChange] = []
    for modality, demands in by_modality.items():
        nearest = _within(modality, demands, situation)
        if nearest is None:
            return None
        for inner, after in nearest.items():
            sizes, counts = situation.sizes, situation.counts
            before = sizes[modality] if inner is TRUE else counts[modality, inner]
            if after != before:
                changes.append(CountChange(modality, inner, before, after))
    return tuple(changes)


def _within(
    modality: Modality, demands: Demands, situation: Situation
) -> dict[Formula, int] | None:
    """Return the nearest counts of the terms of one modal parameter."""
    counts = {inner: n for (other, inner), n in situation.counts.items() if other == modality}
    size = situation.sizes[modality]
    # Counts that nothing is demanded of still have to fit into a smaller set.
    others = {inner: demands.get(inner, []) for inner in counts if inner is not TRUE}
    low, high = _interval(demands.get(TRUE, []), size)
    at_this_size = _at_size(others, counts, size)
    if not modality.neighbours and not modality.others:
        # The node itself is one node, whatever the graph is.
        return at_this_size if low <= size and (high is None or size <= high) else None
    if TRUE not in counts:
        if at_this_size is not None:
            return at_this_size
        low = size
    possible = _possible_sizes(others)
    if possible is None:
        return None
    low = max(low, possible[0])
    if possible[1] is not None:
        high = possible[1] if high is None else min(high, possible[1])
    if high is not None and high < low:
        return None
    best: dict[Formula, int] | None = None
    best_cost: int | None = None
    for step, other_size in _sizes_around(size, low, high):
        if best_cost is not None and step >= best_cost:
            break
        nearest = _at_size(others, counts, other_size)
        if nearest is not None:
            cost = step + sum(abs(after - counts[inner]) for inner, after in nearest.items())
            if best_cost is None or cost < best_cost:
                best, best_cost = {TRUE: other_size, **nearest}, cost
    return best


def _possible_sizes(demands: Demands) -> tuple[int, int | None] | None:
    """Return bounds of the sizes at which all demands can be met; None if there are none.

    Not all sizes within the bounds have to do, but for these there is an end to the search.
    """
    low, high = 0, None
    for asked in demands.values():
        upper_limits = [threshold for threshold, value in asked if not value]
        for lower in (threshold for threshold, value in asked if value):
            if isinstance(lower, Fraction) and lower >= 1:
                return None
            low = max(low, 1 if isinstance(lower, Fraction) else lower + 1)
            for upper in upper_limits:
                if upper == 0 or (type(lower) is type(upper) and lower >= upper):
                    return None
                if isinstance(upper, Fraction) and not isinstance(lower, Fraction):
                    low = max(low, ceil((lower + 1) / upper))
                elif isinstance(lower, Fraction) and not isinstance(upper, Fraction) and lower > 0:
                    most = ceil(upper / lower) - 1
                    high = most if high is None else min(high, most)
    return low, high


def _sizes_around(size: int, low: int, high: int | None) -> Iterator[tuple[int, int]]:
    """Yield sizes from `low` to `high`, nearest first, with their distances."""
    nearest = max(low, size if high is None else min(size, high))
    first = abs(nearest - size)
    for step in range(first, first + _REACH):
        in_reach = [
            other
            for other in ((size - step, size + step) if step else (size,))
            if other >= low and (high is None or other <= high)
        ]
        if not in_reach:
            # Both ends are behind us.
            return
        for other in in_reach:
            yield step, other


def _at_size(
    demands: Demands, counts: Mapping[Formula, int], size: int
) -> dict[Formula, int] | None:
    """Return the nearest counts that meet the demands if the set has a given size."""
    nearest: dict[Formula, int] = {}
    for inner, asked in demands.items():
        low, high = _interval(asked, size)
        most = size if high is None else min(high, size)
        if most < low:
            return None
        nearest[inner] = min(max(counts[inner], low), most)
    return nearest


def _interval(asked: Sequence[tuple[Threshold, bool]], size: int) -> tuple[int, int | None]:
    """Return the least and the largest count that meet all demands on one term."""
    low, high = 0, None
    for threshold, value in asked:
        limit = threshold if isinstance(threshold, int) else largest_count(threshold, size)
        if value:
            low = max(low, limit + 1)
        else:
            high = limit if high is None else min(high, limit)
    return low, high
