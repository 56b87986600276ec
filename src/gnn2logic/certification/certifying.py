"""`certify`: how sure it is that a rule says what a network says."""

from __future__ import annotations

import numpy as np
from torch_geometric.data import Data

from gnn2logic._validation import check_choice, check_whole, is_number, seed_from
from gnn2logic.certification.answers import ModelPair
from gnn2logic.certification.certificates import Certificate
from gnn2logic.certification.exhaustive import certify_all_graphs
from gnn2logic.certification.statistical import certify_by_sample
from gnn2logic.certification.symbolic import certify_by_proof
from gnn2logic.exceptions import ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.reading import read_once
from gnn2logic.logic.equivalence.space import GRAPH_CLASSES
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = ["certify"]

_GRADES = ("statistical", "exhaustive", "symbolic")
# So many sets of predicates a node may have where no graphs say which there are.
_MOST_PREDICATES = 6


def certify(
    model: object,
    teacher: object,
    graphs: object = None,
    *,
    grade: str = "statistical",
    source: str = "given",
    n_graphs: int = 1000,
    confidence: float = 0.95,
    max_nodes: int = 4,
    graph_class: str = "simple",
    time_limit: float | None = 60.0,
    max_graphs: int = 100_000,
    margin: float = 1e-4,
    random_state: object = None,
) -> Certificate:
    """Say how sure it is that a rule and a network agree, and exactly what that proves.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        A fitted model that tells classes: rules or a scorecard.
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    graphs : PyG graphs, or anything that `gnn2logic.as_batch` reads
        Fresh graphs: neither the rule nor the network has learned from them. The other grades
        take the sorts of nodes from them, so that an atom is of one element; without them, nodes
        may have every set of the predicates that the rule reads.
    grade : {"statistical", "exhaustive", "symbolic"}
        - ``"statistical"``: an exact bound of Clopper and Pearson on the share of graphs from a
          source on which the two agree.
        - ``"exhaustive"``: both are run on every graph with at most `max_nodes` nodes, one of each
          isomorphism class.
        - ``"symbolic"``: z3 searches all graphs with at most `max_nodes` nodes at once, for rules
          that read predicates and for small networks: those of `to_gnn`, and
          ``GNNClassifier(conv="gin" or "sage", norm=None)`` with few channels. Of the latter,
          sizes of which there are at most `max_graphs` graphs are run instead, which is faster.
          Needs the extra ``gnn2logic[verify]``.
    source : {"given", "mutated", "random"}
        Of the statistical grade: the given graphs, random changes of them, or random graphs with
        their sizes, features and numbers of edges.
    n_graphs : int
        How many graphs are drawn from a source other than ``"given"``.
    confidence : float
        How sure the bound is.
    max_nodes, graph_class, max_graphs
        Of the other grades: as in `equivalent`.
    margin : float
        Of the symbolic grade: where the class of the network leads by less, the graph is run.
    time_limit : float or None
        Of the grades that cover all graphs: seconds, about; None is no limit.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Certificate
        With graphs where the two differ, if any were found; each was checked by running both.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> rule = gl.from_formulas({1: "1 U0 > 2"}, otherwise=0, names=["U0"])
    >>> graphs = gl.random_graphs(100, sizes=5, names=["U0"], random_state=0)
    >>> print(certify(rule, gl.to_gnn(gl.parse("1 U0 > 2")), graphs))
    Rule and network agree on at least 97.04 % of graphs like those that were given, 95 % sure: on \
100 graphs drawn from these they never differ. This is a bound for graphs from this source, and \
says nothing about others.
    >>> print(certify(rule, gl.to_gnn(gl.parse("1 U0 > 1")), grade="exhaustive"))
    Rule and network differ on a graph with 2 nodes: the rule says 0, the network 1. They agree on \
all simple graphs with at most 1 node, of all 2 sorts of nodes that there can be.
    """
    check_choice("grade", grade, _GRADES)
    check_choice("graph_class", graph_class, tuple(GRAPH_CLASSES))
    check_whole("max_nodes", max_nodes, least=1)
    check_whole("max_graphs", max_graphs, least=1)
    check_whole("n_graphs", n_graphs, least=1)
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise ParameterError(
            "time_limit must be a positive number of seconds, or None for no limit. "
            f"Got {time_limit!r} instead."
        )
    pair = ModelPair(model, teacher)
    if graphs is None and grade == "statistical":
        raise ParameterError(
            "graphs must be given for the statistical grade: fresh ones, which nothing has "
            "learned from."
        )
    if grade == "symbolic":
        if not (is_number(margin) and 0 <= margin < float("inf")):
            raise ParameterError(f"margin must be a number, 0 or more. Got {margin!r} instead.")
        given = None if graphs is None else pyg_graphs(read_once(graphs))
        return certify_by_proof(
            pair,
            given,
            to_run=_all_sorts(pair) if given is None and _has_few_sorts(pair) else given,
            max_nodes=max_nodes,
            graph_class=graph_class,
            time_limit=time_limit,
            max_graphs=max_graphs,
            margin=margin,
        )
    items = _all_sorts(pair) if graphs is None else pyg_graphs(read_once(graphs), typed=True)
    if grade == "exhaustive":
        return certify_all_graphs(
            pair,
            items,
            max_nodes=max_nodes,
            graph_class=graph_class,
            time_limit=time_limit,
            max_graphs=max_graphs,
            of_data=graphs is not None,
        )
    rng = np.random.default_rng(seed_from(random_state))
    return certify_by_sample(
        pair, items, source=source, n_graphs=n_graphs, confidence=confidence, rng=rng
    )


def _has_few_sorts(pair: ModelPair) -> bool:
    """Whether all sorts of nodes can be made from the predicates that the rule reads."""
    encoder = pair.rule.encoder_
    types = {column.feature_type for column in encoder.columns_}
    few = len(encoder.feature_names_in_) <= _MOST_PREDICATES
    return few and not types - {"binary"} and not encoder.given_relations_


def _all_sorts(pair: ModelPair) -> list[Data]:
    """Return graphs that have every sort of node there can be, for rules that read predicates."""
    names = tuple(str(name) for name in pair.rule.encoder_.feature_names_in_)
    if not _has_few_sorts(pair):
        raise UnsupportedInputError(
            "graphs must be given: their nodes say which features there are. Without them only "
            f"rules that read at most {_MOST_PREDICATES} predicates, and no relations, can be "
            "compared."
        )
    rows = (np.arange(2 ** len(names))[:, None] >> np.arange(len(names))) & 1
    size = len(rows)
    # A path through all sorts, so that there are edges as well.
    path = np.eye(size, k=1, dtype=int) + np.eye(size, k=-1, dtype=int)
    if size == 1:
        rows, path = np.zeros((2, 0), dtype=int), np.array([[0, 1], [1, 0]])
    return pyg_graphs(GraphBatch(rows, path, names=names))
