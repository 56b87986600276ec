"""Bounded equivalence and satisfiability: choosing how to search, and reporting the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnn2logic._validation import check_choice, check_whole, is_number, some_of
from gnn2logic.exceptions import EquivalenceError, MissingDependencyError, UnsupportedInputError
from gnn2logic.logic.equivalence.counting import MAX_NODES_WITH_EDGES, enumerable_nodes
from gnn2logic.logic.equivalence.deadline import Deadline
from gnn2logic.logic.equivalence.enumeration import search_all
from gnn2logic.logic.equivalence.reach import unreachable
from gnn2logic.logic.equivalence.result import Equivalence, Satisfiability
from gnn2logic.logic.equivalence.smt import load_z3, search_symbolic
from gnn2logic.logic.equivalence.space import GraphSpace, space_of
from gnn2logic.logic.equivalence.witness import SearchOutcome
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.syntax import Formula

__all__ = ["MAX_GRAPHS", "equivalent", "find_model"]

MAX_GRAPHS = 2_000_000
_METHODS = ("auto", "enumerate", "z3")


def equivalent(
    f: Formula,
    g: Formula,
    *,
    max_nodes: int = 4,
    graphs: str = "auto",
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
    graphs : {"auto", "simple", "directed", "looped", "directed-looped"}
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
    space = space_of((f, g), graphs)
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
    graphs: str = "auto",
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
    space = space_of((formula,), graphs)
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
) -> tuple[SearchOutcome, str]:
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
