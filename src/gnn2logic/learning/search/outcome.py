"""One search from beginning to end: rules of every length, one of them chosen on held-out rows.

All rows are searched, then those of each fold. What folds find also joins the rules, if it is right
about more of all rows; it is not what it is judged by, which is what folds say about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.checkpoints import SearchCheckpoint, Stages, restore_columns
from gnn2logic.learning.search.clock import Clock, is_interrupt
from gnn2logic.learning.search.fold_rules import rules_of_folds
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.models import read_size, rule_model
from gnn2logic.learning.search.rule_search import RuleSearch, SearchSettings, SearchTargets
from gnn2logic.learning.search.rules import SearchedRule, best_for_size
from gnn2logic.learning.search.selection import (
    NEARLY_BEST,
    HeldOut,
    choose,
    counterpart,
    held_out_folds,
)
from gnn2logic.logic.syntax import Formula

__all__ = ["Choice", "SearchOutcome", "search_rules"]

IntArray = npt.NDArray[np.int64]

# Where nothing is held out, a longer rule must explain so much more.
_NEARLY = 0.05


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
    margin: float = 0.02
    max_seconds: float | None = None


@dataclass(frozen=True)
class SearchOutcome:
    """Rules from short to long, and the chosen one.

    Parameters
    ----------
    rules : tuple of SearchedRule
    sizes : tuple of int
        How many symbols people read of each.
    held_out : array of float, shape (n_rules,)
        The accuracy of rules of the same size on rows that they were not learned from; NaN where
        nothing was held out.
    chosen : int
    reason : str
        Why it was chosen, in words.
    interrupted, finished : bool
        Whether the user stopped the search; whether it came to its end, also in time.
    """

    rules: tuple[SearchedRule, ...]
    sizes: tuple[int, ...]
    held_out: npt.NDArray[np.float64]
    chosen: int
    reason: str
    interrupted: bool
    finished: bool


def search_rules(
    level: Level,
    targets: SearchTargets,
    rows: IntArray,
    settings: SearchSettings,
    choice: Choice,
    *,
    groups: IntArray | None = None,
    proposed: Sequence[Formula] = (),
    seed: Sequence[int] = (0,),
    report: Callable[[str, SearchedRule], None] = lambda _, __: None,
    checkpoint: SearchCheckpoint | None = None,
) -> SearchOutcome:
    """Search rules for some rows of a level, and choose one by cross-validation.

    Parameters
    ----------
    rows : array of int
        The graphs or nodes to learn from.
    groups : array of int, optional
        Rows of one group are held out together: the graph of every node.
    proposed : sequence of Formula
        Columns that take part from the start.
    checkpoint : SearchCheckpoint, optional
        Stages that are in it are not searched again.
    """
    clock = Clock(choice.max_seconds)
    done = None if checkpoint is None else checkpoint.read(level, targets)
    if done is not None:
        restore_columns(level, done.columns)
    fronts = [] if done is None else [list(front) for front in done.fronts]
    numbers = level.space.add_formulas(list(proposed))

    def front_of(stage: int, name: str, of_rows: IntArray) -> list[SearchedRule]:
        if stage < len(fronts):
            return fronts[stage]
        of_stage = settings if stage == 0 else _of_fold(settings, len(of_rows) / len(rows))
        search = RuleSearch(level, targets, of_rows, of_stage)
        front = search.run(proposed=numbers, report=lambda rule: report(name, rule), clock=clock)
        if checkpoint is not None and clock.goes_on():
            fronts.append(front)
            columns = tuple(level.space.formulas)
            checkpoint.write(Stages(seed[0], columns, tuple(map(tuple, fronts))))
        return front

    front = front_of(0, "all data", rows)
    folds = held_out_folds(
        targets.classes[rows],
        targets.n_classes,
        None if groups is None else groups[rows],
        seed,
    )
    n_folds = 0 if folds is None else int(folds.max()) + 1
    others: list[list[SearchedRule]] = []
    for number in range(n_folds):
        if not clock.goes_on():
            break
        held = folds == number
        try:
            other = front_of(number + 1, f"fold {number + 1} of {n_folds}", rows[~held])
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            clock.stop()
            break
        # Half a search would make rules look worse than they are.
        if not clock.goes_on():
            break
        others.append(other)
    more = rules_of_folds(others, front, targets, rows, settings, longest=choice.max_size)
    front, sizes = _by_accuracy([*front, *more], level, targets, rows)
    if folds is None or not others:
        return _without_folds(front, sizes, choice, clock, could_be_held_out=n_folds > 0)
    right = np.zeros((len(front), len(rows)))
    for number, other in enumerate(others):
        held = folds == number
        for index, (rule, size) in enumerate(zip(front, sizes, strict=True)):
            predicted = counterpart(other, rule, size).predict(level.n_rows)[rows[held]]
            right[index, held] = targets.rightness(predicted, rows[held])
    judged = (folds >= 0) & (folds < len(others))
    held_out = HeldOut(right[:, judged], targets.weights[rows[judged]].astype(float))
    lengths = [size - rule.repeated for rule, size in zip(front, sizes, strict=True)]
    chosen = choose(held_out, sizes, choice.max_size, choice.margin, lengths)
    reason = _reason(held_out, sizes, lengths, chosen, choice)
    if len(others) < n_folds:
        reason += f"; only {len(others)} of {n_folds} folds were searched before the end"
    finished = len(others) == n_folds
    return SearchOutcome(
        tuple(front),
        tuple(sizes),
        held_out.accuracy,
        chosen,
        reason,
        clock.interrupted,
        finished,
    )


def _of_fold(settings: SearchSettings, share: float) -> SearchSettings:
    """Return the settings of a fold, which has a share of the rows.

    It needs no last touch: it says how long a rule may be, and is seldom the answer.
    """
    return replace(
        settings,
        polishing=1,
        least_weight=max(1, int(settings.least_weight * share)),
        least_rows=max(1, int(settings.least_rows * share)),
    )


def _by_accuracy(
    rules: Sequence[SearchedRule], level: Level, targets: SearchTargets, rows: IntArray
) -> tuple[list[SearchedRule], list[int]]:
    """Return the rules that no shorter one equals in accuracy, with the sizes that people read."""
    weights = targets.weights[rows]
    sizes = [read_size(rule_model(rule, level.row_type), targets.answer) for rule in rules]
    right = [
        float(weights @ targets.rightness(rule.predict(level.n_rows)[rows], rows)) for rule in rules
    ]
    front = best_for_size(sizes, right)
    return [rules[index] for index in front], [sizes[index] for index in front]


def _without_folds(
    front: Sequence[SearchedRule],
    sizes: Sequence[int],
    choice: Choice,
    clock: Clock,
    *,
    could_be_held_out: bool,
) -> SearchOutcome:
    """Choose by the training data: the shortest rule that explains nearly as much as any."""
    short = [index for index, size in enumerate(sizes) if size <= choice.max_size]
    most = max(front[index].fit for index in short)
    chosen = min(index for index in short if front[index].fit >= most - _NEARLY)
    if not could_be_held_out:
        why = "there are too few rows to hold any out"
    elif clock.interrupted:
        why = "the search was interrupted before any were held out"
    else:
        why = "the time was up before any were held out; give it more by max_time"
    return SearchOutcome(
        tuple(front),
        tuple(sizes),
        np.full(len(front), np.nan),
        chosen,
        f"the shortest that explains nearly as much of the data it was learned from as any of at "
        f"most {choice.max_size} symbols: {why}",
        clock.interrupted,
        finished=not could_be_held_out,
    )


def _reason(
    held_out: HeldOut,
    sizes: Sequence[int],
    lengths: Sequence[int],
    chosen: int,
    choice: Choice,
) -> str:
    accuracy = held_out.accuracy
    among = [
        index
        for index, size in enumerate(sizes)
        if size <= max(choice.max_size, sizes[chosen]) or sizes[chosen] > choice.max_size
    ]
    best = max(among, key=lambda index: (accuracy[index], -index))
    is_best = best == int(accuracy.argmax()) or sizes[chosen] > choice.max_size
    if chosen == best:
        among_which = "" if is_best else f" of at most {choice.max_size} symbols"
        text = f"the most accurate{among_which} on held-out data ({accuracy[chosen]:.3f})"
    else:
        twice = sizes[chosen] - lengths[chosen]
        said_twice = f" ({twice} of its {sizes[chosen]} symbols are said twice)" if twice else ""
        text = (
            f"the quickest to read{said_twice} within {NEARLY_BEST:g} standard errors of the best, "
            f"of {sizes[best]} symbols, on held-out data ({accuracy[chosen]:.3f} against "
            f"{accuracy[best]:.3f})"
        )
    if sizes[chosen] > choice.max_size:
        text += (
            f"; longer than max_size={choice.max_size}, because shorter rules are worse by more "
            f"than {choice.margin:g}"
        )
    elif not is_best:
        text += f"; longer rules than max_size={choice.max_size} are not better by enough"
    return text
