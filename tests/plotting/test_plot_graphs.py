from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

import gnn2logic as gl
from gnn2logic.exceptions import GraphError, ParameterError, UnsupportedInputError
from gnn2logic.plotting import plot_graph, plot_graphs
from gnn2logic.plotting.graph_layout import category_column, layout
from plot_checks import saved, texts

ORANGE = "#e69f00"
PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)


def nodes(ax: Any) -> list[Any]:
    return [patch for patch in ax.patches if isinstance(patch, Circle) and patch.get_gid()]


def molecule() -> gl.GraphBatch:
    """N-C=O and a lone Cl."""
    single, double = np.zeros((4, 4)), np.zeros((4, 4))
    single[0, 1] = single[1, 0] = 1
    double[1, 2] = double[2, 1] = 1
    names = ["symbol=C", "symbol=N", "symbol=O", "symbol=Cl", "charged"]
    rows = [[0, 1, 0, 0, 1], [1, 0, 0, 0, 0], [0, 0, 1, 0, 1], [0, 0, 0, 1, 0]]
    return gl.GraphBatch(rows, {"single": single, "double": double}, names=names)


def test_the_nodes_of_a_formula_are_filled() -> None:
    graph = gl.random_graphs(1, sizes=12, density=0.3, random_state=3)
    formula = gl.parse("A true > 3")
    ax = plot_graph(graph, formula)
    wanted = formula.evaluate(graph, level="node")
    assert 0 < wanted.sum() < 12
    assert [to_hex(node.get_facecolor()) == ORANGE for node in nodes(ax)] == wanted.tolist()
    # For print without colours the line is thicker too.
    assert [node.get_linewidth() > 1.5 for node in nodes(ax)] == wanted.tolist()
    by_hand = plot_graph(graph, wanted)
    assert [n.get_facecolor() for n in nodes(by_hand)] == [n.get_facecolor() for n in nodes(ax)]
    assert ax.get_title() == "A true > 3"
    [entry] = ax.get_legend().get_texts()
    assert entry.get_text() == f"true at {wanted.sum()} of 12 nodes"


def test_labels() -> None:
    assert texts(plot_graph(molecule())) == ["N", "C", "O", "Cl"]
    assert texts(plot_graph(molecule(), labels="number")) == ["0", "1", "2", "3"]
    assert texts(plot_graph(molecule(), labels=False)) == []
    assert texts(plot_graph(molecule(), labels=["a", "$b_1$", "", "d"])) == ["a", "$b_1$", "d"]
    found = texts(plot_graph(molecule(), labels="predicates"))
    assert found[0] == "symbol=N\ncharged"
    plain = gl.random_graphs(1, sizes=3, random_state=0)
    assert texts(plot_graph(plain)) == ["0", "1", "2"]


def test_category_needs_one_column_with_exclusive_values() -> None:
    assert category_column(molecule()) == ["N", "C", "O", "Cl"]
    both = gl.GraphBatch([[1, 1]], [[0]], names=["a=1", "a=2"])
    assert category_column(both) is None
    none = gl.GraphBatch([[0, 0], [1, 0]], np.zeros((2, 2)), names=["a=1", "a=2"])
    assert category_column(none) == [None, "1"]
    assert category_column(gl.GraphBatch([[1]], [[0]], names=["a=1"])) is None


def test_types_of_nodes_are_written_and_coloured() -> None:
    rows = [[1, 0, 0], [0, 1, 1], [0, 1, 0]]
    typed = gl.GraphBatch(rows, PATH[:3, :3], names=["author", "paper", "paper.open"])
    assert texts(plot_graph(typed)) == ["author", "paper", "paper"]
    assert category_column(typed) == ["author", "paper", "paper"]
    untyped = gl.GraphBatch([[1, 0, 0], [1, 1, 1], [0, 1, 0]], PATH[:3, :3], names=typed.names)
    assert category_column(untyped) is None
    assert (
        category_column(gl.GraphBatch(np.eye(3)[:, :2], PATH[:3, :3], names=["U0", "U1"])) is None
    )


def test_only_edges_without_a_type_are_drawn_as_such() -> None:
    one_way = np.triu(PATH)
    both = gl.GraphBatch(None, {"buys": one_way, "stars > 3": one_way})
    arrows = [patch for patch in plot_graph(both).patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == 2 * one_way.sum()
    loose = np.zeros_like(PATH)
    loose[2, 0] = 1
    some = gl.GraphBatch(None, one_way + loose, relations={"buys": one_way})
    arrows = [patch for patch in plot_graph(some).patches if isinstance(patch, FancyArrowPatch)]
    assert len(arrows) == one_way.sum() + 1


def test_bonds_and_relations_are_told_apart() -> None:
    from matplotlib.collections import LineCollection

    ax = plot_graph(molecule())
    strands = [len(c.get_segments()) for c in ax.collections if isinstance(c, LineCollection)]
    assert strands == [1, 1, 1]  # one line for the single bond, two for the double one
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["single", "double"]
    encoded = gl.GraphBatch(None, {"bond=SINGLE": PATH, "bond=DOUBLE": PATH})
    drawn = plot_graph(encoded).collections
    assert sum(isinstance(c, LineCollection) for c in drawn) == 3
    typed = gl.GraphBatch(None, {"likes_$x$": PATH, "other": 0 * PATH})
    legend = plot_graph(typed).get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["likes_$x$"]
    assert not legend.get_texts()[0].get_parse_math()
    assert plot_graph(typed, legend=False).get_legend() is None


def test_directed_edges_and_loops() -> None:
    adjacency = np.zeros((3, 3))
    adjacency[0, 1] = adjacency[1, 0] = adjacency[1, 2] = adjacency[2, 2] = 1
    ax = plot_graph(gl.GraphBatch(None, adjacency))
    assert sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) == 3
    assert sum(isinstance(patch, Circle) and not patch.get_fill() for patch in ax.patches) == 1


