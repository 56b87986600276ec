"""How many nodes a threshold needs, against a search for graphs that reach it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gnn2logic.graphs.modality import Edges, Modality
from gnn2logic.logic import parse
from gnn2logic.logic.equivalence import find_model
from gnn2logic.logic.equivalence.comparison import nodes_needed, unreachable
from gnn2logic.logic.equivalence.space import GraphSpace, space_of
from gnn2logic.logic.syntax import Formula, Modal, Threshold, modal, predicate

U0 = predicate("U0")
BOUND = 6

# Always true, but now A is the sum of the relations in them and of other edges.
MENTION = {
    1: parse("true"),
    2: parse("A[r] true > 0 | !(A[r] true > 0)"),
    3: parse("(A[r] true > 0 | !(A[r] true > 0)) & (A[s] true > 0 | !(A[s] true > 0))"),
}


def smallest(formula: Formula, graphs: str) -> int:
    """Return the fewest nodes of a model, more than the bound if there is none."""
    graph = find_model(formula, max_nodes=BOUND, graph_class=graphs, method="z3").graph
    return BOUND + 1 if graph is None else graph.n_nodes


def comparison(parameter: str, threshold: Threshold, relation: str | None = None) -> Modal:
    formula = modal(Modality.from_set(parameter, Edges(relation=relation)), U0, threshold)
    assert isinstance(formula, Modal)
    return formula


@pytest.mark.parametrize("graphs", ["simple", "directed", "looped", "directed-looped"])
@pytest.mark.parametrize("n_relations", [1, 2, 3])
@pytest.mark.parametrize("parameter", ["A", "I+A", "1", "1-I", "1-A", "1-I-A"])
def test_counts_need_what_a_search_finds(parameter: str, n_relations: int, graphs: str) -> None:
    for count in (0, 1, 3):
        formula = comparison(parameter, count)
        within = formula & MENTION[n_relations]
        space = space_of((within,), graphs)
        assert nodes_needed(formula, space) == smallest(within, graphs)


@pytest.mark.parametrize("graphs", ["simple", "looped"])
@pytest.mark.parametrize("n_relations", [1, 2])
@pytest.mark.parametrize("parameter", ["A", "I+A", "1", "1-I", "1-A", "1-I-A"])
def test_shares_need_what_a_search_finds(parameter: str, n_relations: int, graphs: str) -> None:
    for share in (Fraction(1, 2), Fraction(1, 4), Fraction(3, 5)):
        formula = comparison(parameter, share)
        some = comparison(parameter, 0)
        some_not = modal(formula.modality, ~U0, 0)
        mention = MENTION[n_relations]
        space = space_of((formula & mention,), graphs)
        above = smallest(formula & some_not & mention, graphs)
        at_most = smallest(some & ~formula & mention, graphs)
        assert nodes_needed(formula, space) == max(above, at_most)


def test_a_relation_has_no_multi_edges() -> None:
    space = GraphSpace("simple", ("r", "s", None), ("U0",))
    assert nodes_needed(comparison("A", 5), space) == 3
    assert nodes_needed(comparison("A", 5, "r"), space) == 7
    assert nodes_needed(comparison("I+A", 6), space) == 3
    assert nodes_needed(comparison("1-I-A", 5), space) == 7


def test_what_no_graph_reaches_is_not_a_matter_of_the_bound() -> None:
    formula = parse("I U0 > 1 | 0 U0 > 0 | 0 U0 > 1/2 | A false > 9 | A false > 99/100")
    space = space_of((formula,), "auto")
    assert unreachable((formula,), space, 1) == ()


def test_a_node_alone_is_enough_for_itself() -> None:
    formula = parse("I U0 > 0 | I U0 > 99/100")
    assert unreachable((formula,), space_of((formula,), "auto"), 1) == ()


def test_a_share_of_all_is_a_question_of_emptiness() -> None:
    formula = parse("A true > 99/100")
    assert isinstance(formula, Modal)
    assert nodes_needed(formula, space_of((formula,), "auto")) == 2


def test_inner_comparisons_are_named_once() -> None:
    f, g = parse("1(A U0 > 6) > 0"), parse("A U0 > 6 & 1-I U0 > 2")
    space = space_of((f, g), "auto")
    assert unreachable((f, g), space, 3) == ((parse("A U0 > 6"), 8), (parse("1-I U0 > 2"), 4))
    assert unreachable((f, g), space, 7) == ((parse("A U0 > 6"), 8),)
    assert unreachable((f, g), space, 8) == ()
