"""How one raw column becomes predicates: learned on training graphs, then applied to any."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError
from gnn2logic.graphs.columns import RawColumn, distinct, is_binary
from gnn2logic.graphs.inputs import Where

__all__ = [
    "FEATURE_TYPES",
    "ColumnTest",
    "EncodedColumn",
    "FeatureType",
    "choose_thresholds",
    "decimal_text",
    "encode_column",
    "learn_column",
    "simplest_decimal",
    "unseen_warnings",
]


def decimal_text(value: float) -> str:
    """Return the shortest decimal that is read back as exactly `value`.

    >>> decimal_text(0.5), decimal_text(2.0), decimal_text(1e-7)
    ('0.5', '2', '1e-07')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def simplest_decimal(low: float, high: float) -> float:
    """Return the simplest decimal t with ``low <= t < high``, for finite ``low < high``.

    Simplest is the fewest significant digits (0 has none), then the nearest to the middle of the
    gap, then the lower one. All comparisons are those of the floats that the decimals are read as.

    >>> simplest_decimal(0.4837, 0.5316), simplest_decimal(3, 4), simplest_decimal(-0.2, 7)
    (0.5, 3.0, 0.0)
    """
    low, high = float(low), float(high)
    if low <= 0 < high:
        return 0.0
    sign = 1 if low > 0 else -1
    middle = (Fraction(low) + Fraction(high)) / 2
    # The middle of two neighbouring floats may be read as `high`; then only `low` itself is left.
    # From a target inside the gap, the nearest decimal on each side is all there is to look at.
    target = middle if low <= float(middle) < high else Fraction(low)
    for digits in range(1, 18):
        fitting = []
        for mantissa, exponent in _around(abs(target), digits):
            value = sign * float(f"{mantissa}e{exponent}")
            if low <= value < high:
                distance = abs(sign * mantissa * Fraction(10) ** exponent - target)
                fitting.append((distance, value))
        if fitting:
            return min(fitting)[1]
    return low


def _around(target: Fraction, digits: int) -> tuple[tuple[int, int], ...]:
    """Return the decimals ``m * 10**e`` with so many digits next below and above `target` > 0."""
    power = len(str(target.numerator)) - len(str(target.denominator))
    if Fraction(10) ** power > target:
        power -= 1
    exponent = power - digits + 1
    below = target // Fraction(10) ** exponent
    return (below, exponent), (below + 1, exponent)


