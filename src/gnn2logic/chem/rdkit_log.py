"""What RDKit writes to its log: kept from the terminal, or read as the reason of a failure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gnn2logic._optional import import_optional

__all__ = ["logs_blocked", "mistake_in"]


def logs_blocked() -> Any:
    """Return a context in which RDKit logs nothing."""
    return _rdkit_base().BlockLogs()


def mistake_in(text: str, syntax: Callable[[str], Any]) -> str:
    """Return what RDKit's log says about a text that it cannot read, as far as it is known."""
    capture = getattr(_rdkit_base(), "CaptureErrorLog", None)
    plain = "it is not written as the format asks"
    if capture is None:
        return plain
    with capture() as log:
        syntax(text)
    said = re.search(r"Parse Error: (.*?)(?: for input| while parsing|$)", log.messages, re.M)
    place = re.search(r"around position (\d+)", log.messages)
    if said is None:
        return plain
    return f"{plain}: {said[1]}" + (f" around position {place[1]}" if place else "")


def _rdkit_base() -> Any:
    return import_optional("rdkit.rdBase", extra="chem", purpose="Reading molecules")
