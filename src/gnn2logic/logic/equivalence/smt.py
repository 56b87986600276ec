"""Searching graphs symbolically with z3, one number of nodes at a time.

Edges and predicates are Boolean variables, so one query covers all graphs of a size. What is
searched for must hold at node 0: any other node can be renamed to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnn2logic._optional import import_optional
from gnn2logic.exceptions import EquivalenceError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.logic.equivalence.result import Deadline, GraphSearch, OutOfTimeError, Witness
from gnn2logic.logic.equivalence.space import GraphSpace, Slot
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import And, Constant, Formula, Modal, Not, Predicate
from gnn2logic.logic.walk import subformulas

__all__ = ["Encoding", "graph_of", "load_z3", "search_symbolic"]

_EVERYTHING = Modality.from_set("1")
# Literals by which interchangeable nodes are sorted: more of them cost more than they save.
_SORTED_LITERALS = 8


class Encoding:
    """Variables for the edges and predicates, and what has to hold of them.

    Every subformula has a variable of its own at every node where it matters, so a shared
    subformula is written down once and no constraint is deep.
    """

    def __init__(
        self, z3: Any, context: Any, space: GraphSpace, n_nodes: int, deadline: Deadline
    ) -> None:
        self.z3 = z3
        self.n_nodes = n_nodes
        self._context = context
        self._space = space
        self._deadline = deadline
        self.edges: dict[Slot, Any] = {
            slot: z3.Bool(f"edge {number}", context)
            for number, slot in enumerate(space.slots(n_nodes))
        }
        self.predicates: dict[str, list[Any]] = {
            name: [z3.Bool(f"predicate {number} {v}", context) for v in range(n_nodes)]
            for number, name in enumerate(space.names)
        }
        self.constraints: list[Any] = []
        self._true = z3.BoolVal(True, context)
        self._false = z3.BoolVal(False, context)
        self._multiplicities: dict[tuple[Edges, int, int], list[Any]] = {}
        self._truths: dict[Formula, list[Any]] = {}
        self._sort_nodes()

    @property
    def edge_variables(self) -> list[Any]:
        """One variable for every place where an edge may be."""
        return list(self.edges.values())

    @property
    def predicate_variables(self) -> list[Any]:
        """One variable for every predicate at every node."""
        return [variable for column in self.predicates.values() for variable in column]

    def require(self, formula: Formula) -> None:
        """Add that `formula` holds at node 0."""
        self.constraints.append(self.truths(formula)[0])

    def truths(self, *formulas: Formula) -> list[Any]:
        """Return what says whether each of some formulas holds at node 0; to be called once."""
        nodes = subformulas(*formulas)
        everywhere = _looked_at_everywhere(nodes)
        for number, node in enumerate(nodes):
            where = range(self.n_nodes if node in everywhere else 1)
            self._truths[node] = self._truth(node, number, where)
        return [self._truths[formula][0] for formula in formulas]

    def edge(self, v: int, w: int) -> Any:
        """Return whether there is an edge from v to w, where there is one relation; or None."""
        return self._edge(0, v, w)

    # Truth ------------------------------------------------------------------------------------

    def _truth(self, node: Formula, number: int, where: range) -> list[Any]:
        if isinstance(node, Constant):
            return [self._true if node.value else self._false for _ in where]
        if isinstance(node, Predicate):
            return self.predicates[node.name]
        if isinstance(node, Not):
            return [self.z3.Not(self._truths[node.child][v]) for v in where]
        if isinstance(node, Modal):
            if node.modality == _EVERYTHING:
                return [self._define(self._more(node, 0), f"formula {number}")] * len(where)
            return [self._define(self._more(node, v), f"formula {number} {v}") for v in where]
        combine = self.z3.And if isinstance(node, And) else self.z3.Or
        return [
            self._define(
                combine([self._truths[child][v] for child in node.children]),
                f"formula {number} {v}",
            )
            for v in where
        ]

    def _define(self, expression: Any, name: str) -> Any:
        self._deadline.check()
        variable = self.z3.Bool(name, self._context)
        self.constraints.append(variable == expression)
        return variable

    def _more(self, node: Modal, v: int) -> Any:
        """Return ``S phi > t`` at node v."""
        members = self._members(node.modality, v)
        truth = self._truths[node.child]
        counted = [self._both(member, truth[w]) for member, w in members]
        if not isinstance(node.threshold, Fraction):
            return self._at_least(counted, node.threshold + 1)
        share = _share_below(node.threshold, len(members))
        if share == 0:
            return self._at_least(counted, 1)
        # Each counted element brings q - a, each other element of eps_S costs a; written without
        # negative weights, an element brings a if it is outside of eps_S.
        a, q = share.numerator, share.denominator
        weighted = [(literal, q) for literal in counted]
        weighted += [(self.z3.Not(member), a) for member, _ in members]
        return self.z3.PbGe(weighted, a * len(members) + 1)

    def _both(self, member: Any, truth: Any) -> Any:
        return truth if member is self._true else self.z3.And(member, truth)

    def _at_least(self, literals: list[Any], number: int) -> Any:
        if number > len(literals):
            return self._false
        return self.z3.AtLeast(*literals, number)

    # Edges ------------------------------------------------------------------------------------

    def _members(self, modality: Modality, v: int) -> list[tuple[Any, int]]:
        """Return the possible elements of eps_S(v): when it is one, and which node."""
        edges = modality.edges
        members: list[tuple[Any, int]] = []
        for w in range(self.n_nodes):
            if modality.others and modality.neighbours:
                inside = [self._true] if modality.itself or w != v else []
            elif modality.others:
                ways = self._multiplicity(edges, v, w)
                outside = [self.z3.Not(self.z3.Or(ways))] if ways else [self._true]
                inside = outside if modality.itself or w != v else []
            elif w == v and modality.itself:
                inside = [self._true]
            elif modality.neighbours:
                inside = self._multiplicity(edges, v, w)
            else:
                inside = []
            members += [(member, w) for member in inside]
        return members

    def _multiplicity(self, edges: Edges, v: int, w: int) -> list[Any]:
        """Return literals of which as many are true as there are edges from v to w."""
        key = (edges, v, w)
        if key not in self._multiplicities:
            along = self._space.relations_along(edges)
            there = self._present([self._edge(relation, v, w) for relation in along])
            back = self._present([self._edge(relation, w, v) for relation in along])
            if edges.direction is Direction.OUT or self._space.symmetric or v == w:
                literals = there
            elif edges.direction is Direction.IN:
                literals = back
            else:
                # The larger of two numbers: at least k iff one of them is at least k.
                literals = [
                    self.z3.Or(self._at_least(there, k), self._at_least(back, k))
                    for k in range(1, len(there) + 1)
                ]
            self._multiplicities[key] = literals
        return self._multiplicities[key]

    def _edge(self, relation: int, v: int, w: int) -> Any:
        if self._space.symmetric and v > w:
            v, w = w, v
        return self.edges.get(Slot(relation, v, w))

    @staticmethod
    def _present(literals: list[Any]) -> list[Any]:
        return [literal for literal in literals if literal is not None]

    def _sort_nodes(self) -> None:
        """Sort nodes 1, 2, ... by how they stand to node 0 and by what is true of them.

        They can be renamed among themselves, so no graph is lost up to isomorphism.
        """
        keys = []
        for v in range(1, self.n_nodes):
            pairs = ((0, v), (v, 0)) if not self._space.symmetric else ((0, v),)
            slots = [
                self._edge(relation, *pair)
                for relation in range(len(self._space.relations))
                for pair in pairs
            ]
            properties = [column[v] for column in self.predicates.values()]
            keys.append((slots + properties)[:_SORTED_LITERALS])
        for first, second in pairwise(keys):
            self.constraints.append(self._not_after(first, second))

    def _not_after(self, first: list[Any], second: list[Any]) -> Any:
        """Return that `first` is lexicographically at most `second`."""
        z3, result = self.z3, self._true
        for a, b in zip(reversed(first), reversed(second), strict=True):
            result = z3.And(z3.Implies(a, b), z3.Or(z3.Not(a) == b, result))
        return result


def _looked_at_everywhere(nodes: list[Formula]) -> set[Formula]:
    """Return the subformulas whose truth matters at other nodes than node 0."""
    everywhere: set[Formula] = set()
    for node in reversed(nodes):
        beyond = isinstance(node, Modal) and (node.modality.neighbours or node.modality.others)
        if beyond or node in everywhere:
            everywhere.update(node.children)
    return everywhere


def _share_below(share: Fraction, largest_size: int) -> Fraction:
    """Return the share with the same meaning on sets of at most `largest_size` elements.

    It is the largest fraction up to `share` with a denominator that such a set can have, so no
    weight in a constraint is large, however fine the share is.
    """
    a, q = share.numerator, share.denominator
    sizes = range(1, largest_size + 1)
    return max((Fraction(a * size // q, size) for size in sizes), default=Fraction(0))


def load_z3() -> Any:
    """Return the module z3, or say how to install it."""
    return import_optional("z3", extra="verify", purpose="Comparing formulas on larger graphs")


def search_symbolic(
    formula: Formula, space: GraphSpace, sizes: range, deadline: Deadline
) -> GraphSearch:
    """Search all graphs with a number of nodes in `sizes` for a node that satisfies `formula`."""
    z3 = load_z3()
    n_nodes = sizes.start
    try:
        for n_nodes in sizes:
            witness = _search_size(z3, formula, space, n_nodes, deadline)
            if witness is not None:
                return GraphSearch(witness, n_nodes - 1, 0, finished=True)
    except OutOfTimeError:
        return GraphSearch(None, n_nodes - 1, 0, finished=False)
    return GraphSearch(None, sizes.stop - 1, 0, finished=True)


def _search_size(
    z3: Any, formula: Formula, space: GraphSpace, n_nodes: int, deadline: Deadline
) -> Witness | None:
    # A context of its own: what was solved before in this process must not change the answer.
    context = z3.Context()
    encoding = Encoding(z3, context, space, n_nodes, deadline)
    encoding.require(formula)
    solver = _TimedSolver(z3, context, deadline)
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
    graph = graph_of(space, encoding, model)
    if not evaluate(formula, graph, level="node")[0]:
        raise EquivalenceError(
            f"z3 {z3.get_version_string()} gave a graph with {n_nodes} nodes that does not check "
            "when it is evaluated, so no answer is given. Please report these formulas as a bug."
        )
    return Witness(graph, 0, smallest)


class _TimedSolver:
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


def graph_of(space: GraphSpace, encoding: Encoding, model: Any) -> GraphBatch:
    """Return the graph that a model of z3 stands for."""
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
