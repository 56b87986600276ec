"""Searching all graphs of a size at once for one on which a rule and a network differ.

The graph is made of variables, the rule of conditions on them, and the network of exact fractions.
What z3 finds is run; what it excludes is proven for exact arithmetic, with a margin for floats.
"""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnn2logic.certification.answers import ModelPair
from gnn2logic.certification.certificates import Certificate
from gnn2logic.certification.exhaustive import agreed_sizes, sorts_in_words
from gnn2logic.certification.network_terms import NetworkTerms, check_supported
from gnn2logic.distillation.counterexamples import as_read
from gnn2logic.exceptions import UnseenCategoryWarning, UnsupportedInputError
from gnn2logic.logic.equivalence.result import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.smt import Encoding, graph_of, load_z3
from gnn2logic.logic.equivalence.space import GraphSpace, count_nodes
from gnn2logic.models.network import GraphNetwork
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = ["certify_by_proof"]

# The sets of predicates that nodes may have; None is all of them.
Sorts = list[list[bool]] | None


def certify_by_proof(
    pair: ModelPair,
    graphs: list[Data] | None,
    *,
    to_run: list[Data] | None,
    max_nodes: int,
    graph_class: str,
    time_limit: float | None,
    max_graphs: int,
    margin: float,
) -> Certificate:
    """Return whether there is a graph of up to so many nodes on which two differ.

    The weights of trained networks have many digits, and z3 is slow with these. There all graphs
    of a size are run while they are few, and z3 begins where they are many.
    """
    z3 = load_z3()
    check_supported(pair.teacher.module)
    encoder = pair.rule.encoder_
    if any(column.feature_type != "binary" for column in encoder.columns_) or encoder.relations_:
        raise UnsupportedInputError(
            "The symbolic grade is for rules that read predicates, 0 or 1 at each node, and edges "
            "of one sort. Try grade='exhaustive'."
        )
    names = tuple(str(name) for name in encoder.feature_names_in_)
    sorts: Sorts = None
    if graphs is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            predicates = encoder.transform(as_read(graphs)).predicates
        sorts = np.unique(np.asarray(predicates, dtype=bool), axis=0).tolist()
    space = GraphSpace(graph_class, (None,), names)
    deadline = Deadline(time_limit)
    done = _Done()
    try:
        if isinstance(pair.teacher.module, GraphNetwork) and to_run is not None:
            for done.run in agreed_sizes(
                pair,
                to_run,
                max_nodes=max_nodes,
                graph_class=graph_class,
                max_graphs=max_graphs,
                deadline=deadline,
            ):
                done.proven = done.run
        done.n_run = pair.n_compared
        for n_nodes in range(done.proven + 1, max_nodes + 1):
            if pair.n_disagreements:
                break
            _search_size(z3, pair, space, sorts, n_nodes, deadline, margin)
            done.proven = n_nodes - bool(pair.n_disagreements)
        done.finished = True
    except OutOfTimeError:
        pass
    return _certificate(pair, space, sorts, done, max_nodes, margin)


@dataclass
class _Done:
    """Up to how many nodes two agree; up to how many by running, and on how many graphs."""

    proven: int = 0
    run: int = 0
    n_run: int = 0
    finished: bool = False


def _search_size(
    z3: Any,
    pair: ModelPair,
    space: GraphSpace,
    sorts: Sorts,
    n_nodes: int,
    deadline: Deadline,
    margin: float,
) -> None:
    """Run the two on all graphs of a size about which nothing is certain, until they differ."""
    # A context of its own: what was solved before in this process must not change the answer.
    context = z3.Context()
    encoding = Encoding(z3, context, space, n_nodes, deadline)
    terms = NetworkTerms(encoding, space.names, context)
    scores = terms.scores(pair.teacher.module)
    labels = pair.rule.classes_.tolist()
    says = encoding.truths(*(pair.rule.formula(label) for label in labels))
    solver = z3.Solver(ctx=context)
    solver.set("random_seed", 0)
    solver.add(*encoding.constraints, *terms.constraints)
    if sorts is not None:
        for v in range(n_nodes):
            here = [column[v] for column in encoding.predicates.values()]
            solver.add(z3.Or([_values_are(z3, context, here, sort) for sort in sorts]))
    solver.add(
        z3.Or(
            [
                z3.And(said, z3.Not(_clearly(z3, terms, scores, output, margin)))
                for said, output in zip(
                    says, _output_numbers(pair, labels, len(scores)), strict=True
                )
            ]
        )
    )
    variables = [*encoding.edge_variables, *encoding.predicate_variables]
    while True:
        answer = _checked(solver, context, deadline)
        if answer == z3.unknown:
            raise OutOfTimeError
        if answer == z3.unsat:
            return
        model = solver.model()
        graph = graph_of(space, encoding, model)
        if pair.ask(pyg_graphs(graph)):
            return
        # The scores are close, but the two agree: this graph is settled by running it.
        solver.add(
            z3.Or(
                [variable != model.eval(variable, model_completion=True) for variable in variables]
            )
        )


