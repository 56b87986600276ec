"""The command line: one thin module for each command."""

from __future__ import annotations

import sys

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import MissingDependencyError

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        import_optional("typer", extra="cli", purpose="The command line")
    except MissingDependencyError as error:
        sys.exit(f"error: {error}")
    from gnn2logic.cli.app import run

    run()
