"""What a search for a graph found, whichever way it searched."""

from __future__ import annotations

from dataclasses import dataclass

from gnn2logic.graphs.batch import GraphBatch

__all__ = ["SearchOutcome", "Witness"]


@dataclass(frozen=True)
class Witness:
    """A graph and a node of it that satisfies what was searched for."""

    graph: GraphBatch
    node: int
    smallest: bool


@dataclass(frozen=True)
class SearchOutcome:
    """The outcome of a search.

    Parameters
    ----------
    witness : Witness or None
    proven_nodes : int
        No graph with at most so many nodes has a node that satisfies what was searched for.
    n_graphs : int
        The number of graphs that were evaluated one by one.
    finished : bool
        False if time ran out before the search was over.
    """

    witness: Witness | None
    proven_nodes: int
    n_graphs: int
    finished: bool
