"""`Teacher`: a trained network that can be asked for classes and node representations."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch_geometric.data import Batch, Data

from gnn2logic._notices import warn_caller
from gnn2logic._validation import check_choice, check_whole
from gnn2logic.distillation.activations import Activations
from gnn2logic.distillation.answers import Answers
from gnn2logic.distillation.behaviour import few_graphs, unusual_behaviour
from gnn2logic.distillation.declarations import declared_task
from gnn2logic.distillation.layers import Layers, check_layers
from gnn2logic.distillation.module_calls import (
    Heads,
    at_rest,
    call_by_signature,
    call_on_one_graph,
    called,
    takes_graphs_for_one,
)
from gnn2logic.distillation.node_types import (
    NodeNumbers,
    check_node_type,
    has_node_types,
    rows_of_type,
)
from gnn2logic.distillation.outputs import (
    AskedLevel,
    Outputs,
    check_classes,
    named,
    score_rows,
)
from gnn2logic.distillation.readings import OUTPUTS, OutputsOption, as_logits, reading_of
from gnn2logic.distillation.squashing import Squashing
from gnn2logic.exceptions import ParameterError, TeacherError, UnsupportedInputError
from gnn2logic.graphs.edge_features import EdgeFeatures
from gnn2logic.models.pyg_data import MAX_GRAPHS, MAX_NODES, check_graphs, mini_batches, pyg_graphs
from gnn2logic.models.tensors import check_device

__all__ = ["Teacher"]

Forward = Callable[[nn.Module, Batch], torch.Tensor]


class Teacher:
    """Wrap any torch module that runs on PyTorch Geometric mini-batches.

    The module is asked in evaluation mode and without gradients, one bounded mini-batch at a time.
    Afterwards it is as it was: no hooks, the same modes, the same device, and the random state of
    torch has not moved.

    Parameters
    ----------
    module : torch.nn.Module
        It returns one row for each graph, or for each node: scores of two or more classes (logits,
        log-probabilities or probabilities; the largest wins), or one number for a binary task, of
        shape (n,) or (n, 1), see `outputs`. One that is given ``x`` and ``edge_index`` alone and
        returns one row for all of it is asked graph by graph.
    forward : callable, optional
        ``forward(module, batch)`` calls the module on a PyG ``Batch``. By default the names of the
        parameters of ``module.forward`` say what it gets: ``x``, ``edge_index``, ``batch``,
        ``edge_weight``, ..., or the whole batch if it has one parameter like ``data``.
    layers : list of str or callable, optional
        Whose outputs are the node representations to distil, in the order in which they are made.
        By default those of every ``MessagePassing`` module; one that is called several times gives
        several layers. Or the names of modules (see ``module.named_modules()``), for normalised,
        activated or residual outputs. Or a function ``layers(module, batch)`` that returns the
        tensors.
    classes : sequence, optional
        The labels that the outputs stand for, in their order; ``0, 1, ...`` by default.
    level : {"auto", "graph", "node"}
        Whether the rows are graphs or nodes. "auto" looks at their number; where every graph has
        one node it takes them for graphs.
    outputs : {"auto", "scores", "logit", "probability"}
        What the numbers of a row mean:

        - ``"scores"``: one number for each class, of which the largest wins.
        - ``"logit"``: one number, above 0 for the second class.
        - ``"probability"``: one number, above 1/2 for the second class.
        - ``"auto"``: scores where there are several numbers, and a probability where there is one
          behind a sigmoid. One number of any size is a logit if something says that there are two
          classes: `classes`, the labels of `distill`, or the loss that the module keeps as
          ``criterion``, ``loss`` or ``loss_fn``. What looks like another task is refused:
          several sigmoids whose rows do not sum to 1, and one number that may be a quantity
          (``distill(..., task="regression")`` is for these).
    batch_size, max_nodes : int
        The most graphs and the most nodes of one mini-batch. A single graph that is larger is a
        mini-batch of its own.
    device : str or torch.device, optional
        Where to run; by default where the module is. ``"auto"`` is the GPU if there is one.
    node_type : str, optional
        For networks on ``HeteroData`` that classify nodes: the type of these. Answers have a row
        for every node, as `as_batch` numbers them; those of other types mean nothing.

    Notes
    -----
    PyG sends messages from the source of an edge to its target, so on directed graphs a network
    looks along ``A^T``. The default modal parameters of the IDT have both directions there.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from torch_geometric.nn import GCNConv, Sequential, global_mean_pool
    >>> network = Sequential("x, edge_index, batch", [
    ...     (GCNConv(2, 8), "x, edge_index -> x"),
    ...     (GCNConv(8, 3), "x, edge_index -> x"),
    ...     (global_mean_pool, "x, batch -> x"),
    ... ])
    >>> teacher = Teacher(network, classes=["ant", "bee", "cat"])
    >>> graphs = gl.random_graphs(5, sizes=6, random_state=0)
    >>> [layer.shape for layer in teacher.activations(graphs)]
    [(30, 8), (30, 3)]
    >>> teacher.predict_proba(graphs).shape
    (5, 3)
    """

    def __init__(
        self,
        module: nn.Module,
        forward: Forward | None = None,
        layers: Layers = None,
        *,
        classes: object = None,
        level: AskedLevel = "auto",
        outputs: OutputsOption = "auto",
        batch_size: int = MAX_GRAPHS,
        max_nodes: int = MAX_NODES,
        device: str | torch.device | None = None,
        node_type: str | None = None,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise UnsupportedInputError(
                f"module must be a torch.nn.Module. Got {type(module).__name__} instead."
            )
        if isinstance(module, nn.DataParallel):
            raise UnsupportedInputError(
                "module must be called on mini-batches. A DataParallel cuts them up or wants lists "
                "of graphs; give the network inside: Teacher(module.module)."
            )
        if forward is not None and not callable(forward):
            raise ParameterError(
                f"forward must be a function of (module, batch). Got {forward!r} instead."
            )
        self.module = module
        self.forward: Forward = call_by_signature if forward is None else forward
        self.layers = check_layers(module, layers)
        self.classes = check_classes(classes)
        self.level: AskedLevel = check_choice("level", level, ("auto", "graph", "node"))
        if node_type is not None:
            check_choice("level with node_type", level, ("auto", "node"))
            self.level = "node"
        self.node_type = node_type
        self.outputs: OutputsOption = check_choice("outputs", outputs, OUTPUTS)
        self.batch_size = check_whole("batch_size", batch_size, least=1)
        self.max_nodes = check_whole("max_nodes", max_nodes, least=1)
        self.device = None if device is None else check_device(device)
        self._n_classes: int | None = None
        self._heads: Heads | None = None

    # Asking -----------------------------------------------------------------------------------

    def run(self, graphs: object, *, activations: bool = True) -> Answers:
        """Return predictions and, if wanted, activations in one pass over the graphs."""
        items = self._read(graphs)
        outputs = Outputs(self.level, self.node_type)
        n_nodes = sum(data.num_nodes for data in items)
        types = items[0].node_types if has_node_types(items) else ()
        store = Activations(self.module, self.layers, n_nodes, types)
        squashed: bool | None = None
        with at_rest(self.module, self.device) as device:
            forward, most = self._forward_for(items, device)
            for batch in mini_batches(items, max_graphs=most, max_nodes=self.max_nodes):
                placed = batch.to(device)
                # The first mini-batch shows how the numbers are made.
                watch = Squashing() if squashed is None and self._can_be_watched() else None
                with watch or contextlib.nullcontext():
                    if activations:
                        output = store.fill(forward, placed)
                    else:
                        output = called(forward, self.module, placed)
                if squashed is None:
                    squashed = watch is not None and watch.made(output)
                outputs.add(output, placed)
        scores = outputs.scores
        classes = named(self.classes, scores.shape[1])
        reading = reading_of(
            scores,
            outputs.level,
            outputs=self.outputs,
            squashed=bool(squashed),
            declared=declared_task(self.module, scores.shape[1]),
            n_classes=self._n_classes if self.classes is None else len(classes),
        )
        scores, asked = self._for_all_nodes(as_logits(scores, reading), items)
        return Answers(
            scores,
            classes,
            outputs.level,
            store.arrays,
            tuple(store.names),
            either_level=outputs.either_level,
            asked=asked,
        )

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class of every graph (or node)."""
        return self.run(graphs, activations=False).labels

    def predict_proba(self, graphs: object) -> npt.NDArray[np.float64]:
        """Return the probability of every class, in the order of the outputs."""
        return self.run(graphs, activations=False).probabilities

    def numbers(
        self, graphs: object
    ) -> tuple[npt.NDArray[np.float64], Literal["graph", "node"], bool]:
        """Return the one number that a network with a numeric output gives every row.

        What the rows are, graphs or nodes, follows; and whether they may be either, since every
        graph has one node and nobody said.
        """
        items = self._read(graphs)
        outputs = Outputs(self.level, self.node_type)
        with at_rest(self.module, self.device) as device:
            forward, most = self._forward_for(items, device)
            for batch in mini_batches(items, max_graphs=most, max_nodes=self.max_nodes):
                placed = batch.to(device)
                outputs.add(called(forward, self.module, placed), placed)
        scores = outputs.scores
        if scores.shape[1] != 1:
            raise TeacherError(
                f"The network must return one number for each {outputs.level}. Got "
                f"{scores.shape[1]}. Distil all of them, distill(..., targets=[...]) with their "
                "names, or one of them: Teacher(module).head(0)."
            )
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores[:, 0]))[0])
            raise TeacherError(
                f"The network must return finite numbers. Got {scores[row, 0]} for "
                f"{outputs.level} {row}."
            )
        every = self._for_all_nodes(scores[:, 0].astype(np.float64), items)[0]
        return every, outputs.level, outputs.either_level

    def activations(self, graphs: object) -> list[npt.NDArray[np.float32]]:
        """Return the node representations of every layer, one row for each node."""
        return self.run(graphs).activations

    def check(
        self,
        graphs: object,
        *,
        edge_types: str | bool | None = None,
        edge_features: EdgeFeatures = None,
    ) -> None:
        """Warn if the network does what an IDT cannot follow; `distill` calls this.

        A few of the graphs are asked again alone, and with everything shuffled that an IDT does
        not read.

        Parameters
        ----------
        graphs : Data, Batch, Dataset, list of these, or anything that `gnn2logic.as_batch` reads
        edge_types : str, bool or None
            Which edge attribute the IDT reads as relations, see `gnn2logic.from_pyg`.
        edge_features : str, sequence of str or mapping, optional
            Which edge attributes it reads by thresholds, see `gnn2logic.PredicateEncoder`.

        Warns
        -----
        BatchDependenceWarning
            If the answer for a graph depends on the other graphs in the mini-batch.
        HiddenInputWarning
            If the network reads edge weights, labels or other attributes that an IDT does not see.
        TeacherWarning
            If the answers are random.
        """
        items = self._read(graphs)
        numbers = few_graphs([data.num_nodes for data in items], self.max_nodes)
        some = [items[number] for number in numbers]
        with at_rest(self.module, self.device) as device:
            forward, most = self._forward_for(items, device)

            def ask(batch: Batch) -> npt.NDArray[np.float32]:
                batches = [batch]
                if most == 1 < batch.num_graphs:
                    batches = [Batch.from_data_list([data]) for data in batch.to_data_list()]
                rows = [
                    score_rows(called(forward, self.module, each.to(device))) for each in batches
                ]
                return np.concatenate(rows)

            unusual = unusual_behaviour(ask, some, edge_types, edge_features, self.node_type)
        for message, category in unusual:
            warn_caller(message, category)

    def head(self, number: int, n_heads: int | None = None, name: str | None = None) -> Self:
        """Return a teacher that gives one of several answers: one output of a multi-task network.

        Outputs are the columns of a tensor, or a list or dictionary of tensors with one number for
        each graph or node. The one that is chosen is the logit, or behind a sigmoid the
        probability, of class 1 against 0, or for ``task="regression"`` a quantity.

        Parameters
        ----------
        number : int
            Which output, from 0.
        n_heads : int, optional
            How many outputs there must be.
        name : str, optional
            What it is called in the dictionary that the network returns; its place says nothing
            then.

        Examples
        --------
        >>> import gnn2logic as gl
        >>> from torch_geometric.nn import GCNConv, global_mean_pool
        >>> def two(conv, batch):
        ...     return global_mean_pool(conv(batch.x, batch.edge_index), batch.batch)
        >>> graphs = gl.random_graphs(5, sizes=6, random_state=0)
        >>> teacher = Teacher(GCNConv(2, 2), forward=two, outputs="logit")
        >>> teacher.head(1).predict(graphs).shape
        (5,)
        """
        one = self._knowing(2)
        one.classes = None
        names = None if name is None else (name,)
        one._heads = Heads((check_whole("number", number, least=0),), names, n_heads)
        return one

    # Internals ---------------------------------------------------------------------------------

    def _with_heads(self, names: Sequence[str]) -> Self:
        """Return a teacher with the outputs of these names as columns of one tensor."""
        every = copy.copy(self)
        every._heads = Heads(tuple(range(len(names))), tuple(names), len(names))
        return every

    def _knowing(self, n_classes: int | None) -> Self:
        """Return the teacher, told how many classes the labels of others have."""
        told = copy.copy(self)
        told._n_classes = n_classes
        return told

    def _forward_for(self, items: list[Data], device: torch.device) -> tuple[Forward, int]:
        """Return how to call the module, and on how many graphs at once."""
        by_signature = self.forward is call_by_signature and self.level != "node"
        forward, most = self.forward, self.batch_size
        if by_signature and takes_graphs_for_one(self.module, items, device):
            forward, most = call_on_one_graph, 1
        if has_node_types(items):
            forward = rows_of_type(forward, self.node_type)
        return forward if self._heads is None else self._heads.of(forward), most

    def _for_all_nodes(
        self, rows: npt.NDArray[Any], items: list[Data]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        """Return a row for every node, and which of them mean something if not all do."""
        if self.node_type is None:
            return rows, None
        numbers = NodeNumbers.of_graphs(items)
        return numbers.spread(rows, self.node_type), numbers.mask(self.node_type)

    def asked_nodes(self, graphs: object) -> npt.NDArray[np.bool_] | None:
        """Return the nodes of the type that the network speaks of; None if it speaks of all."""
        if self.node_type is None:
            return None
        return NodeNumbers.of_graphs(self._read(graphs)).mask(self.node_type)

    def _can_be_watched(self) -> bool:
        return self.outputs == "auto" and Squashing.can_watch(self.module)

    def _read(self, graphs: object) -> list[Data]:
        """Return graphs that a network can be given; all others are refused here."""
        items = pyg_graphs(graphs, typed=True)
        check_node_type(self.node_type, items)
        check_graphs(items)
        return items

    def __repr__(self) -> str:
        return f"Teacher({type(self.module).__name__})"

    def __sklearn_clone__(self) -> Self:
        # A teacher is trained: copies of an estimator that learns from it share it.
        return self
