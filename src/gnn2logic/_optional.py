"""Optional dependencies, imported when they are needed and not before."""

from __future__ import annotations

import importlib
from typing import Any

from gnn2logic.exceptions import MissingDependencyError


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import `module`, or say which extra of gnn2logic brings it.

    The import is by name so that the rooms that must run without torch or networkx stay free of
    any import statement of them (import-linter checks that).
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A module that is there but broken inside must show its own error, not ours.
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise MissingDependencyError(
            f"{purpose} needs the package {module.partition('.')[0]!r}, which is not installed. "
            f"Install it with: pip install 'gnn2logic[{extra}]'"
        ) from error
