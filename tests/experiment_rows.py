"""Rows made by hand, for the tests of tables and files."""

from __future__ import annotations

from typing import Any

from gnn2logic.experiments.rows import Row, Seconds


def row(model: str = "GCN", fold: int = 0, *, dataset: str = "AIDS", **values: Any) -> Row:
    """Return a row with some values of interest."""
    usual: dict[str, Any] = {
        "seed": 0,
        "settings": "digest",
        "predictions": [0, 1],
        "accuracy": 0.5,
        "macro_f1": 0.5,
        "size": None,
        "depth": None,
        "leaves": None,
        "tuned": {},
        "evidence": "",
        "seconds": Seconds(),
        "versions": {},
    }
    return Row(dataset=dataset, fold=fold, model=model, **{**usual, **values})
