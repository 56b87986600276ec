"""Hyper-parameters: what users write, checked and made exact."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnn2logic._validation import is_whole
from gnn2logic.exceptions import FormulaError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.syntax import Modal
from gnn2logic.storage import ShardStore

__all__ = [
    "check_choice",
    "check_share",
    "check_whole",
    "local_modalities",
    "modalities_from",
    "seed_from",
]


def check_whole(name: str, value: object, *, least: int) -> int:
    """Return a whole number that is at least `least`."""
    if is_whole(value) and value >= least:
        return int(value)
    raise ParameterError(f"{name} must be a whole number >= {least}. Got {value!r} instead.")


def check_share(name: str, value: object) -> float:
    """Return a number above 0 and at most 1."""
    if not isinstance(value, bool | np.bool_) and isinstance(value, numbers.Real):
        share = float(value)
        if 0 < share <= 1:
            return share
    raise ParameterError(f"{name} must be a number in (0, 1]. Got {value!r} instead.")


def check_choice(name: str, value: object, allowed: Sequence[object]) -> Any:
    """Return `value` if it is one of the allowed ones."""
    if not any(value is option or value == option for option in allowed):
        options = ", ".join(repr(option) for option in allowed)
        raise ParameterError(f"{name} must be one of {options}. Got {value!r} instead.")
    return value


def modalities_from(name: str, values: object) -> tuple[Modality, ...]:
    """Return modal parameters from texts such as ``["I", "A", "I+A^T"]``."""
    if isinstance(values, str | Modality) or not isinstance(values, Sequence) or not values:
        raise ParameterError(
            f"{name} must be a non-empty list of modal parameters such as ['I', 'A', 'I+A']. "
            f"Got {values!r} instead."
        )
    found: dict[Modality, None] = {}
    for value in values:
        found[_modality(name, value)] = None
    return tuple(found)


def _modality(name: str, value: object) -> Modality:
    if isinstance(value, Modality):
        return value
    inner = getattr(value, "modality", None)
    if isinstance(inner, Modality):
        return inner
    if isinstance(value, str):
        try:
            formula = parse(f"{value} true > 0")
        except FormulaError:
            formula = None
        if isinstance(formula, Modal):
            return formula.modality
    raise ParameterError(
        f"{name} must hold modal parameters: 0, 1, I, A, 1-I, 1-A, I+A, 1-I-A, with A^T, A|A^T or "
        f"A[relation] in place of A. Got {value!r} instead."
    )


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


def seed_from(random_state: object) -> int:
    """Return one number that all random streams of a fit are derived from."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return check_whole("random_state", random_state, least=0)
