"""Where a distilled model and its teacher give different answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from torch_geometric.data import Data

from gnn2logic._text import one_line
from gnn2logic.distillation.agreement import fidelity
from gnn2logic.distillation.conversion import as_teacher, teacher_of_classes
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import ParameterError
from gnn2logic.fitted_models import FittedModel, fitted_classifier
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import read_once
from gnn2logic.idt import IDTPredictor
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = [
    "Disagreement",
    "Disagreements",
    "both_answers",
    "disagreements",
    "form_of",
]

Labels = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Disagreement:
    """One graph, or one node of it, with two answers.

    Parameters
    ----------
    index : int
        The number of the graph among those that were given. For a graph that was searched for, it
        is the number of the graph that the search started from.
    node : int or None
        The node in that graph, for models that classify nodes.
    graph : GraphBatch
        The graph as the model sees it, with its predicates; `plot_graph` draws it.
    data : Data
        The graph as the teacher sees it.
    model, teacher : label
        The two answers.
    """

    index: int
    node: int | None
    graph: GraphBatch
    data: Data
    model: Any
    teacher: Any


class Disagreements(Sequence[Disagreement]):
    """Disagreements in a row; printed, they are a table.

    Parameters
    ----------
    items : sequence of Disagreement
    n_compared : int
        How many graphs (or nodes) the two were asked about.
    level : {"graph", "node"}
    form : str
        What the model is called in the table.
    """

    def __init__(
        self,
        items: Sequence[Disagreement],
        n_compared: int,
        level: Literal["graph", "node"],
        form: str = "IDT",
    ) -> None:
        self._items = tuple(items)
        self.n_compared = n_compared
        self.level = level
        self.form = form

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Disagreement]:
        return iter(self._items)

    def __str__(self) -> str:
        count = "1 disagreement" if len(self) == 1 else f"{len(self)} disagreements"
        title = f"{count}, {self.n_compared} {self.level}s compared"
        if not self._items:
            return title
        where: tuple[object, ...] = ("graph",) if self.level == "graph" else ("graph", "node")
        rows = [tuple(map(str, (*where, "nodes", "edges", self.form, "teacher")))]
        for item in self._items:
            where = (item.index,) if item.node is None else (item.index, item.node)
            cells = (*where, item.graph.n_nodes, item.graph.n_edges, item.model, item.teacher)
            rows.append(tuple(one_line(str(cell)) for cell in cells))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = (
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        )
        return "\n".join((title, *lines))

    __repr__ = __str__


def disagreements(model: object, teacher: object, graphs: object) -> Disagreements:
    """Return the graphs (or nodes) about which a model and its teacher say different things.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        A fitted model: rules or a scorecard, also from a file or from a distiller.
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    graphs : PyG graphs, or anything that `gnn2logic.as_batch` reads

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.models.formula_network import to_gnn
    >>> graphs = gl.random_graphs(100, sizes=5, random_state=0)
    >>> idt = gl.IDTClassifier(n_layers=0, random_state=0)
    >>> idt = idt.fit(graphs, gl.parse("1 U0 > 2").evaluate(graphs).astype(int))
    >>> found = disagreements(idt, to_gnn(gl.parse("1 U0 > 1")), graphs[[0, 1, 3, 4]])
    >>> print(found)
    2 disagreements, 4 graphs compared
    graph  nodes  edges  IDT  teacher
        0      5     10    0        1
        1      5      6    0        1
    """
    graphs = read_once(graphs)
    fitted, network = (
        fitted_classifier(model, reason="disagreements compares classes"),
        as_teacher(teacher),
    )
    ours, theirs = both_answers(fitted, graphs, network, graphs)
    items = pyg_graphs(graphs, typed=True)
    asked = network.asked_nodes(graphs)
    rows = np.flatnonzero((ours != theirs) & (True if asked is None else asked))
    level = fitted.level
    ptr = np.cumsum([0, *(data.num_nodes for data in items)])
    numbers = rows if level == "graph" else np.searchsorted(ptr, rows, side="right") - 1
    seen: dict[int, GraphBatch] = {}
    if len(rows):
        batch = fitted.encoder_.transform(graphs)
        seen = {number: batch[number] for number in np.unique(numbers).tolist()}
    items = [
        Disagreement(
            index=number,
            node=None if level == "graph" else int(row - ptr[number]),
            graph=seen[number],
            data=items[number],
            model=ours[row],
            teacher=theirs[row],
        )
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)
    ]
    return Disagreements(items, len(ours), level, form_of(fitted))


def form_of(model: FittedModel) -> str:
    """Return what a model is called in tables."""
    return "IDT" if isinstance(model, IDTPredictor) else "scorecard"


def both_answers(
    model: FittedModel, for_model: object, teacher: Teacher, for_teacher: object
) -> tuple[Labels, Labels]:
    """Return what a model and its teacher say about the same graphs (or their nodes)."""
    informed = teacher_of_classes(teacher, len(model.classes_))
    answers = informed.run(for_teacher, activations=False)
    if answers.level != model.level and not answers.either_level:
        raise ParameterError(
            f"Both must classify the same things. The {form_of(model)} classifies {model.level}s "
            f"and the teacher {answers.level}s."
        )
    ours, theirs = model.predict(for_model), answers.labels
    fidelity(ours, theirs, None)  # refuses labels of two kinds, which would never be equal
    return ours, theirs
