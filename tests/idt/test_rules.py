"""The table of rules, on training data and on other data."""

from __future__ import annotations

import copy
import pickle
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gnn2logic import GraphBatch, IDTClassifier, IDTNodeClassifier, load, parse, random_graphs
from gnn2logic.exceptions import LabelError, MissingDependencyError
from gnn2logic.idt import readings, rules
from gnn2logic.idt.formulas import class_formula


def some_graphs(seed: int, count: int = 150) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, size=count)
    return random_graphs(count, sizes=sizes, density=0.4, random_state=rng)


def three_classes(graphs: GraphBatch, seed: int) -> Any:
    """Classes by two rules, one label in ten wrong."""
    low = parse("1(A U0 > 1) > 1/3").evaluate(graphs).astype(int)
    high = parse("1 true > 5").evaluate(graphs).astype(int)
    rng = np.random.default_rng(seed)
    wrong = rng.random(graphs.n_graphs) < 0.1
    y = np.where(wrong, rng.integers(0, 3, size=graphs.n_graphs), low + high)
    return np.array(["none", "one", "two"])[y]


@pytest.fixture(scope="module")
def model() -> IDTClassifier:
    train = some_graphs(0)
    return IDTClassifier(1, algorithm="layers", width=4, random_state=0).fit(
        train, three_classes(train, 0)
    )


def check_against_picked(model: Any, table: Any, graphs: GraphBatch, y: Any, weights: Any) -> None:
    """Every rule is as good as the model that it stands for, and gives the classes it gives."""
    assert len(table) == len(model.rules_) > 3
    for rule in table:
        predicted = model.pick(rule.index).predict(graphs)
        right = np.average(predicted == y, weights=weights)
        assert rule.accuracy == pytest.approx(right)
        for label in model.classes_.tolist():
            share = np.average(predicted == label, weights=weights)
            assert rule.support[label] == pytest.approx(share)
            if rule.n_leaves > 9:  # reading large formulas takes long
                continue
            truth = rule.formulas[label].evaluate(graphs, level=model.model_.level)
            assert np.array_equal(truth, predicted == label)


def test_rules_on_the_training_data(model: IDTClassifier) -> None:
    train = some_graphs(0)
    check_against_picked(model, model.rules_, train, three_classes(train, 0), None)


def test_rules_on_other_data(model: IDTClassifier) -> None:
    fresh = some_graphs(1)
    y = three_classes(fresh, 1)
    weights = np.random.default_rng(0).random(fresh.n_graphs)
    check_against_picked(model, model.rules(fresh, y), fresh, y, None)
    check_against_picked(model, model.rules(fresh, y, sample_weight=weights), fresh, y, weights)


def test_labels_that_the_model_does_not_know_are_errors(model: IDTClassifier) -> None:
    fresh = some_graphs(1)
    y = np.where(np.arange(fresh.n_graphs) < 75, "other", three_classes(fresh, 1))
    check_against_picked(model, model.rules(fresh, y), fresh, y, None)
    assert {rule.accuracy for rule in model.rules(fresh, ["other"] * 150)} == {0.0}


def test_rules_of_nodes() -> None:
    train, fresh = some_graphs(0), some_graphs(1)
    truth = parse("A(A U0 > 1) > 1")
    flip = np.random.default_rng(0).random(train.n_nodes) < 0.1
    y = truth.evaluate(train, level="node") ^ flip
    model = IDTNodeClassifier(1, algorithm="layers", width=4, random_state=0).fit(train, y)
    check_against_picked(model, model.rules_, train, y, None)
    y = truth.evaluate(fresh, level="node")
    check_against_picked(model, model.rules(fresh, y), fresh, y, None)


def test_records_have_one_row_per_rule_and_class(model: IDTClassifier) -> None:
    records = model.rules_.to_records()
    assert len(records) == 3 * len(model.rules_)
    chosen = [record for record in records if record["chosen"]]
    assert [record["class"] for record in chosen] == ["none", "one", "two"]
    for record in chosen:
        formula = model.formula(record["class"])
        assert parse(record["formula"]) is formula
        assert (record["size"], record["modal_depth"]) == (formula.size, formula.modal_depth)
    assert {record["leaves"] for record in model.rules_.to_records(max_leaves=2)} == {1, 2}
    assert sum(record["support"] for record in chosen) == pytest.approx(1.0)


