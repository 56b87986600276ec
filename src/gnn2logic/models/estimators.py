"""scikit-learn estimators that train graph neural networks."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gnn2logic._labels import check_labels, check_mask, check_weights
from gnn2logic._progress import Progress
from gnn2logic._validation import check_choice, check_number, check_whole, seed_from, some_of
from gnn2logic.exceptions import FeatureError, SingleClassWarning, UndertrainedWarning
from gnn2logic.graphs.encoder import graph_tags
from gnn2logic.learning.inputs import class_factors
from gnn2logic.models.network import CONVOLUTIONS, POOLINGS, GraphNetwork, NetworkShape
from gnn2logic.models.pyg_data import pyg_graphs
from gnn2logic.models.tensors import GraphTensors, check_device
from gnn2logic.models.training import (
    Epoch,
    Rows,
    Skill,
    TrainingPlan,
    check_validation,
    logits_of,
    seeded,
    skill_of,
    train,
    validation_rows,
)

__all__ = ["GNNClassifier", "GNNNodeClassifier"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class _GNNEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: the parameters, training and predicting."""

    _level: Literal["graph", "node"]
    module_: GraphNetwork
    classes_: npt.NDArray[Any]
    history_: list[Epoch]
    _feature_names: tuple[str, ...] | None

    def __init__(
        self,
        conv: str = "gcn",
        n_layers: int = 4,
        *,
        hidden: int = 128,
        norm: str | None = "graph",
        pooling: str = "sum",
        dropout: float = 0.0,
        lr: float = 1e-3,
        weight_decay: float = 1e-2,
        batch_size: int = 64,
        max_epochs: int = 200,
        patience: int = 20,
        validation_fraction: float = 0.1,
        class_weight: object = None,
        device: str = "auto",
        random_state: object = None,
        verbose: int | None = None,
    ) -> None:
        self.conv = conv
        self.n_layers = n_layers
        self.hidden = hidden
        self.norm = norm
        self.pooling = pooling
        self.dropout = dropout
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    # Learning ---------------------------------------------------------------------------------

    def _learn(
        self,
        tensors: GraphTensors,
        classes: npt.NDArray[Any],
        codes: IntArray,
        weights: FloatArray,
        validation: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        """Train on rows that are graphs or nodes; rows without weight are not learned from.

        `validation` says which rows are held out to watch; by default a share is drawn.

        What was learned before is replaced at the very end: if anything fails, it is still there.
        """
        plan = self._plan()
        fraction = check_number("validation_fraction", self.validation_fraction, below=1)
        shape = self._shape(tensors, len(classes))
        held_out = validation
        if held_out is None:
            held_out = validation_rows(codes, weights, fraction, plan.seed)
        rows = Rows(
            codes,
            training=np.where(held_out, 0.0, weights),
            validation=np.where(held_out, weights, 0.0),
            per_node=self._level == "node",
        )
        progress = Progress("train", plan.max_epochs, verbose=self.verbose)

        def report(epoch: Epoch) -> None:
            watched = epoch.training if epoch.validation is None else epoch.validation
            progress.step(f"loss {watched:.4f}, epoch")

        with progress, seeded(plan.seed, plan.device):
            network = GraphNetwork(shape).to(plan.device)
            # One class leaves nothing to learn.
            epochs, best = (
                train(network, tensors, rows, plan, report=report) if len(classes) > 1 else ([], -1)
            )
        self.module_ = network.eval()
        self.classes_ = classes
        self.history_ = epochs
        self.best_epoch_ = best
        self.n_features_in_ = tensors.n_features
        self._feature_names = tensors.names
        if len(classes) > 1:
            skill = skill_of(network, tensors, rows, plan.device)
            if skill.is_trivial:
                # The line that calls fit.
                warnings.warn(self._too_little(skill), UndertrainedWarning, stacklevel=3)

    def _too_little(self, skill: Skill) -> str:
        which = "held out for validation" if skill.held_out else "it was trained on"
        return (
            "The network is not better than saying the most frequent class always: on the "
            f"{skill.n_rows} {self._level}s {which} it is right for {skill.accuracy:.1%}, and that "
            f"class for {skill.majority:.1%}. Rules distilled from it would say as little. Train "
            "it longer (max_epochs, patience), choose another lr, conv or hidden, or look at the "
            "labels."
        )

    def _plan(self) -> TrainingPlan:
        return TrainingPlan(
            lr=check_number("lr", self.lr, above=0),
            weight_decay=check_number("weight_decay", self.weight_decay),
            batch_size=check_whole("batch_size", self.batch_size, least=1),
            max_epochs=check_whole("max_epochs", self.max_epochs, least=1),
            patience=check_whole("patience", self.patience, least=1),
            seed=seed_from(self.random_state),
            device=check_device(self.device),
        )

    def _shape(self, tensors: GraphTensors, n_classes: int) -> NetworkShape:
        pooling = check_choice("pooling", self.pooling, POOLINGS)
        return NetworkShape(
            tensors.n_features,
            n_classes,
            conv=check_choice("conv", self.conv, CONVOLUTIONS),
            hidden=check_whole("hidden", self.hidden, least=1),
            n_layers=check_whole("n_layers", self.n_layers, least=1),
            norm=check_choice("norm", self.norm, ("graph", None)),
            pooling=pooling if self._level == "graph" else None,
            dropout=check_number("dropout", self.dropout, below=1),
            typical_size=tensors.n_nodes / tensors.n_graphs,
        )

    @staticmethod
    def _classes_of(labels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) == 1:
            warnings.warn(
                f"All labels are {classes.tolist()[0]!r}; the model is constant.",
                SingleClassWarning,
                stacklevel=3,
            )
        return classes, codes.astype(np.int64)

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__())

    # Using ------------------------------------------------------------------------------------

    def _tensors(self, graphs: object) -> GraphTensors:
        """Return graphs as tensors if they have the features that the network was trained on."""
        check_is_fitted(self, "module_")
        tensors = GraphTensors.collate(pyg_graphs(graphs, fill_x=True))
        if tensors.n_features != self.n_features_in_:
            raise FeatureError(
                f"The graphs must have the {self.n_features_in_} feature columns seen at fit. "
                f"Got {tensors.n_features}."
            )
        known, got = self._feature_names, tensors.names
        if known is not None and got is not None and known != got:
            raise FeatureError(
                f"The graphs must have the features seen at fit, in that order: {some_of(known)}. "
                f"Got {some_of(got)}."
            )
        return tensors

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of the features, if the graphs named them."""
        check_is_fitted(self, "module_")
        if self._feature_names is None:
            raise AttributeError("The graphs that this network was trained on named no features.")
        return np.array(self._feature_names, dtype=object)

    def decision_function(self, graphs: object) -> npt.NDArray[np.float32]:
        """Return the logits: one row per graph (or node), one column per class."""
        tensors = self._tensors(graphs)
        device = next(self.module_.parameters()).device
        return np.asarray(logits_of(self.module_, tensors, device).numpy())

    def predict_proba(self, graphs: object) -> FloatArray:
        """Return the probability of every class: the softmax of the logits."""
        logits = torch.from_numpy(self.decision_function(graphs))
        # In double precision rows sum to 1 as closely as callers expect.
        return np.asarray(torch.softmax(logits.to(torch.float64), dim=1).numpy())

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class of every graph (or node)."""
        logits = self.decision_function(graphs)
        return np.asarray(self.classes_[logits.argmax(axis=1)])

    def score(self, graphs: object, y: object, sample_weight: object = None) -> float:
        """Return the accuracy."""
        predicted = self.predict(graphs)
        labels = check_labels(y, len(predicted), of=self._level)
        weights = check_weights(sample_weight, len(predicted), of=self._level)
        return float(np.average(predicted == labels, weights=weights))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one file ``NAME.safetensors``, whole or not at all; `load_gnn` reads it back.

        The weights are tensors of the file, everything else is JSON in its metadata. `path` is the
        name with the ending or without.
        """
        from gnn2logic.models.saving import save_gnn

        check_is_fitted(self, "module_")
        save_gnn(self, path)


class GNNClassifier(_GNNEstimator):
    """Classify graphs with a message passing network.

    The networks are those of the paper: a linear embedding of the features, residual blocks
    ``x + relu(norm(conv(x)))``, pooling over the nodes of a graph, and an MLP with one hidden
    layer. Graphs are read by `pyg_graphs`: the features are the float columns of ``x``, or the
    predicates of graphs of other kinds, or a column of ones where there are none. Edges without
    a counterpart carry messages from source to target only, as always in PyTorch Geometric.

    Parameters
    ----------
    conv : {"gcn", "gin", "sage", "gat"}
        How messages are passed: the mean-like GCN with self loops, the GIN with sums and an MLP of
        one hidden layer, GraphSAGE with means, or GAT with four attention heads.
    n_layers : int
        Blocks.
    hidden : int
        Channels of every block.
    norm : {"graph"} or None
        ``"graph"`` is GraphNorm over the nodes of each graph.
    pooling : {"sum", "mean"}
        How a graph is made of its nodes. The paper takes means; only sums tell graphs apart that
        differ in size alone.
    dropout : float
        The share of channels that are dropped in training.
    lr, weight_decay : float
        Of the optimizer AdamW. The learning rate is halved when the validation loss stands still.
    batch_size : int
        Graphs per step; fewer where graphs are very large.
    max_epochs : int
    patience : int
        Training stops after so many epochs without a better validation loss.
    validation_fraction : float
        The share of the training data, of every class, that is held out to watch. The weights
        with the best loss on it are kept. With 0 all epochs are run and the last weights kept.
    class_weight : "balanced" or dict, optional
    device : str
        ``"auto"`` is the GPU if there is one; else a name such as ``"cpu"`` or ``"cuda:1"``.
    random_state : int, RandomState, Generator or None
        A number gives the same network every time on the same machine with as many threads.
    verbose : int, optional
        1 shows progress: on a terminal, in a notebook, in lines of a log. 0 shows nothing. By
        default training of more than five seconds shows it on a terminal.

    Attributes
    ----------
    classes_ : array
    module_ : GraphNetwork
        The network: ``module_(x, edge_index, batch)`` returns logits in the order of `classes_`.
    history_ : list of Epoch
        The losses of all epochs.
    best_epoch_ : int
        The epoch whose weights were kept.
    n_features_in_ : int
    feature_names_in_ : array of str
        The names of the features. It is there if the graphs named them.

    Warns
    -----
    UndertrainedWarning
        If the network is not above the most frequent class on its validation part, or where there
        is none on what it was trained on.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> truth = gl.parse("1 U1 > 1/2")
    >>> graphs = gl.random_graphs(200, sizes=7, random_state=0)
    >>> gnn = GNNClassifier(n_layers=1, hidden=16, lr=0.01, random_state=0)
    >>> gnn.fit(graphs, truth.evaluate(graphs)).score(graphs, truth.evaluate(graphs)) > 0.95
    True
    """

    _level = "graph"

    def fit(
        self,
        graphs: object,
        y: object,
        *,
        sample_weight: object = None,
        validation: object = None,
    ) -> Self:
        """Train on graphs with labels.

        `validation`, one truth value for each graph, says which graphs are held out to watch; by
        default a `validation_fraction` is drawn.
        """
        tensors = GraphTensors.collate(pyg_graphs(graphs, fill_x=True))
        labels = check_labels(y, tensors.n_graphs, of="graph")
        weights = check_weights(sample_weight, tensors.n_graphs, of="graph")
        classes, codes = self._classes_of(labels)
        factors = class_factors(self.class_weight, classes, codes, weights)
        watched = None if validation is None else check_validation(validation, codes, weights)
        self._learn(tensors, classes, codes, weights * factors[codes], watched)
        return self


class GNNNodeClassifier(_GNNEstimator):
    """Classify nodes with a message passing network.

    Parameters and attributes are those of `GNNClassifier`; there is no pooling, and the validation
    part is made of nodes.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graph = gl.random_graphs(1, sizes=300, density=0.01, random_state=0)
    >>> labels = gl.parse("U0 & U1").evaluate(graph, level="node")
    >>> gnn = GNNNodeClassifier(n_layers=1, hidden=16, lr=0.01, random_state=0)
    >>> gnn.fit(graph, labels).score(graph, labels) > 0.95
    True
    """

    _level = "node"

    def fit(
        self, graphs: object, y: object, *, mask: object = None, sample_weight: object = None
    ) -> Self:
        """Train on the labels of nodes, in batch order; `mask` chooses the training nodes."""
        tensors = GraphTensors.collate(pyg_graphs(graphs, fill_x=True))
        chosen = check_mask(mask, tensors.n_nodes)
        labels = check_labels(y, tensors.n_nodes, of="node")
        weights = check_weights(sample_weight, tensors.n_nodes, of="node")
        codes = np.zeros(tensors.n_nodes, dtype=np.int64)
        classes, codes[chosen] = self._classes_of(labels[chosen])
        factors = class_factors(self.class_weight, classes, codes[chosen], weights[chosen])
        self._learn(tensors, classes, codes, np.where(chosen, weights * factors[codes], 0.0))
        return self