def choose_thresholds(values: npt.NDArray[Any], n_thresholds: int) -> tuple[float, ...]:
    """Return at most `n_thresholds` rising thresholds that split a column of numbers.

    With few distinct values every gap between neighbours gets one. Else they go near to evenly
    spaced quantiles, to the simplest decimal that is at most an eighth of the spacing away: people
    read ``> -1.2``, not ``> -1.21666``. Where one common value draws several quantiles to one gap,
    the thresholds left over are spread evenly over the remaining gaps.

    >>> choose_thresholds(np.array([0.12, 0.12, 0.48, 0.97]), 8)
    (0.3, 0.7)
    """
    # Whole numbers beyond 2**53 may fall together here, and then do so in every comparison.
    unique, counts = np.unique(values.astype(np.float64), return_counts=True)
    lows, highs = unique[:-1], unique[1:]
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        # A float32 0.2 is a little more than 0.2, and so would be above a threshold 0.2. Stay
        # clear of what the values look like: then the same numbers as float64 split alike.
        printed = np.array([float(str(value)) for value in unique.astype(values.dtype)])
        lows, highs = np.maximum(lows, printed[:-1]), np.minimum(highs, printed[1:])
    gaps = [(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]
    if len(gaps) <= n_thresholds:
        return tuple(simplest_decimal(low, high) for low, high in gaps)
    below = np.cumsum(counts)[:-1]
    chosen = _spread(below, len(values), n_thresholds)
    nearby = _neighbourhoods(below, chosen, len(values) / (8 * (n_thresholds + 1)))
    return tuple(
        _simplest_among(gaps[first : last + 1], gaps[gap])
        for gap, (first, last) in zip(chosen, nearby, strict=True)
    )


def _simplest_among(nearby: list[tuple[float, float]], chosen: tuple[float, float]) -> float:
    """Return the simplest decimal that lies in any of the neighbouring gaps."""
    simplest = simplest_decimal(nearby[0][0], nearby[-1][1])
    # Gaps of float32 values do not touch; between two of them stands a value itself.
    if any(low <= simplest < high for low, high in nearby):
        return simplest
    return simplest_decimal(*chosen)


def _neighbourhoods(
    below: npt.NDArray[np.int64], chosen: list[int], reach: float
) -> list[tuple[int, int]]:
    """Return the first and last gap around each chosen one; no gap is in two neighbourhoods."""
    neighbourhoods = []
    for number, gap in enumerate(chosen):
        first = int(np.searchsorted(below, below[gap] - reach, side="left"))
        last = int(np.searchsorted(below, below[gap] + reach, side="right")) - 1
        if number > 0:
            first = max(first, (chosen[number - 1] + gap) // 2 + 1)
        if number + 1 < len(chosen):
            last = min(last, (gap + chosen[number + 1]) // 2)
        neighbourhoods.append((first, last))
    return neighbourhoods


def _spread(below: npt.NDArray[np.int64], total: int, count: int) -> list[int]:
    """Return `count` of the gaps, in order; ``below[i]`` values lie below gap i."""
    chosen: set[int] = set()
    for number in range(1, count + 1):
        # In whole numbers, so that ties are ties; argmin takes the lower gap.
        chosen.add(int(np.argmin(np.abs(below * (count + 1) - number * total))))
    rest = [gap for gap in range(len(below)) if gap not in chosen]
    spare = count - len(chosen)
    chosen.update(rest[(2 * k + 1) * len(rest) // (2 * spare)] for k in range(spare))
    return sorted(chosen)


FeatureType = Literal["binary", "categorical", "continuous"]
FEATURE_TYPES: tuple[str, ...] = get_args(FeatureType)

Category = int | float | str


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """How one predicate follows from the value of a column at a node.

    Parameters
    ----------
    column : str
    comparison : {"is true", "=", ">"}
    value : int, float, str or None
        What the value of the column is compared with.
    """

    column: str
    comparison: Literal["is true", "=", ">"]
    value: Category | None = None


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """What was learned about one column.

    Parameters
    ----------
    name : str
        The name of the column.
    feature_type : {"binary", "categorical", "continuous"}
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
    feature_type: FeatureType
    categories: tuple[Category, ...] = ()
    thresholds: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the predicates that the column gives."""
        if self.feature_type == "binary":
            return (self.name,)
        if self.feature_type == "categorical":
            return tuple(f"{self.name}={category_text(value)}" for value in self.categories)
        return tuple(f"{self.name} > {decimal_text(value)}" for value in self.thresholds)

    @property
    def tests(self) -> tuple[ColumnTest, ...]:
        """How each of these predicates follows from the column.

        >>> EncodedColumn("charge", "continuous", thresholds=(0.5,)).tests
        (ColumnTest(column='charge', comparison='>', value=0.5),)
        """
        if self.feature_type == "binary":
            return (ColumnTest(self.name, "is true"),)
        if self.feature_type == "categorical":
            return tuple(ColumnTest(self.name, "=", value) for value in self.categories)
        return tuple(ColumnTest(self.name, ">", value) for value in self.thresholds)


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
    column: RawColumn,
    feature_type: FeatureType | None,
    *,
    max_categories: int,
    n_thresholds: int,
    where: Where,
) -> EncodedColumn:
    """Return how to encode a column; `feature_type` overrides what the values suggest."""
    if column.known is not None:
        if not column.known.any():
            return EncodedColumn(column.name, "binary")
        where = _where_known(column.known, where)
        column = RawColumn(column.name, column.values[column.known])
    if feature_type is None:
        feature_type = _suggest(column, max_categories)
    if feature_type == "binary":
        check_binary(column, where, hint="choose another type for it")
        return EncodedColumn(column.name, "binary")
    if feature_type == "categorical":
        values, _ = distinct(column.values)
        categories = tuple(_category(value) for value in values)
        return EncodedColumn(column.name, "categorical", categories=categories)
    if column.is_text:
        raise _text_error(column, where)
    thresholds = choose_thresholds(column.values, n_thresholds)
    return EncodedColumn(column.name, "continuous", thresholds=thresholds)


def _suggest(column: RawColumn, max_categories: int) -> FeatureType:
    values = column.values
    if is_binary(values):
        return "binary"
    n_distinct = len(distinct(values)[0])
    if column.is_text and n_distinct > max_categories:
        raise FeatureError(
            f"Column {column.name!r} must have at most max_categories={max_categories} different "
            f"strings. Got {n_distinct}. Leave it out with node_attributes=[...], raise "
            f"max_categories, or say feature_types={{{column.name!r}: 'categorical'}}."
        )
    if column.is_text or n_distinct == 1 or (_is_whole(values) and n_distinct <= max_categories):
        return "categorical"
    return "continuous"


def encode_column(learned: EncodedColumn, column: RawColumn, where: Where) -> npt.NDArray[np.bool_]:
    """Return the predicates of a column, one row per node; false where there is no value."""
    if column.known is not None:
        some = RawColumn(column.name, column.values[column.known])
        there = encode_column(learned, some, _where_known(column.known, where))
        everywhere = np.zeros((len(column.values), there.shape[1]), dtype=bool)
        everywhere[column.known] = there
        return everywhere
    if learned.feature_type == "binary":
        check_binary(
            column,
            where,
            hint="fit on graphs that have such values, or choose another type with "
            f"feature_types={{{learned.name!r}: ...}}",
        )
        return np.asarray(column.values != 0)[:, None]
    if learned.feature_type == "categorical":
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


def unseen_warnings(
    learned: EncodedColumn, column: RawColumn, predicates: npt.NDArray[np.bool_], where: Where
) -> list[str]:
    """Return what to say of values of a categorical column that have no predicate."""
    if learned.feature_type != "categorical":
        return []
    without = ~predicates.any(axis=1)
    rows = np.flatnonzero(without if column.known is None else without & column.known)
    if not rows.size:
        return []
    values = [_category(value) for value in distinct(column.values[rows])[0]]
    return [
        f"Column {learned.name!r} has values that were not in the training graphs: "
        f"{some_of(values)}, first at {where(int(rows[0]))}. They belong to none of its categories."
    ]


def _where_known(known: npt.NDArray[np.bool_], where: Where) -> Where:
    """Return how nodes are named that are numbered among those with a value."""
    nodes = np.flatnonzero(known)
    return lambda at: where(int(nodes[at]))


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
