"""A formula as a graph neural network with exact weights.

There is one channel for each distinct subformula and one for `true`. All layers have the same
weights, and there are as many as the formula is high. With C, W and b whole numbers, a layer is ::

    H' = clip01( H C + sum over S of count_S(H) W_S + b )

where ``count_S(H)`` sums the rows of the nodes in eps_S(v) and ``clip01(z) = min(max(z, 0), 1)``.
Before it is clipped, z is a whole number: at least 1 where the subformula is true and at most 0
where it is false. So the result is exact as long as the floats hold every whole number on the way.
C and W are nearly all zeros, for a subformula has few parts, and only the others are kept.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing, global_add_pool, global_max_pool

from gnn2logic._validation import check_choice, check_names, some_of
from gnn2logic.exceptions import (
    FeatureError,
    FormulaError,
    GraphError,
    UnknownPredicateError,
    UnsupportedInputError,
)
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import (
    TRUE,
    And,
    Constant,
    Formula,
    Modal,
    Not,
    Or,
    Predicate,
    Threshold,
)
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas
from gnn2logic.models.formula_layers import ModalEdges, SparseWeights, check_batch, check_relations

__all__ = ["FormulaLayer", "FormulaNetwork", "to_gnn"]

Level = Literal["graph", "node"]
Entries = dict[tuple[int, int], int]

# float32 holds all whole numbers below this.
_FLOAT32_LIMIT = 2**24
_DEFAULT_NAME = re.compile(r"U(0|[1-9][0-9]*)", re.ASCII)


def to_gnn(
    formula: Formula | Sequence[Formula] | Mapping[Any, Formula],
    *,
    names: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
    level: Level = "graph",
) -> FormulaNetwork:
    """Return a graph neural network that computes a formula, or several, exactly.

    Parameters
    ----------
    formula : Formula, sequence of Formula, or mapping from class to Formula
    names : sequence of str, optional
        The predicates that the columns of ``x`` are, such as ``batch.names``. By default they are
        ``U0, U1, ...``, as `from_pyg` reads them.
    relations : sequence of str, optional
        The relations that the values 0, 1, ... of ``edge_type`` are. By default their names are
        the numbers, as `from_pyg` reads them.
    level : {"graph", "node"}
        As in `evaluate`: one row per graph (true iff all nodes satisfy the formula) or per node.

    Returns
    -------
    FormulaNetwork
        A module with ``forward(x, edge_index, batch=None, edge_type=None)``. Its output has a row
        for each graph (or node) and a column for each formula: 1 where it is true, else -1.

    Examples
    --------
    >>> import torch
    >>> from gnn2logic import parse
    >>> net = to_gnn(parse("A U0 > 1/2"), level="node")
    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> net(torch.tensor([[1.0], [0.0], [1.0]]), path).flatten()
    tensor([-1.,  1., -1.])
    """
    formulas: Mapping[Any, Any] = {}
    if isinstance(formula, Formula):
        formulas = {0: formula}
    elif isinstance(formula, Mapping):
        formulas = formula
    elif isinstance(formula, Sequence):
        formulas = dict(enumerate(formula))
    if not formulas or not all(isinstance(formula, Formula) for formula in formulas.values()):
        raise UnsupportedInputError(
            "to_gnn needs a formula, a list of formulas or a mapping from class to formula. "
            f"Got {formula!r} instead; parse(text) makes a formula from text."
        )
    return FormulaNetwork(formulas, names=names, relations=relations, level=level)


class FormulaNetwork(nn.Module):
    """What `to_gnn` returns.

    Attributes
    ----------
    formulas : dict
        The formulas by class, in the order of the output's columns.
    channels : tuple of Formula
        The subformula that each channel computes.
    n_layers : int
        How often the layer is applied.
    inputs : dict
        The column of ``x`` that each channel of a predicate starts with.
    outputs : list of int
        The channels whose values are returned.
    layer : FormulaLayer
        The one layer: its output after t steps is exact for subformulas that are t high.
    """

    def __init__(
        self,
        formulas: Mapping[Hashable, Formula],
        *,
        names: Sequence[str] | None = None,
        relations: Sequence[str] | None = None,
        level: Level = "graph",
    ) -> None:
        super().__init__()
        check_choice("level", level, ("graph", "node"))
        self.formulas = dict(formulas)
        self.level: Level = level
        roots = tuple(self.formulas.values())
        self.names = None if names is None else check_names(names, what="Predicate")
        self.relations = None if relations is None else check_names(relations, what="Relation")
        check_relations(relation_names(*roots), self.relations)
        self.channels: tuple[Formula, ...] = tuple(subformulas(TRUE, *roots))
        self.layer = FormulaLayer(self.channels)
        # A formula without connectives needs no layer; one keeps its values and can be looked at.
        heights = _heights(self.channels)
        self.n_layers = max(1, *(heights[root] for root in roots))
        number_of = {channel: number for number, channel in enumerate(self.channels)}
        self.outputs = [number_of[root] for root in roots]
        self.inputs = {
            number_of[channel]: self._column(channel.name)
            for channel in self.channels
            if isinstance(channel, Predicate)
        }

    def _column(self, name: str) -> int:
        if self.names is not None:
            if name not in self.names:
                raise UnknownPredicateError(
                    f"The formula speaks of {name!r}, which is not among names: "
                    f"{some_of(self.names)}."
                )
            return self.names.index(name)
        default = _DEFAULT_NAME.fullmatch(name)
        if default is None:
            raise UnknownPredicateError(
                f"The formula speaks of {name!r}. Say which column of x that is: names=[...], such "
                "as batch.names."
            )
        return int(default[1])

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        batch: Tensor | None = None,
        edge_type: Tensor | None = None,
    ) -> Tensor:
        """Return 1 where a formula is true and -1 where it is false."""
        self._check_features(x)
        if batch is None:
            batch = torch.zeros(len(x), dtype=torch.long, device=x.device)
        else:
            check_batch(batch, len(x))
        edges = ModalEdges(edge_index, batch, edge_type, self.relations)
        # Reduced precision would round the counts, so it stays switched off in here.
        with torch.autocast(device_type=x.device.type, enabled=False):
            self.layer.check_sizes(edges)
            h = self._start(x)
            for _ in range(self.n_layers):
                h = self.layer(h, edges)
            truth = h[:, self.outputs]
            if self.level == "graph":
                truth = 1 - global_max_pool(1 - truth, batch)
            return 2 * truth - 1

    def _start(self, x: Tensor) -> Tensor:
        h = torch.zeros(
            len(x), len(self.channels), dtype=self.layer.bias.dtype, device=self.layer.bias.device
        )
        h[:, self.channels.index(TRUE)] = 1
        for channel, column in self.inputs.items():
            h[:, channel] = x[:, column].to(h.dtype)
        return h

    def _check_features(self, x: Tensor) -> None:
        if not isinstance(x, Tensor):
            raise UnsupportedInputError(
                "x must be a tensor with a row for each node, of zero columns if there are no "
                f"predicates. Got {type(x).__name__} instead."
            )
        if x.ndim != 2 or len(x) == 0:
            raise FeatureError(
                f"x must have a row for each node and a column for each predicate. "
                f"Got shape {tuple(x.shape)} instead."
            )
        if self.names is not None and x.shape[1] != len(self.names):
            raise FeatureError(
                f"x must have {len(self.names)} columns ({some_of(self.names)}). "
                f"Got {x.shape[1]} columns instead."
            )
        least = 1 + max(self.inputs.values(), default=-1)
        if x.shape[1] < least:
            raise FeatureError(
                f"x must have at least {least} columns, because the formula speaks of "
                f"{some_of(predicate_names(*self.formulas.values()))}. Got {x.shape[1]} columns."
            )
        bad = (x != 0) & (x != 1)
        if bad.any():
            node, column = bad.nonzero()[0].tolist()
            raise FeatureError(
                f"x must hold predicates, 0 or 1. Got {x[node, column].item()} at node {node}, "
                f"column {column}. PredicateEncoder makes predicates of other features."
            )

    def extra_repr(self) -> str:
        """Return the formulas for ``repr``."""
        texts = (f"{label}: {formula}" for label, formula in self.formulas.items())
        return f"{'; '.join(texts)}, n_layers={self.n_layers}, level={self.level!r}"


class FormulaLayer(MessagePassing):  # type: ignore[misc]
    """One step of a `FormulaNetwork`: every channel from the channels of its parts.

    Parameters
    ----------
    channels : sequence of Formula
        All subformulas, `true` among them.
    """

    def __init__(self, channels: Sequence[Formula]) -> None:
        super().__init__(aggr="add")
        number_of = {channel: number for number, channel in enumerate(channels)}
        same_node: Entries = {}
        bias = [0] * len(channels)
        # Truth values that are summed, at most.
        self._widest = max(len(channel.children) for channel in channels)
        counted: dict[Modality, Entries] = {}
        for number, channel in enumerate(channels):
            children = [number_of[child] for child in channel.children]
            match channel:
                case Modal():
                    of_count, of_size, bound = _comparison(channel.threshold)
                    weights = counted.setdefault(channel.modality, {})
                    weights[children[0], number] = of_count
                    # Both are one entry where `true` itself is counted.
                    whole = number_of[TRUE], number
                    weights[whole] = weights.get(whole, 0) - of_size
                    bias[number] = -bound
                case Not():
                    same_node[children[0], number] = -1
                    bias[number] = 1
                case And():
                    same_node |= {(child, number): 1 for child in children}
                    bias[number] = 1 - len(children)
                case Or():
                    same_node |= {(child, number): 1 for child in children}
                case Predicate():
                    same_node[number, number] = 1
                case Constant():
                    same_node[number, number] = int(channel.value)
        self.same_node = SparseWeights(same_node, len(channels))
        self.bias = nn.Parameter(
            torch.tensor(bias, dtype=torch.get_default_dtype()), requires_grad=False
        )
        self.modalities = tuple(counted)
        self.counted = nn.ModuleList()
        self.columns: list[list[int]] = []
        # What the counts along each parameter are multiplied by, at most.
        self._factors: list[int] = []
        for weights in counted.values():
            # Only channels that somebody counts are sent along the edges.
            columns = sorted({source for (source, _), weight in weights.items() if weight})
            row = {column: number for number, column in enumerate(columns)}
            self.columns.append(columns)
            self._factors.append(max(map(abs, weights.values())))
            rows = {(row[child], to): value for (child, to), value in weights.items() if value}
            self.counted.append(SparseWeights(rows, len(channels)))

    def forward(self, h: Tensor, edges: ModalEdges) -> Tensor:
        """Return the next value of every channel, 0 or 1."""
        # Weights are for channels as rows.
        z: Tensor = self.same_node(h.t()) + self.bias[:, None]
        for modality, columns, weights in zip(
            self.modalities, self.columns, self.counted, strict=True
        ):
            z = z + weights(self.count(h[:, columns], modality, edges).t())
        return z.clamp(0, 1).t()

    def count(self, h: Tensor, modality: Modality, edges: ModalEdges) -> Tensor:
        """Return the sum of `h` over eps_S(v), for every node v."""
        near = torch.zeros_like(h)
        if modality.uses_edges:
            index, counts = edges.messages(modality)
            size = (edges.n_nodes, edges.n_nodes)
            near = self.propagate(index, size=size, h=h, counts=counts.to(h.dtype))
        if not modality.others:
            return near + h if modality.itself else near
        everything: Tensor = global_add_pool(h, edges.batch)[edges.batch] - near
        return everything if modality.itself else everything - h

    def message(self, h_j: Tensor, counts: Tensor) -> Tensor:
        """Return what w adds to the count of v."""
        return counts.unsqueeze(1) * h_j

    def check_sizes(self, edges: ModalEdges) -> None:
        """Refuse graphs on which the floats of the weights would round."""
        limit = round(2 / torch.finfo(self.bias.dtype).eps)
        if self._widest >= limit:
            raise FormulaError(
                f"{self.bias.dtype} is exact for fewer than {limit} parts of one conjunction or "
                f"disjunction. Got {self._widest}; use network.float() or network.double()."
            )
        one = torch.ones(edges.n_nodes, 1, dtype=torch.long, device=edges.batch.device)
        for modality, factor in zip(self.modalities, self._factors, strict=True):
            # Complements start from the whole graph, so its size must be exact as well.
            whole = int(global_add_pool(one, edges.batch).max()) if modality.others else 0
            largest = int(self.count(one, modality, edges).max())
            if max(factor * largest, whole) >= limit:
                raise GraphError(
                    f"The graphs are too large to count along {modality} exactly with "
                    f"{self.bias.dtype}: whole numbers must stay below {limit}. Got {largest} "
                    f"nodes or edges, times {factor} for shares. formula.evaluate(graphs) is exact "
                    "for all sizes."
                )


def _comparison(threshold: Threshold) -> tuple[int, int, int]:
    """Return the factors of count, size and 1 whose sum is above 0 where the count is enough."""
    largest = threshold.denominator if isinstance(threshold, Fraction) else threshold
    if largest >= _FLOAT32_LIMIT:
        raise FormulaError(
            f"Thresholds of a network must have numbers below {_FLOAT32_LIMIT}, which float32 "
            f"holds exactly. Got {threshold}."
        )
    if isinstance(threshold, Fraction):
        return threshold.denominator, threshold.numerator, 0
    return 1, 0, threshold


def _heights(channels: Sequence[Formula]) -> dict[Formula, int]:
    """Return the most connectives and modal parameters on the way from each to a predicate."""
    heights: dict[Formula, int] = {}
    for channel in channels:  # children before parents
        heights[channel] = max((1 + heights[child] for child in channel.children), default=0)
    return heights
