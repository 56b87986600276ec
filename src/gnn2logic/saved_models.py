"""Saved models of any form: Iterated Decision Trees, scorecards, models of several targets."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from gnn2logic.exceptions import ModelFileError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.files import predictor_from, read_contents, read_model_file
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.multi_target.documents import FORMAT as TARGETS
from gnn2logic.multi_target.documents import models_from_bytes
from gnn2logic.multi_target.predictor import MultiTargetPredictor
from gnn2logic.scorecards.documents import FORMAT, read_card
from gnn2logic.scorecards.predictor import ScorecardPredictor

__all__ = ["load"]

# The first words of a file say what it is; they are read before all of it.
_FIRST_BYTES = 200
_IS_OF_TARGETS = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + re.escape(TARGETS.encode()) + b'"')


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that was saved by ``save``; nothing in the file is executed or trusted.

    ``IDTClassifier.load``, ``ScorecardClassifier.load`` and the like return estimators to be fitted
    again.

    Returns
    -------
    IDTPredictor, ScorecardPredictor or MultiTargetPredictor
        What the file holds.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, from a newer version, or larger than 256 MiB.
    """
    data = read_model_file(path)
    if _IS_OF_TARGETS.match(data) is None:
        return _one_model(path, data)
    predictor = MultiTargetPredictor()
    try:
        predictor.target_names_, documents = models_from_bytes(data)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}") from None
    predictor.estimators_ = [
        _one_model(path, json.dumps(document).encode()) for document in documents
    ]
    if len({model.level for model in predictor.estimators_}) != 1:
        raise ModelFileError(
            f"Cannot load {os.fspath(path)!r}. All of its models must be about graphs, or about "
            "nodes."
        )
    predictor.encoder_ = predictor.estimators_[0].encoder_
    return predictor


def _one_model(path: str | os.PathLike[str], data: bytes) -> IDTPredictor | ScorecardPredictor:
    if FORMAT.encode() not in data[:_FIRST_BYTES]:
        return predictor_from(read_contents(path, data))
    predictor = ScorecardPredictor()
    contents = read_card(path, data)
    predictor._take(contents, FittedEncoder.from_document(contents.encoder))
    return predictor
