"""Truth of formulas on batches of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_choice
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.counts import ModalCounts, set_sizes
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Predicate
from gnn2logic.logic.walk import subformulas

__all__ = ["evaluate", "evaluate_each", "more_than_share"]

BoolArray = npt.NDArray[np.bool_]
_EVERYTHING = Modality.from_set("1")


def evaluate(
    formula: Formula, graphs: object, *, level: Literal["graph", "node"] = "graph"
) -> BoolArray:
    """Return where a formula is true.

    Parameters
    ----------
    formula : Formula
    graphs : GraphBatch, ShardStore or anything that `gnn2logic.as_batch` reads
        Of a store one shard is in memory at a time.
    level : {"graph", "node"}
        ``"node"``: one truth value per node, in batch order. ``"graph"``: one per graph, true iff
        every node of the graph satisfies the formula (the paper's ``G |= phi``). Boolean
        combinations of ``1 phi > t`` have the same value at all nodes, so nothing is lost there.

    Examples
    --------
    >>> from gnn2logic.graphs import GraphBatch
    >>> from gnn2logic.logic import parse
    >>> batch = GraphBatch(
    ...     [[0, 1], [1, 0], [0, 0], [1, 1]],
    ...     [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]],
    ... )
    >>> evaluate(parse("A(!(A U1 = 1)) > 1"), batch, level="node").astype(int)
    array([0, 1, 1, 0])
    >>> evaluate(parse("1 U1 > 1"), batch)
    array([ True])
    """
    check_choice("level", level, ("graph", "node"))
    truths = [_evaluated(formula, batch, level) for batch in _batches(graphs)]
    return truths[0] if len(truths) == 1 else np.concatenate(truths)


def _evaluated(formula: Formula, batch: GraphBatch, level: str) -> BoolArray:
    truth = _Evaluation(batch).truth(formula)
    return truth.per_node(batch) if level == "node" else truth.per_graph(batch)


def evaluate_each(
    formulas: Iterable[Formula], batch: GraphBatch, *, level: Literal["graph", "node"] = "node"
) -> dict[Formula, BoolArray]:
    """Return where each of some formulas is true, by node or by graph; shared parts cost once.

    >>> from gnn2logic.graphs import GraphBatch
    >>> from gnn2logic.logic import parse
    >>> path = GraphBatch(None, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> [truth.tolist() for truth in evaluate_each([parse("A true > 1")], path).values()]
    [[False, True, False]]
    """
    wanted = list(formulas)
    evaluation = _Evaluation(batch)
    for node in subformulas(*wanted):
        evaluation.truths[node] = evaluation._evaluate(node)
    truths = {formula: evaluation.truths[formula] for formula in wanted}
    if level == "node":
        return {formula: truth.per_node(batch) for formula, truth in truths.items()}
    return {formula: truth.per_graph(batch) for formula, truth in truths.items()}


def _batches(graphs: object) -> Iterable[GraphBatch]:
    """Return the graphs, those of a store shard by shard."""
    if isinstance(graphs, GraphBatch):
        return [graphs]
    from gnn2logic.graphs.reading import as_batch
    from gnn2logic.storage import ShardStore

    return graphs if isinstance(graphs, ShardStore) else [as_batch(graphs)]


class _Truth:
    """Truth values, per graph where all nodes of a graph agree by definition, else per node."""

    __slots__ = ("is_global", "values")

    def __init__(self, values: BoolArray, *, is_global: bool) -> None:
        self.values = values
        self.is_global = is_global

    def per_node(self, batch: GraphBatch) -> BoolArray:
        return np.repeat(self.values, batch.sizes) if self.is_global else self.values.copy()

    def per_graph(self, batch: GraphBatch) -> BoolArray:
        if self.is_global:
            return self.values.copy()
        failing = batch.membership @ (~self.values).astype(batch.adjacency.data.dtype)
        result: BoolArray = failing == 0
        return result


class _Evaluation:
    def __init__(self, batch: GraphBatch) -> None:
        self.batch = batch
        self.truths: dict[Formula, _Truth] = {}
        self.counts: dict[Formula, ModalCounts] = {}

    def truth(self, formula: Formula) -> _Truth:
        nodes = subformulas(formula)
        last_use = {child: number for number, node in enumerate(nodes) for child in node.children}
        release: dict[int, list[Formula]] = {}
        for child, number in last_use.items():
            release.setdefault(number, []).append(child)
        for number, node in enumerate(nodes):
            self.truths[node] = self._evaluate(node)
            # Wide shared formulas would otherwise keep one vector per subformula alive.
            for child in release.get(number, ()):
                del self.truths[child]
                self.counts.pop(child, None)
        return self.truths[formula]

    def _evaluate(self, node: Formula) -> _Truth:
        batch = self.batch
        if isinstance(node, Constant):
            return _Truth(np.full(batch.n_graphs, node.value), is_global=True)
        if isinstance(node, Predicate):
            return _Truth(batch.column(node.name), is_global=False)
        if isinstance(node, Modal):
            return self._modal(node)
        operands = [self.truths[child] for child in node.children]
        if isinstance(node, Not):
            return _Truth(~operands[0].values, is_global=operands[0].is_global)
        is_global = all(operand.is_global for operand in operands)
        arrays = [operand.values if is_global else operand.per_node(batch) for operand in operands]
        combine = np.logical_and if isinstance(node, And) else np.logical_or
        # The first result is a new array, so the rest can be written into it.
        values = combine(arrays[0], arrays[1])
        for array in arrays[2:]:
            combine(values, array, out=values)
        return _Truth(values, is_global=is_global)

    def _modal(self, node: Modal) -> _Truth:
        batch, modality = self.batch, node.modality
        counts = self.counts.get(node.child)
        if counts is None:
            truth = self.truths[node.child]
            counts = ModalCounts(batch, truth.per_node(batch) if truth.is_global else truth.values)
            self.counts[node.child] = counts
        is_global = modality == _EVERYTHING
        numbers = counts.graph_sums if is_global else counts(modality)
        if isinstance(node.threshold, Fraction):
            sizes = batch.sizes if is_global else set_sizes(batch, modality)
            values = more_than_share(numbers, sizes, node.threshold)
        elif node.threshold > np.iinfo(numbers.dtype).max:
            values = np.zeros(numbers.shape, dtype=bool)
        else:
            values = numbers > node.threshold
        return _Truth(values, is_global=is_global)


def more_than_share(
    counts: npt.NDArray[Any], sizes: npt.NDArray[np.int64], share: Fraction
) -> BoolArray:
    """Return ``counts > share * sizes``, exactly.

    Floats get it wrong: ``63 > 0.7 * 90`` is True for doubles although both sides are 63.

    >>> more_than_share(np.array([63, 64]), np.array([90, 90]), Fraction(7, 10))
    array([False,  True])
    """
    a, q = share.numerator, share.denominator
    largest = int(sizes.max(initial=1))  # at least 1, so that q itself fits too
    if q * largest < 2**31:
        int_type: Any = np.int32
    elif q * largest < 2**63:
        int_type = np.int64
    else:
        # As integers, count > a*s/q iff count > floor(a*s/q); Python's integers do not overflow.
        distinct, where = np.unique(sizes, return_inverse=True)
        limits = np.array([a * int(size) // q for size in distinct], dtype=np.int64)
        return np.asarray(counts > limits[where])
    left = counts.astype(int_type) * int_type(q)
    return np.asarray(left > sizes.astype(int_type) * int_type(a))
