"""Small graphs and quick networks that the tests of models share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic import GraphBatch, parse, random_graphs
from gnn2logic.models import GNNClassifier


def quick(**settings: Any) -> GNNClassifier:
    """Return an estimator that trains in a moment."""
    small = {"n_layers": 2, "hidden": 8, "max_epochs": 3, "lr": 0.01, "random_state": 0}
    return GNNClassifier(**(small | settings))


def labelled(
    formula: str = "1 U1 > 1/2", n_graphs: int = 60, **options: Any
) -> tuple[GraphBatch, npt.NDArray[np.int64]]:
    """Return random graphs of 1 to 9 nodes and whether a formula holds in each."""
    rng = np.random.default_rng(options.pop("seed", 0))
    sizes = options.pop("sizes", rng.integers(1, 10, size=n_graphs))
    graphs = random_graphs(n_graphs, sizes=sizes, random_state=rng, **options)
    return graphs, parse(formula).evaluate(graphs).astype(np.int64)
