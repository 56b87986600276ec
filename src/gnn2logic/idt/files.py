"""Reading saved models."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from gnn2logic._files import read_whole
from gnn2logic.exceptions import FeatureError, ModelFileError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.documents import Contents, from_bytes
from gnn2logic.idt.parameters import parameters_from_document
from gnn2logic.idt.predictor import IDTPredictor

__all__ = ["check_terms", "predictor_from", "read_contents", "read_model_file"]

_MOST_BYTES = 2**28


def predictor_from(contents: Contents) -> IDTPredictor:
    """Return a model that predicts, from what its file holds."""
    predictor = IDTPredictor()
    predictor._take(contents, FittedEncoder.from_document(contents.encoder))
    return predictor


def read_model_file(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a model file; devices, pipes and very large files are refused."""
    try:
        return read_whole(path, _MOST_BYTES)
    except ValueError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}.") from None


def read_contents(path: str | os.PathLike[str], data: bytes | None = None) -> Contents:
    """Return what a model file holds, checked; `data` are its bytes where they are known."""
    data = read_model_file(path) if data is None else data
    try:
        contents = from_bytes(data)
        parameters_from_document(contents.parameters)
        model = contents.model.with_final(contents.prunings.full)
        check_terms(contents.encoder, model.predicate_names, model.relation_names)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}") from None
    return contents


def check_terms(
    document: Mapping[str, Any], predicates: Collection[str], relations: Collection[str]
) -> None:
    """Refuse a model that speaks of predicates or relations which its encoder does not make."""
    try:
        encoder = FittedEncoder.from_document(document)
    except FeatureError as error:
        raise ModelFileError(f"The encoder of the model is not valid: {error}") from None
    for what, used, known in (
        ("predicate", predicates, encoder.names_),
        ("relation", relations, encoder.relations_),
    ):
        if unknown := sorted(set(used) - set(known)):
            raise ModelFileError(f"The encoder does not make the {what} {unknown[0]!r}.")
