"""Reading saved scorecards."""

from __future__ import annotations

import os

from gnn2logic.exceptions import ModelFileError
from gnn2logic.idt.files import check_terms, read_model_file
from gnn2logic.idt.parameters import parameters_from_document
from gnn2logic.logic.walk import predicate_names, relation_names
from gnn2logic.scorecards.documents import CardContents, from_bytes

__all__ = ["PARAMETERS", "read_card"]

# Those of the estimators; the encoder is fitted, and written whole.
PARAMETERS = (
    "max_lines",
    "max_line_size",
    "max_points",
    "n_layers",
    "max_time",
    "modalities",
    "absolute",
    "relative",
    "max_samples",
    "class_weight",
    "target_name",
    "unit",
    "n_shards",
    "n_jobs",
    "random_state",
    "verbose",
)


def read_card(path: str | os.PathLike[str], data: bytes | None = None) -> CardContents:
    """Return what the file of a scorecard holds, checked; `data` are its bytes where known."""
    data = read_model_file(path) if data is None else data
    try:
        contents = from_bytes(data)
        parameters_from_document(contents.parameters, PARAMETERS)
        conditions = [each for row in contents.path for each in row.card.conditions]
        check_terms(contents.encoder, predicate_names(*conditions), relation_names(*conditions))
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(path)!r}. {error}") from None
    return contents
