"""One coloured graph of every isomorphism class.

Nodes of one colour stand next to each other, the larger groups first, so a colouring is a
partition of the number of nodes with a colour for every part. The graphs that go with a partition
are the orbits of all labelled graphs under the permutations that keep every group in place.

A labelled graph is a whole number whose bits are the places for edges. Its orbit is represented
by the smallest number in it. The first place is the highest bit, so the graph among all nodes but
the last is a representative too (of the partition without the last node): every representative
extends a smaller one. Large graphs whose nodes have one colour come from nauty's geng if it is
there, and are those that it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.logic.equivalence.geng import graphs_of_geng
from gnn2logic.logic.equivalence.result import Deadline
from gnn2logic.logic.equivalence.space import GraphSpace

__all__ = ["Representatives", "bit_matrix", "colourings"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Partition = tuple[int, ...]

# Rows times columns of the largest temporary matrix: 32 MB of float64.
_MATRIX_ENTRIES = 1 << 22


def bit_matrix(graphs: IntArray, n_slots: int) -> IntArray:
    """Return for every graph which places have an edge, shape (n_graphs, n_slots)."""
    shifts = np.arange(n_slots - 1, -1, -1, dtype=np.int64)
    return (graphs[:, None] >> shifts) & 1


class Representatives:
    """The representatives of every partition, made when asked for and kept."""

    def __init__(self, space: GraphSpace, deadline: Deadline) -> None:
        self._space = space
        self._deadline = deadline
        self._known: dict[Partition, IntArray] = {(): np.zeros(1, dtype=np.int64)}
        # Larger partitions do not extend these: they are no smallest numbers.
        self._of_geng: dict[int, IntArray] = {}

    def __call__(self, groups: Partition) -> IntArray:
        """Return one labelled graph of each orbit for groups of nodes of these sizes."""
        if len(groups) == 1 and groups not in self._known:
            (n_nodes,) = groups
            if n_nodes not in self._of_geng:
                graphs = graphs_of_geng(self._space, n_nodes, self._deadline)
                if graphs is None:
                    return self._smallest_of_orbits(groups)
                self._of_geng[n_nodes] = graphs
            return self._of_geng[n_nodes]
        return self._smallest_of_orbits(groups)

    def _smallest_of_orbits(self, groups: Partition) -> IntArray:
        prefixes = [groups]
        while prefixes[-1] not in self._known:
            *before, last = prefixes[-1]
            prefixes.append((*before, last - 1) if last > 1 else tuple(before))
        for smaller, larger in zip(prefixes[:0:-1], prefixes[-2::-1], strict=True):
            self._known[larger] = self._extend(self._known[smaller], larger)
        return self._known[groups]

    def _extend(self, smaller: IntArray, groups: Partition) -> IntArray:
        n_nodes = sum(groups)
        n_slots = len(self._space.slots(n_nodes))
        n_new = n_slots - len(self._space.slots(n_nodes - 1))
        if not n_slots:
            return smaller
        new_edges = np.arange(1 << n_new, dtype=np.int64)
        # Swapping two nodes already settles most graphs; the whole group settles the rest.
        swaps = self._images(_swaps(groups), n_nodes)
        everything = self._images(_group(groups), n_nodes)
        smallest = []
        for start in range(0, len(smaller), step := max(1, (1 << 15) >> n_new)):
            self._deadline.check()
            chunk = smaller[start : start + step]
            graphs = ((chunk[:, None] << n_new) | new_edges).ravel()
            smallest.append(self._smallest(self._smallest(graphs, swaps), everything))
        return np.concatenate(smallest)

    def _images(self, moves: IntArray, n_nodes: int) -> FloatArray:
        """Return the bit to which each permutation moves each place, (n_slots, n_permutations)."""
        slots = self._space.slots(n_nodes)
        slot_numbers = np.zeros((len(self._space.relations), n_nodes, n_nodes), dtype=np.int64)
        for number, (relation, source, target) in enumerate(slots):
            slot_numbers[relation, source, target] = number
            if self._space.symmetric:
                slot_numbers[relation, target, source] = number
        relations, sources, targets = np.array(slots).T
        moved = slot_numbers[relations, moves[:, sources], moves[:, targets]]
        images: FloatArray = np.exp2(len(slots) - 1 - moved.T)
        return images

    def _smallest(self, graphs: IntArray, images: FloatArray) -> IntArray:
        """Return the graphs that no permutation makes smaller."""
        n_slots, n_moves = images.shape
        if n_moves == 1:
            return graphs  # the identity alone
        columns = 1 << 10
        for start in range(0, n_moves, columns):
            block = images[:, start : start + columns]
            rows = max(1, _MATRIX_ENTRIES // block.shape[1])
            kept = []
            for first in range(0, len(graphs), rows):
                self._deadline.check()
                some = graphs[first : first + rows]
                # Bits are below 2**53, so these sums are exact.
                moved = bit_matrix(some, n_slots).astype(np.float64) @ block
                kept.append(some[(moved >= some[:, None]).all(axis=1)])
            graphs = np.concatenate(kept) if kept else graphs
        return graphs


def _blocks(groups: Partition) -> list[range]:
    ends = np.cumsum(groups).tolist()
    return [range(end - size, end) for size, end in zip(groups, ends, strict=True)]


def _swaps(groups: Partition) -> IntArray:
    moves = [list(range(sum(groups)))]
    for block in _blocks(groups):
        for first, second in combinations(block, 2):
            move = list(range(sum(groups)))
            move[first], move[second] = second, first
            moves.append(move)
    return np.array(moves, dtype=np.int64)


def _group(groups: Partition) -> IntArray:
    choices: Iterator[Any] = product(*(permutations(block) for block in _blocks(groups)))
    return np.array([sum(choice, ()) for choice in choices], dtype=np.int64)


def colourings(groups: Partition, n_colours: int) -> IntArray:
    """Return the ways to colour groups of nodes, shape (n_colourings, n_nodes).

    Groups have different colours; of two colourings that differ by exchanging groups of one size
    only one is there.

    >>> colourings((2, 1), 2)
    array([[0, 0, 1],
           [1, 1, 0]])
    >>> colourings((1, 1), 3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    chosen = np.zeros((1, 0), dtype=np.int64)
    for number, size in enumerate(groups):
        colour = np.tile(np.arange(n_colours, dtype=np.int64), len(chosen))
        longer = np.repeat(chosen, n_colours, axis=0)
        fits = (longer != colour[:, None]).all(axis=1)
        if number and groups[number - 1] == size:
            fits &= longer[:, -1] < colour
        chosen = np.column_stack([longer[fits], colour[fits]])
    return np.repeat(chosen, groups, axis=1)
