"""Scores of a comparison are those of scikit-learn, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, roc_auc_score

from gnn2logic.certification import agreement_bound
from gnn2logic.reporting.comparison import Comparison

Labels = npt.NDArray[Any]

NAMES = np.array(["calm", "busy", "never seen"])


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[Comparison, Labels, Labels, Labels]:
    """Draw labels of three kinds: numbers, texts, or truth values."""
    count = draw(st.integers(1, 30))
    codes = [np.array(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))] * 3
    codes[1:] = [
        np.array(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
        for _ in range(2)
    ]
    sort = draw(st.sampled_from(["numbers", "texts", "truth values"]))
    if sort == "truth values":
        predicted, truth, teacher = (numbers > 0 for numbers in codes)
        names: dict[Any, str] = {False: "no", True: "yes"}
    else:
        predicted, truth, teacher = (NAMES[n] if sort == "texts" else n for n in codes)
        names = {(NAMES[n].item() if sort == "texts" else n): str(NAMES[n]) for n in range(3)}
    rows = np.arange(count)
    return Comparison("graph", names, rows, predicted, truth, teacher), predicted, truth, teacher


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 1.0])), min_size=1))
def test_auroc_is_that_of_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    truth = np.array([one for one, _ in pairs])
    scores = np.array([score for _, score in pairs])
    names: dict[Any, str] = {False: "no", True: "yes"}
    comparison = Comparison(
        "graph", names, np.arange(len(pairs)), scores > 0.4, truth, None, scores
    )
    rule, baseline = comparison.scores()
    if truth.all() or not truth.any():
        assert rule["auroc"] is None
    else:
        assert rule["auroc"] == pytest.approx(roc_auc_score(truth, scores))
        assert baseline["auroc"] == 0.5


@given(comparisons())
def test_scores_are_those_of_scikit_learn(
    drawn: tuple[Comparison, Labels, Labels, Labels],
) -> None:
    comparison, predicted, truth, teacher = drawn
    rule, network, baseline = comparison.scores()
    for row, labels in ((rule, predicted), (network, teacher)):
        assert row["accuracy"] == accuracy_score(truth, labels)
        assert row["macro_f1"] == f1_score(truth, labels, average="macro")
        assert row["fidelity"] == accuracy_score(teacher, labels)
    values, counts = np.unique(truth, return_counts=True)
    assert baseline["n_right"] == counts.max()
    assert comparison.most_common == values[counts.argmax()]
    order = list(comparison.class_names)
    expected = confusion_matrix(truth, predicted, labels=order)
    assert comparison.confusion() == expected.tolist()
    assert comparison.agreement() == confusion_matrix(teacher, predicted, labels=order).tolist()
    assert comparison.differs.tolist() == (predicted != teacher).tolist()


@pytest.mark.parametrize("with_teacher", [False, True])
def test_without_truth_nothing_is_compared_with_it(with_teacher: bool) -> None:
    labels = np.array(["a", "b", "b"])
    teacher = np.array(["a", "a", "b"]) if with_teacher else None
    comparison = Comparison("graph", {"a": "a", "b": "b"}, np.arange(3), labels, None, teacher)
    assert comparison.confusion() is None
    assert [row["accuracy"] for row in comparison.scores()] == [None] * (3 if with_teacher else 1)
    assert (comparison.most_common, int(comparison.differs.sum())) == (
        ("a", 1) if with_teacher else (None, 0)
    )


def test_the_fidelity_of_graphs_has_a_bound() -> None:
    labels = np.array([0, 0, 1, 1] * 50)
    teacher = labels.copy()
    teacher[0] = 1
    names = {0: "a", 1: "b"}
    rows = Comparison("graph", names, np.arange(200), labels, labels, teacher).scores()
    assert rows[0]["fidelity_at_least"] == agreement_bound(199, 200) < rows[0]["fidelity"]
    assert [row["fidelity_at_least"] for row in rows[1:]] == [None, None]
    n_right = rows[0]["n_right"]
    assert rows[0]["accuracy_at_least"] == agreement_bound(n_right, 200) < rows[0]["accuracy"]
    assert [row["accuracy_at_least"] for row in rows[1:]] == [None, None]
    nodes = Comparison("node", names, np.arange(200), labels, labels, teacher).scores()
    assert nodes[0]["fidelity_at_least"] is nodes[0]["accuracy_at_least"] is None
