"""Plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gnn2logic.exceptions import ParameterError
from gnn2logic.idt.export.view import ModelView, ShownTree, one_line, view_of
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.printing.text import ASCII
from gnn2logic.logic.printing.text import to_text as formula_to_text
from gnn2logic.logic.syntax import Formula, modal

__all__ = ["CHI", "export_text", "leaf_texts", "legend_lines", "split_texts", "tree_to_text"]

CHI = "chi_{}^{}"
_LEAF_SET = "M_{}^{}"


def export_text(
    model: object, *, class_names: Sequence[object] | None = None, pruned: bool = True
) -> str:
    """Return an Iterated Decision Tree as text.

    The layers come one after the other. ``M_j^i`` at a leaf says that leaf set j of layer i
    contains it, ``chi_j^i`` in a later split is its formula, which the legend at the end spells
    out.

    Parameters
    ----------
    model : estimator or IDT
        A fitted `IDTClassifier` or `IDTNodeClassifier`, or its ``model_``.
    class_names : sequence or None
        The names of the classes; None takes those of the estimator, or numbers.
    pruned : bool
        Whether to leave out what the prediction does not use.

    Examples
    --------
    >>> from gnn2logic import IDTClassifier, parse, random_graphs
    >>> graphs = random_graphs(200, random_state=0)
    >>> busy = parse("1 U1 > 6").evaluate(graphs)
    >>> model = IDTClassifier(n_layers=0, relative=False, random_state=0).fit(graphs, busy)
    >>> print(export_text(model))
    Layer 0, final tree
      1 U1 > 6
      |- False: [Class False]
      `- True: [Class True]
    """
    view = view_of(model, class_names, pruned=pruned)
    blocks = []
    for layer in view.layers:
        for shown in layer:
            what = "final tree" if shown.is_final else f"tree {shown.number}"
            lines = _tree_lines(shown.tree, split_texts(view, shown), leaf_texts(view, shown))
            blocks.append([f"Layer {shown.layer}, {what}", *(f"  {line}" for line in lines)])
    legend = legend_lines(view)
    if legend:
        blocks.append(["where", *(f"  {line}" for line in legend)])
    return "\n\n".join("\n".join(block) for block in blocks)


def tree_to_text(
    tree: Tree,
    columns: Sequence[Formula] | Mapping[int, Formula],
    leaves: Sequence[str] | None = None,
) -> str:
    """Return one tree as text.

    Parameters
    ----------
    tree : Tree
    columns : sequence or mapping of int to Formula
        What the columns mean that the splits speak of.
    leaves : sequence of str or None
        What to write at the leaves, from left (False) to right (True); None numbers them.

    Examples
    --------
    >>> import numpy as np
    >>> from gnn2logic import Modality, predicate
    >>> from gnn2logic.idt.tree import Split, Tree
    >>> split = Split(0, Modality.from_set("A"), 2)
    >>> tree = Tree((split, None, None), (1, -1, -1), (2, -1, -1), np.zeros((3, 0)), np.ones(3))
    >>> print(tree_to_text(tree, [predicate("atom=N")]))
    A(atom=N) > 2
    |- False: [leaf 0]
    `- True: [leaf 1]
    """
    if leaves is None:
        leaves = [f"leaf {number}" for number in range(tree.n_leaves)]
    if len(leaves) != tree.n_leaves:
        raise ParameterError(
            f"leaves must have one text for each of the {tree.n_leaves} leaves. "
            f"Got {len(leaves)} instead."
        )
    splits: list[str | None] = [None] * tree.n_nodes
    for node, split in enumerate(tree.splits):
        if split is not None:
            formula = modal(split.modality, columns[split.column], split.threshold)
            # A formula with definitions has several lines; it reads back from one line as well.
            splits[node] = formula_to_text(formula).replace("\n", " ")
    return "\n".join(_tree_lines(tree, splits, [one_line(leaf) for leaf in leaves]))


def split_texts(view: ModelView, shown: ShownTree) -> list[str | None]:
    """Return the text of the split of every node, None at leaves."""
    return [
        None if split is None else view.write_split(split, ASCII, CHI)
        for split in shown.tree.splits
    ]


def leaf_texts(view: ModelView, shown: ShownTree) -> list[str]:
    """Return what every leaf says, from left to right."""
    if shown.classes is not None:
        return [f"{view.leaf_word}{one_line(label)}" for label in shown.classes]
    return [
        ", ".join(_LEAF_SET.format(*view.leaf_sets[column]) for column in columns)
        for columns in shown.leaf_sets
    ]


def legend_lines(view: ModelView) -> list[str]:
    """Return what each leaf set means; the definitions in a long formula have their own lines."""
    lines = []
    for column, formula in view.legend.items():
        first, *more = formula_to_text(formula).split("\n")
        lines.append(f"{CHI.format(*view.leaf_sets[column])} is {first}")
        lines.extend(f"  {line}" for line in more)
    return lines


def _tree_lines(tree: Tree, splits: Sequence[str | None], leaves: Sequence[str]) -> list[str]:
    leaf_text = dict(zip(tree.leaves, leaves, strict=True))
    lines: list[str] = []
    # Each entry: the node, what stands before its text, what stands before those below it.
    stack = [(0, "", "")]
    while stack:
        node, start, indent = stack.pop()
        split = splits[node]
        if split is None:
            lines.append(f"{start}[{leaf_text[node]}]")
            continue
        lines.append(f"{start}{split}")
        stack.append((tree.true_child[node], f"{indent}`- True: ", f"{indent}   "))
        stack.append((tree.false_child[node], f"{indent}|- False: ", f"{indent}|  "))
    return lines
