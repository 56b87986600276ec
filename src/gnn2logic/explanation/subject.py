"""What is explained: a model, one graph as the model sees it, and for node tasks one node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnn2logic._validation import check_fitted, is_whole
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import as_batch
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor

__all__ = ["Subject", "subject_of"]


@dataclass(frozen=True, eq=False)
class Subject:
    """What is explained, checked.

    Parameters
    ----------
    model : IDT
    labels : list
        The classes by number, with the names that the caller gave them.
    own_labels : list
        The classes by number, as the model itself names them.
    graph : GraphBatch
        One graph, with the predicates of the model.
    node : int or None
        The node that is classified; None for models that classify graphs.
    """

    model: IDT
    labels: list[Any]
    own_labels: list[Any]
    graph: GraphBatch
    node: int | None

    @property
    def row(self) -> int:
        """The node from which the decisions of the final tree look."""
        # Decisions about the graph look along 1, so they are the same at every node.
        return 0 if self.node is None else self.node


def subject_of(
    idt: object, graph: object, *, node: int | None, class_names: Iterable[object] | None = None
) -> Subject:
    """Return what is explained; all that users give is checked here."""
    own: list[Any]
    if isinstance(idt, IDT):
        model, own = idt, list(range(idt.final.values.shape[1]))
        batch = as_batch(graph)
    elif isinstance(idt, IDTPredictor):
        check_fitted(idt, "model_")
        model, own = idt.model_, idt.classes_.tolist()
        batch = idt.encoder_.transform(graph)
    else:
        raise UnsupportedInputError(
            "idt must be an IDTClassifier, an IDTNodeClassifier, an IDTPredictor or an IDT. "
            f"Got {type(idt).__name__} instead."
        )
    if batch.n_graphs != 1:
        raise GraphError(
            f"One graph is explained at a time. Got {batch.n_graphs}; choose one of them."
        )
    labels = own if class_names is None else _checked(class_names, len(own))
    return Subject(model, labels, own, batch, _node(model, batch, node))


def _checked(class_names: Iterable[object], count: int) -> list[object]:
    labels = [own.item() if isinstance(own, np.generic) else own for own in class_names]
    if isinstance(class_names, str) or len(labels) != count or len(set(labels)) != count:
        raise LabelError(
            f"class_names must have one name of its own for each of the {count} classes of the "
            f"model. Got {class_names!r} instead."
        )
    return labels


def _node(model: IDT, batch: GraphBatch, node: Any) -> int | None:
    if model.level == "graph":
        if node is not None:
            raise ParameterError(
                f"node is for models that classify nodes. Got {node!r} for one that classifies "
                "graphs."
            )
        return None
    if not is_whole(node) or not 0 <= node < batch.n_nodes:
        raise ParameterError(
            f"node must be a number from 0 to {batch.n_nodes - 1}, because the model classifies "
            f"nodes. Got {node!r} instead."
        )
    return int(node)
