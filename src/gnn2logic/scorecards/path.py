"""Scorecards from one line to the longest, with what is known about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gnn2logic.exceptions import ParameterError
from gnn2logic.scorecards.card import Scorecard

__all__ = ["CalibrationBin", "CardPath", "PathRow"]


@dataclass(frozen=True)
class PathRow:
    """One scorecard of the path.

    Parameters
    ----------
    card : Scorecard
    train : float
        Its accuracy on the training data, or R2 for numbers.
    held_out : float or None
        The same of cards with as many lines on data that they were not learned from; None where
        nothing was held out.
    held_out_loss : float or None
        Their mean log loss there; for numbers the mean squared error, 1 without any line, or, with
        ``loss="absolute"``, the mean absolute error in their unit.
    """

    card: Scorecard
    train: float
    held_out: float | None = None
    held_out_loss: float | None = None

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return len(self.card.lines)


@dataclass(frozen=True)
class CalibrationBin:
    """Held-out rows whose predicted probabilities are alike.

    Parameters
    ----------
    predicted : float
        The mean of their predicted probabilities of the second class (of three or more classes:
        of the predicted class).
    observed : float
        The share of them that has this class.
    weight : float
        The share of all held-out rows that they are.
    """

    predicted: float
    observed: float
    weight: float


@dataclass(frozen=True)
class CardPath(Sequence[PathRow]):
    """All scorecards of a path, from no line to the most.

    Parameters
    ----------
    rows : tuple of PathRow
    chosen : int
        The number of the row that the model uses.
    reason : str
        Why it was chosen.
    calibration : tuple of CalibrationBin
        How predicted probabilities came out on held-out data; empty where nothing was held out.
    """

    rows: tuple[PathRow, ...]
    chosen: int
    reason: str
    calibration: tuple[CalibrationBin, ...] = ()

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PathRow]:
        return iter(self.rows)

    def with_lines(self, lines: int) -> int:
        """Return the number of the row with so many lines."""
        for index, row in enumerate(self.rows):
            if row.n_lines == lines:
                return index
        known = sorted(row.n_lines for row in self.rows)
        raise ParameterError(
            "n_lines must be the number of lines of a card on the path, "
            f"{known[0]} to {known[-1]}. Got {lines} instead."
        )

    @property
    def calibration_error(self) -> float | None:
        """The mean distance of predicted probabilities from observed shares, on held-out data."""
        if not self.calibration:
            return None
        return sum(abs(b.predicted - b.observed) * b.weight for b in self.calibration)

    def __str__(self) -> str:
        is_number = self.rows[0].card.answer == "number"
        measure = "R2" if is_number else "accuracy"
        lines = [f"    lines  symbols  {measure:>8}  held-out  loss there"]
        for index, row in enumerate(self.rows):
            held_out = "" if row.held_out is None else f"{row.held_out:.4f}"
            loss = "" if row.held_out_loss is None else f"{row.held_out_loss:.4f}"
            mark = "->" if index == self.chosen else "  "
            lines.append(
                f"{mark}  {row.n_lines:5d}  {row.card.size:7d}  {row.train:8.4f}  "
                f"{held_out:>8}  {loss:>10}".rstrip()
            )
        lines.append(f"chosen: {self.reason}")
        return "\n".join(lines)
