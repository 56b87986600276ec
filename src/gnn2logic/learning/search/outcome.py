"""One search from beginning to end: rules of every length, one of them chosen on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.rule_search import RuleSearch, SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import SearchedRule
from gnn2logic.learning.search.selection import HeldOut, best_within, choose, stratified_folds

__all__ = ["Choice", "SearchOutcome", "search_rules"]

IntArray = npt.NDArray[np.int64]

N_FOLDS = 5


@dataclass(frozen=True)
class Choice:
    """How one rule is chosen.

    Parameters
    ----------
    max_size : int
        The longest rule that is taken without a good reason.
    margin : float
        By how much a longer rule must be more accurate on held-out rows.
    max_seconds : float or None
        After this time nothing new is begun; what was found so far is the answer.
    """

    max_size: int = 40
    margin: float = 0.01
    max_seconds: float | None = None


@dataclass(frozen=True)
class SearchOutcome:
    """Rules from short to long, and the chosen one.

    Parameters
    ----------
    rules : tuple of SearchedRule
    held_out : array of float, shape (n_rules,)
        The accuracy of rules of the same size on rows that they were not learned from; NaN where
        nothing was held out.
    chosen : int
    reason : str
        Why it was chosen, in words.
    """

    rules: tuple[SearchedRule, ...]
    held_out: npt.NDArray[np.float64]
    chosen: int
    reason: str


def search_rules(
    level: Level,
    targets: SearchTargets,
    rows: IntArray,
    settings: SearchSettings,
    choice: Choice,
    *,
    groups: IntArray | None = None,
    proposed: Sequence[int] = (),
    seed: Sequence[int] = (0,),
    report: Callable[[str, SearchedRule], None] | None = None,
) -> SearchOutcome:
    """Search rules for some rows of a level, and choose one by cross-validation.

    Parameters
    ----------
    rows : array of int
        The graphs or nodes to learn from.
    groups : array of int, optional
        Rows of one group are held out together: the graph of every node.
    proposed : sequence of int
        Columns of the space that take part from the start.
    """
    ends = None if choice.max_seconds is None else time.monotonic() + choice.max_seconds

    def in_time() -> bool:
        return ends is None or time.monotonic() < ends

    def told(what: str) -> Callable[[SearchedRule], None] | None:
        return None if report is None else lambda rule: report(what, rule)

    front = RuleSearch(level, targets, rows, settings).run(
        proposed=proposed, report=told("all data"), in_time=in_time
    )
    sizes = [rule.size for rule in front]
    folds = _folds(targets, rows, groups, seed)
    right = np.zeros((len(front), len(rows)), dtype=bool)
    done = np.zeros(len(rows), dtype=bool)
    for number in range(0 if folds is None else int(folds.max()) + 1):
        if not in_time():
            break
        held = folds == number
        search = RuleSearch(level, targets, rows[~held], settings)
        found = search.run(proposed=proposed, report=told(f"fold {number + 1}"), in_time=in_time)
        for place, size in enumerate(sizes):
            predicted = best_within(found, size).predict(level.n_rows)[rows[held]]
            right[place, held] = predicted == targets.classes[rows[held]]
        done |= held
    if not done.any():
        return _without_folds(front, choice)
    held_out = HeldOut(right[:, done], targets.weights[rows[done]].astype(float))
    chosen = choose(held_out, sizes, choice.max_size, choice.margin)
    return SearchOutcome(
        tuple(front), held_out.accuracy, chosen, _reason(held_out, sizes, chosen, choice)
    )


def _folds(
    targets: SearchTargets, rows: IntArray, groups: IntArray | None, seed: Sequence[int]
) -> IntArray | None:
    """Return the fold of every row, or None if there are too few rows of some class."""
    classes = targets.classes[rows]
    if groups is not None:
        members, which = np.unique(groups[rows], return_inverse=True)
        if len(members) >= N_FOLDS:
            draw = np.random.default_rng([*seed, 1])
            return np.asarray(draw.permutation(np.arange(len(members)) % N_FOLDS)[which])
    counts = np.bincount(classes, minlength=targets.n_classes)
    n_folds = min(N_FOLDS, int(counts[counts > 0].min()))
    return stratified_folds(classes, n_folds, [*seed, 1]) if n_folds > 1 else None


def _without_folds(front: Sequence[SearchedRule], choice: Choice) -> SearchOutcome:
    chosen = max(n for n, rule in enumerate(front) if rule.size <= choice.max_size or n == 0)
    return SearchOutcome(
        tuple(front),
        np.full(len(front), np.nan),
        chosen,
        f"the best rule of at most {choice.max_size} symbols on the data it was learned from: "
        "nothing could be held out",
    )


def _reason(held_out: HeldOut, sizes: Sequence[int], chosen: int, choice: Choice) -> str:
    accuracy = held_out.accuracy
    best = int(accuracy.argmax())
    if chosen == best:
        text = f"the most accurate on held-out data ({accuracy[chosen]:.3f})"
    else:
        text = (
            f"the shortest within one standard error of the best of {sizes[best]} symbols on "
            f"held-out data ({accuracy[chosen]:.3f} against {accuracy[best]:.3f})"
        )
    if sizes[chosen] > choice.max_size:
        text += (
            f"; longer than max_size={choice.max_size}, because shorter rules are worse by more "
            f"than {choice.margin:g}"
        )
    return text
