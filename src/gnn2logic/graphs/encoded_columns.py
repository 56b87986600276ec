"""How one raw column becomes predicates: learned on training graphs, then applied to any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.columns import RawColumn, distinct, is_binary
from gnn2logic.graphs.inputs import Where
from gnn2logic.graphs.thresholds import choose_thresholds, decimal_text

__all__ = ["KINDS", "EncodedColumn", "Kind", "encode_column", "learn_column", "unseen_values"]

Kind = Literal["binary", "categorical", "continuous"]
KINDS: tuple[str, ...] = get_args(Kind)

Category = int | float | str


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """What was learned about one column.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"binary", "categorical", "continuous"}
        A predicate as it is; one predicate per category; or one predicate per threshold.
    categories : tuple of int, float or str
        The values that have a predicate ``name=value``.
    thresholds : tuple of float
        The numbers t that have a predicate ``name > t``, rising.

    Examples
    --------
    >>> EncodedColumn("charge", "continuous", thresholds=(0.0, 0.5)).names
    ('charge > 0', 'charge > 0.5')
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...] = ()
    thresholds: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predicates that the column gives."""
        if self.kind == "binary":
            return (self.name,)
        if self.kind == "categorical":
            return tuple(f"{self.name}={category_text(value)}" for value in self.categories)
        return tuple(f"{self.name} > {decimal_text(value)}" for value in self.thresholds)


def category_text(value: Category) -> str:
    """Return a category as it is written in the name of its predicate."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) else decimal_text(value)


def _category(value: Any) -> Category:
    """Return a value as a category: whole numbers are ints, whatever they were stored as."""
    if isinstance(value, str):
        return value
    if not isinstance(value, float | np.floating):
        return int(value)
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e16 else number


def _is_whole(values: npt.NDArray[Any]) -> bool:
    return values.dtype.kind in "biu" or bool((values == np.floor(values)).all())


def learn_column(
    column: RawColumn, kind: Kind | None, *, max_categories: int, n_thresholds: int, where: Where
) -> EncodedColumn:
    """Return how to encode a column; `kind` overrides what the values suggest."""
    if kind is None:
        kind = _suggest(column, max_categories)
    if kind == "binary":
        check_binary(column, where, hint="choose another kind for it")
        return EncodedColumn(column.name, "binary")
    if kind == "categorical":
        values, _ = distinct(column.values)
        categories = tuple(_category(value) for value in values)
        return EncodedColumn(column.name, "categorical", categories=categories)
    if column.is_text:
        raise _text_error(column, where)
    thresholds = choose_thresholds(column.values, n_thresholds)
    return EncodedColumn(column.name, "continuous", thresholds=thresholds)


def _suggest(column: RawColumn, max_categories: int) -> Kind:
    values = column.values
    if is_binary(values):
        return "binary"
    n_distinct = len(distinct(values)[0])
    if column.is_text and n_distinct > max_categories:
        raise FeatureError(
            f"Column {column.name!r} must have at most max_categories={max_categories} different "
            f"strings. Got {n_distinct}. Leave it out with node_attributes=[...], raise "
            f"max_categories, or say kinds={{{column.name!r}: 'categorical'}}."
        )
    if column.is_text or n_distinct == 1 or (_is_whole(values) and n_distinct <= max_categories):
        return "categorical"
    return "continuous"


def encode_column(learned: EncodedColumn, column: RawColumn, where: Where) -> npt.NDArray[np.bool_]:
    """Return the predicates of a column, one row per node."""
    if learned.kind == "binary":
        check_binary(
            column,
            where,
            hint="fit on graphs that have such values, or choose another kind with "
            f"kinds={{{learned.name!r}: ...}}",
        )
        return np.asarray(column.values != 0)[:, None]
    if learned.kind == "categorical":
        _check_same_type(learned, column, where)
        # Python compares whole numbers and floats exactly, whatever their size.
        values, codes = distinct(column.values)
        position = {value: number for number, value in enumerate(learned.categories)}
        column_of = np.array(
            [position.get(_category(value), -1) for value in values], dtype=np.intp
        )
        return np.asarray(column_of[codes][:, None] == np.arange(len(learned.categories)))
    if column.is_text:
        raise _text_error(column, where)
    return np.asarray(column.values.astype(np.float64)[:, None] > np.array(learned.thresholds))


def unseen_values(
    column: RawColumn, predicates: npt.NDArray[np.bool_]
) -> tuple[list[Category], int]:
    """Return the values of a categorical column without a predicate and the first node with one."""
    nodes = np.flatnonzero(~predicates.any(axis=1))
    if not nodes.size:
        return [], -1
    values, _ = distinct(column.values[nodes])
    return [_category(value) for value in values], int(nodes[0])


def check_binary(column: RawColumn, where: Where, *, hint: str) -> None:
    """Raise unless the column has only 0 and 1."""
    if is_binary(column.values):
        return
    if column.is_text:
        raise _text_error(column, where)
    at = int(np.argmax((column.values != 0) & (column.values != 1)))
    raise FeatureError(
        f"Column {column.name!r} must be binary (0 or 1). Got {column.values[at]} at {where(at)}; "
        f"{hint}."
    )


def _check_same_type(learned: EncodedColumn, column: RawColumn, where: Where) -> None:
    text = isinstance(learned.categories[0], str)
    if text != column.is_text:
        wanted = "strings" if text else "numbers"
        raise FeatureError(
            f"Column {column.name!r} must have {wanted}, as in the training graphs. "
            f"Got {column.values[0]!r} at {where(0)}."
        )


def _text_error(column: RawColumn, where: Where) -> FeatureError:
    return FeatureError(
        f"Column {column.name!r} must have numbers. Got the string {column.values[0]!r} at "
        f"{where(0)}; only a categorical column can have strings."
    )
