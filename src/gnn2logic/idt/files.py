"""Reading saved models."""

from __future__ import annotations

import os

from gnn2logic._files import read_whole
from gnn2logic.exceptions import FeatureError, ModelFileError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.documents import Contents, from_bytes
from gnn2logic.idt.parameters import parameters_from_document
from gnn2logic.idt.predictor import IDTPredictor

__all__ = ["load", "read_contents"]

_MOST_BYTES = 2**28


def load(path: str | os.PathLike[str]) -> IDTPredictor:
    """Read a model that was saved by ``save``; nothing in the file is executed or trusted.

    ``IDTClassifier.load`` and ``IDTNodeClassifier.load`` return estimators to be fitted again.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, from a newer version, or larger than 256 MiB.
    """
    contents = read_contents(path)
    predictor = IDTPredictor()
    predictor._take(contents, FittedEncoder.from_document(contents.encoder))
    return predictor


def read_contents(path: str | os.PathLike[str]) -> Contents:
    """Return what a model file holds, checked."""
    try:
        data = read_whole(path, _MOST_BYTES)
    except ValueError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}.") from None
    try:
        contents = from_bytes(data)
        parameters_from_document(contents.parameters)
        _check_encoder(contents)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}") from None
    return contents


def _check_encoder(contents: Contents) -> None:
    """Refuse a model that speaks of predicates or relations which its encoder does not make."""
    try:
        encoder = FittedEncoder.from_document(contents.encoder)
    except FeatureError as error:
        raise ModelFileError(f"The encoder of the model is not valid: {error}") from None
    missing = set(contents.model.predicate_names) - set(encoder.names_)
    if missing:
        raise ModelFileError(f"The encoder does not make the predicate {sorted(missing)[0]!r}.")
    inner = [tree for layer in contents.model.layers for tree in layer.trees]
    splits = [split for tree in (*inner, contents.prunings.full) for split in tree.splits]
    used = {split.modality.edges.relation for split in splits if split is not None}
    unknown = {name for name in used if name is not None} - set(encoder.relations_)
    if unknown:
        raise ModelFileError(f"The encoder does not make the relation {sorted(unknown)[0]!r}.")
