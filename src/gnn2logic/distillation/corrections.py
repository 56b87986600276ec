"""Learning again from the graphs on which a rule was wrong."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from torch_geometric.data import Data

from gnn2logic._validation import is_number, is_whole
from gnn2logic.distillation.counterexamples import as_read, find_disagreements
from gnn2logic.distillation.disagreements import Disagreement
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.distillation.variants import Form, fit_to_teacher
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.reading import read_once
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = ["distill_with_counterexamples"]

# How many graphs each round adds, as a share of what is learned from, and at least.
_SHARE, _LEAST = 0.05, 5


def distill_with_counterexamples(
    teacher: Teacher,
    graphs: object,
    counterexamples: object,
    params: dict[str, Any],
    *,
    into: Form = "idt",
    time_limit: float | None = None,
) -> Any:
    """Distil with graphs that were given, or with those that a search finds, round by round."""
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ParameterError(
            "time_limit must be a positive number of seconds, or None for no limit. "
            f"Got {time_limit!r} instead."
        )
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    items = pyg_graphs(read_once(graphs))
    rounds = _rounds(counterexamples)
    if rounds is None:
        if time_limit is not None:
            raise ParameterError(
                "time_limit is for the search for counterexamples. These were given: leave it out."
            )
        return _fitted(teacher, [*items, *_as_graphs(counterexamples)], params, into)
    idt = _fitted(teacher, items, params, into)
    wanted = max(_LEAST, round(_SHARE * len(items)))
    for number in rounds:
        if time.monotonic() >= end:
            break
        # Only what the teacher was trained on is a start: other graphs would lead away from it.
        differences = find_disagreements(
            idt,
            teacher,
            items,
            n_disagreements=wanted,
            max_nodes=max(data.num_nodes for data in items),
            budget=200 * wanted,
            random_state=number,
        )
        if not differences:
            break
        items = [*items, *_as_graphs(differences)]
        idt = _fitted(teacher, items, params, into)
    return idt


def _rounds(counterexamples: object) -> Iterable[int] | None:
    """Return the numbers of the rounds in which counterexamples are searched; None if given."""
    if isinstance(counterexamples, str) and counterexamples == "all":
        return count()
    if not is_whole(counterexamples):
        return None
    if counterexamples < 0:
        raise ParameterError(
            f"counterexamples must be a number of rounds, 0 or more. Got {counterexamples}."
        )
    return range(counterexamples)


def _fitted(teacher: Teacher, items: list[Data], params: dict[str, Any], into: Form) -> Any:
    return fit_to_teacher(teacher, as_read(items), None, "gnn", params, into=into)


def _as_graphs(counterexamples: object) -> list[Data]:
    if not isinstance(counterexamples, Sequence) or isinstance(counterexamples, str):
        raise ParameterError(
            "counterexamples must be a number of rounds, 'all', or a sequence of graphs. "
            f"Got {type(counterexamples).__name__} instead."
        )
    graphs = [one.data if isinstance(one, Disagreement) else one for one in counterexamples]
    if not all(isinstance(data, Data) for data in graphs):
        raise ParameterError("counterexamples must be disagreements or PyG graphs (Data).")
    return graphs
