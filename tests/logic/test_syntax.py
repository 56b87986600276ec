from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_calls import calls
from gnn2logic.exceptions import FeatureError, FormulaError
from gnn2logic.graphs import Modality
from gnn2logic.graphs.random import random_graphs
from gnn2logic.logic import (
    ALL,
    FALSE,
    TRUE,
    A,
    Formula,
    I,
    conjunction,
    disjunction,
    from_json,
    nodes,
    parse,
    predicate,
    predicate_names,
    relation_names,
    subformulas,
    substitute,
)
from gnn2logic.logic.syntax import modal
from strategies import RELATIONS, formulas


def deep_dag(layers: int = 200) -> Formula:
    """Return a formula whose every layer refers to the one below four times."""
    formula = predicate("U0")
    for _ in range(layers):
        formula = ((A(formula) > 0) & ((I + A)(formula) < 4)) | (
            (ALL(formula) > "1/3") & ~(A(formula) > 2)
        )
    return formula


@settings(max_examples=200, deadline=None)
@given(formula=formulas(relations=RELATIONS))
def test_copies_and_pickles_are_the_same_object(formula: Formula) -> None:
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert copy.copy(formula) is formula
    assert copy.deepcopy([formula])[0] is formula


@settings(max_examples=200, deadline=None)
@given(parts=st.lists(formulas(max_steps=4), max_size=5), seed=st.randoms(use_true_random=False))
def test_connectives_do_not_depend_on_order_or_repeats(parts: list[Formula], seed: object) -> None:
    shuffled = [*parts, *parts[:2]]
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    assert conjunction(parts) is conjunction(shuffled)
    assert disjunction(parts) is disjunction(shuffled)


@settings(max_examples=200, deadline=None)
@given(some=st.lists(formulas(max_steps=5), min_size=2, max_size=6, unique=True))
def test_the_order_is_total(some: list[Formula]) -> None:
    keys = [formula.key for formula in some]
    assert len(set(keys)) == len(keys)
    assert sorted(some) == sorted(some, key=lambda formula: formula.key)


def test_the_order_and_hash_are_the_same_in_every_process() -> None:
    code = (
        "from gnn2logic.logic import parse\n"
        "f = parse('U2 & U10 & (A(U1 | U3) > 1 | A(U4 | U5) > 1)')\n"
        "print(f, hash(f))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_size_and_depth() -> None:
    psi_1 = parse("1((A U0 < 4) | (A U0 > 9)) > 0")
    assert (psi_1.size, psi_1.modal_depth) == (7, 2)
    assert (TRUE.size, TRUE.modal_depth) == (1, 0)
    assert parse("U0 & U1 & !U2").size == 6


def test_walks() -> None:
    formula = parse("A[r] U0 > 1 & A[s]^T(U0 | U1) > 2 & A U0 > 1")
    assert predicate_names(formula) == ("U0", "U1")
    assert relation_names(formula) == ("r", "s")
    assert [str(part) for part in subformulas(formula)][-1] == str(formula)
    replaced = substitute(formula, {predicate("U0"): parse("A true > 3")})
    assert replaced is parse(
        "A[r](A true > 3) > 1 & A[s]^T(A true > 3 | U1) > 2 & A(A true > 3) > 1"
    )
    assert substitute(formula, {formula: TRUE}) is TRUE
    swap = {predicate("U0"): predicate("U1"), predicate("U1"): predicate("U0")}
    assert substitute(parse("U0 & !U1"), swap) is parse("U1 & !U0")


def steps_with(layers: int) -> dict[str, Callable[[], bool]]:
    """Return all that is done with a formula of many layers, and whether the results are right."""
    formula, graphs = deep_dag(layers), random_graphs(20, random_state=0)
    text = str(formula)
    return {
        "build": lambda: deep_dag(layers) is formula,
        "hash": lambda: hash(formula) == hash(deep_dag(layers)),
        "print": lambda: str(formula) == text,
        "parse": lambda: parse(text) is formula,
        "unicode": lambda: parse(formula.to_unicode()) is formula,
        "latex": lambda: formula.to_latex().count(":=") == layers - 1,
        "english": lambda: formula.to_english().count("Nodes in group") == layers - 1,
        "pickle": lambda: pickle.loads(pickle.dumps(formula)) is formula,
        "save": lambda: from_json(formula.to_json()) is formula,
        "evaluate": lambda: formula.evaluate(graphs).shape == (20,),
        "simplify": lambda: formula.simplify().modal_depth <= layers,
    }


def test_work_grows_with_layers_and_not_with_paths() -> None:
    """There are 4 ** 3 paths through three layers and 4 ** 9 through nine."""
    few, many = steps_with(3), steps_with(9)
    for name in few:
        # The first time also makes what is kept for later, such as the parser.
        assert few[name](), name
        assert calls(many[name]) < 4 * calls(few[name]), name


def test_deep_shared_formulas_are_cheap() -> None:
    """A walk along every path would take longer than the universe has been there."""
    formula = deep_dag()
    text = str(formula)
    assert formula.modal_depth == 200
    assert formula.size > 10**100
    assert len(text) < 50_000
    assert text.count(":=") == 199
    for name, step in steps_with(200).items():
        assert step(), name


def test_unused_formulas_are_forgotten() -> None:
    before = len(nodes._table)
    keep = [A(predicate(f"only here {number}")) > number for number in range(50)]
    assert len(nodes._table) >= before + 100
    del keep
    gc.collect()
    assert len(nodes._table) <= before + 2


def test_formulas_are_immutable_and_not_made_by_class() -> None:
    formula = parse("U0")
    with pytest.raises(AttributeError, match="immutable"):
        formula.size = 3
    with pytest.raises(AttributeError, match="immutable"):
        del formula.size
    with pytest.raises(TypeError, match="Use parse"):
        Formula()


def test_constructors_refuse_bad_parts() -> None:
    neighbours = Modality.from_set("A")
    with pytest.raises(FormulaError, match=">= 0. Got -1"):
        modal(neighbours, TRUE, -1)
    with pytest.raises(FormulaError, match="Got True"):
        modal(neighbours, TRUE, True)
    with pytest.raises(FeatureError, match="must be a string. Got 3"):
        predicate(3)  # type: ignore[arg-type]
    with pytest.raises(FeatureError, match="must not be empty"):
        predicate("")
    with pytest.raises(FeatureError, match="valid Unicode"):
        predicate("\ud800")
    with pytest.raises(TypeError):
        _ = TRUE & 1  # type: ignore[operator]
    assert conjunction([]) is TRUE
    assert disjunction([]) is FALSE
