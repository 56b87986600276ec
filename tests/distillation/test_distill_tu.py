"""From training to rules on real data, when ``GNN2LOGIC_DATA`` names a folder with TU data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gnn2logic import GraphBatch, load
from gnn2logic.datasets import load as load_dataset
from gnn2logic.distillation import distill, fidelity
from gnn2logic.models import GNNClassifier


def tu(name: str) -> tuple[GraphBatch, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return graphs, labels, and which fifth of them is for testing."""
    root = os.environ.get("GNN2LOGIC_DATA", "")
    if not root or not (Path(root) / name).is_dir():
        pytest.skip(f"GNN2LOGIC_DATA names no folder with {name}")
    data = load_dataset(name, download=False)
    return data.graphs, data.y, np.arange(len(data.y)) % 5 == 0


def network(epochs: int) -> GNNClassifier:
    return GNNClassifier(
        "gin", 2, hidden=64, pooling="sum", lr=3e-3, max_epochs=epochs, random_state=0
    )


@pytest.fixture(scope="module")
def aids() -> dict[str, Any]:
    graphs, y, test = tu("AIDS")
    gnn = network(epochs=10).fit(graphs[~test], y[~test])
    return {
        "gnn": gnn,
        "train": graphs[~test],
        "y": y[~test],
        "test": graphs[test],
        "y_test": y[test],
        "minority": int(np.argmin(np.bincount(y))),
    }


@pytest.mark.parametrize("variant", ["IDT(GNN)", "IDT(GNN+True)", "IDT(True)"])
def test_aids_is_about_the_number_of_nodes(
    aids: dict[str, Any], variant: str, tmp_path: Path
) -> None:
    """As in the paper, whose rule is: more than 12 nodes."""
    labels = None if variant == "IDT(GNN)" else aids["y"]
    idt = distill(
        aids["gnn"],
        aids["train"],
        labels,
        algorithm="layers",
        variant=variant,
        width=8,
        random_state=0,
    )
    rule = idt.formula(aids["minority"])
    if labels is not None:
        assert str(rule) == "1 true > 12"
    # A network is trained a little differently on every sort of processor, and its rule follows
    # it: it may count nodes that are no nitrogen, or split off a few graphs.
    large = aids["test"].sizes > 12
    assert np.mean(rule.evaluate(aids["test"]) == large) >= 0.96
    assert idt.score(aids["test"], aids["y_test"]) >= (0.96 if labels is None else 0.99)
    assert fidelity(idt, aids["gnn"], aids["test"]) >= 0.96
    assert fidelity(idt, aids["gnn"], aids["test"], average="macro") >= 0.93
    idt.save(tmp_path / "aids.idt.json")
    again = load(tmp_path / "aids.idt.json")
    assert np.array_equal(again.predict(aids["test"]), idt.predict(aids["test"]))


def test_mutag() -> None:
    graphs, y, test = tu("MUTAG")
    gnn = network(epochs=60).fit(graphs[~test], y[~test])
    assert gnn.score(graphs[test], y[test]) >= 0.7
    idt = distill(gnn, graphs[~test], algorithm="layers", width=8, random_state=0)
    assert idt.classes_.tolist() == [0, 1]
    assert fidelity(idt, gnn, graphs[~test]) >= 0.85
    assert fidelity(idt, gnn, graphs[test]) >= 0.7
    true = distill(gnn, graphs[~test], y[~test], algorithm="layers", width=8, random_state=0)
    assert true.score(graphs[test], y[test]) >= 0.7
