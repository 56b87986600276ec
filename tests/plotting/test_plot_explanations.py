"""Pictures of explanations: which nodes are filled, what captions say, that nothing overlaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex

from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.explanation import Explanation, explain
from gnn2logic.graphs import GraphBatch, from_edges, random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier
from gnn2logic.plotting import plot_explanation
from gnn2logic.plotting.words import ORANGE
from plot_checks import assert_apart, saved


def filled(panel: Any) -> list[int]:
    """Return the numbers of the nodes that are filled."""
    return [
        int(patch.get_gid().removeprefix("node-"))
        for patch in panel.patches
        if str(patch.get_gid()).startswith("node-")
        and to_hex(patch.get_facecolor()).upper() == ORANGE
    ]


def example() -> Explanation:
    formulas = {"yes": "1 U0 > 1 & 1(A U1 > 0) < 9 & 1 U1 <= 3/4"}
    model = from_formulas(formulas, otherwise="no", names=["U0", "U1"])
    for graph in random_graphs(30, sizes=9, random_state=0):
        found = explain(model, graph)
        if found.label == "yes":
            return found
    raise AssertionError("no graph of the class")


def test_every_condition_has_its_nodes() -> None:
    found = example()
    ax = plot_explanation(found)
    assert ax.get_title() == "Class yes"
    assert len(ax.child_axes) == len(found.conditions) == 3
    for panel, condition in zip(ax.child_axes, found.conditions, strict=True):
        assert filled(panel) == condition.counted.nonzero()[0].tolist()
        *_, last = panel.get_title().split("\n")
        assert last.startswith(f"{condition.count} of {condition.size} nodes, ")
        assert f" {condition.threshold} " in last
    ax.figure.canvas.draw()
    titles = [panel.title.get_window_extent() for panel in ax.child_axes]
    assert_apart([*titles, ax.title.get_window_extent()])
    assert_apart([panel.get_window_extent() for panel in ax.child_axes])


def test_wide_names_stay_in_their_captions() -> None:
    """Letters such as W are wider than most, and captions of panels side by side must not meet."""
    wide, long = "charge of the atom WWWWWWWWW", "symbol=MMMMMMMMMMMMMMMMMMMMM"
    graph = from_edges([(0, 1), (1, 2)], 3, [[1, 0], [1, 0], [0, 1]], names=[wide, long])
    rule = f'1("{wide}" & A({long}) > 0) < 3 & 1("{wide}" | A({long}) > 0) > 1 & 1({long}) < 3'
    model = from_formulas({"a class " * 30: rule}, otherwise="no", names=[wide, long])
    ax = plot_explanation(explain(model, graph.symmetrize()))
    ax.figure.canvas.draw()
    assert len(ax.child_axes) == 3
    titles = [own.title.get_window_extent() for own in (*ax.child_axes, ax)]
    assert_apart(titles)
    for title in titles:
        assert_apart([title, *(panel.get_window_extent() for panel in ax.child_axes)])
        assert 0 <= title.x0 <= title.x1 <= ax.figure.bbox.x1
    cells = [panel.get_window_extent() for panel in ax.child_axes]
    assert_apart(cells)


def seven_counts() -> Explanation:
    long = [f"a_predicate_with_a_very_long_name_no_{n:03}" for n in range(7)]
    rule = " & ".join(f'1("{name}") > 0' for name in long)
    model = from_formulas({"yes": rule}, otherwise="no", names=long)
    edges = [(n, (n + 1) % 7) for n in range(7)]
    return explain(model, from_edges(edges, 7, np.eye(7), names=long).symmetrize())


@pytest.mark.parametrize("size", [(12, 4), (4, 12), (7, 7)])
def test_many_counts_share_the_room_of_given_axes(size: tuple[int, int]) -> None:
    _, ax = pyplot.subplots(figsize=size)
    plot_explanation(seven_counts(), ax=ax)
    ax.figure.canvas.draw()
    assert len(ax.child_axes) == 7
    titles = [panel.title.get_window_extent() for panel in ax.child_axes]
    cells = [panel.get_window_extent() for panel in ax.child_axes]
    assert_apart([*titles, *cells, ax.title.get_window_extent()])
    # Graphs can be seen: a quarter of an inch for the smaller side at least.
    assert min(min(cell.width, cell.height) for cell in cells) > ax.figure.dpi / 4


def test_more_counts_than_a_picture_has_room_for_are_told() -> None:
    ax = plot_explanation(seven_counts(), max_graphs=3)
    assert len(ax.child_axes) == 3
    assert ax.get_title() == "Class yes, the first 3 of 7"
    assert len(plot_explanation(seven_counts(), max_graphs=None).child_axes) == 7


def test_conditions_about_one_count_share_a_picture() -> None:
    model = from_formulas({"yes": "2 <= 1 U0 <= 4"}, otherwise="no", names=["U0"])
    path = from_edges([(0, 1), (1, 2)], 3, [[1], [1], [1]], names=["U0"]).symmetrize()
    found = explain(model, path)
    assert len(found.conditions) == 2
    (panel,) = plot_explanation(found).child_axes
    assert filled(panel) == [0, 1, 2]
    formula, needed = panel.get_title().split("\n")
    assert formula == "2 ≤ 1 U0 ≤ 4"
    assert needed.startswith("3 of 3 nodes, ")
    assert set(needed.removeprefix("3 of 3 nodes, ").removesuffix(" needed").split(" and ")) == {
        "more than 1",
        "at most 4",
    }


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_files(kind: str) -> None:
    assert len(saved(plot_explanation(example()), kind)) > 2000


def test_given_axes_are_used() -> None:
    figure, ax = pyplot.subplots(figsize=(7, 9))
    assert plot_explanation(example(), ax=ax) is ax
    assert len(ax.child_axes) == 3
    figure.canvas.draw()
    assert_apart([panel.title.get_window_extent() for panel in ax.child_axes])


def test_a_node_is_ringed_and_elements_are_numbered() -> None:
    names = ["symbol=C", "symbol=N"]
    graph = from_edges([(0, 1), (1, 2)], 3, [[1, 0], [0, 1], [1, 0]], names=names).symmetrize()
    model = from_formulas({1: "A(symbol=C) > 1"}, otherwise=0, names=names, level="node")
    (panel,) = plot_explanation(explain(model, graph, node=1)).child_axes
    assert filled(panel) == [0, 2]
    ring = next(patch for patch in panel.patches if patch.get_gid() == "classified")
    node = next(patch for patch in panel.patches if patch.get_gid() == "node-1")
    assert ring.center == node.center
    texts = {text.get_text() for text in panel.texts}
    assert {"C0", "N1", "C2"} <= texts


def test_types_of_nodes_are_told_apart_by_few_letters() -> None:
    names = ["person", "product", "product.new"]
    rows = [[1, 0, 0], [0, 1, 1], [0, 1, 0]]
    graph = from_edges([(0, 1), (0, 2)], 3, rows, names=names)
    model = from_formulas({1: "A product > 1"}, otherwise=0, names=names, level="node")
    (panel,) = plot_explanation(explain(model, graph, node=0)).child_axes
    assert {"pe0", "pr1", "pr2"} <= {text.get_text() for text in panel.texts}


def test_constant_models_and_typed_edges() -> None:
    graphs = random_graphs(10, sizes=4, random_state=0)
    with pytest.warns(UserWarning, match="constant"):
        constant = IDTClassifier(n_layers=0).fit(graphs, [1] * 10)
    (panel,) = plot_explanation(explain(constant, graphs[0])).child_axes
    assert panel.get_title() == "every graph, without conditions"
    assert filled(panel) == []
    edges = {"r": np.array([[0, 1], [0, 0]]), "s": np.array([[0, 0], [1, 0]])}
    typed = from_formulas({1: "1(A[r] true > 0) > 0"}, otherwise=0, names=[], relations=["r", "s"])
    found = explain(typed, GraphBatch(None, edges))
    (panel,) = plot_explanation(found).child_axes
    assert filled(panel) == [0]
    assert {"r", "s"} <= {text.get_text() for text in panel.get_legend().get_texts()}


def test_thresholds_that_no_condition_speaks_of_are_not_drawn() -> None:
    one_way = np.array([[0, 1], [0, 0]])
    edges = {"buys": one_way, "stars > 2": one_way, "stars > 3": one_way}
    model = from_formulas(
        {1: '1(A["stars > 3"] true > 0) > 0'}, otherwise=0, names=[], relations=list(edges)
    )
    (panel,) = plot_explanation(explain(model, GraphBatch(None, edges))).child_axes
    entries = {text.get_text() for text in panel.get_legend().get_texts()}
    assert {"buys", "stars > 3"} <= entries
    assert "stars > 2" not in entries


def test_names_are_not_math_and_teachers_are_named() -> None:
    model = from_formulas({"$x$": '1 "$y$" > 0'}, otherwise="no", names=["$y$"])
    graph = from_edges([(0, 1)], 2, [[1], [0]], names=["$y$"])
    ax = plot_explanation(explain(model, graph, model))
    assert ax.get_title() == "Class $x$, teacher: $x$"
    ax.figure.canvas.draw()


def test_bad_inputs() -> None:
    bad: Any = "explanation"
    with pytest.raises(UnsupportedInputError, match="Got str"):
        plot_explanation(bad)
    with pytest.raises(UnsupportedInputError, match="matplotlib Axes"):
        plot_explanation(example(), ax=3)
