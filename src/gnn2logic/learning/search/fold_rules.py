"""Rules of folds, as rules of all rows.

Each fold has searched most of the rows, and has come upon other rules. What one of them says about
all rows may be right more often than any rule that was found on all of them: a search cannot try
everything, and where it turns off a little chance decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.rule_search import SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import (
    Branch,
    Leaf,
    SearchedRule,
    best_for_size,
    branch,
)

__all__ = ["rules_of_folds"]

IntArray = npt.NDArray[np.int64]

_ROUNDING = 1e-9


def rules_of_folds(
    fronts: Sequence[Sequence[SearchedRule]],
    front: Sequence[SearchedRule],
    targets: SearchTargets,
    rows: IntArray,
    settings: SearchSettings,
    *,
    longest: int,
) -> list[SearchedRule]:
    """Return the rules of folds that are right more often than all of `front` that are not longer.

    There are none if one of `front` is right about all rows: there is no noise to be led astray by,
    and what is shorter by a symbol would be so by chance.

    Parameters
    ----------
    fronts : sequence
        The rules of every fold.
    rows : array of int
        All rows. What leaves say, and how much must be in them, is settled on these anew.
    longest : int
        Rules of more symbols are not looked at.
    """
    right = [_rightness(rule.tree, targets, rows) for rule in front]
    short = [index for index, rule in enumerate(front) if rule.size <= longest]
    if any(right[index] >= targets.weights[rows].sum() - _ROUNDING for index in short):
        return []
    on_all_rows = [
        learned
        for of_fold in fronts
        for rule in of_fold
        if rule.size <= longest
        and (learned := _on_all_rows(rule, targets, rows, settings)) is not None
    ]
    together = [*front, *on_all_rows]
    right += [_rightness(rule.tree, targets, rows) for rule in on_all_rows]
    best = best_for_size([rule.size for rule in together], right)
    return [together[index] for index in best if index >= len(front)]


def _on_all_rows(
    rule: SearchedRule, targets: SearchTargets, rows: IntArray, settings: SearchSettings
) -> SearchedRule | None:
    """Return a rule with leaves for all rows; None if it is constant or tells too few apart."""
    for condition in rule.conditions:
        n_true = int(np.count_nonzero(condition.truth[rows]))
        if min(n_true, len(rows) - n_true) < settings.least_rows:
            return None
    for _, here in _leaf_rows(rule.tree, rows):
        if targets.weights[here].sum() < settings.least_weight:
            return None
    tree = _with_labels(rule.tree, targets, rows)
    if isinstance(tree, Leaf):
        return None
    return targets.rule(tree, _explained(tree, targets, rows))


def _with_labels(tree: Branch | Leaf, targets: SearchTargets, rows: IntArray) -> Branch | Leaf:
    """Return a tree whose leaves say what is best for some rows."""
    if isinstance(tree, Leaf):
        return Leaf(targets.label(rows))
    true = tree.condition.truth[rows]
    return branch(
        tree.condition,
        _with_labels(tree.if_true, targets, rows[true]),
        _with_labels(tree.if_false, targets, rows[~true]),
    )


def _leaf_rows(tree: Branch | Leaf, rows: IntArray) -> Iterator[tuple[Leaf, IntArray]]:
    """Give the leaves of a tree with the rows that reach them."""
    if isinstance(tree, Leaf):
        yield tree, rows
        return
    true = tree.condition.truth[rows]
    yield from _leaf_rows(tree.if_true, rows[true])
    yield from _leaf_rows(tree.if_false, rows[~true])


def _rightness(tree: Branch | Leaf, targets: SearchTargets, rows: IntArray) -> float:
    """Return the weight of the rows that a tree is right about."""
    right = 0.0
    for leaf, here in _leaf_rows(tree, rows):
        if len(here):
            labels = np.full(len(here), leaf.label)
            right += float(targets.weights[here] @ targets.rightness(labels, here))
    return right


def _explained(tree: Branch | Leaf, targets: SearchTargets, rows: IntArray) -> float:
    """Return the share of the variance of the targets that a tree explains."""

    def of_mean(here: IntArray) -> float:
        weights = targets.weights[here]
        return float(((weights @ targets.values[here]) ** 2).sum() / weights.sum())

    base = of_mean(rows)
    variance = float(targets.weights[rows] @ (targets.values[rows] ** 2).sum(axis=1)) - base
    return (sum(of_mean(here) for _, here in _leaf_rows(tree, rows)) - base) / variance
