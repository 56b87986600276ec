"""From graphs and classes to rules of every length: search, small trees, polishing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.clock import Clock, is_interrupt
from gnn2logic.learning.search.conditions import SearchCondition
from gnn2logic.learning.search.growing import TreeGrower
from gnn2logic.learning.search.judging import Judge
from gnn2logic.learning.search.levels import Level
from gnn2logic.learning.search.neighbours import neighbours
from gnn2logic.learning.search.numbers import NumberTargets
from gnn2logic.learning.search.rounds import RoundSettings, Search
from gnn2logic.learning.search.rules import (
    Branch,
    Leaf,
    SearchedRule,
    best_within,
    branch,
    leaves_of,
    pareto_front,
)
from gnn2logic.learning.search.small_trees import SmallTree, best_small_trees

__all__ = ["RuleSearch", "SearchSettings", "SearchTargets"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# A tree that explains this much is right about all graphs.
_PERFECT = 1 - 1e-9
# Long rules may be right about few rows by chance.
_SHORT = 5
_ROWS_FOR_SYMBOL = 20
# What a network says is rounded to so many steps where trees are made of conditions: each bit of
# them is another popcount.
_TREE_STEPS = 31
# A leaf with a smaller share of the rows is not searched.
_LARGE_LEAF = 0.05
# Of so many conditions rules are made between two rounds, to see how far the search has come.
_QUICK_CONDITIONS = 300


@dataclass(frozen=True)
class SearchSettings:
    """How a rule is searched for.

    Parameters
    ----------
    price : float
        The share of the variance that one more symbol must explain while columns are searched for.
    prices : tuple of float
        Prices at which rules are made: low ones give long rules.
    most_conditions : int
        How many conditions small trees are made of.
    polishing : int
        How often the neighbours of good conditions are tried.
    roots : int
        Below how many conditions the search is done once more, with the settings `below`.
    most_leaves : int
        How many leaves longer rules may have; with many classes, at least one and a half for each.
    grown_from : tuple of int
        Longer rules also grow from the best ones of at most so many symbols.
    least_weight : int
        What must be on each side of a condition.
    least_rows : int
        How many rows must be there.
    """

    rounds: RoundSettings = field(default_factory=RoundSettings)
    price: float = 0.002
    prices: tuple[float, ...] = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
    most_conditions: int = 1500
    polishing: int = 4
    roots: int = 2
    below: RoundSettings = field(
        default_factory=lambda: RoundSettings(depth=1, pair_work=RoundSettings.pair_work // 3)
    )
    most_leaves: int = 8
    grown_from: tuple[int, ...] = (1, 4, 8, 12, 20)
    least_weight: int = 5
    least_rows: int = 5


@dataclass(frozen=True)
class SearchTargets:
    """What is to be explained: numbers, and the class of every graph or node.

    Parameters
    ----------
    values : array of shape (n_rows, n_targets)
        Indicators of classes, or what a network says.
    classes : array of int, shape (n_rows,)
    weights : array of int, shape (n_rows,)
    n_classes : int
    numbers : NumberTargets, optional
        What rules predict, where that is a number and not a class.
    """

    values: FloatArray
    classes: IntArray
    weights: IntArray
    n_classes: int
    numbers: NumberTargets | None = None

    @property
    def answer(self) -> Literal["class", "number"]:
        """What rules say."""
        return "class" if self.numbers is None else "number"

    def label(self, rows: IntArray) -> int:
        """Return what a leaf with some rows says: the number of a class, or steps of a number."""
        if self.numbers is not None:
            return self.numbers.label(rows)
        weights = np.bincount(self.classes[rows], self.weights[rows], self.n_classes)
        return int(weights.argmax())

    def rightness(self, labels: IntArray, rows: IntArray) -> FloatArray:
        """Return how right the labels of some rows are, 1 for right; classes are wrong by 0."""
        if self.numbers is not None:
            return self.numbers.rightness(labels, rows)
        return np.asarray(labels == self.classes[rows], dtype=np.float64)

    def rule(self, tree: Branch | Leaf, fit: float) -> SearchedRule:
        """Return a rule that explains so much of the variance."""
        return SearchedRule(tree, None if self.numbers is not None else self.n_classes, fit)


class RuleSearch:
    """Searches rules for some of the graphs, or nodes, of a space."""

    def __init__(
        self,
        level: Level,
        targets: SearchTargets,
        rows: IntArray,
        settings: SearchSettings,
    ) -> None:
        self.level, self.targets, self.rows, self.settings = level, targets, rows, settings
        self.library = level.library(rows, least=settings.least_rows)
        varied = self._varied_targets(rows)
        # Several classes share the time of one.
        rounds = settings.rounds.shared_by(len(varied))
        below = settings.below.shared_by(len(varied))
        self._below = replace(below, depth=min(below.depth, rounds.depth))
        self.searches = [Search(self._judge(channel, rows), rounds) for channel in varied]
        self.searches_below: list[Search] = []
        self._searched_among: set[bytes] = set()
        # Columns of good rules: the best threshold of one alone may not be the best in a rule.
        self._refined: list[int] = []
        low, high = targets.values.min(axis=0), targets.values.max(axis=0)
        # Indicators of classes stay 0 and 1: few bits make the trees quick.
        steps = 1 if np.isin(targets.values, (0, 1)).all() else _TREE_STEPS
        scale = steps / np.where(high > low, high - low, 1).max()
        self._whole = np.rint((targets.values - low) * scale).astype(np.int64)

    def _judge(self, channel: int, rows: IntArray) -> Judge:
        return self.level.judge(
            rows,
            self.targets.values[:, channel],
            self.targets.weights,
            price=self.settings.price,
            least_weight=self.settings.least_weight,
        )

    def _varied_targets(self, rows: IntArray) -> list[int]:
        """Return the targets that are not the same for all of some rows."""
        values = self.targets.values[rows]
        return np.flatnonzero(values.max(axis=0) > values.min(axis=0)).tolist()

    def run(
        self,
        *,
        proposed: Sequence[int] = (),
        report: Callable[[SearchedRule], None] = lambda _: None,
        clock: Clock | None = None,
    ) -> list[SearchedRule]:
        """Return rules from short to long, each the best of its size that was found.

        Parameters
        ----------
        proposed : sequence of int
            Columns that take part from the start.
        report : callable
            Told the best rule so far.
        clock : Clock, optional
            Says whether there is time for another step; the first one is always taken. An
            interrupt by the user stops it, and what was found so far is the answer.
        """
        clock = Clock() if clock is None else clock
        front = self._front()
        try:
            for _ in zip(*(search.rounds(proposed) for search in self.searches), strict=True):
                front = self._front(most=_QUICK_CONDITIONS)
                report(front[-1])
                if self._is_settled(front[-1]) or not clock.goes_on():
                    break
            else:
                front = self._front()
                for search_on in (self._search_below, self._search_leaves):
                    if clock.goes_on():
                        front = self._improved(front, search_on)
                        report(front[-1])
            for _ in range(self.settings.polishing):
                if not clock.goes_on():
                    break
                polished = self._improved(front, self._polish)
                report(polished[-1])
                if _figures(polished) == _figures(front):
                    break
                front = polished
            if front[-1].fit < _PERFECT and clock.goes_on():
                front = pareto_front([*front, *self._grown(front)])
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            # The columns may be half made; the rules are whole.
            clock.stop()
            if len(front) == 1:
                raise KeyboardInterrupt from error
        return front

    def _is_settled(self, rule: SearchedRule) -> bool:
        """Whether a rule is right about all rows, and too short for that to be chance."""
        is_short = rule.size <= _SHORT or rule.size * _ROWS_FOR_SYMBOL <= len(self.rows)
        return rule.fit >= _PERFECT and is_short

    def _improved(
        self, front: list[SearchedRule], propose: Callable[[Sequence[SearchedRule]], None]
    ) -> list[SearchedRule]:
        """Return the front with what may be made of new proposals, never worse than it was."""
        propose(front)
        return pareto_front([*front, *self._front()])

    def _search_below(self, front: Sequence[SearchedRule]) -> None:
        """Search once more where the root of a good rule is true, and where it is false.

        A condition that matters in one of its sides alone looks weak in all graphs together.
        """
        roots: dict[int, SearchCondition] = {}
        for rule in reversed(front):
            if isinstance(rule.tree, Branch) and len(roots) < self.settings.roots:
                roots.setdefault(rule.tree.condition.column, rule.tree.condition)
        for root in roots.values():
            for side in (root.truth, ~root.truth):
                self._search_among(self.rows[side[self.rows]])

    def _search_leaves(self, front: Sequence[SearchedRule]) -> None:
        """Search once more in the large leaves of the longest rule."""
        for _, member in leaves_of(front[-1].tree, np.ones(self.level.n_rows, dtype=bool)):
            rows = self.rows[member[self.rows]]
            if len(rows) >= _LARGE_LEAF * len(self.rows):
                self._search_among(rows)

    def _search_among(self, rows: IntArray) -> None:
        """Search among some rows, unless that was done."""
        if rows.tobytes() in self._searched_among:
            return
        self._searched_among.add(rows.tobytes())
        for channel in self._varied_targets(rows):
            search = Search(self._judge(channel, rows), self._below)
            for _ in search.rounds():
                pass
            self.searches_below.append(search)

    # Small trees ------------------------------------------------------------------------------

    def _front(self, most: int | None = None) -> list[SearchedRule]:
        """Return the best rules of what was judged so far; `most` conditions are enough."""
        self._fill_library(self.settings.most_conditions if most is None else most)
        rules = [self.targets.rule(Leaf(self.targets.label(self.rows)), 0.0)]
        if len(self.library):
            trees = best_small_trees(
                self.library.truths(),
                self.library.sizes,
                self._whole[self.rows],
                self.targets.weights[self.rows],
                prices=self.settings.prices,
                least_weight=self.settings.least_weight,
            )
            rules += [self._rule(tree) for tree in trees]
        return pareto_front(rules)

    def _fill_library(self, most: int) -> None:
        self.library = self.level.library(self.rows, least=self.settings.least_rows)
        self.library.add_all(self._refined, most // 2)
        for search in self.searches:
            best = search.best(most // (4 * len(self.searches)))
            self.library.add_best((number, search.verdicts[number]) for number in best)
        for search in self.searches_below:
            best = search.best(most // (4 * len(self.searches_below)))
            self.library.add_best((number, search.verdicts[number]) for number in best)
        small = dict.fromkeys(
            number for search in self.searches for number in search.smallest(most)
        )
        self.library.add_all(list(small), most)

    def _grown(self, front: Sequence[SearchedRule]) -> list[SearchedRule]:
        """Return longer rules, grown from the best ones and from short ones."""
        if not len(self.library):
            return []
        n_labels = self.targets.n_classes if self.targets.numbers is None else 0
        most_leaves = max(self.settings.most_leaves, n_labels + n_labels // 2)
        grower = TreeGrower(
            self.library,
            self.rows,
            self._whole[self.rows],
            self.targets.classes[self.rows],
            self.targets.weights[self.rows],
            n_classes=self.targets.n_classes,
            least_weight=self.settings.least_weight,
            label=None if self.targets.numbers is None else self.targets.label,
        )
        # From long rules come the most exact ones. From short ones, and from nothing, come rules of
        # many short conditions, which are shorter than few long conditions that are as exact.
        starts = [(rule, price) for rule in front[-2:] for price in self.settings.prices[:3]]
        short = {best_within(front, size) for size in self.settings.grown_from}
        starts += [
            (front[index], price) for index in sorted(short) for price in self.settings.prices[1:5]
        ]
        return [
            self.targets.rule(tree, fit)
            for rule, price in starts
            for tree, fit in grower.grow(
                rule.tree,
                rule.fit,
                price=price,
                most_leaves=most_leaves,
                n_all=self.level.n_rows,
            )
        ]

    def _rule(self, tree: SmallTree) -> SearchedRule:
        root = self.library[tree.root]
        sides: list[Branch | Leaf] = []
        for inside, below in ((root.truth, tree.if_true), (~root.truth, tree.if_false)):
            member = self.rows[inside[self.rows]]
            if below is None:
                sides.append(Leaf(self.targets.label(member)))
                continue
            condition = self.library[below]
            truth = condition.truth[member]
            sides.append(
                branch(
                    condition,
                    Leaf(self.targets.label(member[truth])),
                    Leaf(self.targets.label(member[~truth])),
                )
            )
        return self.targets.rule(branch(root, *sides), tree.fit)

    # Polishing --------------------------------------------------------------------------------

    def _polish(self, front: Sequence[SearchedRule]) -> None:
        """Judge what differs in one place from the columns of good rules."""
        columns = dict.fromkeys(c.column for rule in front for c in rule.conditions)
        self._refined = list(columns)
        formulas = dict.fromkeys(
            other for column in columns for other in neighbours(self.level.space.formulas[column])
        )
        numbers = self.level.space.add_formulas(list(formulas))
        for search in self.searches:
            search.judge_columns(numbers)


def _figures(front: Sequence[SearchedRule]) -> list[tuple[int, float]]:
    return [(rule.size, rule.fit) for rule in front]
