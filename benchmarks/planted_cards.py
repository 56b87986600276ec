"""Planted scorecards: how often their lines and points are found; `recovery.py` prints the table.

A card of three to five lines gives 2000 graphs a score. A learner sees one of three things: the
score itself with noise as wide as one point ("numbers"), labels drawn with the score as log-odds
("labels"), or the score as the logit of a network ("logits"). It has recovered the card if it chose
the same conditions, judged by 20,000 fresh graphs, and points that are a multiple of the planted
ones. A condition may be its complement, with the other sign.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic import GraphBatch, ScorecardClassifier, ScorecardRegressor, parse
from gnn2logic.scorecards import Scorecard

__all__ = ["CARDS", "CardFit", "Targets", "card_fit"]

N_TRAIN = 2000
N_FRESH = 20_000
Targets = Literal["numbers", "labels", "logits"]
Points = Mapping[bytes, Fraction]

# The graphs of each card by their name in `recovery.py`; conditions and their points. Two
# conditions on one count are the steps of one line.
CARDS: dict[str, tuple[str, dict[str, int]]] = {
    "counts": ("TWO", {"1 U0 > 6": 2, "1 U1 > 1/2": -3, "1(A true > 4) > 7": 1}),
    "modal": (
        "TWO",
        {"1(U0 & A U1 > 1) > 2": 3, "1(A U0 > 3) > 1/2": -2, "1(U0 & U1) > 3": 2},
    ),
    "steps": (
        "TWO",
        {"1 U0 > 4": 2, "1 U0 > 8": 2, "1(A U1 > 2) > 5": -3, "1(U1 & A U0 > 1/2) > 1": 1},
    ),
    "four": (
        "FIVE",
        {"1 U4 > 1/2": 1, "1(A U0 > 2) > 4": 2, "1(U1 & U2) > 2": -2, "1(U3 & A U3 > 1) > 3": 3},
    ),
    "five": (
        "FIVE",
        {
            "1 U0 > 6": 2,
            "1 U1 > 1/2": -2,
            "1(A U2 > 3) > 4": 3,
            "1(U3 & A U4 > 1) > 2": -3,
            "1(A true > 9) > 2": 1,
        },
    ),
    "directed": (
        "DIRECTED",
        {"1(A U0 > 2) > 5": 2, "1(A^T U1 > 2) > 5": -2, "1(U0 & A U1 > 1) > 3": 3},
    ),
    "typed": ("TYPED", {"1(U0 & A[r] U1 > 1) > 2": 3, "1(A[s] U0 > 2) > 4": -2, "1 U1 > 1/2": 1}),
}


@dataclass(frozen=True)
class CardFit:
    """What one fit gave: whether lines and points are the planted ones, and the card."""

    same_lines: bool
    recovered: bool
    n_lines: int
    seconds: float
    card: str


def card_fit(
    planted: Mapping[str, int],
    targets: Targets,
    train: GraphBatch,
    fresh: GraphBatch,
    seed: int,
    n_jobs: int | None,
) -> CardFit:
    """Learn from the targets that a planted card gives graphs, and compare."""
    rng = np.random.default_rng([seed, 3])
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs}
    score = np.zeros(train.n_graphs)
    for text, points in planted.items():
        score += points * parse(text).evaluate(train)
    logits = score - np.median(score) - 0.5
    started = time.perf_counter()
    learner: ScorecardClassifier | ScorecardRegressor
    if targets == "numbers":
        numbers = score + rng.normal(size=len(score))
        learner = ScorecardRegressor(**settings).fit(train, numbers)
    elif targets == "labels":
        drawn = rng.random(len(score)) < 1 / (1 + np.exp(-logits))
        learner = ScorecardClassifier(**settings).fit(train, drawn)
    else:
        learner = ScorecardClassifier(**settings).fit(train, logits > 0, scores=logits[:, None])
    seconds = time.perf_counter() - started
    truth = _points_of({parse(text): points for text, points in planted.items()}, fresh)
    got = _points_of(_increments(learner.card_), fresh)
    same = truth.keys() == got.keys()
    ratios = {got[key] / truth[key] for key in truth} if same else set()
    return CardFit(
        same, len(ratios) == 1 and min(ratios) > 0, len(learner.lines_), seconds, str(learner)
    )


def _increments(card: Scorecard) -> dict[Any, int]:
    """Return how many points more every condition gives than the one before it in its line."""
    increments: dict[Any, int] = {}
    for line in card.lines:
        before = 0
        for formula, points in zip(line.conditions, line.points, strict=True):
            increments[formula] = increments.get(formula, 0) + points[0] - before
            before = points[0]
    return increments


def _points_of(conditions: Mapping[Any, int], graphs: GraphBatch) -> Points:
    """Return points by where conditions hold; of a complement they are the negative."""
    points: dict[bytes, Fraction] = {}
    for formula, number in conditions.items():
        truth: npt.NDArray[np.bool_] = formula.evaluate(graphs)
        key = np.packbits(truth ^ truth[0]).tobytes()
        points[key] = points.get(key, Fraction(0)) + (-number if truth[0] else number)
    return {key: number for key, number in points.items() if number != 0}
