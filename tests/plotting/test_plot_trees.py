from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import gnn2logic as gl
from gnn2logic.exceptions import (
    LabelError,
    MissingDependencyError,
    ParameterError,
    UnsupportedInputError,
)
from gnn2logic.plotting import plot_idt, plot_tree
from gnn2logic.plotting.tree_drawing import place_nodes
from gnn2logic.plotting.words import class_colours
from plot_checks import assert_apart, boxes, saved, texts

PSI_1 = "1(A U0 < 4 | A U0 > 9) > 0"
ODD = ['$x_1$ & "q" <b>', "é_#%{}\\", "two\nlines"]
CLASSES = ["low $a_b$", "a class with a very long name that does not end soon", "<hi> & é"]


@cache
def learned() -> Any:
    """Three classes with odd names, two inner layers, and predicates with odd names."""
    graphs = gl.random_graphs(250, sizes=10, names=ODD, probability=0.5, random_state=0)
    many = gl.parse("1(A true > 4) > 4").evaluate(graphs).astype(int)
    code = many + gl.parse('1("two\\nlines") > 5').evaluate(graphs)
    y = np.array(CLASSES)[code]
    return gl.IDTClassifier(n_layers=2, algorithm="layers", width=4, random_state=0).fit(graphs, y)


def word_extents(ax: Any) -> list[Any]:
    ax.figure.canvas.draw()
    return [text.get_window_extent() for text in ax.texts if text.get_text()]


def test_plot_tree_shows_splits_answers_and_classes() -> None:
    model = gl.from_formulas({"many": "1 U0 > 3 & 1 U1 > 5"}, otherwise="few")
    ax = plot_tree(model)
    found = sorted(texts(ax))
    assert found == sorted(
        ["1 U0 > 3", "1 U1 > 5", "False", "False", "True", "True", "few", "few", "many"]
    )
    # False leads to the left and True to the right, below the split.
    at = {text.get_text(): text.get_position() for text in ax.texts}
    assert at["False"][0] < at["True"][0]
    assert at["1 U0 > 3"][1] < at["1 U1 > 5"][1] < at["many"][1]


def test_leaves_have_shares_support_and_the_colour_of_their_class() -> None:
    graphs = gl.random_graphs(80, sizes=6, density=0.4, random_state=1)
    y = gl.parse("1 U1 > 2").evaluate(graphs).astype(int)
    y[:4] = 1 - y[:4]
    model = gl.IDTClassifier(
        n_layers=0, algorithm="layers", relative=False, max_depth=1, ccp_alpha=0.0, random_state=0
    )
    model.fit(graphs, y)
    ax = plot_tree(model, class_names=["no", "yes"])
    tree = model.model_.final
    for leaf in tree.leaves:
        values = tree.values[leaf]
        assert f"{round(100 * values.max() / values.sum())}% right" in texts(ax)
        assert f"{round(100 * values.sum() / len(y))}% of data" in texts(ax)
    edges = {patch.get_gid(): patch.get_edgecolor() for patch in ax.patches if patch.get_gid()}
    from matplotlib.colors import to_rgba

    wanted = {to_rgba(colour) for colour in class_colours(2)}
    assert {edge for edge in edges.values() if edge[3] > 0} == wanted
    # The bar below a leaf has the widths of the shares.
    bars = [p for p in ax.patches if not p.get_gid() and p.get_height() == 5.0]
    totals: dict[Any, float] = {}
    for bar in bars:
        key = bar.get_facecolor()
        totals[key] = totals.get(key, 0.0) + bar.get_width()
    assert set(totals) == wanted


def test_model_from_formulas_claims_no_data() -> None:
    ax = plot_tree(gl.from_formulas({"a": "1 U0 > 3"}, otherwise="b"))
    assert not [text for text in texts(ax) if "%" in text]


@pytest.mark.parametrize("plot", [plot_tree, plot_idt])
def test_nothing_overlaps(plot: Any) -> None:
    for model in (learned(), learned().pick(0), gl.from_formulas({1: PSI_1}, otherwise=0)):
        for figure_size in (None, (3.0, 3.0)):
            ax = None if figure_size is None else Figure(figsize=figure_size).add_subplot()
            ax = plot(model, ax=ax)
            found = boxes(ax)
            assert len(found) >= 3
            assert_apart(list(found.values()))
            if figure_size is None:
                words = word_extents(ax)
                # Pieces of one line touch; what is more than that is an overlap.
                assert_apart(words, slack=3.0)
                outside = ax.figure.bbox
                assert all(e.x0 >= -1 and e.x1 <= outside.x1 + 1 for e in words)
                assert all(e.y0 >= -1 and e.y1 <= outside.y1 + 1 for e in words)


