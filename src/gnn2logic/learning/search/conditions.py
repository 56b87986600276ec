"""Conditions on graphs or nodes, each once: what small trees are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins, Form
from gnn2logic.learning.search.judging import Verdict
from gnn2logic.logic.syntax import Formula

__all__ = ["ConditionLibrary", "GraphConditions", "NodeConditions", "SearchCondition"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SearchCondition:
    """One condition.

    Parameters
    ----------
    formula : Formula
        ``1 phi > t`` for graphs, phi itself for nodes.
    truth : array of bool
        Where it holds, for all graphs or nodes.
    column : int
        The number of the column phi.
    """

    formula: Formula
    truth: BoolArray
    column: int


class ConditionLibrary(ABC):
    """Conditions that tell some graphs (or nodes) apart, without repeats and complements.

    They are kept as numbers: of some thousand conditions only a few are ever read as formulas.

    Parameters
    ----------
    space : ColumnSpace
    rows : array of int
        The graphs or nodes that count.
    least : int
        How many of them must be on each side.
    """

    def __init__(self, space: ColumnSpace, rows: npt.NDArray[np.int64], *, least: int) -> None:
        self._space, self._rows, self._least = space, rows, least
        self._number_of: dict[bytes, int] = {}
        # (size, column, form, cut): the least of equal conditions is kept.
        self._keys: list[tuple[int, int, int, int]] = []
        self._truths: list[BoolArray] = []

    def __len__(self) -> int:
        return len(self._keys)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of symbols of every condition."""
        return np.array([size for size, _, _, _ in self._keys], dtype=np.int64)

    def truths(self) -> BoolArray:
        """Return where each condition holds, on the rows that count."""
        return np.array(self._truths)

    @abstractmethod
    def __getitem__(self, number: int) -> SearchCondition:
        """Return a condition."""

    @abstractmethod
    def add_best(self, verdicts: Iterable[tuple[int, Verdict]]) -> None:
        """Add the best condition on each of some columns."""

    @abstractmethod
    def add_all(self, columns: Sequence[int], most: int) -> None:
        """Add every condition on some columns, column by column, until there are `most`."""

    def _add(self, key: tuple[int, int, int, int], truth: BoolArray) -> None:
        n_true = int(np.count_nonzero(truth))
        if min(n_true, len(truth) - n_true) < self._least:
            return
        fingerprint = np.packbits(truth ^ truth[0]).tobytes()
        number = self._number_of.setdefault(fingerprint, len(self._keys))
        if number == len(self._keys):
            self._keys.append(key)
            self._truths.append(truth)
        elif key < self._keys[number]:
            self._keys[number], self._truths[number] = key, truth


class GraphConditions(ConditionLibrary):
    """Conditions on the counts of columns in graphs."""

    def __init__(
        self, space: ColumnSpace, bins: CountBins, rows: npt.NDArray[np.int64], *, least: int
    ) -> None:
        super().__init__(space, rows, least=least)
        self._bins = bins

    def __getitem__(self, number: int) -> SearchCondition:
        """Return a condition."""
        _, column, form, cut = self._keys[number]
        counts = self._space.counts([column])[0]
        return SearchCondition(
            self._bins.condition(self._space.formulas[column], Form(form), cut),
            self._bins.holds(counts, Form(form), cut),
            column,
        )

    def add_best(self, verdicts: Iterable[tuple[int, Verdict]]) -> None:
        """Add the best condition on each of some columns."""
        for column, verdict in verdicts:
            if verdict.form is not None and verdict.cut >= 0:
                counts = self._space.counts([column])[0]
                truth = self._bins.holds(counts, verdict.form, verdict.cut)[self._rows]
                self._add_cut(column, verdict.form, verdict.cut, truth)

    def add_all(self, columns: Sequence[int], most: int) -> None:
        """Add every condition on some columns, column by column, until there are `most`."""
        for column in columns:
            if len(self) >= most:
                return
            counts = self._space.counts([column])[0]
            for form in (Form.COUNT, Form.COUNT_NOT, Form.SHARE):
                bins = self._bins.bins(counts, form)[self._rows]
                for cut in np.unique(bins)[:-1].tolist():
                    # A cut just below a fraction is one of the complement.
                    if form is Form.SHARE and cut % 2 == 0:
                        self._add_cut(column, Form.SHARE_NOT, cut, bins <= cut)
                    else:
                        self._add_cut(column, form, cut, bins > cut)

    def _add_cut(self, column: int, form: Form, cut: int, truth: BoolArray) -> None:
        size = int(self._space.sizes([column])[0, int(form.negated)]) + 1
        self._add((size, column, form, cut), truth)


class NodeConditions(ConditionLibrary):
    """Columns themselves, as conditions on nodes."""

    def __getitem__(self, number: int) -> SearchCondition:
        """Return a condition."""
        column = self._keys[number][1]
        truth = self._space.layout.unpack(self._space.words([column]))[0]
        return SearchCondition(self._space.formulas[column], truth, column)

    def add_best(self, verdicts: Iterable[tuple[int, Verdict]]) -> None:
        """Add the best condition on each of some columns."""
        columns = [column for column, _ in verdicts]
        self.add_all(columns, len(self) + len(columns))

    def add_all(self, columns: Sequence[int], most: int) -> None:
        """Add some columns until there are `most`."""
        for column in columns:
            if len(self) >= most:
                return
            truth = self._space.layout.unpack(self._space.words([column]))[0, self._rows]
            self._add((int(self._space.sizes([column])[0, 0]), column, 0, 0), truth)
