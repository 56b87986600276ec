"""The paper's theorem in both directions: formulas to models, and models to formulas."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic import from_formulas, load
from gnn2logic.exceptions import FormulaError, LabelError, TranslationError
from gnn2logic.graphs import random_graphs
from gnn2logic.idt.formulas import class_formula, leaf_classes
from gnn2logic.idt.from_formulas import model_from_formulas
from gnn2logic.idt.predict import final_leaves
from gnn2logic.idt.pruning import prune
from gnn2logic.logic import Formula, parse
from strategies import RELATIONS, formulas

RNG = np.random.default_rng(0)
GRAPHS = random_graphs(
    60,
    sizes=RNG.integers(1, 8, 60),
    density=RNG.random(60),
    directed=True,
    loops=True,
    max_multiplicity=2,
    relations=RELATIONS,
    random_state=1,
)


@settings(max_examples=100, deadline=None)
@given(
    wanted=st.lists(formulas(relations=RELATIONS), min_size=1, max_size=3),
    level=st.sampled_from(["graph", "node"]),
)
def test_formulas_become_a_model_that_reads_as_them(
    wanted: list[Formula], level: Literal["graph", "node"]
) -> None:
    model = model_from_formulas(wanted, level=level)
    for own in (model, prune(model)):
        predicted = np.array(leaf_classes(own.final))[final_leaves(own, GRAPHS)]
        expected = np.full(len(predicted), len(wanted))
        for number in reversed(range(len(wanted))):
            expected[wanted[number].evaluate(GRAPHS, level=level)] = number
        assert np.array_equal(predicted, expected)
        for number in range(len(wanted) + 1):
            read = class_formula(own, number).evaluate(GRAPHS, level=level)
            assert np.array_equal(read, expected == number)


@settings(max_examples=30, deadline=None)
@given(
    wanted=st.lists(formulas(relations=RELATIONS), min_size=1, max_size=3),
    level=st.sampled_from(["graph", "node"]),
)
def test_formulas_become_a_predictor_that_saves(
    wanted: list[Formula], level: Literal["graph", "node"], tmp_path_factory: pytest.TempPathFactory
) -> None:
    labels = ["z", "m", "a"][: len(wanted)]
    given_formulas = dict(zip(labels, wanted, strict=True))
    model = from_formulas(
        given_formulas, otherwise="k", names=GRAPHS.names, relations=RELATIONS, level=level
    )
    assert model.classes_.tolist() == sorted([*labels, "k"])
    expected = np.full(GRAPHS.n_graphs if level == "graph" else GRAPHS.n_nodes, "k")
    for label, formula in reversed(given_formulas.items()):
        expected[formula.evaluate(GRAPHS, level=level)] = label
    assert np.array_equal(model.predict(GRAPHS), expected)
    path = tmp_path_factory.getbasetemp() / "from_formulas.json"
    model.prune().save(path)
    assert np.array_equal(load(path).predict(GRAPHS), expected)


def test_bad_arguments_of_from_formulas() -> None:
    with pytest.raises(LabelError, match="otherwise must be a class without a formula. Got 1"):
        from_formulas({1: "1 U0 > 2"}, otherwise=1, names=["U0"])
    with pytest.raises(LabelError, match="labels of one kind"):
        from_formulas({1: "1 U0 > 2"}, otherwise="no", names=["U0"])
    with pytest.raises(FormulaError, match="predicates in names: 'U1'. Got 'U0'"):
        from_formulas({1: "1 U0 > 2"}, otherwise=0, names=["U1"])
    with pytest.raises(FormulaError, match="relations in relations: 's'. Got 'r'"):
        from_formulas({1: "1(A[r] U0 > 2) > 0"}, otherwise=0, names=["U0"], relations=["s"])
    with pytest.raises(FormulaError):
        from_formulas({1: "1 U0 >"}, otherwise=0, names=["U0"])
    with pytest.raises(ValueError, match="level must be one of 'graph', 'node'. Got 'edge'"):
        from_formulas({1: "1 U0 > 2"}, otherwise=0, names=["U0"], level="edge")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="formulas must map labels to formulas.*Got list"):
        from_formulas(["1 U0 > 2"], otherwise=0, names=["U0"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("1 U1 > 0.5", 0),
        ("1((A U0 < 4) | (A U0 > 9)) > 0", 1),
        ("1(A(A U0 > 6) > 0.5) > 0.5", 2),
        ("1(U0 & U1) > 3", 1),
    ],
)
def test_depth_is_layers(text: str, layers: int) -> None:
    """A formula of depth k takes k - 1 inner layers and the final one."""
    formula = parse(text)
    model = model_from_formulas([formula])
    assert len(model.layers) == layers
    read = class_formula(model, 0)
    assert read.modal_depth == formula.modal_depth
    graphs = random_graphs(300, sizes=13, random_state=0)
    assert np.array_equal(read.evaluate(graphs), formula.evaluate(graphs))


def test_thresholds_of_one_count_do_not_multiply() -> None:
    """Ten thresholds give eleven leaves, not 1024."""
    formula = parse(" | ".join(f"A U0 = {2 * n}" for n in range(10)))
    model = model_from_formulas([formula], level="node")
    assert model.final.n_leaves == 20


def test_unrelated_formulas_get_trees_of_their_own() -> None:
    wanted = [parse(f"1(A U{n} > 2) > 3") for n in range(12)]
    model = model_from_formulas(wanted[:3])
    assert len(model.layers[0].trees) == 1
    inner = parse(" & ".join(f"1(A U{n} > 2) > 3" for n in range(12)))
    assert len(model_from_formulas([inner]).layers[0].trees) == 3


def test_too_many_leaves_are_refused() -> None:
    parity = parse("U0")
    for number in range(1, 14):
        other = parse(f"U{number}")
        parity = (parity & ~other) | (~parity & other)
    with pytest.raises(TranslationError, match="more than 4096 leaves"):
        model_from_formulas([parity], level="node")