@given(seed=st.integers(0, 50), size=st.integers(1, 14), density=st.floats(0.0, 0.6))
@settings(max_examples=15, deadline=None)
def test_nodes_never_touch(seed: int, size: int, density: float) -> None:
    graph = gl.random_graphs(1, sizes=size, density=density, random_state=seed)
    ax = Figure().add_subplot()
    plot_graph(graph, ax=ax)
    circles = nodes(ax)
    assert len(circles) == size
    centres = np.array([circle.center for circle in circles])
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 1e9 * np.eye(size)
    assert distances.min() > 2 * circles[0].radius


def test_layout_is_the_same_every_time() -> None:
    graph = gl.random_graphs(1, sizes=20, density=0.15, random_state=1)
    state = np.random.get_state()[1].copy()  # type: ignore[index]
    first = layout(graph, 0)
    np.testing.assert_array_equal(first, layout(graph, 0))
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # type: ignore[index]
    assert not np.allclose(first, layout(graph, 7))
    svg = saved(plot_graph(molecule()), "svg")
    assert svg == saved(plot_graph(molecule()), "svg")


def test_neighbours_are_close_and_components_apart() -> None:
    path = gl.GraphBatch(None, PATH)
    places = layout(path, 0)
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=0.15)
    two = np.zeros((4, 4))
    two[0, 1] = two[1, 0] = two[2, 3] = two[3, 2] = 1
    places = layout(gl.GraphBatch(None, two), 0)
    between = np.linalg.norm(places[:2, None] - places[None, 2:], axis=2)
    assert between.min() > 1.0


def test_given_positions_of_any_scale() -> None:
    square = np.array([[0, 0], [0, 1000], [1000, 0], [1000, 1000]])
    ax = plot_graph(gl.GraphBatch(None, PATH), positions=square)
    assert [node.center for node in nodes(ax)] == [tuple(map(float, row)) for row in square]
    assert 100 < nodes(ax)[0].radius < 500


def test_axes_files_and_figures() -> None:
    ax = Figure().add_subplot()
    assert plot_graph(molecule(), gl.parse("symbol=C"), ax=ax, title="$x$") is ax
    assert ax.get_title() == "$x$"
    assert pyplot.get_fignums() == []
    for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        data = saved(ax, kind)
        assert data.startswith(start)
        assert len(data) > 3000
    one = gl.GraphBatch(None, [[0]])
    saved(plot_graph(one), "png")


def test_several_graphs() -> None:
    graphs = gl.random_graphs(5, sizes=6, random_state=0)
    formula = gl.parse("A true > 2")
    axes = plot_graphs(graphs, formula, n_columns=2)
    assert len(axes) == len(axes[0].figure.axes) == 5
    filled = [to_hex(node.get_facecolor()) == ORANGE for ax in axes for node in nodes(ax)]
    assert filled == formula.evaluate(graphs, level="node").tolist()
    assert [ax.get_title() for ax in axes] == [f"Graph {n}" for n in range(5)]
    assert axes[0].figure.get_suptitle() == "A true > 2"
    saved(axes[0], "png")
    with pytest.raises(GraphError, match="one text for each of the 5 graphs"):
        plot_graphs(graphs, titles=["a"])
    with pytest.raises(UnsupportedInputError, match="labels"):
        plot_graphs(graphs, labels=["a"])
    with pytest.raises(ParameterError, match="n_columns"):
        plot_graphs(graphs, n_columns=0)


def test_errors() -> None:
    graphs = gl.random_graphs(2, sizes=3, random_state=0)
    for arguments, error, words in (
        ((graphs,), GraphError, "draws one graph. Got 2"),
        ((graphs[0], np.ones(3)), GraphError, "dtype float64"),
        ((graphs[0], np.ones(2, dtype=bool)), GraphError, "3 nodes"),
    ):
        with pytest.raises(error, match=words):
            plot_graph(*arguments)
    bad: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"labels": "letters"}, ParameterError, "'letters'"),
        ({"labels": ["a"]}, GraphError, "3 nodes. Got 1"),
        ({"labels": "category"}, GraphError, "symbol=C"),
        ({"positions": [[0, 0]]}, GraphError, "shape"),
        ({"positions": [[0, 0], [1, 1], [np.nan, 0]]}, GraphError, "finite"),
        ({"random_state": -1}, ParameterError, "random_state"),
        ({"ax": 3}, UnsupportedInputError, "Got int"),
    ]
    for options, kind, words in bad:
        with pytest.raises(kind, match=words):
            plot_graph(graphs[0], **options)
    with pytest.raises(gl.exceptions.UnknownPredicateError):
        plot_graph(graphs[0], gl.parse("nothing"))
    assert pyplot.get_fignums() == []
