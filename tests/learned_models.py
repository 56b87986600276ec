"""Graphs to learn from, and what was learned as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import gnn2logic as gl
from gnn2logic.graphs import GraphBatch

TRUTH = gl.parse("1(A(A U0 > 1) > 1/2) > 3")


def graphs_to_learn_from(count: int = 120, seed: int = 0) -> GraphBatch:
    sizes = 4 + np.arange(count) % 8
    return gl.random_graphs(count, sizes=sizes, density=0.3, random_state=seed)


def learned(model: Any, folder: Path) -> dict[str, Any]:
    """Return all that was learned, as plain data."""
    path = folder / "model.json"
    model.save(path)
    document: dict[str, Any] = json.loads(path.read_bytes())
    return {key: document[key] for key in ("columns", "layers", "final", "prunings", "chosen")}
