"""Networks on several types of nodes: how they are called, and to which nodes their rows belong.

`gnn2logic.as_batch` numbers the nodes of ``HeteroData`` graph by graph and, within a graph, type by
type. What a network returns for the nodes of one type is put at their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch_geometric.data import Batch, HeteroData
from torch_geometric.nn import HeteroConv, MessagePassing

from gnn2logic._labels import check_mask
from gnn2logic._validation import some_of
from gnn2logic.exceptions import ActivationError, ParameterError, TeacherError

__all__ = [
    "NodeNumbers",
    "among",
    "attribute",
    "check_node_type",
    "count_of",
    "has_node_types",
    "rows_of_type",
    "stored",
    "typed_layers",
]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


def has_node_types(graphs: Sequence[Any]) -> bool:
    """Whether the first of some graphs has types of nodes; then all have."""
    return isinstance(graphs[0], HeteroData)


def check_node_type(node_type: str | None, graphs: Sequence[Any]) -> None:
    """Refuse a type of nodes that the graphs do not have."""
    if node_type is None:
        return
    if not has_node_types(graphs):
        raise ParameterError(
            f"node_type is for HeteroData. Got node_type={node_type!r} and graphs with one type of "
            "nodes; leave it out."
        )
    if node_type not in graphs[0].node_types:
        raise ParameterError(
            f"node_type must be one of the types of the nodes: {some_of(graphs[0].node_types)}. "
            f"Got {node_type!r}."
        )


def count_of(batch: Any, node_type: str | None) -> int:
    """Return the number of nodes of a type in a mini-batch; of all nodes without a type."""
    return int(batch.num_nodes if node_type is None else batch[node_type].num_nodes)


def stored(batch: Any, name: str) -> Any:
    """Return what a mini-batch stores under the name of a parameter; None if it is nothing.

    With types of nodes it is a dictionary, called ``x_dict`` or ``x``.
    """
    if not isinstance(batch, HeteroData):
        return batch[name] if name in batch else None  # noqa: SIM401
    if collected := batch.collect(name.removesuffix("_dict"), allow_empty=True):
        return collected
    return batch._global_store.get(name)


def attribute(batch: Any, name: str) -> Any:
    """Return what a mini-batch stores or knows, such as ``num_graphs``; None if it is nothing."""
    value = stored(batch, name)
    is_typed = isinstance(batch, HeteroData) and name.endswith("_dict")
    return getattr(batch, name, None) if value is None and not is_typed else value


def rows_of_type(
    forward: Callable[[nn.Module, Batch], Any], node_type: str | None
) -> Callable[[nn.Module, Batch], Any]:
    """Return how to call a network that may answer with a dictionary by types of nodes."""

    def call(module: nn.Module, batch: Batch) -> Any:
        output = forward(module, batch)
        if not isinstance(output, Mapping):
            return output
        if node_type not in output:
            wanted = "None" if node_type is None else repr(node_type)
            raise TeacherError(
                f"The network answers for nodes of {some_of([*output])}. Got node_type={wanted}; "
                "say which of them is meant: Teacher(module, node_type=...)."
            )
        return output[node_type]

    return call


def among(mask: object, asked: npt.NDArray[np.bool_] | None) -> Any:
    """Return the mask of a user without the nodes that a network says nothing about."""
    if asked is None:
        return mask
    return asked & check_mask(mask, len(asked))


class NodeNumbers:
    """The numbers of the nodes of each type among all nodes of some graphs.

    Parameters
    ----------
    node_types : sequence of str
        In their order within a graph.
    counts : array of int, shape (n_graphs, n_types)
    """

    def __init__(self, node_types: Sequence[str], counts: IntArray) -> None:
        self.n_nodes = int(counts.sum())
        type_of = np.repeat(np.tile(np.arange(len(node_types)), len(counts)), counts.ravel())
        self.of_type = {
            name: np.flatnonzero(type_of == number) for number, name in enumerate(node_types)
        }

    @classmethod
    def of_graphs(cls, graphs: Sequence[Any]) -> NodeNumbers:
        """Return the numbers for a list of ``HeteroData`` with the same types."""
        types = graphs[0].node_types
        counts = [[int(graph[name].num_nodes) for name in types] for graph in graphs]
        return cls(types, np.array(counts, dtype=np.int64))

    @classmethod
    def of_batch(cls, batch: Any, node_types: Sequence[str]) -> NodeNumbers:
        """Return the numbers for a mini-batch."""
        counts = [batch[name].ptr.diff().cpu().numpy() for name in node_types]
        return cls(node_types, np.stack(counts, axis=1).astype(np.int64))

    def mask(self, node_type: str) -> npt.NDArray[np.bool_]:
        """Return which nodes are of a type."""
        mask = np.zeros(self.n_nodes, dtype=bool)
        mask[self.of_type[node_type]] = True
        return mask

    def spread(self, rows: npt.NDArray[Any], node_type: str) -> npt.NDArray[Any]:
        """Return a row for every node; those of other types are 0."""
        every = np.zeros((self.n_nodes, *rows.shape[1:]), dtype=rows.dtype)
        every[self.of_type[node_type]] = rows
        return every

    def side_by_side(
        self, blocks: Mapping[str, torch.Tensor], edge_types: Sequence[Any], layer: str
    ) -> FloatArray:
        """Return what a layer returns for several types as one matrix with a row for every node.

        Each type has columns of its own, because each has weights of its own.
        """
        parts = []
        for key, block in blocks.items():
            rows = block.detach().to("cpu", torch.float32).reshape(len(block), -1).numpy()
            node_type = self._type_of(key, len(rows), edge_types)
            if node_type is None:
                sizes = {name: len(numbers) for name, numbers in self.of_type.items()}
                raise ActivationError(
                    f"Layer {layer!r} must return a row for each node of a type: {sizes}. Got "
                    f"{len(rows)} rows; give Teacher(module, layers=...) a function of (module, "
                    "batch) that returns a list of dictionaries by types of nodes."
                )
            parts.append(self.spread(rows, node_type))
        return np.concatenate(parts, axis=1)

    def _type_of(self, key: str, n_rows: int, edge_types: Sequence[Any]) -> str | None:
        """Return whose nodes the rows are, by name or else by number."""
        named = {_as_key(each): each[2] for each in edge_types}
        fitting = [name for name, numbers in self.of_type.items() if len(numbers) == n_rows]
        known = key if key in self.of_type else named.get(key)
        if known is not None:
            return known if known in fitting else None
        return fitting[0] if len(fitting) == 1 else None


def _as_key(edge_type: Sequence[str]) -> str:
    # How to_hetero calls the module of a type of edges.
    return re.sub(r"[ :-]", "_", "__".join(edge_type))


def typed_layers(module: nn.Module, names: Sequence[str] | None) -> dict[str, tuple[str, str]]:
    """Return the modules whose outputs are layers: for each the name of its layer, and its type.

    A ``HeteroConv`` is a layer, and so is all that ``to_hetero`` made of one: a module for each
    type of edges. The type is empty where a module returns a dictionary, or rows that tell it.
    """
    every = dict(module.named_modules(remove_duplicate=False))
    layer_of: dict[str, tuple[str, str]] = {}
    for name in every if names is None else names:
        if names is None and not isinstance(every[name], MessagePassing | HeteroConv):
            continue
        above, _, key = name.rpartition(".")
        if any(name.startswith(f"{other}.") for other in layer_of):
            continue
        if isinstance(every[name], nn.ModuleDict):
            layer_of |= {f"{name}.{inner}": (name, inner) for inner in every[name]}
        elif above and isinstance(every[above], nn.ModuleDict):
            layer_of[name] = (above, key)
        else:
            layer_of[name] = (name, "")
    if not layer_of:
        raise TeacherError(
            f"{type(module).__name__} must have MessagePassing or HeteroConv modules to find its "
            "layers. It has none; give Teacher(module, layers=...) a function of (module, batch) "
            "that returns a list of dictionaries by types of nodes."
        )
    return layer_of
