"""The scores of small networks as terms of z3, with the stored weights as exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import GINConv, SAGEConv

from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.graphs.modality import Direction, Modality
from gnn2logic.logic.equivalence.smt import Encoding
from gnn2logic.logic.syntax import TRUE
from gnn2logic.models.formula_network import FormulaNetwork
from gnn2logic.models.network import Block, GraphNetwork

__all__ = ["NetworkTerms", "check_supported"]

# One row of terms for each node.
Rows = list[list[Any]]


def check_supported(module: nn.Module) -> None:
    """Refuse networks that cannot be written with sums, products by constants and ReLU."""
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
        self._n_variables = 0
        zero, one = self.number(0), self.number(1)
        self.features: Rows = [
            [self.z3.If(encoding.predicates[name][v], one, zero) for name in features]
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

    def name(self, term: Any) -> Any:
        """Return a variable for a term, so that terms stay small."""
        self._n_variables += 1
        variable = self.z3.Real(f"unit {self._n_variables}", self.context)
        self.constraints.append(variable == term)
        return variable

    def sum(self, terms: Sequence[Any]) -> Any:
        """Return the sum of terms, which may be none."""
        return self.z3.Sum(*terms) if terms else self.number(0)

    def linear(self, weights: Tensor, bias: Tensor | None, row: Sequence[Any]) -> list[Any]:
        """Return ``weights @ row + bias``."""
        offsets = [0.0] * len(weights) if bias is None else bias.tolist()
        return [
            self.name(
                self.sum(
                    [self.number(w) * x for w, x in zip(line, row, strict=True) if w]
                    + [self.number(offset)]
                )
            )
            for line, offset in zip(weights.tolist(), offsets, strict=True)
        ]

    def relu(self, term: Any) -> Any:
        """Return the larger of a term and 0."""
        zero = self.number(0)
        return self.name(self.z3.If(term > zero, term, zero))

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
        return [
            self.name(self.sum([self.z3.If(when, rows[w][k], zero) for when, w in near]))
            for k in range(len(rows[v]))
        ]

    def averaged(self, rows: Rows, v: int) -> list[Any]:
        """Return the mean of the rows of all nodes with an edge to v; 0 where there are none."""
        sums = self.gathered(rows, v)
        literals = [when for when, _ in self.near(v)]
        means = []
        for total in sums:
            mean = total
            for count in range(2, len(literals) + 1):
                exactly = self.z3.PbEq([(literal, 1) for literal in literals], count)
                mean = self.z3.If(exactly, total * self.number(Fraction(1, count)), mean)
            means.append(self.name(mean))
        return means

    # Networks that were trained ----------------------------------------------------------------

    def _graph_network(self, module: GraphNetwork) -> list[Any]:
        rows = [self._apply(module.embedding, row) for row in self.features]
        for block in module.blocks:
            assert isinstance(block, Block)
            rows = [
                [self.name(x + self.relu(new)) for x, new in zip(row, update, strict=True)]
                for row, update in zip(rows, self._convolved(block.conv, rows), strict=True)
            ]
        shape = module.shape
        pooled = rows[0]
        if shape.pooling is not None:
            size = self.n_nodes if shape.pooling == "mean" else shape.typical_size
            factor = self.number(1 / Fraction(size))
            pooled = [
                self.name(factor * self.sum([row[k] for row in rows])) for k in range(len(rows[0]))
            ]
        return self._apply(module.head, pooled)

    def _convolved(self, conv: nn.Module, rows: Rows) -> Rows:
        updates = []
        for v, row in enumerate(rows):
            if isinstance(conv, GINConv):
                weight_of_itself = self.number(1) + self.number(conv.eps.item())
                near = self.gathered(rows, v)
                mixed = [
                    self.name(weight_of_itself * x + y) for x, y in zip(row, near, strict=True)
                ]
                updates.append(self._apply(conv.nn, mixed))
            else:
                assert isinstance(conv, SAGEConv)
                left = self._apply(conv.lin_l, self.averaged(rows, v))
                right = self._apply(conv.lin_r, row)
                updates.append([self.name(x + y) for x, y in zip(left, right, strict=True)])
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
        zero, one = self.number(0), self.number(1)
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
                    truth = self.name(self.z3.If(row[channel] < truth, row[channel], truth))
            outputs.append(self.name(self.number(2) * truth - one))
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
                [self.name(self._count(modality, rows, v, column)) for column in columns]
                for modality, columns, _ in counted
            ]
            row = []
            for channel in range(len(module.channels)):
                terms = [self.number(bias[channel])]
                terms += [self.number(w) * rows[v][k] for k, to, w in same if to == channel]
                for (_, _, entries), values in zip(counted, counts, strict=True):
                    terms += [self.number(w) * values[k] for k, to, w in entries if to == channel]
                z = self.name(self.sum(terms))
                row.append(self.name(self.z3.If(z < zero, zero, self.z3.If(z > one, one, z))))
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
        return self.sum(terms)


def _detached(bias: Tensor | None) -> Tensor | None:
    return None if bias is None else bias.detach()


def _entries(weights: Any) -> list[tuple[int, int, float]]:
    """Return sparse weights as (source, target, weight)."""
    starts = weights.starts.tolist()
    sources, values = weights.source.tolist(), weights.values.tolist()
    ends: Callable[[int], range] = lambda to: range(starts[to], starts[to + 1])  # noqa: E731
    return [(sources[k], to, values[k]) for to in range(len(starts) - 1) for k in ends(to)]
