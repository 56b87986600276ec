"""Published figures to compare with: accuracy on the same public folds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SOURCE", "PublishedFigures", "published_figures"]

SOURCE = (
    "Errica, Podda, Bacciu and Micheli, A Fair Comparison of Graph Neural Networks for Graph "
    "Classification, ICLR 2020"
)


@dataclass(frozen=True)
class PublishedFigures:
    """Mean accuracy over ten folds: of a GIN, and of the best model there."""

    gin: float
    best: float
    best_model: str


# On IMDB-BINARY the networks there have degrees as features.
_FIGURES = {
    "PROTEINS": PublishedFigures(0.733, 0.758, "no edges"),
    "IMDB-BINARY": PublishedFigures(0.712, 0.712, "GIN"),
}


def published_figures(dataset: str) -> PublishedFigures | None:
    """Return what was published for a data set on its public folds, if we know of any."""
    return _FIGURES.get(dataset)
