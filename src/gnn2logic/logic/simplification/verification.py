"""Comparing two formulas on graphs before one takes the place of the other."""

from __future__ import annotations

import numpy as np

from gnn2logic.exceptions import SimplificationError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.random import random_graphs
from gnn2logic.graphs.reading import as_batch
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import Formula, Modal
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas

__all__ = ["check_same_truth", "trial_graphs"]

_LARGEST_TRIAL = 40


def check_same_truth(
    original: Formula, result: Formula, *, simple: bool, graphs: object = None
) -> None:
    """Raise `SimplificationError` if the formulas differ at a node of any graph tried."""
    batches = [trial_graphs(original, simple=simple)]
    if graphs is not None:
        given = as_batch(graphs)
        if simple and not given.is_simple:
            raise SimplificationError(
                "simple=True was given, but the graphs are not simple: they are directed or have "
                "self loops or multi-edges. Use simple=False."
            )
        batches.append(given)
    for batch in batches:
        before = evaluate(original, batch, level="node")
        after = evaluate(result, batch, level="node")
        if not np.array_equal(before, after):
            node = int(np.argmax(before != after))
            raise SimplificationError(
                f"The simplified formula {result} differs from {original} at node {node} of "
                f"{batch!r}; this is a defect in gnn2logic, please report it."
            )


def trial_graphs(formula: Formula, *, simple: bool) -> GraphBatch:
    """Return random graphs, the same ones every time, with all that the formula talks about."""
    names, relations = predicate_names(formula), relation_names(formula)
    counts = [
        node.threshold
        for node in subformulas(formula)
        if isinstance(node, Modal) and isinstance(node.threshold, int)
    ]
    # Some graphs are large enough to pass the highest thresholds.
    largest = min(max(counts, default=0) + 3, _LARGEST_TRIAL)
    rng = np.random.default_rng(0)
    sizes = np.concatenate([rng.integers(1, 9, size=90), rng.integers(1, 2 * largest + 6, size=30)])
    batches = [
        random_graphs(
            len(sizes),
            sizes=sizes,
            density=rng.random(len(sizes)),
            names=names,
            probability=rng.random(len(names)) * 0.6 + 0.2,
            directed=directed,
            loops=not simple,
            max_multiplicity=1 if simple else 3,
            relations=relations,
            random_state=rng,
        )
        for directed in ((False,) if simple else (False, True))
    ]
    return GraphBatch.concat(batches)
