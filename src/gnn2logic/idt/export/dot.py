"""The DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from gnn2logic.idt.export.text import leaf_texts, legend_lines, split_texts
from gnn2logic.idt.export.view import ModelView, ShownTree, view_of

__all__ = ["export_dot"]


def export_dot(
    model: object, *, class_names: Sequence[object] | None = None, pruned: bool = True
) -> str:
    r"""Return an Iterated Decision Tree in the DOT language.

    Every layer is a dashed cluster, one below the other; False leads to the left, True to the
    right. A note spells out what each ``chi_j^i`` means.

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
    >>> print(export_dot(model))
    digraph "IDT" {
      graph ["ordering"="out"];
      node ["shape"="plaintext"];
      subgraph "cluster 0" {
        graph ["label"="Layer 0", "labeljust"="l", "style"="dashed"];
        "0.0.0" ["label"="1 U1 > 6"];
        "0.0.1" ["label"="Class False", "shape"="box"];
        "0.0.2" ["label"="Class True", "shape"="box"];
        "0.0.0" -> "0.0.1" ["label"="False"];
        "0.0.0" -> "0.0.2" ["label"="True"];
      }
    }
    """
    view = view_of(model, class_names, pruned=pruned)
    lines = [
        f"digraph {_quoted('IDT')} {{",
        f"  graph {_attributes(ordering='out')};",
        f"  node {_attributes(shape='plaintext')};",
    ]
    above: str | None = None
    for number, layer in enumerate(view.layers):
        lines.append(f"  subgraph {_quoted(f'cluster {number}')} {{")
        attributes = _attributes(label=f"Layer {number}", labeljust="l", style="dashed")
        lines.append(f"    graph {attributes};")
        for shown in layer:
            lines.extend(f"    {line}" for line in _tree_lines(view, shown))
        lines.append("  }")
        if above is not None:
            # Unseen edges from the lowest leaf keep the layers below each other.
            lines.extend(
                f"  {above} -> {_name(shown, 0)} {_attributes(style='invis')};" for shown in layer
            )
        above = _lowest(layer)
    legend = legend_lines(view)
    if legend:
        label = "".join(f"{_escaped(line)}\\l" for line in legend)
        lines.append(f'  {_quoted("legend")} ["shape"="note", "label"="{label}"];')
    return "\n".join([*lines, "}"])


def _tree_lines(view: ModelView, shown: ShownTree) -> list[str]:
    tree = shown.tree
    leaf_text = dict(zip(tree.leaves, leaf_texts(view, shown), strict=True))
    nodes, edges = [], []
    for node, split in enumerate(split_texts(view, shown)):
        name = _name(shown, node)
        if split is None:
            nodes.append(f"{name} {_attributes(label=leaf_text[node], shape='box')};")
            continue
        nodes.append(f"{name} {_attributes(label=split)};")
        for label, child in (("False", tree.false_child[node]), ("True", tree.true_child[node])):
            edges.append(f"{name} -> {_name(shown, child)} {_attributes(label=label)};")
    return nodes + edges


def _name(shown: ShownTree, node: int) -> str:
    return _quoted(f"{shown.layer}.{shown.number}.{node}")


def _lowest(layer: Sequence[ShownTree]) -> str | None:
    """Return the name of a leaf that is as deep as any in the layer."""
    depths = [(depth, shown, node) for shown in layer for node, depth in enumerate(shown.depths)]
    if not depths:
        return None
    _, shown, node = max(depths, key=lambda entry: entry[0])
    return _name(shown, node)


def _attributes(**values: str) -> str:
    return f"[{', '.join(f'{_quoted(key)}={_quoted(text)}' for key, text in values.items())}]"


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape what DOT strings and labels treat specially: Graphviz reads HTML entities there."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
