"""LaTeX pictures in the style of the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence

from gnn2logic.idt.export.text import leaf_texts, split_texts
from gnn2logic.idt.export.view import ModelView, ShownTree, view_of
from gnn2logic.logic.printing.latex import LATEX, escape_latex, to_latex

__all__ = ["export_tikz"]

# Doubled braces: they stand in templates.
_CHI = r"\chi_{{{}}}^{{{}}}"
_LEAF_SET = "M_{{{}}}^{{{}}}"

# All lengths are in millimetres.
_LEVEL = 10.0
_PER_CHARACTER = 2.0
_GAP = 6.0
_LAYER_LABEL = 20.0
# TeX knows no length above 5.7 metres; a larger picture is squeezed.
_LARGEST = 4000.0


def export_tikz(
    model: object, *, class_names: Sequence[object] | None = None, pruned: bool = True
) -> str:
    r"""Return an Iterated Decision Tree as a TikZ picture.

    The picture needs ``\usepackage{tikz}`` and looks best with ``\usepackage{amsmath}``. Comments
    at its top spell out what each chi means.

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
    >>> picture = export_tikz(model)
    >>> print("\n".join(line for line in picture.split("\n") if r"\node" in line))
    \node (t0x0n0) at (0mm,0mm) {$1\,U_{1} > 6$};
    \node[draw] (t0x0n1) at (-14mm,-10mm) {Class False};
    \node[draw] (t0x0n2) at (14mm,-10mm) {Class True};
    \node[anchor=west] at (-48mm,0mm) {\footnotesize Layer 0};
    """
    view = view_of(model, class_names, pruned=pruned)
    layers = [_placed(view, layer) for layer in view.layers]
    width = max(width for _, width in layers)
    squeeze = min(1.0, _LARGEST / width)
    heights = [max((max(shown.depths) for shown, _, _ in trees), default=0) for trees, _ in layers]
    level = min(_LEVEL, _LARGEST / (sum(heights) + len(heights)))
    left, right = -width * squeeze / 2 - _LAYER_LABEL, width * squeeze / 2
    lines = _head(view)
    top = 0.0
    for number, (trees, layer_width) in enumerate(layers):
        if number > 0:
            lines.append(rf"\draw[dashed] {_at(left, top)} -- {_at(right, top)};")
            lines.append(_layer_label(number, left, top, "north west"))
            top -= level / 2
        for shown, start, step in trees:
            first = (start - layer_width / 2) * squeeze
            lines.extend(_tree_lines(view, shown, (first, top), (step * squeeze, level)))
        if number == 0 and len(layers) == 1:
            lines.append(_layer_label(number, left, top, "west"))
        top -= level * (heights[number] + 0.5)
        if number == 0 and len(layers) > 1:
            lines.append(_layer_label(number, left, top, "south west"))
    return "\n".join([*lines, r"\end{tikzpicture}"])


def _head(view: ModelView) -> list[str]:
    lines: list[str] = []
    for column, formula in view.legend.items():
        name = _CHI.format(*view.leaf_sets[column])
        text = rf"{name} \Leftrightarrow {to_latex(formula)}"
        lines.extend(f"% {line}" for line in text.split("\n"))
    return [
        *lines,
        r"\begin{tikzpicture}",
        # Without amsmath; no macro has parameters, so that the picture may stand in an argument.
        r"\ifdefined\text\else\let\text\mbox\fi",
        r"\ifdefined\tfrac\else\let\tfrac\frac\fi",
    ]


def _placed(
    view: ModelView, layer: Sequence[ShownTree]
) -> tuple[list[tuple[ShownTree, float, float]], float]:
    """Return the x of the first leaf and the way to the next leaf for each tree; and the width."""
    trees, x = [], 0.0
    for shown in layer:
        texts = [*split_texts(view, shown), *leaf_texts(view, shown)]
        longest = max(len(text) for text in texts if text is not None)
        # Leaves that are as far apart as the widest text is long leave room for inner nodes too.
        step = _PER_CHARACTER * longest + _GAP
        trees.append((shown, x + step / 2, step))
        x += step * shown.tree.n_leaves
    return trees, x


def _tree_lines(
    view: ModelView, shown: ShownTree, start: tuple[float, float], steps: tuple[float, float]
) -> list[str]:
    """Return nodes and edges: leaves `steps[0]` apart from the first one, levels `steps[1]`."""
    tree = shown.tree
    (first, top), (step, level) = start, steps
    x = {leaf: first + step * position for position, leaf in enumerate(tree.leaves)}
    for node in reversed(range(tree.n_nodes)):
        if node not in x:
            x[node] = (x[tree.false_child[node]] + x[tree.true_child[node]]) / 2
    names = [f"t{shown.layer}x{shown.number}n{node}" for node in range(tree.n_nodes)]
    leaf_text = dict(zip(tree.leaves, _leaves(view, shown), strict=True))
    nodes, edges = [], []
    for node, (split, depth) in enumerate(zip(tree.splits, shown.depths, strict=True)):
        named = f"({names[node]}) at {_at(x[node], top - level * depth)}"
        if split is None:
            nodes.append(rf"\node[draw] {named} {{{leaf_text[node]}}};")
            continue
        nodes.append(rf"\node {named} {{${view.write_split(split, LATEX, _CHI)}$}};")
        for label, side, child in (
            ("False", "left", tree.false_child[node]),
            ("True", "right", tree.true_child[node]),
        ):
            middle = rf"node[above {side}] {{\tiny {label}}}"
            edges.append(rf"\draw ({names[node]}) -- {middle} ({names[child]});")
    return nodes + edges


def _leaves(view: ModelView, shown: ShownTree) -> list[str]:
    if shown.classes is not None:
        return [f"{view.leaf_word}{escape_latex(label)}" for label in shown.classes]
    texts = []
    for columns in shown.leaf_sets:
        sets = ", ".join(_LEAF_SET.format(*view.leaf_sets[column]) for column in columns)
        # A leaf in no set is as high as the others.
        texts.append(f"${sets}$" if sets else rf"\phantom{{${_LEAF_SET.format(0, 0)}$}}")
    return texts


def _layer_label(number: int, x: float, y: float, anchor: str) -> str:
    return rf"\node[anchor={anchor}] at {_at(x, y)} {{\footnotesize Layer {number}}};"


def _at(x: float, y: float) -> str:
    return f"({_length(x)},{_length(y)})"


def _length(value: float) -> str:
    # TeX reads neither exponents nor a sign before zero.
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".") + "mm"