@pytest.mark.parametrize("dpi", [50, 100, 220])
def test_words_stay_inside_of_their_boxes_at_any_size(dpi: int) -> None:
    ax = plot_tree(learned())
    for scale in (1.0, 0.6, 1.7):
        ax.figure.set_dpi(dpi)
        ax.figure.set_size_inches(ax.figure.get_size_inches() * scale)
        found = boxes(ax)
        words = {id(t): t.get_window_extent() for t in ax.texts if t.get_text() in CLASSES}
        assert words
        for extent in words.values():
            middle = ((extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2)
            [own] = [box for box in found.values() if box.contains(*middle)]
            assert own.x0 <= extent.x0 + 1
            assert extent.x1 <= own.x1 + 1


def test_tidy_layout_is_narrow_and_ordered() -> None:
    children = [(1, 2), (3, 4), None, None, (5, 6), None, None]
    sizes = [
        (100.0, 10.0),
        (20.0, 10.0),
        (30.0, 40.0),
        (60.0, 10.0),
        (80.0, 10.0),
        *[(70.0, 9.0)] * 2,
    ]
    placed = place_nodes(children, sizes, gap=10, level=30)
    assert placed.depth == [0, 1, 1, 2, 2, 3, 3]
    assert placed.row_tops == [0.0, 40.0, 110.0, 150.0]
    assert placed.row_bottoms == [10.0, 80.0, 120.0, 159.0]
    for node, below in enumerate(children):
        if below is not None:
            assert placed.x[node] == pytest.approx((placed.x[below[0]] + placed.x[below[1]]) / 2)
    # Nodes 3 and 4 are as close as they can be: half of each and the gap.
    assert placed.x[4] - placed.x[3] == pytest.approx(60 / 2 + 80 / 2 + 10)
    assert placed.x[6] - placed.x[5] == pytest.approx(80)


def test_plot_idt_shows_the_layers_of_the_paper() -> None:
    ax = plot_idt(gl.from_formulas({1: PSI_1}, otherwise=0))
    joined = "".join(texts(ax))
    assert "Layer 0" in texts(ax)
    assert "Layer 1" in texts(ax)
    assert "M₀⁰" in texts(ax)
    # The leaf set in use has its name, its formula and its colour in both layers.
    colours = {t.get_text(): t.get_color() for t in ax.texts}
    assert colours["M₀⁰"] == colours["χ₀⁰"]
    assert "A U0" in joined
    assert {"0", "1"} <= set(texts(ax))
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1


def test_plot_idt_leaves_out_what_is_not_used() -> None:
    model = learned()
    pruned, whole = plot_idt(model), plot_idt(model, pruned=False)
    assert len(boxes(pruned)) < len(boxes(whole))
    n_nodes = sum(shown.n_nodes for layer in model.prune().model_.layers for shown in layer.trees)
    final = model.prune().model_.final.n_nodes
    assert len(boxes(pruned)) == n_nodes + final
    assert not [text for text in texts(plot_idt(model, legend=False)) if text == " = "]


def test_inner_trees_name_their_leaf_sets() -> None:
    model = gl.from_formulas({1: PSI_1}, otherwise=0)
    ax = plot_tree(model, layer=0)
    assert "M₀⁰" in texts(ax)
    assert not {"0", "1"} & set(texts(ax))


def test_long_splits_use_names_and_a_legend() -> None:
    inner = " & ".join(f"A U{n} > {n + 1}" for n in range(9))
    model = gl.from_formulas({1: f"1({inner}) > 2"}, otherwise=0)
    found = texts(plot_tree(model))
    assert "χ₀⁰" in found
    assert " = " in found
    short = texts(plot_tree(gl.from_formulas({1: "1(A U0 > 2) > 3"}, otherwise=0)))
    assert "1(A U0 > 2) > 3" in short
    assert " = " not in short


def test_large_trees_are_cut_with_a_note() -> None:
    model = learned().pick(0).prune()
    n_leaves = model.model_.final.n_leaves
    assert n_leaves > 6
    whole = plot_tree(model, max_leaves=None)
    assert len(boxes(whole)) == 2 * n_leaves - 1
    cut = plot_tree(model, max_leaves=5)
    assert len(boxes(cut)) == 9
    [note] = [text for text in texts(cut) if "max_leaves" in text]
    hidden = [int(t.split()[1]) for t in texts(cut) if t.startswith("… ")]
    assert sum(hidden) == int(note.split()[0])
    assert f"of {n_leaves} leaves" in note
    assert n_leaves == 5 - len(hidden) + sum(hidden)
    assert len(boxes(plot_tree(model, max_depth=1))) == 3
    assert len(boxes(plot_tree(model, max_depth=0))) == 1


def test_many_trees_are_cut_with_a_note_and_what_is_missing_is_written_out() -> None:
    long = "a_predicate_with_a_very_long_name_number_"
    parts = [f'1(A("{long}{n}") > 1 | A("{long}{n + 1}" & U0) > 2) > {n + 1}' for n in range(6)]
    model = gl.from_formulas({"yes": f"1({' & '.join(parts)}) > 1"}, otherwise="no")
    whole, cut = plot_idt(model, max_trees=None), plot_idt(model, max_trees=2)
    assert not [text for text in texts(whole) if "max_trees" in text]
    [note] = [text for text in texts(cut) if "max_trees" in text]
    n_trees = sum(len(layer.trees) for layer in model.model_.layers) + 1
    assert note == f"{n_trees - 2} of {n_trees} trees are not drawn (max_trees)"
    assert {"yes", "no"} <= set(texts(cut))
    assert len(boxes(cut)) < len(boxes(whole))
    named = {text for text in texts(cut) if text.startswith("χ")}
    meanings = sum(text == " = " for text in texts(cut))
    assert meanings == len(named) > 1
    assert_apart(word_extents(cut), slack=3.0)
    # A formula of more than four lines is cut, and the picture says where all of it is.
    texts_of_tree = texts(plot_tree(model))
    assert any(text.endswith(" …") for text in texts_of_tree)
    assert any("export_text" in text for text in texts_of_tree)


@pytest.mark.parametrize("plot", [plot_tree, plot_idt])
def test_given_axes_are_used_and_no_figure_is_left(plot: Any) -> None:
    ax = Figure().add_subplot()
    assert plot(learned(), ax=ax, title="$50 & <b>") is ax
    assert pyplot.get_fignums() == []
    assert ax.get_title() == "$50 & <b>"
    saved(ax, "png")
    new = plot(learned())
    assert pyplot.get_fignums() == [new.figure.number]


@pytest.mark.parametrize("plot", [plot_tree, plot_idt])
def test_files_are_written_and_always_the_same(plot: Any) -> None:
    first = plot(learned(), title="x_$1$")
    for kind, start in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        data = saved(first, kind)
        assert data.startswith(start)
        assert len(data) > 5000
    assert saved(first, "svg") == saved(plot(learned(), title="x_$1$"), "svg")


def test_odd_names_are_drawn_as_they_are() -> None:
    joined = " ".join(texts(plot_tree(learned())))
    assert "low $a_b$" in joined
    assert "<hi> & é" in joined
    # A name of two lines is written in one, as formulas write it.
    assert '"two\\nlines"' in joined
    with pyplot.rc_context({"text.usetex": True}):
        ax = plot_tree(learned())
    assert not any(text.get_usetex() or text.get_parse_math() for text in ax.texts)


@pytest.mark.parametrize("plot", [plot_tree, plot_idt])
def test_errors(plot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        plot(gl.IDTClassifier())
    with pytest.raises(UnsupportedInputError, match=r"Got list instead"):
        plot([1, 2])
    with pytest.raises(UnsupportedInputError, match="ax must be a matplotlib Axes"):
        plot(learned(), ax=Figure())
    with pytest.raises(LabelError, match="3 classes"):
        plot(learned(), class_names=["a"])
    with pytest.raises(ParameterError, match="max_leaves"):
        plot(learned(), max_leaves=0)
    assert pyplot.get_fignums() == []
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"gnn2logic\[plot\]"):
        plot(learned())


def test_trees_that_are_not_there() -> None:
    model = gl.from_formulas({1: PSI_1}, otherwise=0)
    with pytest.raises(ParameterError, match="below 1, the number of inner layers"):
        plot_tree(model, layer=1)
    with pytest.raises(ParameterError, match="below 1, the number of trees in layer 0"):
        plot_tree(model, layer=0, tree=1)


def test_constant_model() -> None:
    graphs = gl.random_graphs(5, random_state=0)
    with pytest.warns(gl.exceptions.SingleClassWarning):
        model = gl.IDTClassifier(n_layers=1, random_state=0).fit(graphs, ["only"] * 5)
    for plot in (plot_tree, plot_idt):
        assert "only" in texts(plot(model))


def test_dark_styles_can_be_read() -> None:
    with pyplot.style.context("dark_background"):
        ax = plot_idt(gl.from_formulas({1: PSI_1}, otherwise=0))
        paper = min(ax.patches, key=lambda patch: patch.get_zorder())
        assert paper.get_facecolor() == (1.0, 1.0, 1.0, 1.0)
        place = paper.get_window_extent()
        for extent in word_extents(ax):
            assert place.x0 <= extent.x0
            assert extent.x1 <= place.x1
            assert place.y0 <= extent.y0
            assert extent.y1 <= place.y1


def test_leaves_of_numbers_tell_support_and_not_how_often_they_are_right() -> None:
    graphs = gl.random_graphs(80, sizes=6, density=0.4, random_state=1)
    y = 1.5 + 2.0 * gl.parse("1 U1 > 2").evaluate(graphs)
    model = gl.IDTRegressor(n_layers=0, unit="eV", random_state=0).fit(graphs, y)
    for plot in (plot_tree, plot_idt):
        found = texts(plot(model))
        assert {"1.5 eV", "3.5 eV"} <= set(found)
        assert sum("of data" in text for text in found) == 2
        assert not any("right" in text for text in found)
