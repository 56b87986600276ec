"""Real data, when ``GNN2LOGIC_DATA`` names a folder with the TU data sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import StratifiedKFold, cross_val_score

from gnn2logic import GraphBatch, IDTClassifier


def tu_batch(name: str) -> tuple[GraphBatch, np.ndarray]:
    folder = Path(os.environ.get("GNN2LOGIC_DATA", "")) / name / "raw"
    if not os.environ.get("GNN2LOGIC_DATA") or not folder.is_dir():
        pytest.skip(f"GNN2LOGIC_DATA names no folder with {name}/raw")

    def numbers(part: str) -> np.ndarray:
        path = folder / f"{name}_{part}.txt"
        return np.loadtxt(path, delimiter=",", dtype=np.int64)

    edges, graph = numbers("A") - 1, numbers("graph_indicator") - 1
    labels = numbers("node_labels")
    values = np.unique(labels)
    shape = (len(graph), len(graph))
    adjacency = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=shape)
    ptr = np.concatenate([[0], np.cumsum(np.bincount(graph))])
    names = [f"label={value}" for value in values]
    batch = GraphBatch(labels[:, None] == values, adjacency, ptr=ptr, names=names)
    return batch, numbers("graph_labels")


@pytest.mark.parametrize("algorithm", ["search", "layers"])
def test_aids_is_about_the_number_of_nodes(algorithm: str) -> None:
    """The paper's rule: more than 12 nodes."""
    graphs, y = tu_batch("AIDS")
    test = np.arange(len(y)) % 5 == 0
    model = IDTClassifier(algorithm=algorithm, random_state=0).fit(graphs[~test], y[~test])
    assert str(model.formula(0)) == "1 true > 12"
    assert model.score(graphs[test], y[test]) >= 0.99


@pytest.mark.parametrize(("name", "least"), [("MUTAG", 0.8), ("PROTEINS", 0.7), ("BZR", 0.77)])
def test_others_are_learned(name: str, least: float) -> None:
    """About two standard errors below the mean of three such runs."""
    graphs, y = tu_batch(name)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(IDTClassifier(algorithm="layers", random_state=0), graphs, y, cv=folds)
    assert scores.mean() >= least
    model = IDTClassifier(algorithm="layers", random_state=0).fit(graphs, y)
    pruned = model.prune()
    assert np.array_equal(pruned.predict(graphs), model.predict(graphs))
