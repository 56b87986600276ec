"""One decision tree as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import ParameterError
from gnn2logic.idt.export.view import ShownTree, View, view_of
from gnn2logic.idt.tree import Split
from gnn2logic.logic.syntax import modal
from gnn2logic.plotting.axes import needs_matplotlib
from gnn2logic.plotting.legend import add_legend, add_note
from gnn2logic.plotting.names import formula_text, names_of, split_text
from gnn2logic.plotting.tree_drawing import Cut, cut_tree, draw_tree

__all__ = ["check_limits", "cut_note", "plot_tree"]

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
    return sheet.draw(ax, title)


def check_limits(max_leaves: object, max_depth: object) -> tuple[int | None, int | None]:
    """Return both limits, checked."""
    return (
        None if max_leaves is None else check_whole("max_leaves", max_leaves, least=1),
        None if max_depth is None else check_whole("max_depth", max_depth, least=0),
    )


def cut_note(n_hidden: int, n_leaves: int) -> str:
    """Return the note about leaves that are not drawn."""
    return f"{n_hidden} of {n_leaves} leaves are not drawn (max_leaves, max_depth)"


def _chosen(view: View, layer: int | None, tree: int) -> ShownTree:
    if layer is None:
        return view.layers[-1][0]
    number = check_whole("layer", layer, least=0)
    inner = view.layers[:-1]
    if number >= len(inner):
        raise ParameterError(
            f"layer must be below {len(inner)}, the number of inner layers in use. "
            f"Got {layer} instead; leave it out for the final tree."
        )
    place = check_whole("tree", tree, least=0)
    if place >= len(inner[number]):
        raise ParameterError(
            f"tree must be below {len(inner[number])}, the number of trees in layer {number}. "
            f"Got {tree} instead."
        )
    return inner[number][place]


def _split_texts(view: View, shown: ShownTree, cut: Cut) -> tuple[list[str | None], list[int]]:
    """Return the text of every split that is drawn, and the leaf sets that need a legend."""
    texts: list[str | None] = [None] * shown.tree.n_nodes
    named: set[int] = set()
    names = names_of(view)
    for node, own in zip(cut.nodes, cut.children, strict=True):
        split = shown.tree.splits[node]
        if split is None or own is None:
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


def _written_out(view: View, split: Split) -> str:
    return formula_text(modal(split.modality, view.legend[split.column], split.threshold))
