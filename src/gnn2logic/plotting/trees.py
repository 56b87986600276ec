"""Decision trees and Iterated Decision Trees as pictures, in the style of the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import ParameterError
from gnn2logic.idt.export.view import ModelView, ShownTree, view_of
from gnn2logic.idt.model import LeafSet
from gnn2logic.idt.tree import Split
from gnn2logic.logic.syntax import modal
from gnn2logic.plotting.axes import needs_matplotlib
from gnn2logic.plotting.legend import (
    Names,
    add_legend,
    add_note,
    formula_text,
    names_of,
    split_text,
)
from gnn2logic.plotting.sheet import Sheet, Stroke, Word, text_width
from gnn2logic.plotting.tree_drawing import Cut, cut_tree, draw_tree
from gnn2logic.plotting.words import EDGE, QUIET

__all__ = ["check_limits", "cut_note", "plot_idt", "plot_tree"]

# Splits with more characters than this speak of leaf sets by name, and a legend explains them.
_LONGEST_SPLIT = 90


def plot_tree(
    model: object,
    *,
    layer: int | None = None,
    tree: int = 0,
    class_names: Sequence[object] | None = None,
    pruned: bool = True,
    max_leaves: int | None = 24,
    max_depth: int | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree of an Iterated Decision Tree: the final one, or an inner one.

    Splits are formulas. Leaves of the final tree have the colour of their class and say how much
    of the training data that reaches them is of that class ("right"), and how much of all the
    data that is; the bar shows all classes. Leaves of an inner tree name the leaf sets M that
    contain them.

    Parameters
    ----------
    model : estimator, predictor or IDT
        A fitted `IDTClassifier` or `IDTNodeClassifier`, a loaded model, or its ``model_``.
    layer : int, optional
        The layer of an inner tree; by default the final tree.
    tree : int
        The number of the inner tree in its layer.
    class_names : sequence, optional
        The names of the classes; by default those of the model, or numbers.
    pruned : bool
        Whether to leave out what the prediction does not use. Layers and trees are counted in
        what is left, as `gnn2logic.export_text` shows it.
    max_leaves, max_depth : int, optional
        Larger trees are cut where the least of the data goes; a note says so. None for no limit.
    title : str, optional
        By default the name of what is predicted, for models of numbers that have one.
    ax : matplotlib Axes, optional
        By default a new figure of the size that the tree needs. A tree too large for the given
        axes is scaled down.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_tree
    >>> model = gl.from_formulas({"large": "1 true > 12"}, otherwise="small")
    >>> ax = plot_tree(model)
    >>> sorted(text.get_text() for text in ax.texts)
    ['1 true > 12', 'False', 'True', 'large', 'small']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_tree", ax)
    limits = check_limits(max_leaves, max_depth)
    view = view_of(model, class_names, pruned=pruned)
    shown = _chosen(view, layer, tree)
    cut = cut_tree(shown.tree, *limits)
    names = names_of(view)
    splits, named = _split_texts(view, shown, cut)
    sheet = draw_tree(view, shown, splits, names, cut=cut, name="tree")
    if cut.n_hidden:
        add_note(sheet, cut_note(cut.n_hidden, shown.tree.n_leaves))
    add_legend(sheet, {names.formulas[n]: view.legend[n] for n in named}, names.colours)
    return sheet.draw(ax, view.heading if title is None else title)


def check_limits(max_leaves: object, max_depth: object) -> tuple[int | None, int | None]:
    """Return both limits, checked."""
    return (
        None if max_leaves is None else check_whole("max_leaves", max_leaves, least=1),
        None if max_depth is None else check_whole("max_depth", max_depth, least=0),
    )


def cut_note(n_hidden: int, n_leaves: int) -> str:
    """Return the note about leaves that are not drawn."""
    return f"{n_hidden} of {n_leaves} leaves are together in boxes with … (max_leaves, max_depth)"


def _chosen(view: ModelView, layer: int | None, tree: int) -> ShownTree:
    if layer is None:
        return view.layers[-1][0]
    number = check_whole("layer", layer, least=0)
    inner = view.layers[:-1]
    if number >= len(inner):
        raise ParameterError(
            f"layer must be below {len(inner)}, the number of inner layers in use. "
            f"Got {layer} instead; leave it out for the final tree."
        )
    position = check_whole("tree", tree, least=0)
    if position >= len(inner[number]):
        raise ParameterError(
            f"tree must be below {len(inner[number])}, the number of trees in layer {number}. "
            f"Got {tree} instead."
        )
    return inner[number][position]


def _split_texts(view: ModelView, shown: ShownTree, cut: Cut) -> tuple[list[str | None], list[int]]:
    """Return the text of every split that is drawn, and the leaf sets that need a legend."""
    texts: list[str | None] = [None] * shown.tree.n_nodes
    named: set[int] = set()
    names = names_of(view)
    for node, children in zip(cut.nodes, cut.children, strict=True):
        split = shown.tree.splits[node]
        if split is None or children is None:
            continue
        text = split_text(view, split, names)
        if split.column in names.formulas:
            whole = _written_out(view, split)
            if len(whole) <= _LONGEST_SPLIT:
                text = whole
            else:
                named.add(split.column)
        texts[node] = text
    return texts, sorted(named)


def _written_out(view: ModelView, split: Split) -> str:
    return formula_text(modal(split.modality, view.legend[split.column], split.threshold))


_LABEL_SIZE = 9.0
_BETWEEN_TREES = 30.0
_BETWEEN_ROWS = 22.0
_BETWEEN_LAYERS = 26.0
# Trees of a layer go into the next row when they would be wider than this together.
_WIDEST_ROW = 760.0


def plot_idt(
    model: object,
    *,
    class_names: Sequence[object] | None = None,
    pruned: bool = True,
    legend: bool = True,
    max_leaves: int | None = 24,
    max_depth: int | None = None,
    max_trees: int | None = 8,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw an Iterated Decision Tree: its layers from top to bottom, the final tree last.

    A leaf names the leaf sets M that contain it. The formula χ of a leaf set has the same indices
    and the same colour where later layers use it, and the legend spells out what it means.

    Parameters
    ----------
    model : estimator, predictor or IDT
        A fitted `IDTClassifier` or `IDTNodeClassifier`, a loaded model, or its ``model_``.
    class_names : sequence, optional
        The names of the classes; by default those of the model, or numbers.
    pruned : bool
        Whether to leave out what the prediction does not use.
    legend : bool
        Whether to write below what every χ means.
    max_leaves, max_depth : int, optional
        Larger trees are cut where the least of the data goes; a note says so. None for no limit.
    max_trees : int, optional
        How many trees are drawn at most: the final one, those whose leaf sets it uses, those that
        these use, and so on; a note says so. None for no limit.
    title : str, optional
        By default the name of what is predicted, for models of numbers that have one.
    ax : matplotlib Axes, optional
        By default a new figure of the size that the picture needs. A picture too large for the
        given axes is scaled down.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_idt
    >>> psi_1 = "1(A U0 < 4 | A U0 > 9) > 0"
    >>> ax = plot_idt(gl.from_formulas({"psi_1": psi_1}, otherwise="other"))
    >>> [text.get_text() for text in ax.texts if "Layer" in text.get_text()]
    ['Layer 0', 'Layer 1']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_idt", ax)
    limits = check_limits(max_leaves, max_depth)
    view = view_of(model, class_names, pruned=pruned)
    names = names_of(view)
    most = None if max_trees is None else check_whole("max_trees", max_trees, least=1)
    drawn = _top(view, limits, most)
    bands = {
        number: _band(
            [_tree(view, names, *drawn[key]) for key in sorted(drawn) if key[0] == number]
        )
        for number in sorted({layer for layer, _ in drawn})
    }
    sheet = _stacked(bands)
    n_hidden = sum(cut.n_hidden for _, cut in drawn.values())
    if n_hidden:
        add_note(sheet, cut_note(n_hidden, sum(shown.tree.n_leaves for shown, _ in drawn.values())))
    n_trees = sum(map(len, view.layers))
    if len(drawn) < n_trees:
        add_note(sheet, f"{n_trees - len(drawn)} of {n_trees} trees are not drawn (max_trees)")
    if legend:
        used = set(view.legend)
        if len(drawn) < n_trees:
            used = set(_columns(*drawn[len(view.layers) - 1, 0])) & used
            used |= _not_drawn(view, drawn)
        meanings = {names.formulas[column]: view.legend[column] for column in sorted(used)}
        add_legend(sheet, meanings, names.colours)
    return sheet.draw(ax, view.heading if title is None else title)


def _columns(shown: ShownTree, cut: Cut) -> list[int]:
    """Return the columns in the splits that are drawn."""
    splits = [
        shown.tree.splits[node]
        for node, children in zip(cut.nodes, cut.children, strict=True)
        if children is not None
    ]
    return [split.column for split in splits if split is not None]


def _not_drawn(view: ModelView, drawn: Mapping[tuple[int, int], tuple[ShownTree, Cut]]) -> set[int]:
    """Return the leaf sets in splits that are drawn, of trees that are not."""
    used = {column for shown, cut in drawn.values() for column in _columns(shown, cut)}
    sources = {column: view.model.columns[column] for column in used}
    return {
        column
        for column, source in sources.items()
        if isinstance(source, LeafSet) and (source.layer, source.tree) not in drawn
    }


def _top(
    view: ModelView, limits: tuple[int | None, int | None], most: int | None
) -> dict[tuple[int, int], tuple[ShownTree, Cut]]:
    """Return trees by layer and number: the final one, what its splits use, what these use."""
    waiting = [view.layers[-1][0]]
    if most is None:
        waiting += [shown for layer in view.layers[:-1] for shown in layer]
    drawn: dict[tuple[int, int], tuple[ShownTree, Cut]] = {}
    # It grows while it is read.
    for shown in waiting:
        key = (shown.layer, shown.number)
        if key in drawn or (most is not None and len(drawn) == most):
            continue
        cut = cut_tree(shown.tree, *limits)
        drawn[key] = shown, cut
        for column in _columns(shown, cut):
            source = view.model.columns[column]
            if isinstance(source, LeafSet):
                waiting.append(view.layers[source.layer][source.tree])
    return drawn


def _tree(view: ModelView, names: Names, shown: ShownTree, cut: Cut) -> Sheet:
    splits = [
        None if split is None else split_text(view, split, names) for split in shown.tree.splits
    ]
    name = f"layer-{shown.layer}-tree-{shown.number}"
    support = shown.is_final
    return draw_tree(view, shown, splits, names, cut=cut, name=name, support=support)


def _band(trees: Sequence[Sheet]) -> Sheet:
    """Return the trees of one layer in rows, each row in the middle."""
    rows: list[list[Sheet]] = [[]]
    used = 0.0
    for tree in trees:
        if rows[-1] and used + tree.width > _WIDEST_ROW:
            rows.append([])
            used = 0.0
        rows[-1].append(tree)
        used += tree.width + _BETWEEN_TREES
    band, top = Sheet(), 0.0
    for row in rows:
        x = -(sum(tree.width for tree in row) + _BETWEEN_TREES * (len(row) - 1)) / 2
        for tree in row:
            left = tree.bounds[0]
            band.paste(tree, x - left, top)
            x += tree.width + _BETWEEN_TREES
        top += max((tree.height for tree in row), default=0.0) + _BETWEEN_ROWS
    return band


def _stacked(bands: Mapping[int, Sheet]) -> Sheet:
    """Return the layers below each other, with their names and dashed lines between them."""
    sheet = Sheet()
    labels = [f"Layer {number}" for number in bands]
    widest = max(band.width for band in bands.values())
    room = max(text_width(label, _LABEL_SIZE) for label in labels) + 18
    left, right = -widest / 2 - room, widest / 2
    top = 0.0
    for label, band in zip(labels, bands.values(), strict=True):
        if label != labels[0]:
            sheet.strokes.append(Stroke(((left, top), (right, top)), EDGE, dashed=True))
            top += _BETWEEN_LAYERS / 2
        sheet.words.append(Word(left, top + _LABEL_SIZE / 2 + 2, label, _LABEL_SIZE, QUIET))
        sheet.paste(band, 0.0, top)
        top += band.height + _BETWEEN_LAYERS / 2
    return sheet
