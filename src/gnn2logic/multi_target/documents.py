"""Models of several targets as one JSON document: each is written as its own file would be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from gnn2logic._digests import digest_of_document, unchanged_document
from gnn2logic._json import strict_json
from gnn2logic.exceptions import ModelFileError, ParameterError
from gnn2logic.idt.tree_documents import Strict
from gnn2logic.multi_target.labels import check_target_names

__all__ = ["FORMAT", "models_from_bytes", "models_to_bytes"]

FORMAT = "gnn2logic.targets"
FORMAT_VERSION = 1


class _Document(Strict, frozen=True):
    format: Literal["gnn2logic.targets"]
    version: int
    targets: list[str]
    models: list[dict[str, Any]]
    digest: str


def models_to_bytes(names: Sequence[str], models: Sequence[bytes]) -> bytes:
    """Return one document of models, which are given as their files."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "targets": list(names),
        "models": [json.loads(model) for model in models],
    }
    document["digest"] = digest_of_document(document)
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8")


def models_from_bytes(data: bytes) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the names of the targets and the document of each model, which is not yet audited."""
    try:
        document = strict_json(data)
    except ValueError as error:
        raise ModelFileError(f"These are no gnn2logic models: {error}.") from None
    if isinstance(document, dict) and document.get("version") != FORMAT_VERSION:
        raise ModelFileError(
            f"The version of the file must be {FORMAT_VERSION}. Got "
            f"{document.get('version')!r:.40}; it may need a newer gnn2logic."
        )
    try:
        checked = unchanged_document(document, _Document, "set of models")
        names = check_target_names(checked.targets, len(checked.models))
    except ParameterError as error:
        raise ModelFileError(f"These are no valid gnn2logic models: {error}") from None
    except RecursionError:
        raise ModelFileError("These are no valid gnn2logic models: nested too deeply.") from None
    encoders = [model.get("encoder") for model in checked.models]
    if any(encoder != encoders[0] for encoder in encoders):
        raise ModelFileError("All models must have the same encoder. The file holds several.")
    return names, checked.models
