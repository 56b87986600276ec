"""What a search is about: whole graphs, or single nodes."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.conditions import (
    ConditionLibrary,
    GraphConditions,
    NodeConditions,
    SearchCondition,
)
from gnn2logic.learning.search.cuts import CountBins, Form
from gnn2logic.learning.search.graph_judging import GraphJudge
from gnn2logic.learning.search.judging import Judge
from gnn2logic.learning.search.node_judging import NodeJudge
from gnn2logic.logic.syntax import Formula

__all__ = ["GraphLevel", "Level", "NodeLevel"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class Level(Protocol):
    """How rows are judged and told apart."""

    space: ColumnSpace
    row_type: Literal["graph", "node"]

    @property
    def n_rows(self) -> int:
        """The number of all graphs or nodes."""

    def judge(
        self,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> Judge:
        """Return a judge of columns for some rows."""

    def library(self, rows: IntArray, *, least: int) -> ConditionLibrary:
        """Return an empty library of conditions on some rows."""

    def evaluate(self, formula: Formula) -> npt.NDArray[np.bool_]:
        """Return where a condition is true, for all rows."""

    def condition(self, column: int, form: Form | None, cut: int) -> SearchCondition:
        """Return the condition on a column that a form and a cut of its count stand for."""

    def bins_of(self, column: int, form: Form) -> IntArray:
        """Return the bin of the count of a column, for all rows; cuts are between bins."""


class GraphLevel:
    """Rows are graphs."""

    row_type: Literal["graph", "node"] = "graph"

    def __init__(self, space: ColumnSpace) -> None:
        self.space = space
        self._bins = CountBins(space.batch.sizes)

    @property
    def n_rows(self) -> int:
        """The number of graphs."""
        return self.space.batch.n_graphs

    def judge(
        self,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> Judge:
        """Return a judge of counts."""
        return GraphJudge(
            self.space, self._bins, rows, targets, weights, price=price, least_weight=least_weight
        )

    def library(self, rows: IntArray, *, least: int) -> ConditionLibrary:
        """Return an empty library of conditions on counts."""
        return GraphConditions(self.space, self._bins, rows, least=least)

    def evaluate(self, formula: Formula) -> npt.NDArray[np.bool_]:
        """Return at which graphs a condition is true."""
        return formula.evaluate(self.space.batch)

    def condition(self, column: int, form: Form | None, cut: int) -> SearchCondition:
        """Return the condition on the count of a column."""
        assert form is not None
        counts = self.space.counts([column])[0]
        return SearchCondition(
            self._bins.condition(self.space.formulas[column], form, cut),
            self._bins.holds(counts, form, cut),
            column,
        )

    def bins_of(self, column: int, form: Form) -> IntArray:
        """Return the bin of the count of a column in every graph."""
        return self._bins.bins(self.space.counts([column])[0], form).astype(np.int64)


class NodeLevel:
    """Rows are nodes."""

    row_type: Literal["graph", "node"] = "node"

    def __init__(self, space: ColumnSpace) -> None:
        self.space = space

    @property
    def n_rows(self) -> int:
        """The number of nodes."""
        return self.space.batch.n_nodes

    def judge(
        self,
        rows: IntArray,
        targets: FloatArray,
        weights: IntArray,
        *,
        price: float,
        least_weight: int,
    ) -> Judge:
        """Return a judge of nodes."""
        return NodeJudge(self.space, rows, targets, weights, price=price, least_weight=least_weight)

    def library(self, rows: IntArray, *, least: int) -> ConditionLibrary:
        """Return an empty library of columns."""
        return NodeConditions(self.space, rows, least=least)

    def evaluate(self, formula: Formula) -> npt.NDArray[np.bool_]:
        """Return at which nodes a condition is true."""
        return formula.evaluate(self.space.batch, level="node")

    def condition(self, column: int, form: Form | None, cut: int) -> SearchCondition:
        """Return the column itself."""
        truth = self.space.layout.unpack(self.space.words([column]))[0]
        return SearchCondition(self.space.formulas[column], truth, column)

    def bins_of(self, column: int, form: Form) -> IntArray:
        """Return the truth of a column; there is one cut."""
        return self.condition(column, None, 0).truth.astype(np.int64)