def test_a_text_says_how_many_rules_it_leaves_out(model: IDTClassifier) -> None:
    said = "larger rules that are not shown: "
    assert said not in model.rules_.to_text(max_leaves=1000)
    larger = [rule for rule in model.rules_ if rule.n_leaves > 1 and not rule.chosen]
    assert larger
    assert f"{said}{len(larger)}\n" in f"{model.rules_.to_text(max_leaves=1)}\n"


def test_a_frame_has_the_columns_of_the_records(
    model: IDTClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pandas is not needed to run the tests, so a class that notes what it is given stands in."""

    class DataFrame:
        def __init__(self, rows: list[dict[str, Any]], columns: list[str]) -> None:
            self.rows, self.columns = rows, columns

    pandas = ModuleType("pandas")
    pandas.__dict__["DataFrame"] = DataFrame
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    frame = model.rules_.to_frame()
    assert frame.rows == model.rules_.to_records()
    assert all(frame.columns == list(row) for row in frame.rows)
    assert model.rules_.to_frame(max_leaves=0).columns == frame.columns
    assert model.rules_.to_frame(max_leaves=2).rows == model.rules_.to_records(max_leaves=2)


def test_a_frame_without_pandas_says_what_to_install(
    model: IDTClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="'pandas', .* pip install pandas$"):
        model.rules_.to_frame()


def test_bad_data(model: IDTClassifier) -> None:
    with pytest.raises(ValueError, match="Got 3 labels for 150 graphs"):
        model.rules(some_graphs(1), ["one"] * 3)
    with pytest.raises(ValueError, match="not fitted"):
        IDTClassifier().rules(some_graphs(1), ["one"] * 150)


def test_pruned_and_picked_models_tell_of_themselves(model: IDTClassifier) -> None:
    constant = model.pick(model.rules_[0].index)
    assert constant.ccp_alpha_ == model.rules_[0].alpha > model.ccp_alpha_
    pruned = constant.prune()
    assert (pruned.n_layers_, pruned.ccp_alpha_, len(pruned.rules_)) == (0, 0.0, 1)
    assert model.n_layers_ == 1


# Read once ------------------------------------------------------------------------------------


def count_readings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have every reading of a class formula noted."""
    read: list[int] = []

    def noting(model: Any, number: int, columns: Any = None) -> Any:
        read.append(number)
        return class_formula(model, number, columns)

    for module in (rules, readings):
        monkeypatch.setattr(module, "class_formula", noting)
    return read


def test_formulas_and_rules_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    train = some_graphs(0)
    y = three_classes(train, 0)
    model = IDTClassifier(1, algorithm="layers", width=4, random_state=0).fit(train, y)
    read = count_readings(monkeypatch)
    formulas = {label: model.formula(label) for label in model.classes_.tolist()}
    shown = str(model), model.rules_.to_records(), model.rules(train, y).to_records()
    assert read
    read.clear()
    assert formulas == {label: model.formula(label) for label in model.classes_.tolist()}
    assert shown == (str(model), model.rules_.to_records(), model.rules(train, y).to_records())
    assert model.set_params(width=5).rules_ is model.rules_
    assert read == []


def test_what_was_read_is_that_of_the_model_as_it_is(tmp_path: Path) -> None:
    train = some_graphs(0)
    y = three_classes(train, 0)
    model = IDTClassifier(1, algorithm="layers", width=4, random_state=0).fit(train, y)
    small, large = model.rules_[0], model.rules_[-1]

    def says(fitted: Any) -> Any:
        """What it says must be what one says that was never asked before."""
        label = fitted.classes_.tolist()[0]
        said = fitted.formula(label), str(fitted.rules_)
        fitted.save(tmp_path / "model.json")
        fresh: Any = load(tmp_path / "model.json")
        assert said == (fresh.formula(label), str(fresh.rules_))
        return said

    first = says(model)
    assert says(model.pick(small)) != says(model.pick(large))
    assert says(model.prune()) != first
    assert says(model) == first
    for copied in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "_kept" not in vars(copied)
        assert says(copied) == first
    model.classes_ = np.array(["a", "b", "c"])
    assert says(model)[0] is first[0]
    assert says(model)[1] != first[1]
    model.classes_[0] = "z"
    assert "z" in model.rules_[0].formulas
    model.model_.final.values[:] = model.model_.final.values[:, ::-1]
    assert model.formula("z") is not first[0]
    assert says(model.fit(train, np.where(y == "one", "one", "two"))) != first
    with pytest.raises(LabelError, match="'none' is not a class"):
        model.formula("none")
