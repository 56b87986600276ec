"""Which graphs are searched: all of them, or a sample where there are very many.

A column is kept as one or more words for every graph. Some thousand graphs tell thresholds apart
to a percent; more of them cost memory and time, and the answers hardly change. What a rule says
about all the data is counted afterwards. A word holds many nodes, so where nodes are classified
only some of the searched ones are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.learning.data import RowLabels, TrainingData

__all__ = ["SearchedData", "judged_rows", "searched_data"]

IntArray = npt.NDArray[np.int64]

# Some 25,000 columns of so many words take about 1 GB.
MOST_WORDS = 5_000
# So many nodes tell thresholds apart to half a percent.
MOST_ROWS = 20_000


@dataclass(frozen=True)
class SearchedData:
    """Graphs that are searched, and the numbers of their rows among all rows.

    Parameters
    ----------
    batch : GraphBatch
    rows : array of int
        The numbers of its graphs, or nodes, in all the data.
    """

    batch: GraphBatch
    rows: IntArray


def searched_data(
    data: TrainingData,
    labels: RowLabels,
    level: Literal["graph", "node"],
    *,
    share: float | None,
    seed: Sequence[int],
) -> SearchedData:
    """Return the graphs to search.

    Parameters
    ----------
    share : float or None
        The share of graphs; None takes as many as `MOST_WORDS` allows.
    """
    # Graphs of a store are mapped shard by shard, and let go of.
    sizes = np.concatenate([source.load().sizes for source in data.sources])
    if share is None:
        share = min(1.0, MOST_WORDS / int(np.sum((sizes + 63) // 64)))
    wanted = max(1, round(share * len(sizes)))
    if wanted >= len(sizes):
        chosen = np.arange(len(sizes))
    else:
        classes = labels.classes if level == "graph" else np.zeros(len(sizes), dtype=np.int64)
        chosen = _stratified(classes, wanted, np.random.default_rng([*seed, 2]))
    taken, first = [], 0
    for source in data.sources:
        here = chosen[(chosen >= first) & (chosen < first + source.n_graphs)] - first
        if len(here):
            taken.append(source.load().take(here))
        first += source.n_graphs
    rows = chosen
    if level == "node":
        starts = np.cumsum(sizes) - sizes
        rows = np.concatenate([np.arange(starts[g], starts[g] + sizes[g]) for g in chosen])
    return SearchedData(GraphBatch.concat(taken), rows)


def judged_rows(classes: IntArray, weights: IntArray, *, seed: Sequence[int]) -> IntArray:
    """Return the rows with a weight, or some of them where there are very many."""
    rows = np.flatnonzero(weights > 0)
    if len(rows) <= MOST_ROWS:
        return rows
    return rows[_stratified(classes[rows], MOST_ROWS, np.random.default_rng([*seed, 3]))]


def _stratified(classes: IntArray, wanted: int, draw: np.random.Generator) -> IntArray:
    """Return the numbers of some rows, in order, each class with its share and at least one."""
    shuffled = draw.permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    spread = by_class[(np.arange(wanted) * len(classes)) // wanted]
    firsts = np.unique(classes[by_class], return_index=True)[1]
    return np.unique(np.concatenate([spread, by_class[firsts]]))
