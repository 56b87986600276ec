"""How models are learned in a comparison: ``comparison.toml``, and what a TOML of the user says."""

from __future__ import annotations

import os
from importlib.resources import files
from typing import Annotated, Any

import msgspec

from gnn2logic._files import read_whole
from gnn2logic.exceptions import ParameterError
from gnn2logic.experiments.plans import Grid, merged
from gnn2logic.learning import (
    IDTClassifier,
    IDTRegressor,
    ScorecardClassifier,
    ScorecardRegressor,
)
from gnn2logic.models import GNNClassifier

__all__ = ["ComparisonSettings", "check_for_numbers", "read_settings"]

_MOST_BYTES = 2**20
_MOST_DEGREES = 10_000


class ComparisonSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How all models of a comparison are learned.

    Parameters
    ----------
    version : int
        Goes up when a change of the file makes other results.
    validation_share : float
        The share of the training part that networks watch, where the folds do not say.
    inner_splits, inner_share : int, float
        How often the training part is split again to tune baselines, and what is held out then.
    degrees : int
        Networks, those of the user included, read degrees up to this one, as one-hot columns, where
        nodes have nothing else to read; 0 is never.
    gnn, gcn, gin : dict
        Parameters of `GNNClassifier`: of both networks, and of one where it differs.
    gnn_grid : list of dict of lists
        Parameters that are chosen by the loss on the validation part.
    layers, search, scorecard : dict
        Parameters of `IDTClassifier` with either algorithm, and of `ScorecardClassifier`. Where
        labels are numbers, of the regressors.
    structure : bool or list of str
        The shapes that models with ``+structure`` see, as in `PredicateEncoder`.
    """

    version: int
    validation_share: float
    inner_splits: int
    inner_share: float
    gnn: dict[str, Any]
    gnn_grid: Grid
    layers: dict[str, Any]
    search: dict[str, Any]
    scorecard: dict[str, Any]
    structure: bool | list[str]
    degrees: Annotated[int, msgspec.Meta(ge=0, le=_MOST_DEGREES)] = 64
    gcn: dict[str, Any] = {}
    gin: dict[str, Any] = {}


def read_settings(path: str | os.PathLike[str] | None = None) -> ComparisonSettings:
    """Return the usual settings, changed where a TOML file says so.

    Examples
    --------
    >>> read_settings().version
    1
    """
    usual = (files("gnn2logic.experiments") / "settings" / "comparison.toml").read_bytes()
    layers: list[dict[str, Any]] = [msgspec.toml.decode(usual)]
    name = "" if path is None else os.path.basename(os.fspath(path))
    try:
        if path is not None:
            layers.append(msgspec.toml.decode(read_whole(path, _MOST_BYTES)))
        settings = msgspec.convert(merged(layers), ComparisonSettings)
    except ValueError as error:
        raise ParameterError(
            f"{name} must be a TOML file with some of the settings {', '.join(_FIELDS)}. "
            f"Got this instead: {error}"
        ) from None
    _check_names(settings, name)
    return settings


def check_for_numbers(settings: ComparisonSettings) -> None:
    """Refuse settings that are about classes where labels are numbers."""
    rules, cards = set(IDTRegressor().get_params()), set(ScorecardRegressor().get_params())
    tuned = {key: None for table in settings.gnn_grid for key in table}
    network = set(GNNClassifier().get_params()) - {"class_weight"}
    for section, given, known in (
        ("gnn", settings.gnn, network),
        ("gnn_grid", tuned, network),
        ("gcn", settings.gcn, network),
        ("gin", settings.gin, network),
        ("search", settings.search, rules),
        ("scorecard", settings.scorecard, cards),
    ):
        if useless := [key for key in given if key not in known]:
            raise ParameterError(
                f"[{section}] has {useless[0]!r}, which is about classes, but labels are numbers. "
                "Leave it out."
            )


_FIELDS = tuple(field.name for field in msgspec.structs.fields(ComparisonSettings))


def _check_names(settings: ComparisonSettings, file: str) -> None:
    """Refuse what is no parameter of its model before anything runs."""
    network = set(GNNClassifier().get_params())
    rules, cards = set(IDTClassifier().get_params()), set(ScorecardClassifier().get_params())
    tuned = {key: None for table in settings.gnn_grid for key in table}
    # These are the business of the experiment, and with a limit of time no row could be verified.
    taken = {"random_state", "n_jobs", "device", "conv", "encoder", "engine", "algorithm"}
    taken |= {"max_time", "checkpoint", "verbose"}
    for section, given, known in (
        ("gnn", settings.gnn, network),
        ("gnn_grid", tuned, network),
        ("gcn", settings.gcn, network),
        ("gin", settings.gin, network),
        ("layers", settings.layers, rules),
        ("search", settings.search, rules),
        ("scorecard", settings.scorecard, cards),
    ):
        allowed = sorted(known - taken)
        if unknown := [key for key in given if key not in allowed]:
            raise ParameterError(
                f"[{section}] of {file} must have some of the keys {', '.join(allowed)}. "
                f"Got {unknown[0]!r} instead."
            )
