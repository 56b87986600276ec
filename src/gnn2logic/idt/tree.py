"""One decision tree whose splits are modal counting formulas."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import Formula, Threshold, conjunction, disjunction, modal, negation

__all__ = ["Decide", "Split", "Tree"]

# Up to this many leaves it is quicker to decide all splits at all rows than to follow the rows.
_SMALL = 8


@dataclass(frozen=True, slots=True)
class Split:
    """The decision ``S chi > t`` about column number `column`."""

    column: int
    modality: Modality
    threshold: Threshold

    def formula(self, columns: Sequence[Formula]) -> Formula:
        """Return the decision as a formula, given what the columns mean."""
        return modal(self.modality, columns[self.column], self.threshold)


Decide = Callable[[Split, npt.NDArray[np.int64] | None], npt.NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary decision tree; node 0 is the root, children come after their parent.

    Parameters
    ----------
    splits : tuple of Split or None
        The decision of every node, None at leaves.
    false_child, true_child : tuple of int
        Where the decision leads; -1 at leaves.
    values : array of shape (n_nodes, n_outputs)
        The mean target of the training rows at each node.
    weights : array of shape (n_nodes,)
        Their total weight.
    """

    splits: tuple[Split | None, ...]
    false_child: tuple[int, ...]
    true_child: tuple[int, ...]
    values: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]

    @property
    def n_nodes(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.splits)

    @property
    def leaves(self) -> tuple[int, ...]:
        """The leaf nodes from left (False) to right (True)."""
        leaves, stack = [], [0]
        while stack:
            node = stack.pop()
            if self.splits[node] is None:
                leaves.append(node)
            else:
                stack.extend((self.true_child[node], self.false_child[node]))
        return tuple(leaves)

    @property
    def subtrees(self) -> list[tuple[int, ...]]:
        """The leaves below every inner node, by position, in the order of the nodes."""
        position = {leaf: number for number, leaf in enumerate(self.leaves)}
        below: dict[int, tuple[int, ...]] = {}
        for node in reversed(range(self.n_nodes)):
            if self.splits[node] is None:
                below[node] = (position[node],)
            else:
                below[node] = below[self.false_child[node]] + below[self.true_child[node]]
        return [below[n] for n, split in enumerate(self.splits) if split is not None]

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return sum(split is None for split in self.splits)

    @property
    def depth(self) -> int:
        """The largest number of decisions on one path."""
        depths = [0] * self.n_nodes
        for node, split in enumerate(self.splits):
            if split is not None:
                for child in (self.false_child[node], self.true_child[node]):
                    depths[child] = depths[node] + 1
        return max(depths)

    def route(self, n_rows: int, decide: Decide) -> npt.NDArray[np.integer[Any]]:
        """Return the position of the leaf that each row reaches, counted from left to right.

        Parameters
        ----------
        n_rows : int
        decide : callable
            Returns the truth of a split at the given rows, or at all rows for None.
        """
        position = {leaf: number for number, leaf in enumerate(self.leaves)}
        if self.n_leaves <= _SMALL:
            return self._route_all(n_rows, decide, position)
        reached = np.empty(n_rows, dtype=np.int64)
        stack = [(0, np.arange(n_rows))]
        while stack:
            node, rows = stack.pop()
            split = self.splits[node]
            if split is None:
                reached[rows] = position[node]
            elif len(rows):
                truth = decide(split, rows)
                stack.append((self.true_child[node], rows[truth]))
                stack.append((self.false_child[node], rows[~truth]))
        return reached

    @staticmethod
    def among(
        reached: npt.NDArray[np.integer[Any]], leaves: Sequence[int]
    ) -> npt.NDArray[np.bool_]:
        """Return which of the positions that `route` gave are among the given leaves."""
        if reached.dtype == np.uint8:
            # A set of at most eight leaves is one byte; its bits are quicker than a table.
            mask = np.uint8(sum(1 << leaf for leaf in leaves))
            return ((mask >> reached) & np.uint8(1)).view(np.bool_)
        return np.isin(reached, list(leaves))

    def _route_all(
        self, n_rows: int, decide: Decide, position: dict[int, int]
    ) -> npt.NDArray[np.integer[Any]]:
        """Decide every split at all rows, from the leaves up: no row is ever looked up."""
        reached: dict[int, Any] = {node: np.uint8(number) for node, number in position.items()}
        for node in reversed(range(self.n_nodes)):
            split = self.splits[node]
            if split is not None:
                low, high = reached.pop(self.false_child[node]), reached.pop(self.true_child[node])
                # All ones where the decision is true; much quicker than np.where.
                mask = -decide(split, None).view(np.uint8)
                reached[node] = low ^ ((low ^ high) & mask)
        return np.broadcast_to(np.asarray(reached[0], dtype=np.uint8), (n_rows,))

    def node_sums(self, leaf_values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sum of the values of the leaves below every node, given those of the leaves.

        Parameters
        ----------
        leaf_values : array of shape (n_leaves, n_outputs)
            From left to right.
        """
        values = np.zeros((self.n_nodes, leaf_values.shape[1]))
        values[list(self.leaves)] = leaf_values
        # Children come after their parents.
        for node in reversed(range(self.n_nodes)):
            if self.splits[node] is not None:
                values[node] = values[self.false_child[node]] + values[self.true_child[node]]
        return values

    def cut(self, nodes: Collection[int]) -> Tree:
        """Return the tree with the given nodes as leaves and nothing below them."""
        origin: list[int] = []
        children: list[list[int]] = []
        stack = [(0, -1, 0)]
        while stack:
            node, parent, side = stack.pop()
            number = len(origin)
            origin.append(node)
            children.append([-1, -1])
            if parent >= 0:
                children[parent][side] = number
            if self.splits[node] is not None and node not in nodes:
                stack.append((self.true_child[node], number, 1))
                stack.append((self.false_child[node], number, 0))
        return Tree(
            tuple(
                self.splits[node] if low >= 0 else None
                for node, (low, _) in zip(origin, children, strict=True)
            ),
            tuple(low for low, _ in children),
            tuple(high for _, high in children),
            self.values[origin],
            self.weights[origin],
        )

    def paths(self) -> list[list[tuple[Split, bool]]]:
        """Return the decisions on the way to each leaf, from left to right."""
        paths: list[list[tuple[Split, bool]]] = []
        stack: list[tuple[int, list[tuple[Split, bool]]]] = [(0, [])]
        while stack:
            node, path = stack.pop()
            split = self.splits[node]
            if split is None:
                paths.append(path)
            else:
                stack.append((self.true_child[node], [*path, (split, True)]))
                stack.append((self.false_child[node], [*path, (split, False)]))
        return paths

    def leaf_formula(self, members: Sequence[int], columns: Sequence[Formula]) -> Formula:
        """Return chi_M of a set of leaves, given by position: the disjunction of their paths."""
        paths = self.paths()
        return disjunction(
            conjunction(
                formula if value else negation(formula)
                for formula, value in ((s.formula(columns), v) for s, v in paths[member])
            )
            for member in members
        )
