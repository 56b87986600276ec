"""Scorecards as JSON documents and files: what is written, and the audit of what is read.

Nothing of a document is trusted. Its form is checked by a strict schema, its content by the rules
below and by the values that are built from it.
"""

from __future__ import annotations

import json
import math
import os
from typing import Any, Literal

import msgspec

from gnn2logic._digests import digest_of_document, unchanged_document
from gnn2logic._json import strict_json
from gnn2logic.exceptions import FeatureError, FormulaError, ModelFileError, ParameterError
from gnn2logic.idt.documents import check_class_labels
from gnn2logic.idt.files import check_terms, read_model_file
from gnn2logic.idt.parameters import parameters_from_document
from gnn2logic.idt.tree_documents import Strict
from gnn2logic.logic.documents import formulas_from_rows, formulas_to_rows
from gnn2logic.logic.syntax import Formula
from gnn2logic.logic.walk import predicate_names, relation_names
from gnn2logic.scorecards.card import Line, Scorecard
from gnn2logic.scorecards.path import CalibrationBin, CardPath, PathRow

__all__ = ["FORMAT", "PARAMETERS", "CardContents", "from_bytes", "read_card", "to_bytes"]

FORMAT = "gnn2logic.scorecard"
FORMAT_VERSION = 1
# Points are small; scores of so many at most are exact whatever the number of lines.
_MOST_POINTS = 2**31
# Parameters that are written are those of the estimators; the encoder is fitted, and written whole.
PARAMETERS = (
    "max_lines",
    "max_line_size",
    "max_points",
    "loss",
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


class _Line(Strict, frozen=True):
    conditions: list[int]
    points: list[list[int]]


class _Card(Strict, frozen=True):
    lines: list[_Line]
    base: list[int]
    slope: float
    intercept: float
    train: float
    held_out: float | None
    held_out_loss: float | None


class _Bin(Strict, frozen=True):
    predicted: float
    observed: float
    weight: float


class _CardDocument(Strict, frozen=True):
    format: Literal["gnn2logic.scorecard"]
    version: int
    level: Literal["graph", "node"]
    answer: Literal["class", "number"]
    classes: list[bool | int | str]
    encoder: dict[str, Any]
    parameters: dict[str, Any]
    formulas: list[dict[str, Any]]
    path: list[_Card]
    chosen: int
    reason: str
    calibration: list[_Bin]
    digest: str


class CardContents(msgspec.Struct, frozen=True):
    """What a document holds, audited."""

    path: CardPath
    classes: list[Any]
    encoder: dict[str, Any]
    parameters: dict[str, Any]


def to_bytes(contents: CardContents) -> bytes:
    """Return the document as UTF-8 text."""
    path = contents.path
    first = path.rows[0].card
    if first.answer == "class":
        check_class_labels(contents.classes)
    conditions = list(dict.fromkeys(formula for row in path for formula in row.card.conditions))
    rows, positions = formulas_to_rows(conditions)
    number_of = dict(zip(conditions, positions, strict=True))
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "level": first.level,
        "answer": first.answer,
        "classes": contents.classes,
        "encoder": contents.encoder,
        "parameters": contents.parameters,
        "formulas": rows,
        "path": [_card_to_document(row, number_of) for row in path],
        "chosen": path.chosen,
        "reason": path.reason,
        "calibration": [
            {"predicted": each.predicted, "observed": each.observed, "weight": each.weight}
            for each in path.calibration
        ],
    }
    document["digest"] = digest_of_document(document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")


def _card_to_document(row: PathRow, number_of: dict[Formula, int]) -> dict[str, Any]:
    card = row.card
    return {
        "lines": [
            {
                "conditions": [number_of[formula] for formula in line.conditions],
                "points": [list(points) for points in line.points],
            }
            for line in card.lines
        ],
        "base": list(card.base),
        "slope": card.slope,
        "intercept": card.intercept,
        "train": row.train,
        "held_out": row.held_out,
        "held_out_loss": row.held_out_loss,
    }


def from_bytes(data: bytes) -> CardContents:
    """Return the audited contents of a document, or raise `ModelFileError`."""
    try:
        document = strict_json(data)
    except ValueError as error:
        raise ModelFileError(f"This is not a gnn2logic scorecard: {error}.") from None
    try:
        return _audited(_checked_form(document))
    except RecursionError:
        raise ModelFileError(
            "This is not a valid gnn2logic scorecard: nested too deeply."
        ) from None


def _checked_form(document: object) -> _CardDocument:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"This is not a gnn2logic scorecard: it has no format {FORMAT!r}.")
    version = document.get("version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise ModelFileError(
            f"Scorecards of version {FORMAT_VERSION} can be read. Got version {version!r}; a newer "
            "gnn2logic may read it."
        )
    return unchanged_document(document, _CardDocument, "scorecard")


def _audited(document: _CardDocument) -> CardContents:
    if document.answer == "class":
        check_class_labels(document.classes)
    elif document.classes:
        raise ModelFileError("A scorecard that predicts numbers has no classes.")
    if not document.path or not 0 <= document.chosen < len(document.path):
        raise ModelFileError(f"chosen must be the number of a card. Got {document.chosen}.")
    figures = [
        figure
        for card in document.path
        for figure in (card.train, card.held_out, card.held_out_loss)
        if figure is not None
    ] + [figure for b in document.calibration for figure in (b.predicted, b.observed, b.weight)]
    if not all(map(math.isfinite, figures)):
        raise ModelFileError("The figures of a scorecard must be finite numbers.")
    try:
        formulas = formulas_from_rows(document.formulas)
        rows = tuple(_row_from_document(card, document, formulas) for card in document.path)
    except (FormulaError, FeatureError, ParameterError) as error:
        raise ModelFileError(f"This is not a valid gnn2logic scorecard: {error}") from None
    bins = tuple(CalibrationBin(b.predicted, b.observed, b.weight) for b in document.calibration)
    path = CardPath(rows, document.chosen, document.reason, bins)
    return CardContents(path, list(document.classes), document.encoder, document.parameters)


def _row_from_document(card: _Card, document: _CardDocument, formulas: list[Formula]) -> PathRow:
    points = [number for line in card.lines for row in line.points for number in row]
    if any(abs(number) > _MOST_POINTS for number in [*points, *card.base]):
        raise ModelFileError(f"Points must be at most {_MOST_POINTS}.")
    lines = []
    for line in card.lines:
        if not all(0 <= number < len(formulas) for number in line.conditions):
            raise ModelFileError("A line refers to a formula that is not there.")
        lines.append(
            Line(
                tuple(formulas[number] for number in line.conditions),
                tuple(tuple(row) for row in line.points),
            )
        )
    built = Scorecard(
        tuple(lines),
        tuple(card.base),
        card.slope,
        card.intercept,
        document.answer,
        len(document.classes),
        document.level,
    )
    return PathRow(built, card.train, card.held_out, card.held_out_loss)


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
