"""A network that learns one number of every graph, made and trained as a `GNNClassifier` is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_numbers
from gnn2logic.models.estimators import GNNClassifier
from gnn2logic.models.network import GraphNetwork
from gnn2logic.models.pyg_data import pyg_graphs
from gnn2logic.models.tensors import GraphTensors
from gnn2logic.models.training import Rows, logits_of, seeded, train

__all__ = ["NumberNetwork", "train_on_numbers"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumberNetwork:
    """A trained network, and the scale of the numbers that it learned.

    Parameters
    ----------
    network : GraphNetwork
        Its one output is how many `scale` a number is above `centre`.
    centre, scale : float
    loss : float
        The mean squared error on the graphs that were watched, in squares of `scale`; on those of
        training where none were.
    """

    network: GraphNetwork
    centre: float
    scale: float
    loss: float

    def predict(self, graphs: object) -> FloatArray:
        """Return the number of every graph."""
        tensors = GraphTensors.collate(pyg_graphs(graphs, fill_x=True))
        device = next(self.network.parameters()).device
        told = logits_of(self.network, tensors, device)[:, 0].numpy().astype(np.float64)
        return np.asarray(self.centre + self.scale * told)


def train_on_numbers(
    settings: GNNClassifier, graphs: object, y: object, validation: npt.NDArray[np.bool_] | None
) -> NumberNetwork:
    """Train a network with the parameters of a classifier on numbers of graphs.

    `validation` says which graphs are watched; by default a share is drawn.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(100, sizes=7, random_state=0)
    >>> y = 10.0 + gl.parse("1 U1 > 1/2").evaluate(graphs)
    >>> settings = GNNClassifier(n_layers=1, hidden=16, lr=0.01, max_epochs=40, random_state=0)
    >>> told = train_on_numbers(settings, graphs, y, None).predict(graphs)
    >>> bool(abs(told - y).mean() < 0.3)
    True
    """
    tensors = GraphTensors.collate(pyg_graphs(graphs, fill_x=True))
    numbers = check_numbers(y, tensors.n_graphs, of="graph")
    plan, shape = settings._plan(), settings._shape(tensors, 1)
    if validation is None:
        share = int(settings.validation_fraction * len(numbers) + 0.5)
        order = np.random.default_rng([plan.seed, 1]).permutation(len(numbers))
        validation = np.isin(np.arange(len(numbers)), order[:share])
    centre = float(numbers[~validation].mean())
    # Numbers that are all the same have no scale of their own.
    scale = float(numbers[~validation].std()) or 1.0
    rows = Rows(
        (numbers - centre) / scale,
        training=np.where(validation, 0.0, 1.0),
        validation=np.where(validation, 1.0, 0.0),
        per_node=False,
    )
    with seeded(plan.seed, plan.device):
        network = GraphNetwork(shape).to(plan.device)
        epochs, best = train(network, tensors, rows, plan, report=lambda _: None)
    watched = epochs[best].validation
    loss = epochs[best].training if watched is None else watched
    return NumberNetwork(network.eval(), centre, scale, loss)
