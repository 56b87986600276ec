"""What is to be seen in a report: the model as SVG, and the graphs (or nodes) that it shows."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.path import Condition
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.structure_names import RELATIONS
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.logic.printing.steps import ShortNames
from gnn2logic.logic.simplification.folding import fold_modal
from gnn2logic.logic.syntax import Formula
from gnn2logic.plotting.graph_drawing import spacing
from gnn2logic.plotting.graph_layout import category_column, layout, node_labels
from gnn2logic.plotting.scorecards import plot_card_path
from gnn2logic.plotting.trees import plot_idt
from gnn2logic.reporting.comparison import Comparison
from gnn2logic.reporting.number_comparison import NumberComparison
from gnn2logic.reporting.subject import ReportSubject
from gnn2logic.scorecards import ScorecardPredictor

__all__ = [
    "Story",
    "choose_rows",
    "count_edges",
    "decision_of",
    "describe_examples",
    "drawn_graph",
    "flip_of",
    "furthest_rows",
    "inline_svg",
    "model_svg",
    "nodes_to_draw",
]


def model_svg(
    model: IDTPredictor | ScorecardPredictor, classes: Sequence[str], max_leaves: int
) -> str:
    """Return the picture of a model, of a scorecard its path; one model gives one text."""
    matplotlib = import_optional("matplotlib", extra="plot", purpose="A report")
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A report")
    # Letters are drawn as shapes, so that boxes fit their texts on every machine.
    settings = {"svg.hashsalt": "gnn2logic", "svg.fonttype": "path", "savefig.transparent": True}
    with matplotlib.rc_context(settings):
        if isinstance(model, ScorecardPredictor):
            ax = plot_card_path(model)
        else:
            ax = plot_idt(model, class_names=classes, max_leaves=max_leaves)
        try:
            file = io.StringIO()
            nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
            ax.figure.savefig(file, format="svg", metadata=nothing)
        finally:
            pyplot.close(ax.figure)
    return inline_svg(file.getvalue())


def inline_svg(text: str) -> str:
    """Return an SVG file as a part of HTML: without declarations, comments and addresses.

    >>> inline_svg('<?xml version="1.0"?><!-- a --><svg xmlns="http://b"><path d="M0"/></svg>')
    '<svg><path d="M0"/></svg>'
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    head, tag, body = text.partition(">")
    head = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", head)
    # Blank lines come from the comments.
    return re.sub(r"\n\s*", "\n", head + tag + body).strip()


IntArray = npt.NDArray[np.int64]


def nodes_to_draw(graph: GraphBatch, focus: int | None, limit: int) -> IntArray:
    """Return the nodes to draw: all, or the nearest ones to the node in question.

    A large graph without such a node is drawn around the node with most neighbours.
    """
    if graph.n_nodes <= limit:
        return np.arange(graph.n_nodes)
    near = sp.csr_array(graph.adjacency + graph.adjacency.T)
    start = int(np.argmax(np.diff(near.indptr))) if focus is None else focus
    order = sp.csgraph.breadth_first_order(near, start, return_predecessors=False)
    return np.sort(order[:limit]).astype(np.int64)


def drawn_graph(graph: GraphBatch, nodes: IntArray, seed: int) -> dict[str, Any]:
    """Return one graph, or a part of it, as it is drawn.

    Neighbours are about 1 apart and y points up. An edge is a pair of positions in ``nodes``
    and the number of its relation, -1 without one; undirected edges are there once.
    """
    drawn = graph if len(nodes) == graph.n_nodes else _induced(graph, nodes)
    points = layout(drawn, seed)
    usual, smallest = spacing(points)
    categories = category_column(drawn)
    return {
        "nodes": nodes.tolist(),
        "x": np.round(points[:, 0], 2).tolist(),
        "y": np.round(points[:, 1], 2).tolist(),
        "radius": round(min(0.33 * usual, 0.42 * smallest), 3),
        "labels": [str(node) for node in nodes.tolist()]
        if categories is None
        else node_labels(drawn, "category"),
        "categories": categories,
        "predicates": [
            [number for number, on in enumerate(row) if on]
            for row in np.asarray(drawn.predicates).tolist()
        ],
        "directed": not graph.is_symmetric,
        "edges": _edges(drawn, directed=not graph.is_symmetric),
    }


def _induced(graph: GraphBatch, nodes: IntArray) -> GraphBatch:
    return GraphBatch(
        graph.predicates[nodes],
        graph.adjacency[nodes][:, nodes],
        names=graph.names,
        relations={name: matrix[nodes][:, nodes] for name, matrix in graph.relations.items()},
    )


def _edges(graph: GraphBatch, *, directed: bool) -> list[list[int]]:
    typed: Any = sp.csr_array(graph.adjacency.shape, dtype=graph.adjacency.dtype)
    for name, matrix in graph.relations.items():
        if name not in RELATIONS:
            typed = typed + matrix
    edges = []
    shown = [matrix for name, matrix in graph.relations.items() if name not in RELATIONS]
    for number, matrix in enumerate((graph.adjacency - typed, *shown), -1):
        entries = sp.coo_array(matrix)
        for source, target, count in zip(*entries.coords, entries.data, strict=True):
            if count > 0 and (directed or source <= target):
                edges.append([int(source), int(target), number])
    return edges


BoolArray = npt.NDArray[np.bool_]


