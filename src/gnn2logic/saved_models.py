"""Saved models of either form: Iterated Decision Trees and scorecards."""

from __future__ import annotations

import os

from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.files import predictor_from, read_contents, read_model_file
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.scorecards.documents import FORMAT
from gnn2logic.scorecards.files import read_card
from gnn2logic.scorecards.predictor import ScorecardPredictor

__all__ = ["load"]

# The first words of a file say what it is; they are read before all of it.
_FIRST_BYTES = 200


def load(path: str | os.PathLike[str]) -> IDTPredictor | ScorecardPredictor:
    """Read a model that was saved by ``save``; nothing in the file is executed or trusted.

    ``IDTClassifier.load``, ``ScorecardClassifier.load`` and the like return estimators to be fitted
    again.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, from a newer version, or larger than 256 MiB.
    """
    data = read_model_file(path)
    if FORMAT.encode() not in data[:_FIRST_BYTES]:
        return predictor_from(read_contents(path, data))
    predictor = ScorecardPredictor()
    contents = read_card(path, data)
    predictor._take(contents, FittedEncoder.from_document(contents.encoder))
    return predictor
