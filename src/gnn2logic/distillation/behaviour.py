"""Trying out a network for what an Iterated Decision Tree cannot follow."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Batch, Data, HeteroData

from gnn2logic._validation import some_of
from gnn2logic.exceptions import BatchDependenceWarning, HiddenInputWarning, TeacherWarning
from gnn2logic.graphs.edge_features import EdgeFeatures, feature_attributes

__all__ = ["few_graphs", "read_of_edges", "unusual_behaviour"]

FloatArray = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ask = Callable[[Batch], FloatArray]
Finding = tuple[str, type[TeacherWarning]]

_GRAPHS_TOGETHER = 8
_GRAPHS_ALONE = 4
# Sums in another order differ by rounding, which deep networks make larger.
_TOLERANCE = 1e-3
# What rounding of the scores themselves may come to when they are subtracted.
_ROUNDING = 64 * float(np.finfo(np.float32).eps)


def few_graphs(sizes: Sequence[int] | npt.NDArray[np.int64], max_nodes: int) -> list[int]:
    """Return the numbers of a few graphs from everywhere in the data.

    Together they have at most so many nodes, unless the first alone has more.
    """
    chosen: list[int] = []
    n_nodes = 0
    for number in np.unique(np.linspace(0, len(sizes) - 1, _GRAPHS_TOGETHER).astype(int)).tolist():
        if not chosen or n_nodes + sizes[number] <= max_nodes:
            chosen.append(number)
            n_nodes += int(sizes[number])
    return chosen


def read_of_edges(encoder: object) -> dict[str, Any]:
    """Return which edge attributes an encoder reads, as `Teacher.check` takes them."""
    return {name: getattr(encoder, name, None) for name in ("edge_types", "edge_features")}


def unusual_behaviour(
    ask: Ask,
    graphs: Sequence[Data],
    edge_types: str | bool | None,
    edge_features: EdgeFeatures = None,
    node_type: str | None = None,
) -> list[Finding]:
    """Return a message and a category for everything that was found.

    With `node_type` the rows that are answered belong to the nodes of that type.
    """
    batch = Batch.from_data_list(list(graphs))
    together = ask(batch)
    if _differ(together, ask(batch), _scale(together)):
        message = (
            "The teacher is random: it answered differently when it was asked twice. Only what "
            "it does always can be distilled; look for dropout that is on in evaluation mode."
        )
        # Nothing else can be compared.
        return [(message, TeacherWarning)]
    findings: list[Finding] = []
    if len(graphs) > 1 and _depends_on_company(
        ask, graphs, batch if node_type is None else batch[node_type], together
    ):
        message = (
            "The teacher's answer for a graph depends on the other graphs in its mini-batch, so "
            "that it is no function of the graph. Look for a normalisation that is not given the "
            "batch vector, such as GraphNorm, or that uses the statistics of the mini-batch."
        )
        findings.append((message, BatchDependenceWarning))
    if isinstance(batch, HeteroData):
        hidden = _hidden_inputs_of_types(
            ask, batch, together, set(feature_attributes(edge_features))
        )
    else:
        read = _read_by_idt(batch, edge_types) | set(feature_attributes(edge_features))
        types = _types_read_by_idt(batch, edge_types)
        hidden = _hidden_inputs(ask, batch, together, read, types)
    if hidden:
        message = (
            f"The teacher reads {some_of(hidden)} of the graphs, which an IDT does not see: its "
            "rules speak of x and edge_index alone. What belongs to nodes can be put into x; edge "
            "types can be read as relations, with PredicateEncoder(edge_types=...), and numbers on "
            "edges with PredicateEncoder(edge_features=...)."
        )
        findings.append((message, HiddenInputWarning))
    return findings


def _differ(first: FloatArray, second: FloatArray, scale: Doubles) -> bool:
    """Whether answers differ by more than rounding, measured by the `scale` of each class."""
    if first.size != second.size:
        return True
    second = second.reshape(first.shape)
    ours, theirs = _behind_the_best(first), _behind_the_best(second)
    fixed = ~np.isfinite(ours)
    if (fixed != ~np.isfinite(theirs)).any():
        return True
    apart = np.abs(np.where(fixed, 0.0, ours) - np.where(fixed, 0.0, theirs))
    rounding = np.maximum(_size(first), _size(second))
    return bool((apart > _TOLERANCE * scale + _ROUNDING * rounding).any())


def _scale(scores: FloatArray) -> Doubles:
    """Return for each class by how much it is behind, at most.

    Classes are measured one by one: those that a network never allows have scores like -1e9, and
    next to these all others would look alike.
    """
    behind = np.abs(_behind_the_best(scores))
    return np.asarray(np.where(np.isfinite(behind), behind, 0.0).max(axis=0))


def _behind_the_best(scores: FloatArray) -> Doubles:
    """Return scores without what all classes of a row have in common; it decides nothing."""
    values = _pairs(scores)
    with np.errstate(invalid="ignore"):
        return np.asarray(values - values.max(axis=1, keepdims=True))


def _size(scores: FloatArray) -> Doubles:
    """Return how large the numbers are that `_behind_the_best` subtracts."""
    values = np.abs(_pairs(scores))
    finite = np.where(np.isfinite(values), values, 0.0)
    best = np.take_along_axis(finite, _pairs(scores).argmax(axis=1)[:, None], axis=1)
    return np.asarray(finite + best)


def _pairs(scores: FloatArray) -> Doubles:
    """Return one logit as the scores of two classes, and other scores as they are."""
    values = scores.astype(np.float64)
    return values if values.shape[1] > 1 else np.concatenate([np.zeros_like(values), values], 1)


def _depends_on_company(ask: Ask, graphs: Sequence[Data], rows: Any, together: FloatArray) -> bool:
    """Whether a graph gets another answer when it is asked alone; `rows.ptr` cuts nodes."""
    whole = len(together) == len(graphs)
    bounds = range(len(graphs) + 1) if whole else rows.ptr.tolist()
    scale = _scale(together)
    return any(
        _differ(
            together[bounds[number] : bounds[number + 1]], ask(Batch.from_data_list([data])), scale
        )
        for number, data in enumerate(graphs[:_GRAPHS_ALONE])
    )


def _hidden_inputs(
    ask: Ask, batch: Batch, together: FloatArray, read: set[str], types: torch.Tensor | None
) -> list[str]:
    """Return the attributes whose values matter to the network and are not read by an IDT."""
    counts = (batch.num_nodes, batch.num_edges)
    keys = [
        key
        for key in sorted(batch.keys())
        if key not in read and _has_rows(key, batch[key], counts, batch.num_graphs)
    ]
    return _those_that_matter(ask, together, keys, lambda some: _shuffled(batch, some, types))


def _hidden_inputs_of_types(
    ask: Ask, batch: Any, together: FloatArray, read_of_edges: set[str]
) -> list[str]:
    """Return the same where nodes and edges have types, with the type before each name."""
    places: dict[str, tuple[Any, str]] = {}
    for type_name in (*batch.node_types, *batch.edge_types):
        store = batch[type_name]
        read = {"x", "batch", "ptr", "num_nodes"}
        is_of_nodes = isinstance(type_name, str)
        if not is_of_nodes:
            read = {"edge_index"} | read_of_edges
        count = store.num_nodes if is_of_nodes else store.num_edges
        for key, value in store.items():
            if key not in read and _has_rows(key, value, (count,), batch.num_graphs):
                name = type_name if is_of_nodes else ".".join(type_name)
                places[f"{name}.{key}"] = type_name, key

    def shuffled(some: Sequence[str]) -> Any:
        generator = torch.Generator().manual_seed(0)
        other = copy.copy(batch)
        for type_name, key in map(places.__getitem__, some):
            other[type_name][key] = _in_other_order(batch[type_name][key], generator)
        return other

    return _those_that_matter(ask, together, sorted(places), shuffled)


def _those_that_matter(
    ask: Ask,
    together: FloatArray,
    keys: Sequence[str],
    shuffled: Callable[[Sequence[str]], Any],
) -> list[str]:
    scale = _scale(together)

    def matters(some: Sequence[str]) -> bool:
        return _differ(together, ask(shuffled(some)), scale)

    return [key for key in keys if matters([key])] if keys and matters(keys) else []


def _has_rows(key: str, value: object, counts: Sequence[int], n_graphs: int) -> bool:
    """Whether an attribute has rows for the nodes, the edges or the graphs, one or more for each.

    PyG takes whatever is named an index for numbers of nodes, which cannot be shuffled.
    """
    if not isinstance(value, torch.Tensor) or not value.dim() or "index" in key:
        return False
    return len(value) in counts or len(value) % n_graphs == 0


def _read_by_idt(batch: Batch, edge_types: str | bool | None) -> set[str]:
    read = {"x", "edge_index", "batch", "ptr"}
    if isinstance(edge_types, str):
        read.add(edge_types)
    elif edge_types is None:
        read.add("edge_type" if "edge_type" in batch else "edge_relations")
    return read


def _types_read_by_idt(batch: Batch, edge_types: str | bool | None) -> torch.Tensor | None:
    """Return the type of every edge; None where an IDT reads none, or more than one for each."""
    name = "edge_type" if edge_types is None else edge_types
    types = batch[name] if isinstance(name, str) and name in batch else None
    is_one_each = isinstance(types, torch.Tensor) and types.shape == (batch.num_edges,)
    return types if is_one_each else None


def _shuffled(batch: Batch, keys: Sequence[str], types: torch.Tensor | None) -> Batch:
    """Return the graphs with rows of attributes in another order.

    Rows of edges stay with edges of the same type: what follows from the type is not hidden.
    """
    generator = torch.Generator().manual_seed(0)
    other = copy.copy(batch)
    for key in keys:
        rows = batch[key]
        if types is not None and batch.is_edge_attr(key):
            order = torch.randperm(len(rows), generator=generator).to(rows.device)
            within = torch.empty_like(order)
            within[types.argsort(stable=True)] = order[types[order].argsort(stable=True)]
            other[key] = rows[within]
        else:
            other[key] = _in_other_order(rows, generator)
    return other


def _in_other_order(rows: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    order = torch.randperm(len(rows), generator=generator).to(rows.device)
    # Few rows may come out as they were; moved by one they do only if all are equal.
    return rows.roll(1, 0) if rows[order].equal(rows) else rows[order]
