"""The search for columns, one modal depth after the other.

A round makes literals ``S phi > t`` of the columns of a pool, judges them, then judges all pairs of
the best. The pool of the next round is a beam of good columns that differ, and small ones. What
neighbours satisfy may say much where the truth of a column itself says nothing, so columns are also
judged through neighbours, one or more steps away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.search.judging import Judge, Verdict

__all__ = ["RoundSettings", "Search"]

# Of a column that follows another this closely the beam keeps one.
_ALIKE = 0.97
_SMALL = 3
# What each of many searches side by side has at least.
_LEAST_BEAM = 8
_LEAST_PAIRS = 40
_LEAST_INPUTS = 60
_LEAST_LITERALS = 12


@dataclass(frozen=True)
class RoundSettings:
    """How wide the search is.

    Parameters
    ----------
    depth : int
        The largest number of nested modal parameters below the count on graphs.
    most_inputs : int
        Of how many predicates the first round makes literals: words of texts may be thousands.
    beam : int
        How many columns a round makes literals of, besides small ones.
    pair_work : int
        How many pairs times rows (graphs, or words of nodes) a round may look at.
    most_literals, least_literals : int
        Of how many literals pairs are judged, at most; and at least, whatever work that is.
    kept_pairs : int
        How many pairs of a round become columns.
    """

    depth: int = 3
    most_inputs: int = 250
    beam: int = 25
    pair_work: int = 30_000_000
    most_literals: int = 500
    least_literals: int = 32
    kept_pairs: int = 250

    def shared_by(self, n_searches: int) -> Self:
        """Return what each of several searches may do that take little more time than one."""
        n_searches = max(1, n_searches)
        return replace(
            self,
            pair_work=self.pair_work // n_searches,
            most_inputs=max(_LEAST_INPUTS, int(self.most_inputs / n_searches**0.5)),
            beam=max(min(self.beam, _LEAST_BEAM), int(self.beam / n_searches**0.5)),
            least_literals=max(
                _LEAST_LITERALS,
                min(self.least_literals, int(2 * self.least_literals / n_searches**0.5)),
            ),
            kept_pairs=max(min(self.kept_pairs, _LEAST_PAIRS), self.kept_pairs // n_searches),
        )

    def of_a_view(self) -> Self:
        """Return how much is done for what columns say through neighbours, one step further."""
        return replace(
            self,
            depth=self.depth - 1,
            beam=self.beam // 2,
            most_literals=self.most_literals // 5,
            kept_pairs=self.kept_pairs // 5,
        )


class Search:
    """Columns found so far, each with its verdict."""

    def __init__(self, judge: Judge, settings: RoundSettings) -> None:
        self.judge, self.settings = judge, settings
        self.space = judge.space
        self.verdicts: dict[int, Verdict] = {}
        # The number of steps to the neighbours through which a view judges: 1, 2, ...
        self._views: list[Search] = []
        if settings.depth > 1 and (view := judge.through_neighbours()) is not None:
            nearest = Search(view, settings.of_a_view())
            self._views = [nearest, *nearest._views]

    def rounds(self, proposed: Sequence[int] = ()) -> Iterator[int]:
        """Search, giving the depth after each round; `proposed` columns take part at once."""
        space, settings = self.space, self.settings
        inputs = list(dict.fromkeys(space.inputs))
        self.judge_columns([*inputs, *proposed])
        some = self._some_inputs(inputs, self.affordable_literals, [self])
        pairs = self.judge.pairs(some, settings.kept_pairs)
        self.judge_columns(pairs)
        yield 0
        few = len(inputs) <= 5
        pool = self._some_inputs(inputs, settings.most_inputs, [self, *self._views[:1]])
        pool += pairs if few else self._beam(pairs, settings.beam)
        pool += self._seen_through_neighbours(0)
        for depth in range(1, settings.depth + 1):
            self.judge_columns(space.literals(pool))
            self.pair_up()
            yield depth
            reached = [n for n in self.verdicts if space.formulas[n].modal_depth <= depth]
            small = [n for n in reached if space.formulas[n].size <= 2 + depth]
            pool = [*self._beam(reached, settings.beam), *self._best(small, settings.beam)]
            pool += self._seen_through_neighbours(depth)

    def _some_inputs(self, inputs: Sequence[int], most: int, views: Sequence[Search]) -> list[int]:
        """Return all inputs, or of very many the best by some views; true, the first, is there."""
        if len(inputs) <= most:
            return list(inputs)
        chosen = [inputs[0]]
        for view in views:
            view.judge_columns(inputs)
            chosen += view._best(inputs[1:], (most - 1) // len(views))
        return list(dict.fromkeys(chosen))

    def _seen_through_neighbours(self, depth: int) -> list[int]:
        """Return columns of at most a depth that say much about nodes some steps away."""
        chosen: list[int] = []
        for view in self._views[: max(0, self.settings.depth - depth)]:
            candidates = self._candidates_for(view, depth)
            view.judge_columns(candidates)
            view.judge_columns(view.judge.pairs(candidates, view.settings.kept_pairs))
            reached = [n for n in view.verdicts if self.space.formulas[n].modal_depth <= depth]
            chosen += view._beam(reached, view.settings.beam)
        return chosen

    def _candidates_for(self, view: Search, depth: int) -> list[int]:
        """Return literals whose pairs are judged by a view: small ones that differ, and good ones.

        A literal that is small may say nothing by itself.
        """
        most = min(view.settings.most_literals, view.affordable_literals)
        literals = [n for n in self.verdicts if self.space.is_literal(n)]
        small = [n for n in literals if self.space.formulas[n].size <= max(2, depth + 1)]
        small = [*self._best(self.space.inputs, most // 3), *self._beam(small, 2 * most // 3)]
        return [*dict.fromkeys([*small, *self._best(literals, most)])][:most]

    def judge_columns(self, numbers: Iterable[int]) -> None:
        """Judge columns that were not judged before."""
        new = [number for number in dict.fromkeys(numbers) if number not in self.verdicts]
        if new:
            self.verdicts.update(zip(new, self.judge.singles(new), strict=True))

    def pair_up(self) -> None:
        """Judge the best pairs of what was judged so far."""
        self.judge_columns(self.judge.pairs(self._for_pairs(), self.settings.kept_pairs))

    def best(self, most: int) -> list[int]:
        """Return the best columns, best first."""
        return self._best(self.verdicts, most)

    def smallest(self, most: int) -> list[int]:
        """Return small columns, those of one size best first."""
        formulas = self.space.formulas
        small = [number for number in self.verdicts if formulas[number].size <= _SMALL]
        small.sort(key=lambda n: (formulas[n].size, -self.verdicts[n].value, n))
        return small[:most]

    @property
    def affordable_literals(self) -> int:
        """Of how many literals there is time to judge all pairs."""
        affordable = int((2 * self.settings.pair_work / self.judge.pair_cost) ** 0.5)
        return max(self.settings.least_literals, affordable)

    def _best(self, numbers: Iterable[int], most: int) -> list[int]:
        ordered = sorted(numbers, key=lambda number: (-self.verdicts[number].value, number))
        return ordered[:most]

    def _for_pairs(self) -> list[int]:
        """Return the literals, small ones first, and a few others whose pairs are judged."""
        most = min(self.settings.most_literals, self.affordable_literals)
        literals = [n for n in self.verdicts if self.space.is_literal(n)]
        others = [n for n in self.verdicts if not self.space.is_literal(n)]
        small = [n for n in literals if self.space.formulas[n].size <= 2]
        n_others = most // 16
        chosen = [*self._best(small, most // 3), *self._best(literals, most)]
        return [*dict.fromkeys(chosen)][: most - n_others] + self._best(others, n_others)

    def _beam(self, numbers: Iterable[int], most: int) -> list[int]:
        """Return the best columns that do not follow one another."""
        chosen: list[int] = []
        kept: list[npt.NDArray[np.float64]] = []
        for number in self._best(numbers, len(self.verdicts)):
            profile = self.judge.profile(number)
            profile -= profile.mean()
            norm = float(np.sqrt(profile @ profile))
            if norm == 0:
                continue
            profile /= norm
            if any(abs(float(other @ profile)) > _ALIKE for other in kept):
                continue
            kept.append(profile)
            chosen.append(number)
            if len(chosen) == most:
                break
        return chosen
