"""Distillation in the tools of scikit-learn, and fidelity."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from distill_networks import balanced_zoo, data, graphs, node_model, zoo
from gnn2logic import IDTClassifier, IDTNodeClassifier, parse, random_graphs, to_gnn
from gnn2logic.distillation import IDTDistiller, Teacher, distill, fidelity
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.models import GNNClassifier


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher(balanced_zoo("GIN"))


SMALL = IDTClassifier(algorithm="layers", width=1, max_depth=3, random_state=0)


def test_graphs_of_one_node_are_what_the_estimator_says() -> None:
    single = random_graphs(40, sizes=1, random_state=0)
    network = to_gnn(parse("U1"), level="node")
    nodes = IDTDistiller(network, IDTNodeClassifier(random_state=0)).fit(single)
    assert isinstance(nodes.idt_, IDTNodeClassifier)
    assert np.array_equal(nodes.predict(single), single.column("U1").astype(int))
    assert isinstance(IDTDistiller(network).fit(single).idt_, IDTClassifier)
    # Only nodes have a mask.
    masked = IDTDistiller(network).fit(single, mask=np.ones(40, dtype=bool))
    assert isinstance(masked.idt_, IDTNodeClassifier)


def test_it_is_distill(teacher: Teacher) -> None:
    own = graphs(60)
    distiller = IDTDistiller(teacher, SMALL).fit(own)
    expected = distill(teacher, own, algorithm="layers", width=1, max_depth=3, random_state=0)
    assert str(distiller) == str(expected) == str(distiller.idt_)
    assert np.array_equal(distiller.predict(own), expected.predict(own))
    assert np.array_equal(distiller.predict_proba(own), expected.predict_proba(own))
    assert distiller.formula(1) is expected.formula(1)
    assert str(distiller.rules_) == str(expected.rules_)
    assert distiller.classes_.tolist() == [0, 1]
    assert distiller.score(own) == fidelity(expected, teacher, own)
    y = np.arange(60) % 2
    assert distiller.score(own, y) == expected.score(own, y)
    # Labels given to IDT(GNN) are there for scoring alone.
    assert str(IDTDistiller(teacher, SMALL).fit(own, y)) == str(expected)
    true = IDTDistiller(teacher, SMALL, variant="true").fit(own, y)
    assert str(true) == str(
        distill(
            teacher,
            own,
            y,
            algorithm="layers",
            variant="true",
            width=1,
            max_depth=3,
            random_state=0,
        )
    )
    # What it was given is not fitted.
    assert not hasattr(SMALL, "model_")


def test_grid_search_asks_about_each_split(teacher: Teacher) -> None:
    asked: list[int] = []

    def forward(module: Any, batch: Any) -> Any:
        asked.append(batch.num_graphs)
        return teacher.forward(module, batch)

    frozen = Teacher(teacher.module, forward=forward)
    labels = teacher.predict(graphs(60))
    grid = {"idt__width": [1, 2], "variant": ["gnn", "gnn+true"]}
    search = GridSearchCV(IDTDistiller(frozen, SMALL), grid, cv=2)
    search.fit(data(60), labels)
    # Never about all graphs, until the best one is fitted again.
    assert asked.count(30) == 8
    assert asked.count(60) == 1
    assert search.best_estimator_.teacher is frozen
    assert search.best_estimator_.idt_.width in (1, 2)
    assert search.best_score_ > 0.6
    assert len(search.predict(graphs(5))) == 5


@pytest.mark.parametrize("own", [graphs(60), list(graphs(60)), data(60)])
def test_cross_validation(teacher: Teacher, own: Any) -> None:
    labels = teacher.predict(graphs(60))
    by_label = cross_val_score(IDTDistiller(teacher, SMALL), own, labels, cv=2)
    # Without labels the score is fidelity, and the folds are not stratified.
    by_teacher = cross_val_score(IDTDistiller(teacher, SMALL), own, cv=2)
    assert by_label.shape == by_teacher.shape == (2,)
    assert by_label.mean() > 0.6
    assert by_teacher.mean() > 0.6
    predicted = cross_val_predict(IDTDistiller(teacher, SMALL), own, labels, cv=2)
    assert (predicted == labels).mean() > 0.6


def test_clone_keeps_the_trained_network() -> None:
    own = graphs(40)
    y = (own.sizes > 4).astype(int)
    gnn = GNNClassifier(n_layers=1, hidden=8, max_epochs=3, random_state=0).fit(own, y)
    distiller = IDTDistiller(gnn, SMALL, variant="gnn+true")
    copy = clone(distiller)
    assert copy is not distiller
    assert copy.teacher.module is gnn.module_
    assert copy.idt is not SMALL
    assert copy.get_params()["idt__width"] == 1
    assert copy.variant == "gnn+true"
    assert clone(copy).teacher is copy.teacher
    assert distiller.teacher is gnn
    assert cross_val_score(distiller, own, y, cv=2).shape == (2,)
    bare = zoo("GCN")
    assert clone(IDTDistiller(bare)).teacher.module is bare
    with pytest.raises(NotFittedError):
        clone(IDTDistiller(GNNClassifier()))


def test_manners(teacher: Teacher) -> None:
    distiller = IDTDistiller(teacher)
    assert str(distiller) == "IDTDistiller(teacher=Teacher(Pooled))"
    for use in (distiller.predict, distiller.predict_proba, distiller.score, distiller.formula):
        with pytest.raises(NotFittedError):
            use(graphs())
    with pytest.raises(NotFittedError):
        _ = distiller.rules_
    with pytest.raises(ParameterError, match="idt must be an IDTClassifier.*Got 'big' instead"):
        IDTDistiller(teacher, "big").fit(graphs())
    with pytest.raises(ParameterError, match="variant must be one of"):
        IDTDistiller(teacher, variant="x").fit(graphs())
    with pytest.raises(ParameterError, match="must classify nodes, as the estimator does. It clas"):
        IDTDistiller(teacher, IDTNodeClassifier()).fit(graphs())
    with pytest.raises(LabelError, match="learns from labels"):
        IDTDistiller(teacher, variant="true").fit(graphs())
    fitted = IDTDistiller(balanced_zoo("GCN"), SMALL).fit(graphs(30))
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(graphs()), fitted.predict(graphs()))


def test_grid_search_without_an_idt() -> None:
    own, module = graphs(40), balanced_zoo("GIN")
    grid = {
        "idt__algorithm": ["layers"],
        "idt__width": [1],
        "idt__max_depth": [2],
        "idt__random_state": [0],
    }
    search = GridSearchCV(IDTDistiller(module), grid, cv=2).fit(list(own))
    assert search.best_estimator_.idt_.width == 1
    expected = distill(module, own, algorithm="layers", width=1, max_depth=2, random_state=0)
    assert str(search.best_estimator_.idt_) == str(expected)
    nodes = IDTDistiller(Teacher(node_model(), level="node"))
    nodes.set_params(idt__algorithm="layers", idt__width=2)
    assert isinstance(nodes.idt, IDTNodeClassifier)
    assert nodes.fit(own).idt_.width == 2
    with pytest.raises(ParameterError, match="such as IDTNodeClassifier"):
        IDTDistiller(node_model()).set_params(idt__width=2).fit(own)
    with pytest.raises(ParameterError, match="'widht' is not a parameter"):
        IDTDistiller(module).set_params(idt__widht=2)
    assert IDTDistiller(module).set_params(variant="true").idt is None


def test_the_teacher_is_not_changed() -> None:
    gnn = GNNClassifier(n_layers=1, hidden=4, max_epochs=1, random_state=0)
    distiller = IDTDistiller(gnn.fit(graphs(), np.arange(12) % 2), SMALL)
    assert not any(name.startswith("teacher__") for name in distiller.get_params())
    assert distiller.get_params()["teacher"] is gnn
    with pytest.raises(ParameterError, match="cannot be set, because it is trained.*'teacher__lr'"):
        distiller.set_params(teacher__lr=3)
    assert gnn.lr == 1e-3


def test_labels_of_another_kind_are_refused(teacher: Teacher) -> None:
    own = graphs(60)
    texts = np.where(own.sizes > 4, "large", "small")
    distiller = IDTDistiller(teacher, SMALL).fit(own, texts)
    with pytest.raises(LabelError, match="Both must use the same names of classes"):
        distiller.score(own, texts)
    assert IDTDistiller(teacher, SMALL, variant="true").fit(own, texts).score(own, texts) > 0.9


def test_nodes() -> None:
    own = graphs(20)
    labels = own.column("U1").astype(int)
    mask = np.arange(own.n_nodes) % 2 == 0
    wrong = np.where(mask, labels, 0)
    distiller = IDTDistiller(node_model(), variant="gnn+true").fit(own, wrong, mask=mask)
    assert isinstance(distiller.idt_, IDTNodeClassifier)
    assert distiller.score(own, labels) == 1.0


def test_weights_reach_the_idt(teacher: Teacher) -> None:
    own = graphs(60)
    y = np.arange(60) % 2
    weights = np.where(y == 1, 1.0, 1e-3)
    distiller = IDTDistiller(teacher, SMALL, variant="gnn+true").fit(own, y, sample_weight=weights)
    assert (distiller.predict(own) == 1).mean() > 0.9


# Fidelity -------------------------------------------------------------------------------------


def test_fidelity_is_the_accuracy_with_respect_to_the_teacher() -> None:
    rng = np.random.default_rng(0)
    theirs, ours = rng.integers(0, 3, size=(2, 200))
    ours[:120] = theirs[:120]
    weights = rng.random(200)
    assert fidelity(ours, theirs, None) == pytest.approx(accuracy_score(theirs, ours))
    macro = fidelity(ours, theirs, None, average="macro")
    assert macro == pytest.approx(balanced_accuracy_score(theirs, ours))
    each = fidelity(ours, theirs, None, average=None)
    assert list(each) == [0, 1, 2]
    assert list(each.values()) == pytest.approx(recall_score(theirs, ours, average=None))
    assert fidelity(ours, theirs, None, sample_weight=weights) == pytest.approx(
        accuracy_score(theirs, ours, sample_weight=weights)
    )
    assert fidelity(ours, theirs, None, average="macro", sample_weight=weights) == pytest.approx(
        balanced_accuracy_score(theirs, ours, sample_weight=weights)
    )
    # Rows without weight are left out, and with them a class.
    only = (theirs != 2).astype(float)
    assert list(fidelity(ours, theirs, None, average=None, sample_weight=only)) == [0, 1]


def test_fidelity_of_models(teacher: Teacher) -> None:
    own = graphs(60)
    idt = distill(teacher, own, algorithm="layers", width=1, max_depth=3, random_state=0)
    expected = float((idt.predict(own) == teacher.predict(own)).mean())
    assert expected > 0.6
    for other in (teacher, teacher.module, teacher.predict(own), teacher.predict(own).tolist()):
        assert fidelity(idt, other, own) == expected
        assert fidelity(other, idt, own) == expected
    assert fidelity(idt, teacher, iter(data(60))) == expected
    assert fidelity(teacher, teacher, own) == 1.0
    labels = torch.from_numpy(teacher.predict(own))
    assert fidelity(labels, teacher, own) == 1.0


def test_fidelity_refuses_what_cannot_be_compared(teacher: Teacher) -> None:
    own = graphs(60)
    signs = distill(
        teacher,
        own,
        np.where(own.sizes > 4, 1, -1),
        algorithm="layers",
        width=1,
        max_depth=3,
        random_state=0,
    )
    with pytest.raises(LabelError, match=r"Got \[-1, 1\] and \[0, 1\]; name those of a network"):
        fidelity(signs, teacher, own)
    texts = Teacher(teacher.module, classes=["a", "b"])
    with pytest.raises(LabelError, match="the same names of classes"):
        fidelity(teacher.predict(own), texts, own)
    with pytest.raises(LabelError, match="Got 60 and 3 labels"):
        fidelity(teacher, [0, 1, 1], own)
    with pytest.raises(LabelError, match="array of labels is needed. Got int instead"):
        fidelity(3, teacher, own)
    with pytest.raises(ParameterError, match="average must be one of 'micro', 'macro', None"):
        fidelity(teacher, teacher, own, average="weighted")  # type: ignore[call-overload]
    with pytest.raises(LabelError, match="At least one row is needed"):
        fidelity([], [], None)
    # Labels that happen to miss a class each are fine.
    assert fidelity([0, 1], [1, 2], None) == 0.0
