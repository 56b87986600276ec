"""Digests: short texts that differ when contents do.

BLAKE2 is the faster one. SHA-256 is for what files or other programs have named it by.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from gnn2logic.exceptions import ModelFileError

__all__ = [
    "digest_of_bytes",
    "digest_of_document",
    "digest_of_values",
    "sha256_of",
    "unchanged_document",
]


class _WithDigest(Protocol):
    @property
    def digest(self) -> str: ...


Form = TypeVar("Form", bound=_WithDigest)


def digest_of_bytes(pieces: Iterable[bytes | memoryview], *, size: int = 16) -> str:
    """Return a digest of `size` bytes of what the pieces are one after the other."""
    digest = hashlib.blake2b(digest_size=size)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def sha256_of(pieces: Iterable[bytes | memoryview]) -> str:
    """Return the SHA-256 of what the pieces are one after the other."""
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def digest_of_values(values: Iterable[str | npt.NDArray[Any]]) -> str:
    """Return a digest of texts and arrays that keeps them apart.

    Examples
    --------
    >>> digest_of_values(["a", np.arange(3)]) == digest_of_values(["a", np.arange(3)])
    True
    >>> digest_of_values(["a", np.arange(3)]) == digest_of_values(["a", np.arange(4)])
    False
    """
    return digest_of_bytes(_pieces(values))


def _pieces(values: Iterable[str | npt.NDArray[Any]]) -> Iterator[bytes | memoryview]:
    # One after the other, for an array may have to be copied.
    for value in values:
        if isinstance(value, str):
            yield f"{len(value)}:{value}".encode()
        else:
            yield f"{value.shape}{value.dtype.str}".encode()
            yield np.ascontiguousarray(value).data


def digest_of_document(document: Mapping[str, Any]) -> str:
    """Return the digest of everything in a document of JSON but its digest."""
    plain = {key: value for key, value in document.items() if key != "digest"}
    text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return digest_of_bytes([text.encode("utf-8")])


def unchanged_document(document: Mapping[str, Any], form: type[Form], noun: str) -> Form:
    """Return a document of JSON in its form; `ModelFileError` if it was changed or damaged."""
    try:
        checked = msgspec.convert(document, form)
    except msgspec.ValidationError as error:
        raise ModelFileError(f"This is not a valid gnn2logic {noun}: {error}.") from None
    if checked.digest != digest_of_document(document):
        raise ModelFileError(
            f"The digest of the {noun} does not fit its content: the file was changed or damaged. "
            f"Save the {noun} again from where it was made."
        )
    return checked
