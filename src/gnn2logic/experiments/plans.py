"""Hyper-parameters of the experiments: TOML files in ``settings``, one for each data set.

``defaults.toml`` says everything, the file of a data set what is different there, and
``smoke.toml`` what is different in a quick run.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from typing import Any

import msgspec

from gnn2logic._digests import sha256_of

__all__ = ["ExperimentPlan", "Grid", "RunSettings", "combinations", "merged", "plan_for"]

# Tables of values; each stands for all combinations of its own values.
Grid = list[dict[str, list[Any]]]


class ExperimentPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How all models are learned on one data set.

    Parameters
    ----------
    version : int
        Goes up when a change of the files makes other results.
    inner_splits : int
        How often a training fold is split again, to choose among the settings of a grid.
    inner_share : float
        The share of the training fold that is held out then.
    data : dict
        Options of `gnn2logic.datasets.load`.
    gnn, gcn, gin : dict
        Parameters of `GNNClassifier`: of both networks, and of one where it differs.
    gnn_grid : list of dict of lists
        Parameters of the networks that are tuned.
    idt : dict
        Parameters of `IDTClassifier`.
    guided_grid, true_grid : list of dict of lists
        Parameters that are tuned, with the guidance of a network and without.
    max_graphs : int or None
        Take so many graphs of the data set only.
    """

    version: int
    inner_splits: int
    inner_share: float
    gnn: dict[str, Any]
    idt: dict[str, Any]
    guided_grid: Grid
    true_grid: Grid
    gnn_grid: Grid = msgspec.field(default_factory=lambda: [{}])
    gcn: dict[str, Any] = {}
    gin: dict[str, Any] = {}
    data: dict[str, Any] = {}
    max_graphs: int | None = None


class RunSettings(msgspec.Struct, frozen=True):
    """What is the same for all data sets of a run."""

    folds: int = 10
    seed: int = 0
    smoke: bool = False

    def digest(self, dataset: str) -> str:
        """Return a short text that changes whenever results may change."""
        contents = msgspec.json.encode([self, dataset, plan_for(dataset, self)], order="sorted")
        return sha256_of([contents])[:16]


def plan_for(dataset: str, run: RunSettings) -> ExperimentPlan:
    """Return the plan of one data set.

    Examples
    --------
    >>> plan_for("AIDS", RunSettings()).version
    1
    """
    layers = ["defaults", dataset, *(["smoke"] if run.smoke else [])]
    return msgspec.convert(merged([_read(layer) for layer in layers]), ExperimentPlan)


def merged(layers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the settings of all layers; later ones change what they name, key by key in tables.

    Examples
    --------
    >>> merged([{"gnn": {"lr": 0.1, "hidden": 8}}, {"gnn": {"lr": 0.2}}])
    {'gnn': {'lr': 0.2, 'hidden': 8}}
    """
    together: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            before = together.get(key)
            both = isinstance(value, dict) and isinstance(before, dict)
            together[key] = {**before, **value} if both and before is not None else value
    return together


def _read(name: str) -> dict[str, Any]:
    text = (files("gnn2logic.experiments") / "settings" / f"{name}.toml").read_bytes()
    settings: dict[str, Any] = msgspec.toml.decode(text)
    return settings


def combinations(grid: Grid) -> list[dict[str, Any]]:
    """Return the combinations of all tables of a grid; the first values come first.

    Examples
    --------
    >>> combinations([{"width": [8, 16], "relative": [True]}, {"width": [32]}])
    [{'width': 8, 'relative': True}, {'width': 16, 'relative': True}, {'width': 32}]
    """
    return [
        dict(zip(table, values, strict=True))
        for table in grid
        for values in product(*table.values())
    ]
