"""Published figures to compare with: accuracy on the same public folds, known by their digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from gnn2logic._digests import sha256_of
from gnn2logic.experiments.comparison.data import FoldSplit

__all__ = ["SOURCE", "PublishedFigures", "are_published", "published_figures"]

SOURCE = (
    "Errica, Podda, Bacciu and Micheli, A Fair Comparison of Graph Neural Networks for Graph "
    "Classification, ICLR 2020"
)


@dataclass(frozen=True)
class PublishedFigures:
    """Mean accuracy over ten folds: of a GIN, and of the best model there; the digest of these."""

    gin: float
    best: float
    best_model: str
    folds: str


# On IMDB-BINARY the networks there have degrees as features.
_FIGURES = {
    "PROTEINS": PublishedFigures(0.733, 0.758, "no edges", "322d288564a26f45"),
    "IMDB-BINARY": PublishedFigures(0.712, 0.712, "GIN", "bc3850daac074a28"),
}


def published_figures(dataset: str) -> PublishedFigures | None:
    """Return what was published for a data set on its public folds, if we know of any."""
    return _FIGURES.get(dataset)


def are_published(dataset: str, splits: Sequence[FoldSplit]) -> bool:
    """Whether these are the folds on which the figures were published, number by number."""
    figures = _FIGURES.get(dataset)
    return figures is not None and sha256_of([msgspec.json.encode(splits)])[:16] == figures.folds
