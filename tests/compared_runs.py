"""Very small comparisons: their settings, and what is in their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow, RowFile

QUICK = """
[gnn]
n_layers = 2
max_epochs = 8
[[gnn_grid]]
hidden = [8, 16]
lr = [0.01]
[layers]
width = 4
[scorecard]
max_lines = 2
n_layers = 0
[search]
n_layers = 0
"""
FEW = {"n_graphs": 60}


def write_quick(folder: Path) -> Path:
    """Write settings that take no time."""
    file = folder / "quick.toml"
    file.write_text(QUICK)
    return file


def number_rows_of(folder: Path) -> list[NumberRow]:
    """Return the rows of a folder about numbers, none of them cut short."""
    rows, broken = RowFile[AnyRow](folder / "rows.jsonl", ComparedRow, NumberRow).read()
    assert broken == 0
    return [row for row in rows if isinstance(row, NumberRow)]


def rows_of(folder: Path) -> list[ComparedRow]:
    """Return the rows of a folder, none of them cut short."""
    rows, broken = RowFile(folder / "rows.jsonl", ComparedRow).read()
    assert broken == 0
    return [row for row in rows if isinstance(row, ComparedRow)]


def write_folds(path: Path, folds: list[dict[str, Any]]) -> Path:
    """Write a file of folds."""
    path.write_text(json.dumps(folds))
    return path
