"""Bounded equivalence and satisfiability: choosing how to search, and reporting the answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from gnn2logic._validation import check_choice, check_whole, is_number, some_of
from gnn2logic.exceptions import EquivalenceError, MissingDependencyError, UnsupportedInputError
from gnn2logic.logic.equivalence.enumeration import search_all
from gnn2logic.logic.equivalence.result import Deadline, Equivalence, GraphSearch, Satisfiability
from gnn2logic.logic.equivalence.smt import load_z3, search_symbolic
from gnn2logic.logic.equivalence.space import (
    MAX_NODES_WITH_EDGES,
    GraphSpace,
    enumerable_nodes,
    space_of,
)
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import FALSE, TRUE, Formula, Modal
from gnn2logic.logic.walk import subformulas

__all__ = ["MAX_GRAPHS", "equivalent", "find_model", "nodes_needed", "unreachable"]

MAX_GRAPHS = 2_000_000
_METHODS = ("auto", "enumerate", "z3")


def equivalent(
    f: Formula,
    g: Formula,
    *,
    max_nodes: int = 4,
    graph_class: str = "auto",
    method: str = "auto",
    time_limit: float | None = 60.0,
    max_graphs: int = MAX_GRAPHS,
) -> Equivalence:
    """Compare two formulas at every node of every graph with at most `max_nodes` nodes.

    Parameters
    ----------
    f, g : Formula
    max_nodes : int
        The bound. Equality below it says nothing about thresholds that smaller graphs cannot
        reach; the result names those.
    graph_class : {"auto", "simple", "directed", "looped", "directed-looped"}
        The graphs to compare on: simple graphs, directed graphs without self loops, undirected
        graphs with self loops allowed, directed graphs with self loops allowed. ``"auto"`` takes
        directed graphs if ``A^T`` or ``A|A^T`` occurs, else simple graphs.

        Every relation in ``A[r]`` has edges of its own, of that class. Plain ``A`` is all of them
        together, counted with multiplicity, plus edges of no named relation if plain ``A`` occurs
        too. Two edges of one relation from v to w are not tried: multi-edges arise only from
        different relations.
    method : {"auto", "enumerate", "z3"}
        ``"enumerate"`` evaluates one graph of every isomorphism class. ``"z3"`` searches
        symbolically and needs the extra ``gnn2logic[verify]``. ``"auto"`` enumerates as many sizes
        as `max_graphs` allows and gives larger ones to z3.
    time_limit : float or None
        Seconds for the whole comparison, about; None is no limit.
    max_graphs : int
        The largest number of graphs to enumerate.

    Predicates and relations of the structure (``ring=6``, ``A[bridge]``) are free as all others
    are: that they follow from the edges is not used, and the result says so.

    Returns
    -------
    Equivalence
        True iff the formulas were shown to be equal. If they differ, it has a smallest graph that
        shows it: fewest nodes, then fewest edges, then fewest true predicates.

    Raises
    ------
    EquivalenceError
        If there are more than `max_graphs` graphs and z3 may not or cannot be used.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(equivalent(parse("I+A U0 > 0"), parse("U0 | A U0 > 0")))
    Equal on all simple graphs with at most 4 nodes (by enumeration of 118 graphs).
    >>> print(equivalent(parse("A U0 > 0"), parse("A true > 0")))
    Not equal: at node 0 of the graph with nodes 0 {}, 1 {} and edges 0-1 the first formula is \
