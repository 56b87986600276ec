"""The command line: one thin module for each command."""

from __future__ import annotations

import sys

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import MissingDependencyError

__all__ = ["main"]

_USAGE, _INTERRUPTED = 2, 130


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        import_optional("typer", extra="cli", purpose="The command line")
        from gnn2logic.cli.app import run

        run()
    except MissingDependencyError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(_USAGE)
    except KeyboardInterrupt:
        # Before a command runs, while modules are loaded; later the app takes care of it.
        sys.exit(_INTERRUPTED)
