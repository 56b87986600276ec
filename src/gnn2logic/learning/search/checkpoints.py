"""Checkpoints of a search: the rules of every stage that is done, and the columns it has made.

A stage is the search on all rows, or on those of one fold. Later stages use the columns of earlier
ones, so these are kept too, as formulas: their truth follows from the graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FormulaError
from gnn2logic.idt.tree_documents import Strict
from gnn2logic.learning.checkpoints import CheckpointDocument, CheckpointFile
from gnn2logic.learning.search.conditions import SearchCondition
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.rule_search import SearchTargets
from gnn2logic.learning.search.rules import Branch, Leaf, SearchedRule
from gnn2logic.logic.documents import formulas_from_rows, formulas_to_rows
from gnn2logic.logic.syntax import Formula

__all__ = ["SearchCheckpoint", "Stages", "restore_columns"]

_VERSION = 1
_EVALUATED_AT_ONCE = 500
# A restored condition is not searched on any more, so that nobody asks for its column.
_NO_COLUMN = -1


_Number = Annotated[int, msgspec.Meta(ge=0)]


class _LeafDocument(Strict, frozen=True, tag="leaf"):
    label: int


class _BranchDocument(Strict, frozen=True, tag="branch"):
    formula: _Number


class _RuleDocument(Strict, frozen=True):
    # From the root on, the true side before the false side.
    tree: list[_LeafDocument | _BranchDocument]
    fit: float


class _StagesDocument(CheckpointDocument, frozen=True):
    format: Literal["gnn2logic.search-checkpoint"]
    rows: list[Any]
    columns: list[_Number]
    # Of a stage there is one rule at least, of a single leaf.
    stages: Annotated[
        list[Annotated[list[_RuleDocument], msgspec.Meta(min_length=1)]],
        msgspec.Meta(min_length=1),
    ]


@dataclass(frozen=True)
class Stages:
    """How far a search has come: its seed, its columns, and the front of every stage."""

    seed: int
    columns: tuple[Formula, ...]
    fronts: tuple[tuple[SearchedRule, ...], ...]


class SearchCheckpoint(CheckpointFile):
    """The stages of a search that are done, in a file."""

    def seed(self) -> int | None:
        """Return the seed of the fit in the file; None if there is no file."""
        checked = self._read(_StagesDocument, _VERSION)
        return None if checked is None else checked.seed

    def read(self, level: Level, targets: SearchTargets) -> Stages | None:
        """Return how far the search has come; None if there is no file."""
        checked = self._read(_StagesDocument, _VERSION)
        if checked is None:
            return None
        try:
            formulas = formulas_from_rows(checked.rows)
            columns = tuple(formulas[number] for number in checked.columns)
            truths = _Truths(level)
            fronts = tuple(
                tuple(
                    targets.rule(_whole_tree(rule.tree, formulas, truths), rule.fit)
                    for rule in front
                )
                for front in checked.stages
            )
        except (FormulaError, ValueError, IndexError, RecursionError) as error:
            raise self.unsound(str(error)) from None
        labels = [leaf.label for front in fronts for rule in front for leaf in rule.leaves]
        if targets.numbers is None and not all(0 <= label < targets.n_classes for label in labels):
            raise self.unsound("it has classes that the data has not")
        return Stages(checked.seed, columns, fronts)

    def write(self, stages: Stages) -> None:
        """Write how far the search has come, in one step."""
        conditions = [
            condition.formula
            for front in stages.fronts
            for rule in front
            for condition in rule.conditions
        ]
        rows, numbers = formulas_to_rows([*stages.columns, *conditions])
        left = iter(numbers[len(stages.columns) :])
        self._write(
            {
                "format": "gnn2logic.search-checkpoint",
                "version": _VERSION,
                "fit": self.fit,
                "seed": stages.seed,
                "rows": rows,
                "columns": numbers[: len(stages.columns)],
                "stages": [
                    [
                        {
                            "tree": [
                                {"type": "leaf", "label": node.label}
                                if isinstance(node, Leaf)
                                else {"type": "branch", "formula": next(left)}
                                for node in rule.nodes
                            ],
                            "fit": rule.fit,
                        }
                        for rule in front
                    ]
                    for front in stages.fronts
                ],
            }
        )


class _Truths:
    """The truth of conditions on all rows, each evaluated once."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._known: dict[Formula, npt.NDArray[np.bool_]] = {}

    def __call__(self, formula: Formula) -> npt.NDArray[np.bool_]:
        if formula not in self._known:
            self._known[formula] = self._level.evaluate(formula)
        return self._known[formula]


def _whole_tree(
    nodes: Sequence[_LeafDocument | _BranchDocument], formulas: Sequence[Formula], truths: _Truths
) -> Branch | Leaf:
    left = iter(nodes)
    try:
        tree = _tree(left, formulas, truths)
    except StopIteration:
        raise ValueError("a rule ends too early") from None
    if next(left, None) is not None:
        raise ValueError("a rule goes on after its end")
    return tree


def _tree(
    nodes: Iterator[_LeafDocument | _BranchDocument], formulas: Sequence[Formula], truths: _Truths
) -> Branch | Leaf:
    node = next(nodes)
    if isinstance(node, _LeafDocument):
        return Leaf(node.label)
    formula = formulas[node.formula]
    condition = SearchCondition(formula, truths(formula), _NO_COLUMN)
    if_true = _tree(nodes, formulas, truths)
    return Branch(condition, if_true, _tree(nodes, formulas, truths))


def restore_columns(level: Level, columns: Sequence[Formula]) -> None:
    """Give a space the columns that it had, with the same numbers."""
    for start in range(0, len(columns), _EVALUATED_AT_ONCE):
        level.space.add_formulas(columns[start : start + _EVALUATED_AT_ONCE], in_order=True)