def _values_are(z3: Any, context: Any, variables: list[Any], values: list[bool]) -> Any:
    return z3.And(
        z3.BoolVal(True, context),
        *(one if value else z3.Not(one) for one, value in zip(variables, values, strict=True)),
    )


def _checked(solver: Any, context: Any, deadline: Deadline) -> Any:
    """Return the answer of z3, which is interrupted where its own timeout is not looked at."""
    deadline.check()
    if not math.isfinite(deadline.remaining):
        return solver.check()
    solver.set("timeout", max(1, int(deadline.remaining * 1000)))
    alarm = threading.Timer(deadline.remaining + 0.5, context.interrupt)
    alarm.daemon = True
    alarm.start()
    try:
        return solver.check()
    finally:
        alarm.cancel()


def _output_numbers(pair: ModelPair, labels: list[Any], n_scores: int) -> list[int]:
    """Return which output stands for each class of the rule; -1 for a class of no output."""
    known = pair.teacher.classes
    classes = list(range(max(2, n_scores))) if known is None else list(known)
    return [classes.index(label) if label in classes else -1 for label in labels]


def _clearly(z3: Any, terms: NetworkTerms, scores: list[Any], output: int, margin: float) -> Any:
    """Return that the network says a class, with a lead of more than the margin."""
    if output < 0:
        return z3.BoolVal(False, terms.context)
    lead = terms.number(Fraction(margin))
    if len(scores) == 1:
        return scores[0] > lead if output == 1 else scores[0] < -lead
    others = [score for number, score in enumerate(scores) if number != output]
    return z3.And([scores[output] - other > lead for other in others])


def _certificate(
    pair: ModelPair,
    space: GraphSpace,
    sorts: Sorts,
    done: _Done,
    max_nodes: int,
    margin: float,
) -> Certificate:
    n, k, proven = pair.n_compared, pair.n_disagreements, done.proven
    of_sorts = "" if sorts is None else f", of the {sorts_in_words(len(sorts))} in the data"
    where = f"all {space.describe(proven)}{of_sorts}" if proven else ""
    if k:
        first = pair.counterexamples[0]
        statement = (
            f"Rule and network differ on a graph with {count_nodes(first.graph.n_nodes)}, which "
            f"was run: the rule says {first.model}, the network {first.teacher}."
        )
        if proven:
            statement += f" They agree on {where}."
    elif done.finished:
        limit = (
            f"This says nothing about larger graphs"
            f"{', or nodes of other sorts' if sorts is not None else ''}."
        )
        statement = f"Rule and network agree on {where}{_how(done, n, margin)} {limit}"
    else:
        statement = "Undecided: time ran out."
        if proven:
            statement += f" Rule and network agree on {where}."
    return Certificate(
        grade="symbolic",
        holds=False if k else True if done.finished else None,
        statement=statement,
        n_compared=n,
        n_disagreements=k,
        agreement=1.0 if done.finished and not k else 0.0,
        confidence=None,
        source=f"{space.describe(max_nodes)}{of_sorts}",
        max_nodes=proven,
        counterexamples=pair.counterexamples,
    )


def _how(done: _Done, n_compared: int, margin: float) -> str:
    """Return how agreement was shown: by running, by a proof, or both."""
    ran = f"all {done.n_run:,} of them, up to isomorphism, were run"
    if done.run == done.proven:
        return f": {ran}."
    so_far = (
        f": those with at most {count_nodes(done.run)} were run, the others" if done.run else ","
    )
    close = n_compared - done.n_run
    also = f" {close:,} graphs with closer scores were run." if close else ""
    return (
        f"{so_far} proven by z3. The weights are exact fractions there, and the class leads by "
        f"more than {margin:g}, so floats agree as long as they are off by less than half of "
        f"that.{also}"
    )
