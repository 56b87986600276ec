"""Searching graphs symbolically with z3, one number of nodes at a time.

Edges and predicates are Boolean variables, so one query covers all graphs of a size. What is
searched for must hold at node 0: any other node can be renamed to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import EquivalenceError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.equivalence.deadline import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.encoding import Encoding
from gnn2logic.logic.equivalence.space import GraphSpace
from gnn2logic.logic.equivalence.witness import SearchOutcome, Witness
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import Formula

__all__ = ["load_z3", "search_symbolic"]


def load_z3() -> Any:
    """Return the module z3, or say how to install it."""
    return import_optional("z3", extra="verify", purpose="Comparing formulas on larger graphs")


def search_symbolic(
    formula: Formula, space: GraphSpace, sizes: range, deadline: Deadline
) -> SearchOutcome:
    """Search all graphs with a number of nodes in `sizes` for a node that satisfies `formula`."""
    z3 = load_z3()
    n_nodes = sizes.start
    try:
        for n_nodes in sizes:
            witness = _search_size(z3, formula, space, n_nodes, deadline)
            if witness is not None:
                return SearchOutcome(witness, n_nodes - 1, 0, finished=True)
    except OutOfTimeError:
        return SearchOutcome(None, n_nodes - 1, 0, finished=False)
    return SearchOutcome(None, sizes.stop - 1, 0, finished=True)


def _search_size(
    z3: Any, formula: Formula, space: GraphSpace, n_nodes: int, deadline: Deadline
) -> Witness | None:
    # A context of its own: what was solved before in this process must not change the answer.
    context = z3.Context()
    encoding = Encoding(z3, context, space, n_nodes, deadline)
    encoding.require(formula)
    solver = _Solver(z3, context, deadline)
    solver.add(encoding.constraints)
    model = solver.model()
    if model is None:
        return None
    smallest = True
    try:
        model = solver.lower(encoding.edge_variables, model)
        model = solver.lower(encoding.predicate_variables, model)
    except OutOfTimeError:
        smallest = False
        model = solver.last_model
    graph = _to_batch(space, encoding, model)
    if not evaluate(formula, graph, level="node")[0]:
        raise EquivalenceError(
            f"z3 {z3.get_version_string()} gave a graph with {n_nodes} nodes that does not check "
            "when it is evaluated, so no answer is given. Please report these formulas as a bug."
        )
    return Witness(graph, 0, smallest)


class _Solver:
    """A z3 solver whose every check ends by the deadline."""

    def __init__(self, z3: Any, context: Any, deadline: Deadline) -> None:
        self._z3 = z3
        self._deadline = deadline
        self._solver = z3.SolverFor("QF_FD", ctx=context)
        self._solver.set("random_seed", 0)
        self.last_model: Any = None

    def add(self, constraints: Iterable[Any]) -> None:
        self._solver.add(*constraints)

    def model(self) -> Any:
        """Return a model, or None if there is none."""
        self._deadline.check()
        if math.isfinite(self._deadline.remaining):
            self._solver.set("timeout", max(1, int(self._deadline.remaining * 1000)))
        answer = self._solver.check()
        if answer == self._z3.unknown:
            raise OutOfTimeError
        if answer == self._z3.unsat:
            return None
        self.last_model = self._solver.model()
        return self.last_model

    def lower(self, variables: list[Any], model: Any) -> Any:
        """Return a model with the fewest of `variables` true, and keep to that number."""
        while n_true := sum(_is_true(self._z3, model, variable) for variable in variables):
            self._solver.push()
            self._solver.add(self._z3.AtMost(*variables, n_true - 1))
            better = self.model()
            self._solver.pop()
            if better is None:
                break
            model = better
        if variables:
            self._solver.add(self._z3.AtMost(*variables, n_true))
        return model


def _is_true(z3: Any, model: Any, variable: Any) -> bool:
    return bool(z3.is_true(model.eval(variable, model_completion=True)))


def _to_batch(space: GraphSpace, encoding: Encoding, model: Any) -> GraphBatch:
    n_nodes = encoding.n_nodes
    matrices = np.zeros((len(space.relations), n_nodes, n_nodes), dtype=np.int64)
    for (relation, source, target), variable in encoding.edges.items():
        if _is_true(encoding.z3, model, variable):
            matrices[relation, source, target] = 1
            if space.symmetric:
                matrices[relation, target, source] = 1
    predicates = np.array(
        [
            [_is_true(encoding.z3, model, variable) for variable in column]
            for column in encoding.predicates.values()
        ],
        dtype=bool,
    ).reshape(len(space.names), n_nodes)
    total = matrices.sum(axis=0)
    named = {
        name: sp.csr_array(matrix)
        for name, matrix in zip(space.relations, matrices, strict=True)
        if name is not None
    }
    return GraphBatch(predicates.T, total, names=space.names, relations=named)
