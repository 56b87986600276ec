"""Trying out a network for what an Iterated Decision Tree cannot follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Batch, Data

from gnn2logic._validation import some_of
from gnn2logic.exceptions import BatchDependenceWarning, HiddenInputWarning, TeacherWarning

__all__ = ["few_graphs", "unusual_behaviour"]

FloatArray = npt.NDArray[np.float32]
Ask = Callable[[Batch], FloatArray]
Found = tuple[str, type[TeacherWarning]]

_GRAPHS_TOGETHER = 8
_GRAPHS_ALONE = 4
# Sums in another order differ by rounding, which deep networks make larger.
_TOLERANCE = 1e-3


def few_graphs(graphs: Sequence[Data], max_nodes: int) -> list[Data]:
    """Return a few graphs from everywhere in the data, with at most so many nodes if possible."""
    numbers = np.unique(np.linspace(0, len(graphs) - 1, _GRAPHS_TOGETHER).astype(int))
    chosen: list[Data] = []
    n_nodes = 0
    for data in (graphs[number] for number in numbers):
        if not chosen or n_nodes + data.num_nodes <= max_nodes:
            chosen.append(data)
            n_nodes += data.num_nodes
    return chosen


def unusual_behaviour(
    ask: Ask, graphs: Sequence[Data], edge_types: str | bool | None
) -> list[Found]:
    """Return a message and a category for everything that was found."""
    batch = Batch.from_data_list(list(graphs))
    together = ask(batch)
    if _differ(together, ask(batch)):
        message = (
            "The teacher is random: it answered differently when it was asked twice. Only what "
            "it does always can be distilled; look for dropout that is on in evaluation mode."
        )
        # Nothing else can be compared.
        return [(message, TeacherWarning)]
    found: list[Found] = []
    if len(graphs) > 1 and _depends_on_company(ask, graphs, batch, together):
        message = (
            "The teacher's answer for a graph depends on the other graphs in its mini-batch, so "
            "that it is no function of the graph. Look for a normalisation that is not given the "
            "batch vector, such as GraphNorm, or that uses the statistics of the mini-batch."
        )
        found.append((message, BatchDependenceWarning))
    hidden = _hidden_inputs(ask, batch, together, edge_types)
    if hidden:
        message = (
            f"The teacher reads {some_of(hidden)} of the graphs, which an IDT does not see: its "
            "rules speak of x and edge_index alone. Edge types can be read as relations, with "
            "PredicateEncoder(edge_types=...)."
        )
        found.append((message, HiddenInputWarning))
    return found


def _differ(first: FloatArray, second: FloatArray, scale: float | None = None) -> bool:
    """Whether answers differ by more than rounding, measured by the largest of all answers."""
    if first.size != second.size:
        return True
    largest = float(np.abs(first).max()) if scale is None else scale
    return bool(np.abs(first.ravel() - second.ravel()).max() > _TOLERANCE * largest)


def _depends_on_company(
    ask: Ask, graphs: Sequence[Data], batch: Batch, together: FloatArray
) -> bool:
    """Whether some graph gets another answer when it is asked alone."""
    whole = len(together) == batch.num_graphs
    bounds = range(len(graphs) + 1) if whole else batch.ptr.tolist()
    scale = float(np.abs(together).max())
    return any(
        _differ(
            together[bounds[number] : bounds[number + 1]], ask(Batch.from_data_list([data])), scale
        )
        for number, data in enumerate(graphs[:_GRAPHS_ALONE])
    )


def _hidden_inputs(
    ask: Ask, batch: Batch, together: FloatArray, edge_types: str | bool | None
) -> list[str]:
    """Return the attributes whose values matter to the network and are not read by an IDT."""
    keys = [key for key in _per_node_or_edge(batch) if key not in _read_by_idt(batch, edge_types)]
    if not keys or not _differ(together, ask(_shuffled(batch, keys))):
        return []
    return [key for key in keys if _differ(together, ask(_shuffled(batch, [key])))]


def _per_node_or_edge(batch: Batch) -> list[str]:
    rows = (batch.num_nodes, batch.num_edges)
    return [
        key
        for key in sorted(batch.keys())
        if isinstance(batch[key], torch.Tensor) and batch[key].dim() and len(batch[key]) in rows
    ]


def _read_by_idt(batch: Batch, edge_types: str | bool | None) -> set[str]:
    read = {"x", "edge_index", "batch", "ptr"}
    if isinstance(edge_types, str):
        read.add(edge_types)
    elif edge_types is None:
        read.add("edge_type" if "edge_type" in batch else "edge_relations")
    return read


def _shuffled(batch: Batch, keys: Sequence[str]) -> Batch:
    generator = torch.Generator().manual_seed(0)
    other = copy.copy(batch)
    for key in keys:
        order = torch.randperm(len(batch[key]), generator=generator)
        other[key] = batch[key][order.to(batch[key].device)]
    return other
