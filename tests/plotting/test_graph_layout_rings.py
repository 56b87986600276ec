"""Rings stay rings: laid out by RDKit for molecules, and without crossings for other graphs."""

from __future__ import annotations

import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.plotting import graph_layout
from gnn2logic.plotting.graph_layout import category_column, layout

# A ring of six with one of five beside it, and a tail.
EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (4, 6), (6, 7), (7, 8), (8, 3), (8, 9)]


def fused() -> gl.GraphBatch:
    return gl.structure(gl.from_edges(EDGES, 10).symmetrize(), "edges")


@pytest.mark.parametrize("seed", range(3))
def test_no_edges_cross_and_rings_are_round(seed: int) -> None:
    points = layout(fused(), seed)
    networkx = pytest.importorskip("networkx")
    drawn = networkx.Graph(EDGES)
    assert graph_layout._crossings(drawn, dict(enumerate(points))) == 0
    hexagon = points[:6]
    distances = np.linalg.norm(hexagon - hexagon.mean(axis=0), axis=1)
    assert distances.max() / distances.min() < 1.4


def test_crossings_are_counted() -> None:
    networkx = pytest.importorskip("networkx")
    square = {0: (0.0, 0.0), 1: (1.0, 1.0), 2: (1.0, 0.0), 3: (0.0, 1.0)}
    assert graph_layout._crossings(networkx.Graph([(0, 1), (2, 3)]), square) == 1
    graph = networkx.Graph([(0, 2), (1, 3)])
    assert graph_layout._crossings(graph, square) == 0


def test_atoms_have_their_elements_as_categories() -> None:
    pytest.importorskip("rdkit")
    graph = gl.chem.from_smiles(["CO"]).graphs
    assert category_column(graph) == ["C", "O"]


def test_relations_of_the_structure_are_not_drawn() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    ax = gl.plot_graph(fused())
    assert ax.get_legend() is None
    plt.close(ax.figure)
