"""The command line: one thin module for each command."""

from __future__ import annotations

import os
import sys

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import MissingDependencyError

__all__ = ["let_threads_sleep", "main"]

_USAGE, _INTERRUPTED = 2, 130


def let_threads_sleep() -> None:
    """Let threads that wait for each other sleep, where the user has not said otherwise.

    By default they spin, and where other programs want the processors too, training a small
    network is ten times slower. It must be said before torch is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main() -> None:
    """Run the command line, or say what it needs."""
    let_threads_sleep()
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
