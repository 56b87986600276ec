"""The JSON files of a store: the manifest of a finished one, the plan of one that is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from gnn2logic._digests import digest_of_bytes
from gnn2logic._files import read_whole, write_atomically
from gnn2logic._json import strict_json
from gnn2logic.exceptions import FeatureError, StoreError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.storage.label_codes import LabelType, Level
from gnn2logic.storage.shard_files import AtLeastOne, Count, ShardHeader

__all__ = [
    "MANIFEST",
    "PLAN",
    "LabelNote",
    "Manifest",
    "Plan",
    "ShardNote",
    "data_folder",
    "read_document",
    "write_document",
]

MANIFEST, PLAN = "manifest.json", "unfinished.json"
_VERSION = 1
_MOST_BYTES = 2**30

Document = TypeVar("Document", "Manifest", "Plan")
Checksum = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class LabelNote(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What has labels, and of which kind they are."""

    level: Level
    kind: LabelType


class ShardNote(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What the manifest knows of a shard; where it is follows from its place in the list."""

    n_graphs: AtLeastOne
    n_nodes: AtLeastOne
    n_edges: Count
    is_symmetric: bool
    checksum: Checksum

    @classmethod
    def of(cls, header: ShardHeader, checksum: str) -> ShardNote:
        """Return the note about a shard with this header."""
        return cls(
            n_graphs=header.n_graphs,
            n_nodes=header.n_nodes,
            n_edges=header.n_edges,
            is_symmetric=header.is_symmetric,
            checksum=checksum,
        )


class Plan(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How shards are made: a call that is made again must say the same."""

    format: Literal["gnn2logic.shards.plan"] = "gnn2logic.shards.plan"
    version: Literal[1] = 1
    shard_nodes: AtLeastOne
    encoder: dict[str, Any]
    labels: LabelNote | None

    @property
    def key(self) -> str:
        """A short name of the plan."""
        return _digest(msgspec.to_builtins(self))[:16]


class Manifest(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """All there is to know of a store before its shards are opened."""

    format: Literal["gnn2logic.shards"] = "gnn2logic.shards"
    version: Literal[1] = 1
    plan: Plan
    shards: Annotated[list[ShardNote], msgspec.Meta(min_length=1)]
    # How often the store was replaced; left out of the document while it never was.
    generation: AtLeastOne | msgspec.UnsetType = msgspec.UNSET

    @property
    def replaced(self) -> int:
        """How often the store was replaced by another one in the same folder."""
        return 0 if self.generation is msgspec.UNSET else self.generation

    @property
    def digest(self) -> str:
        """A number for all the data: it changes with any of it, and with nothing else."""
        first = msgspec.structs.replace(self, generation=msgspec.UNSET)
        return _digest(msgspec.to_builtins(first))


def data_folder(folder: Path, replaced: int) -> Path:
    """Return where the shards are of a store that was replaced so many times.

    A store that takes the place of another is written beside it, into a folder of its own. So it
    is the manifest, one file, that changes hands.
    """
    return folder / f"generation-{replaced}" if replaced else folder


def write_document(path: Path, document: Manifest | Plan) -> None:
    """Write a document with its checksum."""
    plain = msgspec.to_builtins(document)
    text = json.dumps(plain | {"checksum": _digest(plain)}, indent=1, allow_nan=False)
    write_atomically(path, text.encode() + b"\n")


def read_document(path: Path, document_type: type[Document]) -> tuple[Document, FittedEncoder]:
    """Return a document and the encoder in it; nothing in the file is trusted."""
    try:
        plain = strict_json(read_whole(path, _MOST_BYTES))
        if not isinstance(plain, dict):
            raise ValueError("it must be a JSON object")
        checksum = plain.pop("checksum", None)
        version = plain.get("version")
        if isinstance(version, int) and version > _VERSION:
            raise ValueError(f"it has version {version}; a newer gnn2logic wrote it")
        document = msgspec.convert(plain, document_type)
        plan = document if isinstance(document, Plan) else document.plan
        encoder = FittedEncoder.from_document(plan.encoder)
        # Of the document, not of the text: what another program has formatted anew is as good.
        if checksum != _digest(msgspec.to_builtins(document)):
            raise ValueError("its checksum does not fit, so it is damaged")
    except (ValueError, FeatureError) as error:
        # msgspec's ValidationError is a ValueError too.
        raise StoreError(f"Cannot read {str(path)!r}: {error}.") from None
    return document, encoder


def _digest(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return digest_of_bytes([text.encode()], size=32)
