"""Hyper-parameters: what users write, checked and made exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.storage import ShardStore

__all__ = ["FinalSettings", "LayerSettings", "local_modalities"]


@dataclass(frozen=True)
class LayerSettings:
    """How the trees of one inner layer are grown."""

    modalities: tuple[Modality, ...]
    kinds: tuple[bool, ...]
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
    kinds: tuple[bool, ...]
    max_depth: int | None
    min_rows_leaf: int
    alpha: float | None


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