false and the second is true.
    >>> print(equivalent(parse("A U0 > 6"), parse("false")))
    Equal on all simple graphs with at most 4 nodes (by enumeration of 118 graphs).
    A U0 > 6 needs 8 nodes, so this bound proves nothing about it.
    """
    _check_formulas(f, g)
    _check_parameters(max_nodes, method, time_limit, max_graphs)
    space = space_of((f, g), graph_class)
    if f is g and method == "auto":
        return Equivalence(True, max_nodes, max_nodes, space, "identical", 0)
    difference = (f & ~g) | (~f & g)
    search, how = _search(difference, space, max_nodes, method, Deadline(time_limit), max_graphs)
    result = Equivalence(
        equal=True if search.finished else None,
        max_nodes=max_nodes,
        proven_nodes=search.proven_nodes,
        space=space,
        method=how,
        n_graphs_checked=search.n_graphs,
        unreachable=unreachable((f, g), space, max_nodes),
    )
    if search.witness is None:
        return result
    graph, node = search.witness.graph, search.witness.node
    first, second = (bool(evaluate(h, graph, level="node")[node]) for h in (f, g))
    return replace(
        result,
        equal=False,
        counterexample=graph,
        node=node,
        values=(first, second),
        smallest=search.witness.smallest,
    )


def find_model(
    formula: Formula,
    *,
    max_nodes: int = 4,
    graph_class: str = "auto",
    method: str = "auto",
    time_limit: float | None = 60.0,
    max_graphs: int = MAX_GRAPHS,
) -> Satisfiability:
    """Find a smallest graph with a node that satisfies a formula.

    The parameters are those of `equivalent`.

    Returns
    -------
    Satisfiability
        With the graph and the node if there is one, else with the bound below which there is none.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> model = find_model(parse("A U0 > 1 & A !U0 > 0"))
    >>> print(model)
    Satisfied at node 1 of the graph with nodes 0 {}, 1 {}, 2 {U0}, 3 {U0} and edges 0-1, 1-2, 1-3.
    >>> print(find_model(parse("U0 & I+A U0 = 0")))
    Not satisfied on any of the simple graphs with at most 4 nodes (by enumeration of 118 graphs).
    """
    _check_formulas(formula)
    _check_parameters(max_nodes, method, time_limit, max_graphs)
    space = space_of((formula,), graph_class)
    search, how = _search(formula, space, max_nodes, method, Deadline(time_limit), max_graphs)
    witness = search.witness
    satisfiable = None if witness is None and not search.finished else witness is not None
    return Satisfiability(
        satisfiable=satisfiable,
        max_nodes=max_nodes,
        proven_nodes=search.proven_nodes,
        space=space,
        method=how,
        n_graphs_checked=search.n_graphs,
        graph=None if witness is None else witness.graph,
        node=None if witness is None else witness.node,
        smallest=witness is None or witness.smallest,
        unreachable=unreachable((formula,), space, max_nodes),
    )


def _search(
    formula: Formula,
    space: GraphSpace,
    max_nodes: int,
    method: str,
    deadline: Deadline,
    max_graphs: int,
) -> tuple[GraphSearch, str]:
    """Search for a node that satisfies `formula`; return the outcome and the method used."""
    if method == "z3":
        return search_symbolic(formula, space, range(1, max_nodes + 1), deadline), "z3"
    enumerable, n_graphs = enumerable_nodes(space, max_nodes, max_graphs)
    if enumerable < max_nodes and (method == "enumerate" or not _has_z3()):
        raise EquivalenceError(
            _too_many(space, max_nodes, enumerable, n_graphs, max_graphs, method)
        )
    small = search_all(formula, space, enumerable, deadline)
    if small.witness is not None or not small.finished or enumerable == max_nodes:
        return small, "enumerate"
    sizes = range(enumerable + 1, max_nodes + 1)
    large = replace(search_symbolic(formula, space, sizes, deadline), n_graphs=small.n_graphs)
    return large, "enumerate+z3" if enumerable else "z3"


def _has_z3() -> bool:
    try:
        load_z3()
    except MissingDependencyError:
        return False
    return True


def _too_many(
    space: GraphSpace,
    max_nodes: int,
    enumerable: int,
    n_graphs: int,
    max_graphs: int,
    method: str,
) -> str:
    said = (
        f"There are {n_graphs:,} {space.describe(enumerable + 1)}, up to isomorphism, over the "
        f"predicates {some_of(space.names)}; "
    )
    if n_graphs > max_graphs:
        said += f"max_graphs allows {max_graphs:,}. "
    else:
        said += f"graphs with edges are enumerated up to {MAX_NODES_WITH_EDGES} nodes. "
    if method == "auto":
        other = "install z3, which needs no enumeration: pip install 'gnn2logic[verify]'"
    else:
        other = "use method='auto' or 'z3', which needs the extra gnn2logic[verify]"
    if enumerable:
        return f"{said}Set max_nodes to at most {enumerable} instead of {max_nodes}, or {other}."
    return f"{said}No bound on the nodes is small enough to enumerate; {other}."


def _check_formulas(*formulas: object) -> None:
    for formula in formulas:
        if not isinstance(formula, Formula):
            raise UnsupportedInputError(
                f"Formulas are compared with formulas. Got {type(formula).__name__} instead; "
                "use parse(text) to read one."
            )


def _check_parameters(max_nodes: Any, method: Any, time_limit: Any, max_graphs: Any) -> None:
    for name, value in (("max_nodes", max_nodes), ("max_graphs", max_graphs)):
        check_whole(name, value, least=1, error=EquivalenceError)
    check_choice("method", method, _METHODS, error=EquivalenceError)
    # Not `time_limit <= 0`: NaN is no time limit either.
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise EquivalenceError(
            "time_limit must be a positive number of seconds, or None for no limit. "
            f"Got {time_limit!r} instead."
        )


# Thresholds that no graph reaches ------------------------------------------------------------
#
# Two formulas that agree on all graphs with at most four nodes may still differ in what they say
# about seven neighbours. Such thresholds are named, so that nobody reads more into a bounded proof
# than it says.


def unreachable(
    formulas: tuple[Formula, ...], space: GraphSpace, max_nodes: int
) -> tuple[tuple[Formula, int], ...]:
    """Return the modal subformulas that need more than `max_nodes` nodes, and how many."""
    too_large = []
    for node in subformulas(*formulas):
        if isinstance(node, Modal):
            needed = nodes_needed(node, space)
            if needed is not None and needed > max_nodes:
                too_large.append((node, needed))
    return tuple(too_large)


def nodes_needed(formula: Modal, space: GraphSpace) -> int | None:
    """Return the number of nodes that a graph needs for the threshold to matter.

    Only the size of eps_S is looked at, so this is a lower bound: what is counted may need more.
    A count ``> n`` needs eps_S to have n + 1 elements. A share ``> p`` is told apart from ``> 0``
    and from "all of them" only if some share lies between p and 1 and some lies in (0, p].

    None means that no number of nodes makes a difference: ``I phi > 1`` is false everywhere.

    >>> from gnn2logic.logic import parse
    >>> simple = GraphSpace("simple", (None,), ("U0",))
    >>> [nodes_needed(parse(f"{s} U0 > 6"), simple) for s in ("A", "I+A", "1", "1-I", "I")]
    [8, 7, 7, 8, None]
    >>> nodes_needed(parse("A U0 > 1/2"), simple), nodes_needed(parse("A U0 > 9/10"), simple)
    (4, 12)
    """
    modality, threshold = formula.modality, formula.threshold
    if formula.child is FALSE:
        return None
    if not (modality.neighbours or modality.others):
        return 1 if modality.itself and threshold < 1 else None
    if isinstance(threshold, Fraction) and formula.child is TRUE:
        threshold = 0  # all of eps_S is counted, so only whether it is empty matters
    elements = _Elements(formula, space)
    if isinstance(threshold, Fraction):
        a, q = threshold.numerator, threshold.denominator
        # With one element of weight 1 against a rest of weight r, the shares are r / (r + 1), the
        # largest below 1, and 1 / (r + 1), the smallest above 0.
        between = a // (q - a) + 1
        at_most = -(-(q - a) // a)
        return elements.nodes_for_rest(max(between, at_most))
    return elements.nodes_for_total(threshold + 1)


class _Elements:
    """How eps_S grows with the number of nodes.

    With n nodes it has, at most, `fixed` elements of weight 1 and n - `missing` elements of weight
    `weight`; only plain ``A`` over several relations has elements of a weight above 1.
    """

    def __init__(self, formula: Modal, space: GraphSpace) -> None:
        modality = formula.modality
        self.fixed = self.missing = 0
        self.weight = 1
        if modality.others:
            # Most is in a graph without edges: all nodes, or all others.
            self.missing = 0 if modality.itself else 1
            return
        self.weight = len(space.relations_along(modality.edges))
        if modality.itself:
            self.fixed = self.missing = 1
        elif not space.loops:
            self.missing = 1

    def nodes_for_total(self, total: int) -> int:
        others = -(-max(0, total - self.fixed) // self.weight)
        return max(1, others + self.missing)

    def nodes_for_rest(self, rest: int) -> int:
        """Return the nodes needed for weight `rest` besides one element of weight 1."""
        others = -(-rest // self.weight)
        return others + self.missing + (1 - self.fixed)
