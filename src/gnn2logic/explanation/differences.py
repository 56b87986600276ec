"""What changed between two models, in words: after retraining, or between two picks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._text import one_line
from gnn2logic._validation import check_whole
from gnn2logic.exceptions import EquivalenceError, LabelError
from gnn2logic.fitted_models import FittedModel, fitted_model
from gnn2logic.graphs.encoded_columns import ColumnTest
from gnn2logic.graphs.modality import Modality
from gnn2logic.graphs.reading import read_once
from gnn2logic.logic.equivalence.comparison import equivalent
from gnn2logic.logic.equivalence.result import Equivalence, describe_graph
from gnn2logic.logic.syntax import FALSE, Formula, Modal, Predicate, modal, predicate
from gnn2logic.logic.walk import predicate_names, subformulas
from gnn2logic.scorecards import ScorecardPredictor

__all__ = ["ModelDifference", "diff"]

Points = tuple[int, ...]
_EVERYTHING = Modality.from_set("1")


@dataclass(frozen=True, eq=False)
class ModelDifference:
    """What `diff` returns; printed, it says what changed.

    Attributes
    ----------
    rows : array of int
        The graphs (or nodes) of the data about which the two say different things.
    old_labels, new_labels : array
        What they say about all of the data; empty without data.
    classes : dict from label to Equivalence or None
        For each class, whether its two formulas are equal on all small graphs, with a smallest
        graph that tells them apart; None where these graphs are too many to try. A model says of no
        graph that it is of a class that only the other one has.
    removed, added, kept : tuple of Formula
        The conditions that only the old model has, only the new one, and both.
    moved : tuple of (Formula, Formula)
        Conditions on one count whose threshold changed.
    repointed : tuple of (Formula, tuple of int, tuple of int)
        Of two scorecards: conditions of both that give other points, with the old and the new ones.
    answers : (str, str) or None
        How scores become answers, or which numbers a rule says, if that changed.
    level : {"graph", "node"}
    """

    rows: npt.NDArray[np.int64]
    old_labels: npt.NDArray[Any]
    new_labels: npt.NDArray[Any]
    classes: dict[Any, Equivalence | None]
    removed: tuple[Formula, ...]
    added: tuple[Formula, ...]
    kept: tuple[Formula, ...]
    moved: tuple[tuple[Formula, Formula], ...]
    repointed: tuple[tuple[Formula, Points, Points], ...] = ()
    answers: tuple[str, str] | None = None
    level: str = field(default="graph")

    def __bool__(self) -> bool:
        """Whether a difference was seen, on the data or on a small graph."""
        seen = any(one is not None and one.equal is False for one in self.classes.values())
        # Of models that have no number in common every answer differs.
        other = self.answers is not None and not self.classes and not self.repointed
        return bool(len(self.rows)) or seen or (other and not len(self.old_labels))

    def __str__(self) -> str:
        lines = []
        if len(self.old_labels):
            lines.append(self._on_data())
        for label, compared in self.classes.items():
            if compared is not None and compared.counterexample is not None:
                old, new = compared.values or (False, False)
                lines.append(
                    f"{one_line(str(label))}: a smallest graph that changes is "
                    f"{describe_graph(compared.counterexample)}; the old model says "
                    f"{_yes(old)} and the new one {_yes(new)}."
                )
        for title, formulas in (
            ("gone", self.removed),
            ("new", self.added),
            ("as before", self.kept),
        ):
            lines += [f"{title}: {formula.to_english()} ({formula})" for formula in formulas]
        lines += [f"moved: {old} became {new}" for old, new in self.moved]
        lines += [
            f"other points: {_signed(old)} became {_signed(new)} where {formula.to_english()} "
            f"({formula})"
            for formula, old, new in self.repointed
        ]
        if self.answers is not None:
            lines.append(f"answers: {self.answers[0]} became {self.answers[1]}")
        if not self:
            changed = self.removed or self.added or self.moved or self.repointed or self.answers
            whom = f"No {self.level} was seen on which they differ."
            lines.insert(0, whom if changed else "No difference was seen.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "level": self.level,
            "differs": bool(self),
            "n_rows": len(self.old_labels),
            "rows": [
                {
                    "row": row,
                    "old": self.old_labels[row].item(),
                    "new": self.new_labels[row].item(),
                }
                for row in self.rows.tolist()
            ],
            "classes": [
                {
                    "class": label,
                    "equal": None if compared is None else compared.equal,
                    "proven_nodes": None if compared is None else compared.proven_nodes,
                    "counterexample": None
                    if compared is None or compared.counterexample is None
                    else describe_graph(compared.counterexample),
                }
                for label, compared in self.classes.items()
            ],
            **{
                name: [str(formula) for formula in getattr(self, name)]
                for name in ("removed", "added", "kept")
            },
            "answers": None if self.answers is None else list(self.answers),
            "moved": [{"old": str(old), "new": str(new)} for old, new in self.moved],
            "repointed": [
                {"condition": str(formula), "old": list(old), "new": list(new)}
                for formula, old, new in self.repointed
            ],
        }

    def _on_data(self) -> str:
        total = len(self.old_labels)
        said = f"They differ on {len(self.rows)} of {total} {self.level}s"
        if self.old_labels.dtype.kind == "f":
            far = np.abs(self.new_labels - self.old_labels)
            return f"{said}, by {far.mean():.4g} in the mean and {far.max():.4g} at most."
        pairs = Counter(
            zip(
                self.old_labels[self.rows].tolist(),
                self.new_labels[self.rows].tolist(),
                strict=True,
            )
        )
        told = [
            f"{one_line(str(old))} became {one_line(str(new))} {_times(count)}"
            for (old, new), count in sorted(pairs.items(), key=lambda item: (-item[1], str(item)))
        ]
        return f"{said}: {', '.join(told)}." if told else f"{said}."


def diff(
    old: object,
    new: object,
    graphs: object = None,
    *,
    max_nodes: int = 3,
    time_limit: float | None = 20.0,
) -> ModelDifference:
    """Say what changed between two models: on data, on small graphs, and in their conditions.

    Parameters
    ----------
    old, new : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        Both predict classes, or both numbers.
    graphs : anything that `gnn2logic.as_batch` reads, optional
        Data on which they are compared.
    max_nodes : int
        Each class is compared on all graphs with at most so many nodes.
    time_limit : float or None
        Seconds for the comparison of one class.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> old = gl.from_formulas({"hub": "1(A true > 1) > 0"}, otherwise="none", names=["U0"])
    >>> new = gl.from_formulas({"hub": "1(A U0 > 1) > 0"}, otherwise="none", names=["U0"])
    >>> difference = diff(old, new)
    >>> print(difference.removed[0].to_english())
    at least one node has more than 1 neighbour
    >>> print(difference.added[0].to_english())
    at least one node has more than 1 neighbour that is U0
    """
    check_whole("max_nodes", max_nodes, least=1)
    old, new = fitted_model(old), fitted_model(new)
    if old._level != new._level:
        raise LabelError(
            f"Both must classify the same things. Got one for {old._level}s and one for "
            f"{new._level}s."
        )
    numeric = [model.target is not None for model in (old, new)]
    if numeric[0] != numeric[1]:
        raise LabelError("Both must predict classes, or both numbers. Got one of each.")
    before, after = (
        {label: model.formula(label) for label in _classes_of(model)} for model in (old, new)
    )
    possible = _possible(old, new, [*before.values(), *after.values()])
    classes = {
        label: _compared(
            before.get(label, FALSE) & possible,
            after.get(label, FALSE) & possible,
            max_nodes,
            time_limit,
        )
        for label in dict.fromkeys([*before, *after])
        # Of numbers there may be many that only one of the two says.
        if not numeric[0] or (label in before and label in after)
    }
    first, second = (np.array([]) for _ in range(2))
    if graphs is not None:
        read = read_once(graphs)
        first, second = old.predict(read), new.predict(read)
    conditions = [_conditions(model, formulas) for model, formulas in ((old, before), (new, after))]
    gone = [one for one in conditions[0] if one not in conditions[1]]
    fresh = [one for one in conditions[1] if one not in conditions[0]]
    moved = _moved(gone, fresh)
    return ModelDifference(
        rows=np.flatnonzero(first != second),
        old_labels=first,
        new_labels=second,
        classes=classes,
        removed=tuple(one for one in gone if all(one is not pair[0] for pair in moved)),
        added=tuple(one for one in fresh if all(one is not pair[1] for pair in moved)),
        kept=tuple(one for one in conditions[0] if one in conditions[1]),
        moved=tuple(moved),
        repointed=_repointed(old, new),
        answers=_answers(old, new),
        level=old._level,
    )


def _possible(old: FittedModel, new: FittedModel, formulas: Sequence[Formula]) -> Formula:
    """Return what is true of graphs whose nodes can be: of one category, for example.

    A number above a threshold is above all lower ones. What no node can be is no difference.
    """
    used = predicate_names(*formulas)
    by_column: dict[str, dict[str, ColumnTest]] = {}
    for model in (old, new):
        for name, test in model.encoder_.tests_.items():
            if name in used:
                by_column.setdefault(test.column, {})[name] = test
    impossible: Formula = FALSE
    for tests in by_column.values():
        for (first, one), (second, other) in combinations(tests.items(), 2):
            if one.comparison == other.comparison == "=":
                impossible |= predicate(first) & predicate(second)
            elif one.comparison == other.comparison == ">":
                low, high = (first, second) if one.value < other.value else (second, first)  # type: ignore[operator]
                impossible |= predicate(high) & ~predicate(low)
    return ~modal(_EVERYTHING, impossible, 0)


def _compared(
    old: Formula, new: Formula, max_nodes: int, time_limit: float | None
) -> Equivalence | None:
    try:
        return equivalent(old, new, max_nodes=max_nodes, time_limit=time_limit)
    except EquivalenceError:
        # Too many predicates to try all graphs, and no z3; the data is compared all the same.
        return None


def _conditions(model: FittedModel, formulas: dict[Any, Formula]) -> list[Formula]:
    """Return what a model looks at, each once: comparisons, and predicates of nodes."""
    if isinstance(model, ScorecardPredictor):
        return list(dict.fromkeys(model.card_.conditions))
    atoms = {
        node for node in subformulas(*formulas.values()) if isinstance(node, Modal | Predicate)
    }
    return [node for node in subformulas(*formulas.values(), stop=atoms) if node in atoms]


def _moved(gone: Sequence[Formula], fresh: Sequence[Formula]) -> list[tuple[Formula, Formula]]:
    """Return conditions on the same count with another threshold, each at most once."""
    moved: list[tuple[Formula, Formula]] = []
    left = list(fresh)
    for old in gone:
        for new in left:
            if (
                isinstance(old, Modal)
                and isinstance(new, Modal)
                and (old.modality, old.child) == (new.modality, new.child)
            ):
                moved.append((old, new))
                left.remove(new)
                break
    return moved


def _classes_of(model: FittedModel) -> list[Any]:
    """Return the classes; scorecards of numbers have none, and no formula of one."""
    return list(model.classes_.tolist()) if hasattr(model, "classes_") else []


def _repointed(old: FittedModel, new: FittedModel) -> tuple[tuple[Formula, Points, Points], ...]:
    if not (isinstance(old, ScorecardPredictor) and isinstance(new, ScorecardPredictor)):
        return ()
    before, after = _points(old), _points(new)
    return tuple(
        (formula, points, after[formula])
        for formula, points in before.items()
        if after.get(formula, points) != points
    )


def _answers(old: FittedModel, new: FittedModel) -> tuple[str, str] | None:
    """Return how the models turn conditions into answers, in words, if that is not the same."""
    first, second = (
        _reading(model)
        if isinstance(model, ScorecardPredictor) or model.target is not None
        else None
        for model in (old, new)
    )
    if first is None or second is None or first == second:
        return None
    return first, second


def _reading(model: FittedModel) -> str:
    if not isinstance(model, ScorecardPredictor):
        return ", ".join(f"{number:.4g}" for number in model.classes_.tolist())
    table = model.table()
    start = f", with {_signed(tuple(table.base))} to begin with" if any(table.base) else ""
    return f"{table.verdict}{start}"


def _points(model: ScorecardPredictor) -> dict[Formula, Points]:
    """Return the points of every condition."""
    return {
        condition: points
        for line in model.card_.lines
        for condition, points in zip(line.conditions, line.points, strict=True)
    }


def _signed(points: Points) -> str:
    return " ".join(f"{number:+d}" for number in points)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
