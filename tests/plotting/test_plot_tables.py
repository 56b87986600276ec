from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix

import gnn2logic as gl
from gnn2logic.exceptions import LabelError, ParameterError, UnsupportedInputError
from gnn2logic.explanation.phrases import percent
from gnn2logic.plotting import plot_confusion, plot_fidelity, plot_rules
from gnn2logic.plotting.words import wrapped
from plot_checks import assert_apart, saved, texts


@cache
def model() -> Any:
    graphs = gl.random_graphs(150, sizes=9, random_state=0)
    y = gl.parse("1(A U1 > 2) > 3").evaluate(graphs).astype(int)
    y[::17] = 1 - y[::17]
    return gl.IDTClassifier(
        n_layers=1, algorithm="layers", width=3, max_depth=3, random_state=0
    ).fit(graphs, y)


def points(ax: Any, label: str) -> Any:
    [line] = [line for line in ax.lines if line.get_label().startswith(label)]
    return line.get_xydata()


# Rules ----------------------------------------------------------------------------------------


def test_rules_are_size_against_accuracy() -> None:
    rules = model().rules_
    ax = plot_rules(model(), max_leaves=None)
    wanted = [(rule.size, rule.accuracy) for rule in rules]
    np.testing.assert_allclose(points(ax, "accuracy"), wanted)
    chosen = rules.chosen
    np.testing.assert_allclose(points(ax, "chosen"), [(chosen.size, chosen.accuracy)])
    assert ax.get_ylabel() == "accuracy"
    smaller = plot_rules(rules, max_leaves=2)
    expected = [r for r in rules if r.n_leaves <= 2 or r.chosen]
    assert len(expected) < len(rules)
    assert len(points(smaller, "accuracy")) == len(expected)


def test_rules_with_fidelity() -> None:
    rules = model().rules_
    values = np.linspace(0.5, 1.0, len(rules))
    ax = plot_rules(rules, values, max_leaves=None)
    sizes = [rule.size for rule in rules]
    np.testing.assert_allclose(points(ax, "fidelity"), np.column_stack([sizes, values]))
    some = plot_rules(rules, {rules[1].index: 0.75})
    np.testing.assert_allclose(points(some, "fidelity"), [(rules[1].size, 0.75)])
    assert [t.get_text() for t in ax.get_legend().get_texts()][:2] == ["accuracy", "fidelity"]


def test_small_rules_are_written_and_do_not_overlap() -> None:
    ax = plot_rules(model())
    majority = max(model().rules_[0].support.items(), key=lambda pair: pair[1])[0]
    assert f"{majority}: true" in texts(ax)
    ax.figure.canvas.draw()
    from matplotlib.text import Text

    assert_apart([Text.get_window_extent(text) for text in ax.texts])
    assert texts(plot_rules(model(), n_labels=0)) == []


def test_rules_measured_on_other_data() -> None:
    graphs = gl.random_graphs(50, sizes=9, random_state=5)
    y = gl.parse("1(A U1 > 2) > 3").evaluate(graphs).astype(int)
    table = model().rules(graphs, y)
    shown = points(plot_rules(table, max_leaves=None), "accuracy")
    np.testing.assert_allclose(shown[:, 1], [rule.accuracy for rule in table])


def test_rules_of_one_row() -> None:
    ax = plot_rules(gl.from_formulas({"$a_1$": "1 U0 > 3"}, otherwise="b"), title="$t$")
    assert len(points(ax, "accuracy")) == 1
    saved(ax, "png")


def test_rules_errors() -> None:
    rules = model().rules_
    with pytest.raises(NotFittedError):
        plot_rules(gl.IDTClassifier())
    with pytest.raises(UnsupportedInputError, match="Got str"):
        plot_rules("rules")
    with pytest.raises(UnsupportedInputError, match="Got ScorecardClassifier.*plot_card_path"):
        plot_rules(gl.ScorecardClassifier())
    with pytest.raises(ParameterError, match=f"each of the {len(rules)} rules"):
        plot_rules(rules, [0.5])
    with pytest.raises(ParameterError, match="between 0 and 1. Got 1.5"):
        plot_rules(rules, {rules[0].index: 1.5})
    with pytest.raises(ParameterError, match="Got 999"):
        plot_rules(rules, {999: 0.5})
    assert pyplot.get_fignums() == []


