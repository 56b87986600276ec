"""How good models are on the parts of a data set, as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.cli.data import choose
from gnn2logic.cli.options import Part
from gnn2logic.datasets import Dataset
from gnn2logic.exceptions import DataSetError

__all__ = ["scores_on_parts", "share"]


def scores_on_parts(
    whole: Dataset, part: Part, *, rule: Any = None, network: Any = None
) -> list[dict[str, Any]]:
    """Return accuracy and fidelity on what was learned from and on what was held back.

    Where all graphs were learned from, there is one row for them.
    """
    rows = []
    for own in (Part.ALL,) if part is Part.ALL else (Part.TRAIN, Part.TEST):
        try:
            chosen = choose(whole, own)
        except DataSetError:
            continue
        graphs = chosen.graphs if network is None else chosen.network_graphs
        ours, theirs = (
            None if model is None else model.predict(graphs) for model in (rule, network)
        )
        rows.append(
            {
                "part": str(own),
                "graphs": len(chosen.data),
                "rule_accuracy": share(ours, chosen.labels),
                "network_accuracy": share(theirs, chosen.labels),
                "fidelity": share(ours, theirs),
            }
        )
    return rows


def share(ours: npt.NDArray[Any] | None, theirs: npt.NDArray[Any] | None) -> float | None:
    """Return how often two say the same; None where they speak of different things."""
    if ours is None or theirs is None or ours.shape != theirs.shape:
        return None
    return float(np.mean(ours == theirs))
