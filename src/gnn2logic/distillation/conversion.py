"""`as_teacher`: whatever can teach, as a `Teacher`."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn
from torch_geometric.data import Batch, Data

from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.models import GNNClassifier, GNNNodeClassifier
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = ["as_teacher", "teacher_of_classes"]


def as_teacher(network: object) -> Teacher:
    """Return a trained network as a `Teacher`.

    Parameters
    ----------
    network : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        A `Teacher` is returned as it is. Of our own classifiers the layers are the activated
        outputs of the blocks, as in the paper. Of any other module they are the outputs of its
        ``MessagePassing`` modules; use `Teacher` to choose others.

    Examples
    --------
    >>> from torch_geometric.nn.models import GCN
    >>> as_teacher(GCN(2, 8, num_layers=3, out_channels=4))
    Teacher(GCN)
    """
    if isinstance(network, Teacher):
        return network
    if isinstance(network, GNNClassifier | GNNNodeClassifier):
        return _ClassifierTeacher(network)
    if isinstance(network, nn.Module):
        return Teacher(network)
    raise UnsupportedInputError(
        "A teacher must be a Teacher, a GNNClassifier or a torch.nn.Module. "
        f"Got {type(network).__name__} instead."
    )


def teacher_of_classes(network: object, n_classes: int | None) -> Teacher:
    """Return a network as a `Teacher` that is told how many classes others tell apart.

    Then one number for each row is taken for the logit of two classes, where nothing else says
    whether it is that or a quantity.
    """
    return as_teacher(network)._knowing(n_classes)


class _ClassifierTeacher(Teacher):
    """A trained classifier of our own, which reads graphs in its own way."""

    def __init__(self, classifier: Any) -> None:
        check_is_fitted(classifier, "module_")
        super().__init__(
            classifier.module_,
            forward=_forward,
            layers=classifier.module_.activation_layers,
            classes=classifier.classes_,
            level="graph" if isinstance(classifier, GNNClassifier) else "node",
        )
        self._classifier = classifier

    def _read(self, graphs: object) -> list[Data]:
        items = pyg_graphs(graphs, fill_x=True)
        # The classifier knows which features it was trained on, and how to complain.
        self._classifier._tensors(items)
        none = torch.zeros(2, 0, dtype=torch.long)
        # It reads nothing else, so other attributes need not be the same in all graphs.
        return [
            Data(x=data.x, edge_index=none if data.edge_index is None else data.edge_index)
            for data in items
        ]


def _forward(module: nn.Module, batch: Batch) -> Any:
    return module(batch.x.float(), batch.edge_index, batch.batch)
