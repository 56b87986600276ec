"""Simple graphs of nauty's ``geng``, where it is installed: the same graphs as ours, much sooner.

Debian calls the program ``nauty-geng``. Its lines are in the format graph6: a character for the
number of nodes, then the upper triangle of the adjacency matrix, column by column, six bits in a
character. That is the order in which `GraphSpace` numbers the places for edges.
"""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import numpy.typing as npt

from gnn2logic.logic.equivalence.result import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.space import GraphSpace, count_graphs

__all__ = ["graphs_of_geng"]

_PROGRAMS = ("geng", "nauty-geng")
# Below this our own way takes less than a second. So what is shown of smaller graphs, and which of
# two equally small ones, is the same on every machine.
_FEWEST_NODES = 8
_BITS, _LOWEST_CHARACTER = 6, 63


def graphs_of_geng(
    space: GraphSpace, n_nodes: int, deadline: Deadline
) -> npt.NDArray[np.int64] | None:
    """Return all graphs of a size, one of each isomorphism class; None if geng is of no help.

    A program of that name that is another one, or fails, is of no help either: how many graphs
    there are is known.
    """
    suits = space.graph_class == "simple" and len(space.relations) == 1
    if not suits or n_nodes < _FEWEST_NODES:
        return None
    programs = [path for name in _PROGRAMS if (path := shutil.which(name)) is not None]
    if not programs:
        return None
    limit = None if deadline.remaining == float("inf") else deadline.remaining
    command = [programs[0], "-q", str(n_nodes)]
    try:
        lines = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, check=True
        ).stdout
    except subprocess.TimeoutExpired:
        raise OutOfTimeError from None
    except (OSError, subprocess.CalledProcessError):
        return None
    colourless = GraphSpace(space.graph_class, space.relations, ())
    graphs = _numbers(lines, n_nodes)
    return graphs if len(np.unique(graphs)) == count_graphs(colourless, n_nodes) else None


def _numbers(lines: bytes, n_nodes: int) -> npt.NDArray[np.int64]:
    """Return graphs as whole numbers whose bits are the places for edges; none if it is no list."""
    n_slots = n_nodes * (n_nodes - 1) // 2
    n_characters = -(-n_slots // _BITS)
    width = 1 + n_characters + 1
    text = np.frombuffer(lines, dtype=np.uint8)
    if len(text) % width:
        return np.zeros(0, dtype=np.int64)
    table = text.reshape(-1, width).astype(np.int64) - _LOWEST_CHARACTER
    bits = table[:, 1:-1]
    graph6 = (table[:, 0] == n_nodes).all() and (
        table[:, -1] == ord("\n") - _LOWEST_CHARACTER
    ).all()
    if not graph6 or (bits < 0).any() or (bits >= 1 << _BITS).any():
        return np.zeros(0, dtype=np.int64)
    shifts = _BITS * np.arange(n_characters - 1, -1, -1)
    numbers: npt.NDArray[np.int64] = (bits << shifts).sum(axis=1) >> (
        n_characters * _BITS - n_slots
    )
    return numbers
