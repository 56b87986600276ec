"""Longer rules: a small tree gets one condition after the other where it helps most.

Small trees are the best of their shape. Where three conditions are not enough, a leaf at a time is
divided by the condition of the library that explains most for its price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.conditions import ConditionLibrary
from gnn2logic.learning.search.rules import Branch, Leaf, leaves_of

__all__ = ["TreeGrower"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


# For every condition: what it explains, less than anything where it may not divide; the classes
# where it is true and where it is false.
_Divisions = tuple[FloatArray, IntArray, IntArray]


@dataclass(frozen=True)
class _Division:
    value: float
    gain: float
    leaf: int
    condition: int
    if_true: int
    if_false: int


class TreeGrower:
    """Divides leaves.

    Sums are whole numbers below 2 ** 53, so that no order of additions changes them.

    Parameters
    ----------
    library : ConditionLibrary
        Not empty.
    targets : array of int, shape (n_rows, n_targets)
    classes, weights : array of int, shape (n_rows,)
    n_classes : int
    least_weight : int
        What must be in each leaf.
    label : callable, optional
        What a leaf with some rows says, where that is no class.
    """

    def __init__(
        self,
        library: ConditionLibrary,
        rows: IntArray,
        targets: IntArray,
        classes: IntArray,
        weights: IntArray,
        *,
        n_classes: int,
        least_weight: int,
        label: Callable[[IntArray], int] | None = None,
    ) -> None:
        self._label = label
        self._library, self._rows, self._least_weight = library, rows, least_weight
        self._truths = library.truths()
        self._n_targets = targets.shape[1]
        weighted = targets * weights[:, None]
        # Columns: weighted targets, the weight of every class, all weight.
        self._sums = np.column_stack(
            [weighted, np.eye(n_classes, dtype=np.int64)[classes] * weights[:, None], weights]
        ).astype(np.float64)
        total = self._sums.sum(axis=0)
        base = float((total[: self._n_targets] ** 2).sum() / total[-1])
        self._variance = float((weighted * targets).sum()) - base
        # Trees of several prices have leaves in common.
        self._divided: dict[bytes, _Divisions] = {}

    def grow(
        self, tree: Branch | Leaf, fit: float, *, price: float, most_leaves: int, n_all: int
    ) -> Iterator[tuple[Branch | Leaf, float]]:
        """Give a tree with one leaf more each time, with what it explains.

        Parameters
        ----------
        fit : float
            The share of the variance that the tree explains.
        price : float
            The share that a symbol must explain.
        n_all : int
            How many rows conditions were evaluated on.
        """
        while True:
            leaves = list(leaves_of(tree, np.ones(n_all, dtype=bool)))
            if len(leaves) >= most_leaves:
                return
            divisions = [
                division
                for number, (_, member) in enumerate(leaves)
                if (division := self._best(number, member[self._rows], price)) is not None
            ]
            if not divisions:
                return
            best = max(divisions, key=lambda division: (division.value, -division.leaf))
            new = Branch(self._library[best.condition], Leaf(best.if_true), Leaf(best.if_false))
            tree = _with_leaf_replaced(tree, best.leaf, new)
            fit += best.gain
            yield tree, fit

    def _best(self, leaf: int, member: npt.NDArray[np.bool_], price: float) -> _Division | None:
        """Return the best way to divide a leaf into two of different labels."""
        key = np.packbits(member).tobytes()
        if key not in self._divided:
            self._divided[key] = self._divisions(member)
        gains, labels_true, labels_false = self._divided[key]
        values = gains - price * self._library.sizes
        condition = int(values.argmax())
        if not values[condition] > 0:
            return None
        if self._label is None:
            labels = int(labels_true[condition]), int(labels_false[condition])
        else:
            holds, here = self._truths[condition, member], self._rows[member]
            labels = self._label(here[holds]), self._label(here[~holds])
            if labels[0] == labels[1]:
                return None
        return _Division(
            float(values[condition]), float(gains[condition]), leaf, condition, *labels
        )

    def _divisions(self, member: npt.NDArray[np.bool_]) -> _Divisions:
        """Return what every condition explains in a leaf, and the classes on its two sides."""
        sums = self._sums[member]
        total = sums.sum(axis=0)
        true = self._truths[:, member].astype(np.float64) @ sums
        false = total - true
        fits = (true[:, -1] >= self._least_weight) & (false[:, -1] >= self._least_weight)
        labels_true = true[:, self._n_targets : -1].argmax(axis=1)
        labels_false = false[:, self._n_targets : -1].argmax(axis=1)
        if self._label is None:
            fits &= labels_true != labels_false
        explained = self._explained(true) + self._explained(false)
        gains = (explained - self._explained(total[None])) / self._variance
        return np.where(fits, gains, -np.inf), labels_true, labels_false

    def _explained(self, sums: FloatArray) -> FloatArray:
        squares = (sums[:, : self._n_targets] ** 2).sum(axis=1)
        return np.asarray(squares / np.maximum(sums[:, -1], 1))


def _with_leaf_replaced(tree: Branch | Leaf, number: int, new: Branch) -> Branch | Leaf:
    """Return a tree whose leaf of a number, the true side counted first, is a branch."""
    if isinstance(tree, Leaf):
        return new
    n_true = sum(1 for _ in _leaf_nodes(tree.if_true))
    if number < n_true:
        return Branch(tree.condition, _with_leaf_replaced(tree.if_true, number, new), tree.if_false)
    return Branch(
        tree.condition, tree.if_true, _with_leaf_replaced(tree.if_false, number - n_true, new)
    )


def _leaf_nodes(tree: Branch | Leaf) -> Iterator[Leaf]:
    if isinstance(tree, Leaf):
        yield tree
    else:
        yield from _leaf_nodes(tree.if_true)
        yield from _leaf_nodes(tree.if_false)