# Tables ---------------------------------------------------------------------------------------


def cells(ax: Any) -> dict[tuple[int, int], list[str]]:
    return {
        (round(t.get_position()[1]), round(t.get_position()[0])): t.get_text().split("\n")
        for t in ax.texts
    }


def test_confusion_has_counts_and_shares() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    predicted = np.where(rng.random(200) < 0.7, truth, rng.integers(0, 3, 200))
    ax = plot_confusion(truth, predicted)
    wanted = confusion_matrix(truth, predicted)
    for place, lines in cells(ax).items():
        assert lines == [str(wanted[place]), percent(wanted[place] / wanted[place[0]].sum())]
    np.testing.assert_allclose(ax.images[0].get_array(), wanted / wanted.sum(axis=1, keepdims=True))
    assert ax.get_title() == f"accuracy {np.mean(truth == predicted):.3f}"


def test_names_and_order_of_classes() -> None:
    names = {"b": "B & $x_1$", "a": "<i>A</i> é", "c": "never"}
    ax = plot_confusion(["a", "b", "b"], ["a", "b", "a"], class_names=names)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["B & $x_1$", "<i>A</i> é", "never"]
    assert not any(t.get_parse_math() for t in (*ax.get_xticklabels(), *ax.get_yticklabels()))
    assert cells(ax)[0, 1] == ["1", "50%"]
    assert cells(ax)[2, 0] == ["0"]
    reverse = plot_confusion([0, 1], [0, 1], class_names=np.array([1, 0]))
    assert [t.get_text() for t in reverse.get_xticklabels()] == ["1", "0"]
    for kind in ("png", "svg", "pdf"):
        assert len(saved(ax, kind)) > 3000


def test_fidelity_says_who_is_right() -> None:
    teacher = [0, 0, 0, 1, 1, 1]
    idt = [0, 0, 1, 1, 0, 0]
    truth = [0, 1, 0, 1, 1, 0]
    ax = plot_fidelity(teacher, idt, truth)
    assert cells(ax) == {
        (0, 0): ["2", "67%", "both right 1"],
        (0, 1): ["1", "33%", "teacher right 1", "IDT right 0"],
        (1, 0): ["2", "67%", "teacher right 1", "IDT right 1"],
        (1, 1): ["1", "33%", "both right 1"],
    }
    assert ax.get_title() == "fidelity 0.500\naccuracy: teacher 0.667, IDT 0.500"
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("teacher", "IDT")
    without = plot_fidelity(teacher, idt)
    assert cells(without)[0, 0] == ["2", "67%"]
    assert without.get_title() == "fidelity 0.500"


def test_truth_may_have_classes_that_nobody_predicts() -> None:
    ax = plot_fidelity([0, 1], [0, 1], [0, 2])
    assert cells(ax)[1, 1] == ["1", "100%", "both right 0"]


@pytest.mark.parametrize("plot", [plot_confusion, plot_fidelity])
def test_tables_use_the_given_axes(plot: Any) -> None:
    ax = Figure().add_subplot()
    assert plot([0, 1], [0, 1], ax=ax, title="$") is ax
    assert ax.get_title() == "$"
    assert pyplot.get_fignums() == []
    for wrong, words in (
        (([0, 1], [0]), "Got 2 and 1 labels"),
        (([0, 1], ["a", "b"]), "same names"),
        (([], []), "at least one"),
        (([0, 1], 3), "Got int"),
        (([0.5, 1], [0, 1]), "continuous"),
    ):
        with pytest.raises(LabelError, match=words):
            plot(*wrong)
    with pytest.raises(LabelError, match="none for 1"):
        plot([0, 1], [0, 1], class_names=[0])
    with pytest.raises(UnsupportedInputError, match="ax must be"):
        plot([0, 1], [0, 1], ax="here")
    assert pyplot.get_fignums() == []


# Words ----------------------------------------------------------------------------------------


def test_lines_are_short_and_lose_nothing() -> None:
    text = '1(A U0 > 6 ∧ A U1 > 2) > 1/2 ∨ "a long name ∧ more" ∧ ' + "x" * 50
    lines = wrapped(text, 20)
    assert max(map(len, lines)) <= 20
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    cut = wrapped(text, 20, 2)
    assert len(cut) == 2
    assert cut[-1].endswith("…")
    assert wrapped("", 20) == [""]
