"""Optional dependencies, imported when they are needed and not before."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from gnn2logic.exceptions import MissingDependencyError

__all__ = ["import_optional", "naming_extra"]


def import_optional(module: str, *, extra: str | None, purpose: str) -> Any:
    """Import `module`, or say which extra of gnn2logic brings it (None: no extra does).

    The import is by name so that the rooms that must run without torch or networkx stay free of
    any import statement of them (import-linter checks that).
    """
    with naming_extra(module.partition(".")[0], extra=extra, purpose=purpose):
        return importlib.import_module(module)


@contextlib.contextmanager
def naming_extra(*packages: str, extra: str | None, purpose: str) -> Iterator[None]:
    """Say which extra of gnn2logic brings the packages, where imports inside miss one of them."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = "" if error.name is None else error.name.partition(".")[0]
        # A module that is there but broken inside must show its own error, not ours.
        if missing not in packages:
            raise
        target = missing if extra is None else f"'gnn2logic[{extra}]'"
        raise MissingDependencyError(
            f"{purpose} needs the package {missing!r}, which is not installed. "
            f"Install it with: pip install {target}"
        ) from error
