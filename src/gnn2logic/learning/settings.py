"""Hyper-parameters: what users write, checked and made exact."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gnn2logic._validation import check_choice, check_number, check_share, check_whole, is_number
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.idt.parameters import modalities_from
from gnn2logic.learning.coding import Measure
from gnn2logic.storage import ShardStore

__all__ = [
    "CardOptions",
    "FinalSettings",
    "LayerSettings",
    "SearchOptions",
    "card_options",
    "check_algorithm",
    "check_measures",
    "final_settings",
    "layer_modalities",
    "layer_settings",
    "local_modalities",
    "search_options",
]


# Settings that belong to one way of learning.
_LAYERS_ONLY = (
    "width",
    "layer_depth",
    "max_features",
    "random_thresholds",
    "leaf_sets",
    "max_depth",
    "ccp_alpha",
    "projection",
)
_SEARCH_ONLY = ("max_size", "max_time")


def check_algorithm(given: Any, defaults: Mapping[str, object]) -> Literal["search", "layers"]:
    """Return how to learn; settings that belong to the other way must be left as they are."""
    algorithm: Literal["search", "layers"] = check_choice(
        "algorithm", given.algorithm, ("search", "layers")
    )
    other = "layers" if algorithm == "search" else "search"
    for name in _LAYERS_ONLY if algorithm == "search" else _SEARCH_ONLY:
        value = getattr(given, name)
        if value is not defaults[name] and value != defaults[name]:
            raise ParameterError(
                f"{name} belongs to algorithm={other!r}. Got {name}={value!r} with "
                f"algorithm={algorithm!r}; leave {name} out, or set algorithm={other!r}."
            )
    return algorithm


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


@dataclass(frozen=True)
class SearchOptions:
    """What the caller of a fit by search may choose.

    Parameters
    ----------
    modalities : sequence of Modality
        The modal parameters that columns look along.
    absolute, relative : bool
        Whether columns compare counts, and shares.
    depth : int
        The largest number of nested modal parameters below the count on graphs.
    min_rows : int
        How many graphs or nodes a condition must tell from the others, at least.
    max_samples : float or None
        The share of graphs that are searched; None for as many as there is memory for.
    max_size : int or None
        The longest rule that is taken without a good reason; None for the default.
    max_time : float or None
        Seconds.
    """

    modalities: Sequence[Modality]
    absolute: bool
    relative: bool
    depth: int
    min_rows: int
    max_samples: float | None
    max_size: int | None
    max_time: float | None


def search_options(given: Any, modalities: tuple[Modality, ...], *, depth: int) -> SearchOptions:
    """Return the options of a search from the parameters of an estimator, checked."""
    check_measures(given)
    return SearchOptions(
        modalities=modalities,
        absolute=bool(given.absolute),
        relative=bool(given.relative),
        depth=depth,
        min_rows=check_whole("min_samples_leaf", given.min_samples_leaf, least=1),
        max_samples=None
        if given.max_samples is None
        else check_share("max_samples", given.max_samples),
        max_size=None
        if given.max_size is None
        else check_whole("max_size", given.max_size, least=1),
        max_time=None if given.max_time is None else check_number("max_time", given.max_time),
    )


@dataclass(frozen=True)
class CardOptions:
    """What the caller of a fit of a scorecard may choose.

    Parameters
    ----------
    max_lines, max_line_size, max_points : int
        The most lines, symbols of a line (more for what is hard to read), and points of a case.
    modalities, absolute, relative, depth, max_samples, max_time
        As in `SearchOptions`.
    """

    max_lines: int
    max_line_size: int
    max_points: int
    modalities: Sequence[Modality]
    absolute: bool
    relative: bool
    depth: int
    max_samples: float | None
    max_time: float | None


def card_options(given: Any, modalities: tuple[Modality, ...], *, depth: int) -> CardOptions:
    """Return the options of a scorecard from the parameters of an estimator, checked."""
    check_measures(given)
    return CardOptions(
        max_lines=check_whole("max_lines", given.max_lines, least=1, most=1000),
        max_line_size=check_whole("max_line_size", given.max_line_size, least=2),
        max_points=check_whole("max_points", given.max_points, least=1, most=10**6),
        modalities=modalities,
        absolute=bool(given.absolute),
        relative=bool(given.relative),
        depth=depth,
        max_samples=None
        if given.max_samples is None
        else check_share("max_samples", given.max_samples),
        max_time=None if given.max_time is None else check_number("max_time", given.max_time),
    )


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
        check_choice(name, getattr(given, name, False), (False, True))
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