def choose_rows(
    comparison: Comparison | NumberComparison,
    n_examples: int,
    n_differences: int,
    random_state: int,
) -> list[int]:
    """Return positions in the comparison: random ones of each class, then rows that differ.

    Classes are the true ones where they are known. Of numbers it is the lowest, middle and highest
    third, and then those that are furthest off.
    """
    random = np.random.default_rng(random_state)
    answers = comparison.predicted if comparison.truth is None else comparison.truth
    chosen: dict[int, None] = {}
    if isinstance(comparison, NumberComparison):
        for third in np.array_split(np.argsort(answers, kind="stable"), 3):
            chosen.update(_some(third, n_examples, random))
        chosen.update(dict.fromkeys(furthest_rows(comparison, n_differences)))
        return list(chosen)
    for label in np.unique(answers):
        chosen.update(_some(np.flatnonzero(answers == label), n_examples, random))
    chosen.update(_some(np.flatnonzero(comparison.differs), n_differences, random))
    return list(chosen)


def furthest_rows(comparison: NumberComparison, count: int) -> list[int]:
    """Return the positions that are furthest off, the worst first; none that are not off."""
    errors = comparison.errors
    order = np.argsort(-errors, kind="stable")[:count].tolist()
    return [position for position in order if errors[position] > 0]


def _some(
    positions: npt.NDArray[np.intp], count: int, random: np.random.Generator
) -> Iterable[tuple[int, None]]:
    drawn = random.permutation(positions)[:count]
    return ((int(position), None) for position in np.sort(drawn))


class Story(Protocol):
    """What there is to say about a model on examples."""

    def on_graph(
        self, graph: GraphBatch, node: int | None, number_of: dict[Formula, int]
    ) -> dict[str, Any]:
        """Return why the model gives one graph (or node) its class."""


def describe_examples(
    subject: ReportSubject,
    positions: Sequence[int],
    formulas: Sequence[Formula],
    story: Story,
    *,
    max_nodes: int,
    random_state: int,
) -> list[dict[str, Any]]:
    """Return the examples as plain data: answers, picture, truth of all formulas, decisions."""
    comparison = subject.comparison
    rows = [int(comparison.rows[position]) for position in positions]
    spots = [subject.position(row) for row in rows]
    numbers = sorted({graph for graph, _ in spots})
    batch = subject.batch[numbers] if numbers else subject.batch[[0]]
    truth = [formula.evaluate(batch, level="node") for formula in formulas]
    number_of = {formula: number for number, formula in enumerate(formulas)}
    graphs = {graph: batch[inside] for inside, graph in enumerate(numbers)}
    shown_answers = [
        None if answers is None else answers.tolist()
        for answers in (comparison.truth, comparison.predicted, comparison.teacher)
    ]
    # Numbers are never quite alike.
    differs = comparison.differs if isinstance(comparison, Comparison) else comparison.errors > 0
    pictures: dict[tuple[int, bytes], dict[str, Any]] = {}
    examples = []
    for position, (graph, node) in zip(positions, spots, strict=True):
        inside = numbers.index(graph)
        start, stop = int(batch.ptr[inside]), int(batch.ptr[inside + 1])
        one = graphs[graph]
        nodes = nodes_to_draw(one, node, max_nodes)
        key = (graph, nodes.tobytes())
        if key not in pictures:
            pictures[key] = drawn_graph(one, nodes, random_state)
        true, predicted, taught = (
            None if answers is None else subject.said(answers[position])
            for answers in shown_answers
        )
        examples.append(
            {
                "name": _name(subject, graph, node),
                "graph": graph,
                "node": node,
                "true": true,
                "predicted": predicted,
                "teacher": taught,
                "differs": bool(differs[position]),
                "n_nodes": stop - start,
                "n_edges": count_edges(one),
                **story.on_graph(one, node, number_of),
                "counts": [int(values[start:stop].sum()) for values in truth],
                "truth": [_bits(values[start:stop][nodes]) for values in truth],
                "drawing": pictures[key],
            }
        )
    return examples


def decision_of(condition: Condition, number_of: dict[Formula, int]) -> dict[str, Any]:
    """Return what a condition counts; formulas are numbers of those that are shown."""
    modality, threshold = condition.modality, condition.threshold
    said = fold_modal(modality, condition.inner, threshold, simple=False)
    return {
        "decision": number_of.get(said),
        "counted": number_of.get(condition.inner),
        "count": condition.count,
        "size": condition.size,
        "modality": str(modality),
        "among": modality.set_name,
        "threshold": str(threshold),
        "is_share": isinstance(threshold, Fraction),
        "met": condition.met,
        "margin": condition.margin,
    }


def flip_of(flip: Flip, short_names: ShortNames) -> dict[str, Any]:
    """Return a change of counts in words."""
    return {
        "class": flip.label,
        "total": flip.total,
        "changes": [
            {
                "words": short_names.words(change.formula),
                "before": change.before,
                "after": change.after,
            }
            for change in flip.changes
        ],
    }


def count_edges(graph: GraphBatch) -> int:
    """Return the number of edges; one that is there in both directions counts once."""
    if not graph.is_symmetric:
        return graph.n_edges
    loops = int(graph.adjacency.diagonal().sum(dtype=np.int64))
    return (graph.n_edges + loops) // 2


def _name(subject: ReportSubject, graph: int, node: int | None) -> str:
    if node is None:
        return subject.graph_names[graph]
    if subject.batch.n_graphs == 1:
        return f"Node {node}"
    return f"{subject.graph_names[graph]}, node {node}"


def _bits(truth: BoolArray) -> str:
    """Return truth values as a text of 0 and 1, one for each node that is drawn."""
    return "".join("1" if value else "0" for value in truth)
