"""Ways to run the command line, and small files for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import gnn2logic as gl
from gnn2logic.cli.app import app

# The installed script where there is one; without it the module does the same.
PROGRAM = [shutil.which("gnn2logic", path=str(Path(sys.executable).parent)) or ""]
if not PROGRAM[0]:
    PROGRAM = [sys.executable, "-m", "gnn2logic"]

FEW = ["--data", "n_graphs=60"]
RULE = "1 U1 > 6"


def run(*arguments: object, code: int = 0, stdin: str | None = None) -> Any:
    """Run a command in this process; its streams are in what is returned."""
    result = CliRunner().invoke(app, [str(own) for own in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    return result


def run_json(*arguments: object, code: int = 0) -> Any:
    """Run a command with ``--json`` and return what it writes."""
    return json.loads(run(*arguments, "--json", code=code).stdout)


def run_program(
    *arguments: object,
    stdin: str | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the installed program."""
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        input=stdin,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
    )


def save_model(path: Path, rule: str = RULE) -> Path:
    """Write the model that says of graphs of psi_0 whether `rule` holds; it is what psi_0 is."""
    gl.from_formulas({"true": rule}, otherwise="false", names=["U0", "U1"]).save(path)
    return path
