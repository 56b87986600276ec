"""Networks learn the data sets that come with the package, and formulas come out of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gnn2logic.datasets import load
from gnn2logic.distillation import distill, fidelity
from gnn2logic.models import GNNClassifier

SMALL: dict[str, Any] = {
    "n_layers": 2,
    "hidden": 16,
    "lr": 0.01,
    "max_epochs": 40,
    "random_state": 0,
}


@pytest.mark.parametrize(
    ("name", "conv", "pooling", "variant"),
    [
        ("psi_0", "gin", "mean", "IDT(GNN)"),
        # What this network adds up, no formula follows on every sort of processor it is trained on.
        ("BA-2Motifs", "gin", "sum", "IDT(True)"),
    ],
)
def test_accuracy_on_graphs_never_seen(name: str, conv: str, pooling: str, variant: str) -> None:
    """Guessing the larger class is right for about half of the graphs."""
    whole = load(name)
    seen, fresh = whole.take(np.arange(0, 1000, 2)), whole.take(np.arange(1, 1000, 2))
    assert np.bincount(fresh.y).max() / len(fresh) < 0.6
    gnn = GNNClassifier(conv, pooling=pooling, **SMALL).fit(seen.graphs, seen.y)
    assert gnn.score(fresh.graphs, fresh.y) > 0.95
    labels = None if variant == "IDT(GNN)" else seen.y
    idt = distill(
        gnn, seen.graphs, labels, algorithm="layers", variant=variant, width=8, random_state=0
    )
    assert fidelity(idt, gnn, fresh.graphs) > 0.9
    assert idt.score(fresh.graphs, fresh.y) > 0.9


def test_gcn_learns_more_than_the_larger_class() -> None:
    whole = load("psi_0")
    seen, fresh = whole.take(np.arange(0, 1000, 2)), whole.take(np.arange(1, 1000, 2))
    gnn = GNNClassifier("gcn", **SMALL).fit(seen.graphs, seen.y)
    assert gnn.score(fresh.graphs, fresh.y) > 0.75
