"""Hyper-parameters: what users write, checked and made exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnn2logic._validation import check_choice, check_share, check_whole, is_number
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.parameters import modalities_from
from gnn2logic.learning.coding import Measure
from gnn2logic.storage import ShardStore

__all__ = [
    "FinalSettings",
    "LayerSettings",
    "check_measures",
    "final_settings",
    "layer_modalities",
    "layer_settings",
    "local_modalities",
]


@dataclass(frozen=True)
class LayerSettings:
    """How the trees of one inner layer are grown."""

    modalities: tuple[Modality, ...]
    measures: tuple[Measure, ...]
    width: int
    depth: int
    feature_share: float
    graph_share: float | None
    random_thresholds: bool
    min_rows_leaf: int
    leaf_sets: Literal["merge", "nested", "all"]
    n_directions: int | None


@dataclass(frozen=True)
class FinalSettings:
    """How the final tree is learned; `modalities` are those of a final layer about nodes."""

    level: Literal["graph", "node"]
    modalities: tuple[Modality, ...]
    measures: tuple[Measure, ...]
    max_depth: int | None
    min_rows_leaf: int
    alpha: float | None


def layer_settings(given: Any, modalities: tuple[Modality, ...]) -> LayerSettings:
    """Return the settings of an inner layer from the parameters of an estimator, checked."""
    leaf_sets = check_choice("leaf_sets", given.leaf_sets, ("merge", "nested", "all"))
    depth = check_whole("layer_depth", given.layer_depth, least=1)
    if leaf_sets == "all" and depth > 3:
        raise ParameterError(
            "leaf_sets='all' makes 2**(2**layer_depth) sets; layer_depth must be at most 3."
        )
    return LayerSettings(
        modalities=modalities,
        measures=check_measures(given),
        width=check_whole("width", given.width, least=1),
        depth=depth,
        feature_share=check_share("max_features", given.max_features),
        graph_share=None
        if given.max_samples is None
        else check_share("max_samples", given.max_samples),
        random_thresholds=bool(given.random_thresholds),
        min_rows_leaf=check_whole("min_samples_leaf", given.min_samples_leaf, least=1),
        leaf_sets=leaf_sets,
        n_directions=None
        if given.projection is None
        else check_whole("projection", given.projection, least=1),
    )


def final_settings(
    given: Any, level: Literal["graph", "node"], modalities: tuple[Modality, ...]
) -> FinalSettings:
    """Return the settings of the final tree from the parameters of an estimator, checked."""
    return FinalSettings(
        level=level,
        modalities=modalities,
        measures=check_measures(given),
        max_depth=None
        if given.max_depth is None
        else check_whole("max_depth", given.max_depth, least=1),
        min_rows_leaf=check_whole("min_samples_leaf", given.min_samples_leaf, least=1),
        alpha=_alpha(given.ccp_alpha),
    )


def check_measures(given: Any) -> tuple[Measure, ...]:
    """Return what splits may compare, by the parameters of an estimator."""
    for name in ("absolute", "relative", "random_thresholds"):
        check_choice(name, getattr(given, name), (False, True))
    wanted = ((Measure.COUNT, given.absolute), (Measure.SHARE, given.relative))
    measures = tuple(measure for measure, is_wanted in wanted if is_wanted)
    if not measures:
        raise ParameterError("absolute and relative must not both be False.")
    return measures


def _alpha(value: Any) -> float | None:
    if isinstance(value, str):
        check_choice("ccp_alpha", value, ("auto",))
        return None
    alpha = float(value) if is_number(value) else -1.0
    if not alpha >= 0 or not math.isfinite(alpha):
        raise ParameterError(f"ccp_alpha must be 'auto' or a number >= 0. Got {value!r} instead.")
    return alpha


def layer_modalities(
    modalities: Any, graphs: GraphBatch | ShardStore, n_layers: int
) -> list[tuple[Modality, ...]]:
    """Return the modal parameters of every inner layer and, last, of a local final layer."""
    if isinstance(modalities, str) and modalities == "auto":
        return [local_modalities(graphs)] * (n_layers + 1)
    nested = isinstance(modalities, Sequence) and any(
        isinstance(entry, Sequence) and not isinstance(entry, str) for entry in modalities
    )
    if not nested:
        return [modalities_from("modalities", modalities)] * (n_layers + 1)
    if len(modalities) != n_layers:
        raise ParameterError(
            f"modalities must be one list, or one list for each of the {n_layers} layers. "
            f"Got {len(modalities)} lists."
        )
    per_layer = [modalities_from(f"modalities[{n}]", few) for n, few in enumerate(modalities)]
    return [*per_layer, per_layer[-1]]


def local_modalities(graphs: GraphBatch | ShardStore) -> tuple[Modality, ...]:
    """Return the paper's I, A, I+A, and the directed and typed ones that the data has."""
    directions = (Direction.OUT,) if graphs.is_symmetric else (Direction.OUT, Direction.IN)
    names = graphs.relation_names
    # One relation that holds all edges says no more than A itself.
    relations = names if len(names) > 1 else ()
    edges = [
        Edges(direction, relation) for relation in (None, *relations) for direction in directions
    ]
    near = [Modality.from_set(name, which) for which in edges for name in ("A", "I+A")]
    return (Modality.from_set("I"), *near)
