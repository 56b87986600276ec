"""The scores of small networks as terms of z3, with the stored weights as exact fractions.

Every value has bounds, which follow from those before it: units that are never negative, or never
positive, are no cases for z3, and of the others it knows how large they may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, SAGEConv

from gnn2logic.exceptions import TeacherError, UnsupportedInputError
from gnn2logic.graphs.modality import Direction, Modality
from gnn2logic.logic.equivalence.smt import Encoding
from gnn2logic.logic.syntax import TRUE
from gnn2logic.models.formula_network import FormulaNetwork
from gnn2logic.models.network import Block, GraphNetwork

__all__ = ["NetworkTerms", "check_supported"]

# One row of terms for each node.
Rows = list[list[Any]]
Bounds = tuple[Fraction, Fraction]

# Bounds are widened to multiples of one part of this, so that they have few digits.
_PARTS = 1024
_UNIT = (Fraction(0), Fraction(1))


def check_supported(module: nn.Module) -> None:
    """Refuse networks that cannot be written with sums, products by constants and ReLU."""
    if not all(bool(torch.isfinite(weights).all()) for weights in module.state_dict().values()):
        raise TeacherError(
            "The weights of the network must be finite numbers to prove something about it. Some "
            "are NaN or infinite."
        )
    if isinstance(module, FormulaNetwork):
        if any(modality.edges.relation is not None for modality in module.layer.modalities):
            raise UnsupportedInputError("The symbolic grade is for edges of one sort.")
        return
    if not isinstance(module, GraphNetwork):
        raise UnsupportedInputError(
            "The symbolic grade reads networks of to_gnn, and GNNClassifier(conv='gin' or 'sage', "
            f"norm=None). Got {type(module).__name__} instead; try grade='exhaustive'."
        )
    shape = module.shape
    if shape.norm is not None or shape.conv not in ("gin", "sage"):
        raise UnsupportedInputError(
            "The symbolic grade needs conv='gin' or 'sage' and norm=None: other layers divide by "
            f"what depends on the graph. Got conv={shape.conv!r} and norm={shape.norm!r}; try "
            "grade='exhaustive'."
        )


class NetworkTerms:
    """The scores of a network on a graph whose edges and predicates are variables.

    Parameters
    ----------
    encoding : Encoding
        The variables of the graph.
    features : sequence of str
        The predicates that the columns of ``x`` are.
    context
        That of z3.
    """

    def __init__(self, encoding: Encoding, features: Sequence[str], context: Any) -> None:
        self.z3 = encoding.z3
        self.encoding = encoding
        self.context = context
        self.n_nodes = encoding.n_nodes
        self.constraints: list[Any] = []
        self._bounds: dict[int, Bounds] = {}
        self._n_variables = 0
        zero, one = self.number(0), self.number(1)
        self.features: Rows = [
            [
                self.name(self.z3.If(encoding.predicates[name][v], one, zero), _UNIT)
                for name in features
            ]
            for v in range(self.n_nodes)
        ]

    def scores(self, module: nn.Module) -> list[Any]:
        """Return the outputs for the graph, or for node 0."""
        if isinstance(module, FormulaNetwork):
            return self._formula_network(module)
        assert isinstance(module, GraphNetwork)
        return self._graph_network(module)

    # Arithmetic --------------------------------------------------------------------------------

    def number(self, value: float | Fraction) -> Any:
        """Return a number as it is stored, without rounding."""
        exact = Fraction(value)
        return self.z3.RealVal(f"{exact.numerator}/{exact.denominator}", self.context)

    def name(self, term: Any, bounds: Bounds) -> Any:
        """Return a variable for a term, so that terms stay small."""
        self._n_variables += 1
        variable = self.z3.Real(f"unit {self._n_variables}", self.context)
        self.constraints.append(variable == term)
        low, high = (
            Fraction(math.floor(bounds[0] * _PARTS), _PARTS),
            Fraction(math.ceil(bounds[1] * _PARTS), _PARTS),
        )
        self.constraints += [variable >= self.number(low), variable <= self.number(high)]
        self._bounds[variable.get_id()] = low, high
        return variable

    def sum(self, terms: Sequence[Any]) -> Any:
        """Return the sum of terms, which may be none."""
        return self.z3.Sum(*terms) if terms else self.number(0)

    def weighted(
        self, parts: Sequence[tuple[float | Fraction, Any]], offset: float | Fraction = 0
    ) -> Any:
        """Return ``weight * variable + ... + offset`` as a variable."""
        exact = [(Fraction(weight), unit) for weight, unit in parts if weight]
        low = high = Fraction(offset)
        for weight, unit in exact:
            ends = [weight * end for end in self._bounds[unit.get_id()]]
            low, high = low + min(ends), high + max(ends)
        terms = [self.number(weight) * unit for weight, unit in exact]
        return self.name(self.sum([*terms, self.number(offset)]), (low, high))

    def linear(self, weights: Tensor, bias: Tensor | None, row: Sequence[Any]) -> list[Any]:
        """Return ``weights @ row + bias``."""
        offsets = [0.0] * len(weights) if bias is None else bias.tolist()
        return [
            self.weighted(list(zip(line, row, strict=True)), offset)
            for line, offset in zip(weights.tolist(), offsets, strict=True)
        ]

    def relu(self, unit: Any) -> Any:
        """Return the larger of a variable and 0."""
        zero = self.number(0)
        low, high = self._bounds[unit.get_id()]
        if low >= 0:
            return unit
        if high <= 0:
            return self.weighted([])
        result = self.name(self.z3.If(unit > zero, unit, zero), (Fraction(0), high))
        # The line above both sides of it: z3 need not take sides to know this.
        slope = high / (high - low)
        self.constraints += [
            result >= unit,
            result <= self.number(slope) * unit - self.number(slope * low),
        ]
        return result

    def near(self, v: int, direction: Direction = Direction.IN) -> list[tuple[Any, int]]:
        """Return which nodes may be neighbours of v, and when; messages come along edges to v."""
        pairs = []
        for w in range(self.n_nodes):
            into, out = self.encoding.edge(w, v), self.encoding.edge(v, w)
            if into is None or out is None:
                continue
            when = {
                Direction.IN: into,
                Direction.OUT: out,
                Direction.EITHER: self.z3.Or(into, out),
            }[direction]
            pairs.append((when, w))
        return pairs

    def gathered(self, rows: Rows, v: int) -> list[Any]:
        """Return the sum of the rows of all nodes with an edge to v."""
        zero = self.number(0)
        near = self.near(v)
        sums = []
        for k in range(len(rows[v])):
            ends = [self._bounds[rows[w][k].get_id()] for _, w in near]
            bounds = (
                sum((min(low, Fraction(0)) for low, _ in ends), Fraction(0)),
                sum((max(high, Fraction(0)) for _, high in ends), Fraction(0)),
            )
            terms = [self.z3.If(when, rows[w][k], zero) for when, w in near]
            sums.append(self.name(self.sum(terms), bounds))
        return sums

    def averaged(self, rows: Rows, v: int) -> list[Any]:
        """Return the mean of the rows of all nodes with an edge to v; 0 where there are none."""
        near = self.near(v)
        literals = [(when, 1) for when, _ in near]
        means = []
        for k, total in enumerate(self.gathered(rows, v)):
            mean = total
            for count in range(2, len(literals) + 1):
                exactly = self.z3.PbEq(literals, count)
                mean = self.z3.If(exactly, total * self.number(Fraction(1, count)), mean)
            ends = [self._bounds[rows[w][k].get_id()] for _, w in near]
            lows, highs = [low for low, _ in ends], [high for _, high in ends]
            zero = Fraction(0)
            means.append(self.name(mean, (min([zero, *lows]), max([zero, *highs]))))
        return means

    # Networks that were trained ----------------------------------------------------------------

    def _graph_network(self, module: GraphNetwork) -> list[Any]:
        rows = [self._apply(module.embedding, row) for row in self.features]
        for block in module.blocks:
            assert isinstance(block, Block)
            rows = [
                [
                    self.weighted([(1, x), (1, self.relu(new))])
                    for x, new in zip(row, update, strict=True)
                ]
                for row, update in zip(rows, self._convolved(block.conv, rows), strict=True)
            ]
        shape = module.shape
        pooled = rows[0]
        if shape.pooling is not None:
            size = self.n_nodes if shape.pooling == "mean" else shape.typical_size
            share = 1 / Fraction(size)
            pooled = [self.weighted([(share, row[k]) for row in rows]) for k in range(len(rows[0]))]
        return self._apply(module.head, pooled)

    def _convolved(self, conv: nn.Module, rows: Rows) -> Rows:
        updates = []
        for v, row in enumerate(rows):
            if isinstance(conv, GINConv):
                weight_of_itself = 1 + Fraction(conv.eps.item())
                near = self.gathered(rows, v)
                mixed = [
                    self.weighted([(weight_of_itself, x), (1, y)])
                    for x, y in zip(row, near, strict=True)
                ]
                updates.append(self._apply(conv.nn, mixed))
            else:
                assert isinstance(conv, SAGEConv)
                left = self._apply(conv.lin_l, self.averaged(rows, v))
                right = self._apply(conv.lin_r, row)
                updates.append(
                    [self.weighted([(1, x), (1, y)]) for x, y in zip(left, right, strict=True)]
                )
        return updates

    def _apply(self, module: Any, row: Sequence[Any]) -> list[Any]:
        if isinstance(module, nn.Sequential):
            result = list(row)
            for step in module:
                result = self._apply(step, result)
            return result
        if isinstance(module, nn.ReLU):
            return [self.relu(term) for term in row]
        if isinstance(module, nn.Dropout):
            return list(row)
        return self.linear(module.weight.detach(), _detached(module.bias), row)

    # Networks that were made of formulas -------------------------------------------------------

    def _formula_network(self, module: FormulaNetwork) -> list[Any]:
        zero, one = self.weighted([]), self.weighted([], 1)
        first = module.channels.index(TRUE)
        rows = [
            [
                one
                if channel == first
                else self.features[v][module.inputs[channel]]
                if channel in module.inputs
                else zero
                for channel in range(len(module.channels))
            ]
            for v in range(self.n_nodes)
        ]
        for _ in range(module.n_layers):
            rows = self._formula_layer(module, rows)
        outputs = []
        for channel in module.outputs:
            truth = rows[0][channel]
            if module.level == "graph":
                for row in rows[1:]:
                    least = self.z3.If(row[channel] < truth, row[channel], truth)
                    truth = self.name(least, _UNIT)
            outputs.append(self.weighted([(2, truth)], -1))
        return outputs

    def _formula_layer(self, module: FormulaNetwork, rows: Rows) -> Rows:
        layer = module.layer
        zero, one = self.number(0), self.number(1)
        bias = layer.bias.tolist()
        same = _entries(layer.same_node)
        counted = [
            (modality, columns, _entries(weights))
            for modality, columns, weights in zip(
                layer.modalities, layer.columns, layer.counted, strict=True
            )
        ]
        result = []
        for v in range(self.n_nodes):
            counts = [
                [self._count(modality, rows, v, column) for column in columns]
                for modality, columns, _ in counted
            ]
            row = []
            for channel in range(len(module.channels)):
                parts = [(w, rows[v][k]) for k, to, w in same if to == channel]
                for (_, _, entries), values in zip(counted, counts, strict=True):
                    parts += [(w, values[k]) for k, to, w in entries if to == channel]
                z = self.weighted(parts, bias[channel])
                clipped = self.z3.If(z < zero, zero, self.z3.If(z > one, one, z))
                row.append(self.name(clipped, _UNIT))
            result.append(row)
        return result

    def _count(self, modality: Modality, rows: Rows, v: int, column: int) -> Any:
        """Return the sum of a channel over eps_S(v), on graphs without parallel edges."""
        zero = self.number(0)
        terms = []
        if modality.others:
            terms = [row[column] for row in rows]
        if modality.itself != modality.others:
            value = rows[v][column]
            terms.append(-value if modality.others else value)
        if modality.uses_edges:
            for when, w in self.near(v, modality.edges.direction):
                if w == v and modality.itself == modality.neighbours:
                    continue
                near = self.z3.If(when, rows[w][column], zero)
                terms.append(-near if modality.others else near)
        # All values are between 0 and 1, and so is each summand of the whole.
        most = Fraction(self.n_nodes + 1)
        return self.name(self.sum(terms), (-most, most))


def _detached(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def _entries(weights: Any) -> list[tuple[int, int, float]]:
    """Return sparse weights as (source, target, weight)."""
    starts = weights.starts.tolist()
    sources, values = weights.source.tolist(), weights.values.tolist()
    ends: Callable[[int], range] = lambda to: range(starts[to], starts[to + 1])  # noqa: E731
    return [(sources[k], to, values[k]) for to in range(len(starts) - 1) for k in ends(to)]
