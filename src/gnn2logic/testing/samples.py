"""Small graphs with labels that a rule explains, for checks of estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs import GraphBatch, random_graphs
from gnn2logic.logic import parse

__all__ = ["Level", "Sample", "rows_of", "sample"]

Level = Literal["graph", "node"]

_RULES: dict[Level, tuple[str, str]] = {
    "graph": ("1 U1 > 1/2", "1 U0 > 2"),
    "node": ("U1 & A U0 > 0", "A true > 2"),
}


@dataclass(frozen=True)
class Sample:
    """Graphs and one label for each of them, or for each of their nodes.

    Parameters
    ----------
    graphs : GraphBatch
    y : array
    level : {"graph", "node"}
    """

    graphs: GraphBatch
    y: npt.NDArray[Any]
    level: Level

    def pairs(self) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Return every graph as an adjacency and a feature matrix, which can be written to."""
        return [
            (graph.adjacency.toarray(), graph.predicates.astype(np.int64)) for graph in self.graphs
        ]


def sample(level: Level, seed: int = 0, largest: int = 8) -> Sample:
    """Return 40 graphs of 1 to 8 nodes with three classes; every fifth label is wrong.

    Without errors a tree of two splits would know everything, and weights would change nothing.

    >>> sample("graph").graphs.n_graphs, sorted(set(sample("graph").y.tolist()))
    (40, [0, 1, 2])
    """
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[1], rng.integers(1, largest + 1, size=39)])
    graphs = random_graphs(40, sizes=sizes, density=0.4, random_state=rng)
    first, second = (parse(rule).evaluate(graphs, level=level) for rule in _RULES[level])
    y = np.where(first, 1, 2 * second).astype(np.int64)
    y[::5] = (y[::5] + 1) % 3
    return Sample(graphs, y, level)


def rows_of(graphs: GraphBatch, numbers: npt.NDArray[Any], level: Level) -> npt.NDArray[Any]:
    """Return the positions of the labels of some graphs, in the order of `numbers`."""
    if level == "graph":
        return numbers
    return np.concatenate([np.arange(graphs.ptr[n], graphs.ptr[n + 1]) for n in numbers])
