"""The examples of the paper, with the corrections of its slips."""

from __future__ import annotations

import numpy as np
import pytest

from gnn2logic.graphs import GraphBatch, ModalCounts, Modality
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import evaluate, parse
from gnn2logic.logic.simplification import simplify


@pytest.fixture
def running_example() -> GraphBatch:
    return GraphBatch(
        [[0, 1], [1, 0], [0, 0], [1, 1]],
        [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]],
    )


def test_graph_and_products(running_example: GraphBatch) -> None:
    counts = ModalCounts(running_example, running_example.predicates)
    assert running_example.column("U0").astype(int).tolist() == [0, 1, 0, 1]
    assert running_example.column("U1").astype(int).tolist() == [1, 0, 0, 1]
    assert counts(Modality.from_set("A"))[:, 1].tolist() == [0, 2, 1, 0]
    assert counts(Modality.from_set("1-A"))[:, 1].tolist() == [2, 0, 1, 2]


def test_emlc_example(running_example: GraphBatch) -> None:
    steps = {
        "A U1 = 1": [0, 0, 1, 0],
        "!(A U1 = 1)": [1, 1, 0, 1],
        "A(!(A U1 = 1)) > 1": [0, 1, 1, 0],
    }
    for text, value in steps.items():
        assert evaluate(parse(text), running_example, level="node").astype(int).tolist() == value


def test_leaf_sets_of_the_example_layer(running_example: GraphBatch) -> None:
    """M3 with the path's negation where it goes False: (A U1 > 0) & !(A U1 > 1)."""
    leaf_sets = {
        "!(A U1 > 0)": ("A U1 = 0", [1, 0, 0, 1]),
        "A U1 > 0 & A U1 > 1": ("A U1 > 1", [0, 1, 0, 0]),
        "!(A U1 > 0) | (A U1 > 0 & A U1 > 1)": ("!(A U1 = 1)", [1, 1, 0, 1]),
        "A U1 > 0 & !(A U1 > 1)": ("A U1 = 1", [0, 0, 1, 0]),
    }
    for text, (simplified, value) in leaf_sets.items():
        assert simplify(parse(text)) is parse(simplified)
        assert evaluate(parse(text), running_example, level="node").astype(int).tolist() == value


def test_figure_1_leaf_set() -> None:
    red = parse("(!U1 & !U0) | (!U1 & U0) | (U1 & U0)")
    assert simplify(red) is parse("!U1 | U0")


def test_the_three_formulas_of_the_experiments() -> None:
    batch = random_graphs(400, probability=[1.0, 0.5], random_state=0)
    marked = np.add.reduceat(batch.column("U1").astype(int), batch.ptr[:-1])
    degrees = batch.edges().degrees.reshape(-1, 13)
    psi_0 = evaluate(parse("1 U1 > 0.5"), batch)
    psi_1 = evaluate(parse("1((A U0 < 4) | (A U0 > 9)) > 0"), batch)
    psi_2 = evaluate(parse("1(A(A U0 > 6) > 0.5) > 0.5"), batch)
    assert psi_0.tolist() == (marked > 6.5).tolist()
    assert psi_1.tolist() == ((degrees < 4) | (degrees > 9)).any(axis=1).tolist()
    for number in range(batch.n_graphs):
        block = batch[number].adjacency.toarray()
        busy = block.sum(axis=1) > 6
        more_than_half = (block @ busy.astype(int)) * 2 > block.sum(axis=1)
        assert psi_2[number] == (2 * more_than_half.sum() > 13)
    # All three are far from constant, so the comparison means something.
    for truth in (psi_0, psi_1, psi_2):
        assert 0.1 < truth.mean() < 0.9


def test_rules_of_the_figures() -> None:
    aids = parse("1 true > 12")
    assert aids.to_english() == "there are more than 12 nodes"
    sizes = [11, 12, 13, 14]
    batch = random_graphs(4, sizes=sizes, random_state=0)
    assert evaluate(aids, batch).tolist() == [False, False, True, True]
    shapes = parse("1((A U0 > 2) & (A U0 < 12)) > 0.312 & 1(A U0 < 2) > 14")
    assert str(shapes) == "1(A U0 < 2) > 14 & 1(3 <= A U0 <= 11) > 39/125"
