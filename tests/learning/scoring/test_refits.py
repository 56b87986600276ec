"""Lines that are fitted together: likelihoods by a slow optimiser, and what a further line adds."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from scipy.optimize import minimize

from gnn2logic.learning.scoring.losses import TARGET_STEPS, loss_for
from gnn2logic.learning.scoring.refits import Pace, Refit, ScoreTargets

PACE = Pace(price=4.5, ridge=4.0, ridge_share=0.0, swaps=True)
N_ROWS = 400


def rows_of(
    answer: Literal["class", "number"], weight: int = 1
) -> tuple[ScoreTargets, np.ndarray, np.ndarray]:
    """Return targets, some of their rows, and where three conditions hold at these."""
    rng = np.random.default_rng(7)
    truths = rng.random((N_ROWS, 3)) < 0.5
    score = truths @ np.array([1.5, -1.0, 0.3]) - 0.2
    if answer == "class":
        targets = (rng.random(N_ROWS) < 1 / (1 + np.exp(-score))).astype(float)[:, None]
        classes = np.column_stack([1 - targets, targets]).astype(np.int64)
    else:
        targets = (score + rng.normal(size=N_ROWS))[:, None]
        classes = np.zeros((N_ROWS, 0), dtype=np.int64)
    whole = np.rint(targets * TARGET_STEPS).astype(np.int64)
    weights = np.full(N_ROWS, weight)
    rows = np.arange(0, N_ROWS, 2)
    return ScoreTargets(whole, classes, weights, loss_for(answer, 2)), rows, truths[rows]


def slow_likelihood(targets: ScoreTargets, rows: np.ndarray, truths: np.ndarray) -> float:
    """Return the best penalised log-likelihood, by an optimiser that knows nothing of it."""
    values = targets.values[rows, 0]
    design = np.column_stack([np.ones(len(rows)), truths])

    def badness(weights: np.ndarray) -> float:
        raw = design @ weights
        price = PACE.ridge / 2 * (weights[1:] ** 2).sum()
        if targets.loss.is_number:
            return float(((values - raw) ** 2).sum() / 2 + price)
        return float((np.logaddexp(0, raw) - values * raw).sum() + price)

    least = minimize(badness, np.zeros(design.shape[1]), tol=1e-10).fun
    if targets.loss.is_number:
        return float(-len(rows) / 2 * np.log(2 * least / len(rows)))
    return float(-least)


@pytest.mark.parametrize("answer", ["class", "number"])
@pytest.mark.parametrize("n_conditions", [0, 1, 3])
def test_likelihood_is_that_of_the_best_weights(
    answer: Literal["class", "number"], n_conditions: int
) -> None:
    targets, rows, truths = rows_of(answer)
    refit = Refit.of_rows(targets, rows, truths[:, :n_conditions], PACE)
    slow = slow_likelihood(targets, rows, truths[:, :n_conditions])
    assert refit.log_likelihood == pytest.approx(slow, abs=1e-3)
    assert not refit.residuals[1::2].any()


@pytest.mark.parametrize("answer", ["class", "number"])
def test_gains_foretell_what_a_refit_gives(answer: Literal["class", "number"]) -> None:
    targets, rows, truths = rows_of(answer)
    before = Refit.of_rows(targets, rows, truths[:, :1], PACE)
    # The last one is a copy: the ridge likes it when a weight is spread, and a gain must know that.
    others = (1, 2, 0)
    foretold = before.gains([truths[:, further] for further in others])
    given = [
        Refit.of_rows(targets, rows, truths[:, [0, further]], PACE).log_likelihood
        - before.log_likelihood
        for further in others
    ]
    assert foretold == pytest.approx(given, rel=0.15, abs=0.05)
    assert before.gains([]).shape == (0,)


def test_what_rows_weigh_together_does_not_matter() -> None:
    light, rows, truths = rows_of("class")
    heavy, _, _ = rows_of("class", weight=7)
    one, other = (Refit.of_rows(each, rows, truths, PACE) for each in (light, heavy))
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-6)
    further = [truths[:, 0] ^ truths[:, 1]]
    assert one.gains(further) == pytest.approx(other.gains(further), rel=1e-3)
