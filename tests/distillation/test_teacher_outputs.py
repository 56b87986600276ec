"""Which outputs are classes, which are refused, and what users may say about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn

import gnn2logic as gl
from distill_networks import OneLogit, Pooled, balanced_zoo, data, graphs, node_model, seeded, zoo
from gnn2logic import Teacher
from gnn2logic.exceptions import TeacherError, TeacherWarning

OWN = graphs(60)


class Behind(nn.Module):
    """A network and what comes behind its last layer; attributes tell its task."""

    def __init__(self, network: Pooled, change: Any, **attributes: Any) -> None:
        super().__init__()
        self.network = network
        self.change = change
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        return self.change(self.network(x, edge_index, batch))


def same(scores: Any) -> Any:
    return scores


def into_unit(scores: Any) -> Any:
    """Logits that happen to lie between 0 and 1 and touch both."""
    return (scores - scores.min()) / (scores.max() - scores.min())


def balanced(n_outputs: int, change: Any = same, **attributes: Any) -> Behind:
    """A network whose columns are below and above 0 about equally often, and clearly so."""
    network = balanced_zoo("GIN", n_outputs)
    scores = Teacher(network, outputs="scores" if n_outputs > 1 else "logit").run(OWN).scores
    with torch.no_grad():
        factor = 4 / torch.from_numpy(scores.std(axis=0))
        network.head.weight.mul_(factor[:, None])
        network.head.bias.mul_(factor)
    return Behind(network, change, **attributes)


def raw(n_outputs: int) -> Any:
    """What the balanced network says before anything is done to it."""
    teacher = Teacher(balanced(n_outputs), outputs="scores" if n_outputs > 1 else "logit")
    return teacher.run(OWN, activations=False).scores


# What is accepted ---------------------------------------------------------------------------------


def gated(scores: Any) -> Any:
    return scores * torch.sigmoid(scores).detach()


@pytest.mark.parametrize("n_outputs", [2, 3, 12])
@pytest.mark.parametrize(
    "change",
    [same, into_unit, torch.relu, gated, lambda s: s.softmax(1), lambda s: s.log_softmax(1)],
)
def test_ordinary_classifiers(n_outputs: int, change: Any) -> None:
    module = balanced(n_outputs, change)
    expected = change(torch.from_numpy(raw(n_outputs))).argmax(1)
    if change is into_unit:
        with pytest.warns(
            TeacherWarning, match=f"{n_outputs} numbers from 0 to 1.*outputs='scores'"
        ):
            found = Teacher(module).predict(OWN)
        assert np.array_equal(found, Teacher(module, outputs="scores").predict(OWN))
    else:
        found = Teacher(module).predict(OWN)
    assert np.array_equal(found, expected)
    # Untrained ones have small outputs, and all may be between 0 and 1.
    untrained = Behind(zoo("GCN", n_outputs), lambda s: change(s).clamp(0, 1) * 0.9)
    assert len(Teacher(untrained).predict(OWN)) == 60


@pytest.mark.parametrize(
    "change",
    [
        lambda z: torch.sigmoid(torch.cat([-z, z], dim=1)),
        lambda z: torch.cat([torch.sigmoid(-z), torch.sigmoid(z)], dim=1),
        lambda z: torch.sigmoid(torch.cat([-z - 0.3, z], dim=1) / 40),
    ],
)
def test_two_sigmoids_of_exclusive_classes(change: Any) -> None:
    module = balanced(1, change)
    assert np.array_equal(Teacher(module).predict(OWN), change(torch.from_numpy(raw(1))).argmax(1))


@pytest.mark.parametrize(
    "change",
    [
        torch.sigmoid,
        nn.Sigmoid(),
        lambda z: z.sigmoid().squeeze(-1),
        lambda z: torch.special.expit(z)[:, 0],
        lambda z: torch.softmax(torch.cat([0 * z, z], dim=1), dim=1)[:, 1],
        lambda z: torch.sigmoid(z).double().clone(),
    ],
)
def test_one_sigmoid_is_a_binary_task(change: Any) -> None:
    logits = raw(1)[:, 0]
    assert 0.2 < (logits > 0).mean() < 0.8
    teacher = Teacher(balanced(1, change), classes=["no", "yes"], batch_size=7)
    assert np.array_equal(teacher.predict(OWN), np.where(logits > 0, "yes", "no"))
    np.testing.assert_allclose(teacher.predict_proba(OWN)[:, 1], expit(logits), atol=1e-4)
    assert np.array_equal(Teacher(balanced(1, change)).predict(OWN), (logits > 0).astype(int))
    tree = gl.distill(balanced(1, change), OWN, algorithm="layers", width=2, random_state=0)
    assert gl.fidelity(tree, balanced(1, change), OWN) > 0.8


def test_sure_probabilities_are_finite() -> None:
    module = balanced(1, lambda z: torch.sigmoid(1000 * z))
    answers = Teacher(module).run(OWN)
    assert np.isfinite(answers.scores).all()
    assert np.array_equal(answers.labels, (raw(1)[:, 0] > 0).astype(int))
    assert answers.probabilities.min() < 1e-9


def test_truth_values_need_no_explanation() -> None:
    """0 and 1, and -1 and 1, mean the same however they are read."""
    for change in (lambda z: (z > 0).float(), lambda z: z.sign(), lambda z: (z > 0)[:, 0]):
        found = Teacher(balanced(1, change)).predict(OWN)
        assert np.array_equal(found, (raw(1)[:, 0] > 0).astype(int))


def test_compiled_networks_are_not_watched() -> None:
    class OptimizedModule(Behind):
        """Named as those that torch.compile makes."""

    module = OptimizedModule(balanced(1).network, torch.sigmoid)
    with pytest.raises(TeacherError, match="one number for each graph"):
        Teacher(module).predict(OWN)
    found = Teacher(module, outputs="probability").predict(OWN)
    assert np.array_equal(found, (raw(1)[:, 0] > 0).astype(int))


# What is refused ----------------------------------------------------------------------------------


def test_one_number_of_any_size_must_be_explained() -> None:
    regressor = balanced(1, lambda z: 100 + 20 * z)
    with pytest.raises(
        TeacherError,
        match=r"one number for each graph, from .* task='regression'.*outputs='logit'.*sign",
    ):
        gl.distill(regressor, OWN)
    with pytest.raises(TeacherError, match="one number for each node"):
        Teacher(node_model_of_one()).predict(OWN)
    with pytest.raises(TeacherError, match="one number"):
        Teacher(balanced(1)).predict_proba(OWN)
    cut = Teacher(
        regressor,
        forward=lambda m, b: m(b.x, b.edge_index, b.batch) - 100,
        outputs="logit",
    )
    assert np.array_equal(cut.predict(OWN), (raw(1)[:, 0] > 0).astype(int))


def node_model_of_one() -> Any:
    from torch_geometric.nn.models import GCN

    return seeded(lambda: GCN(2, 6, num_layers=2, out_channels=1))


@pytest.mark.parametrize(
    "change",
    [
        torch.sigmoid,
        nn.Sigmoid(),
        lambda s: torch.cat([torch.sigmoid(own) for own in s.split(1, dim=1)], dim=1),
        lambda s: torch.stack([torch.sigmoid(own) for own in s.unbind(1)], dim=1),
        lambda s: nn.functional.hardsigmoid(s).float(),
    ],
)
def test_many_sigmoids_are_many_tasks(change: Any) -> None:
    many = balanced(12, change)
    with pytest.raises(
        TeacherError,
        match=r"returns 12 numbers.*each from a sigmoid; they do not sum.*targets=.*head\(0\)",
    ):
        gl.distill(many, OWN)
    scores = change(torch.from_numpy(raw(12))).numpy()
    told = Teacher(many, outputs="scores")
    assert np.array_equal(told.predict(OWN), scores.argmax(1))
    assert np.array_equal(Teacher(many, classes=range(12)).predict(OWN), scores.argmax(1))
    one = Teacher(many, forward=lambda m, b: m(b.x, b.edge_index, b.batch)[:, 3])
    assert np.array_equal(one.predict(OWN), (scores[:, 3] > 0.5).astype(int))
    assert np.array_equal(Teacher(many).head(3).predict(OWN), one.predict(OWN))
    # Rare answers: most rows have none.
    rare = Behind(balanced(12).network, lambda s: torch.sigmoid(s - 8))
    with pytest.raises(TeacherError, match="12 answers of yes or no"):
        Teacher(rare).predict(OWN)
    # Two independent tasks are on or off together often enough.
    with pytest.raises(TeacherError, match="2 answers of yes or no"):
        Teacher(balanced(1, lambda z: torch.sigmoid(torch.cat([z, z], 1)))).predict(OWN)
    # Three answers of which about one is yes sum to about 1 as well.
    three = Behind(zoo("GCN", 3), lambda s: torch.sigmoid(s - 0.7))
    with pytest.raises(TeacherError, match=r"3 answers of yes or no.*targets=.*head\(0\)"):
        Teacher(three).predict(OWN)


@pytest.mark.parametrize(
    ("n_outputs", "attributes", "message"),
    [
        (1, {"criterion": nn.MSELoss()}, "says criterion=MSELoss.*task='regression'"),
        (1, {"loss_fn": nn.functional.l1_loss}, "says loss_fn=l1_loss.*task='regression'"),
        (1, {"task_type": "regression"}, "says task_type='regression'"),
        (3, {"loss": nn.HuberLoss()}, "says loss=HuberLoss: its 3 numbers.*quantities"),
        (12, {"criterion": nn.BCEWithLogitsLoss()}, "says criterion=BCEWithLogitsLoss; they do"),
        (3, {"criterion": nn.BCEWithLogitsLoss()}, "BCEWithLogitsLoss.*3 answers of yes or no"),
        (12, {"problem_type": "multi_label_classification"}, "says problem_type=.*yes or no"),
        (12, {"task_type": "binary classification"}, "says task_type='binary.*yes or no"),
        (12, {"num_tasks": 12}, "says num_tasks=12.*yes or no"),
        (12, {"criterion": nn.MultiLabelSoftMarginLoss()}, "MultiLabelSoftMarginLoss.*yes or no"),
    ],
)
def test_what_a_network_says_of_itself(
    n_outputs: int, attributes: dict[str, Any], message: str
) -> None:
    module = balanced(n_outputs, **attributes)
    with pytest.raises(TeacherError, match=message):
        Teacher(module).predict(OWN)
    told = Teacher(module, outputs="scores" if n_outputs > 1 else "logit").run(OWN)
    np.testing.assert_allclose(told.scores, raw(n_outputs), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("n_outputs", "change", "attributes"),
    [
        (1, same, {"criterion": nn.BCEWithLogitsLoss()}),
        (1, same, {"task": "binary"}),
        (1, lambda z: 1 / (1 + (-z).exp()), {"loss": nn.BCELoss()}),
        (2, same, {"criterion": nn.CrossEntropyLoss()}),
        (12, torch.sigmoid, {"criterion": nn.CrossEntropyLoss()}),
        (3, same, {"problem_type": "single_label_classification", "num_tasks": 1}),
        # Only a loss that is the one of the network counts.
        (3, same, {"reconstruction": nn.MSELoss()}),
        (3, same, {"criterion": "mse", "task": "graph"}),
    ],
)
def test_what_a_network_says_of_itself_helps(
    n_outputs: int, change: Any, attributes: dict[str, Any]
) -> None:
    found = Teacher(balanced(n_outputs, change, **attributes)).predict(OWN)
    scores = raw(n_outputs)
    expected = scores.argmax(1) if n_outputs > 1 else (scores[:, 0] > 0).astype(int)
    assert np.array_equal(found, expected)


# What others know ---------------------------------------------------------------------------------


def test_labels_tell_that_one_number_is_a_logit() -> None:
    module = balanced(1)
    truth = (raw(1)[:, 0] > 0).astype(int)
    tree = gl.distill(module, OWN, truth, algorithm="layers", width=2, random_state=0)
    assert gl.fidelity(tree, module, OWN) == np.mean(tree.predict(OWN) == truth)
    assert gl.fidelity(module, truth, OWN) == 1
    with pytest.raises(TeacherError, match="one number"):
        gl.fidelity(module, module, OWN)
    assert len(gl.disagreements(tree, module, OWN)) == np.sum(tree.predict(OWN) != truth)
    assert gl.find_disagreements(tree, module, OWN, n_disagreements=1, budget=40).n_compared > 0
    told = gl.explain(tree, OWN[0], teacher=module).teacher
    assert told is not None
    assert told.label == truth[0]
    assert gl.explain(tree, OWN[0], teacher=Teacher(module)).teacher == told
    for teacher in (module, Teacher(module)):
        told_by = gl.report(tree, OWN, teacher=teacher).to_dict()["scores"]
        shares = [row["fidelity"] for row in told_by]
        assert pytest.approx(np.mean(tree.predict(OWN) == truth)) in shares
    # Labels for scoring tell as much.
    gl.IDTDistiller(module, gl.IDTClassifier(algorithm="layers", width=1, random_state=0)).fit(
        OWN, truth
    )
    # What is no sigmoid that anybody can see is told.
    hidden = balanced(1, lambda z: 1 / (1 + (-z).exp()))
    with pytest.warns(TeacherWarning, match="one number from 0 to 1.*outputs='probability'"):
        gl.fidelity(truth, hidden, OWN)
    assert gl.fidelity(truth, Teacher(hidden, outputs="probability"), OWN) == 1


def test_representations_may_come_from_any_task() -> None:
    """With labels, what the network returns is not learned from."""
    truth = np.arange(60) % 3
    for module in (balanced(1), balanced(12, torch.sigmoid), balanced(3, loss=nn.MSELoss())):
        for variant in ("gnn+true", "true"):
            tree = gl.distill(
                module, OWN, truth, algorithm="layers", variant=variant, width=1, random_state=0
            )
            assert tree.classes_.tolist() == [0, 1, 2]


def test_stores_tell_by_their_labels(tmp_path: Any) -> None:
    module = balanced(1)
    bare = gl.write_shards(tmp_path / "bare", OWN)
    with pytest.raises(TeacherError, match="one number"):
        gl.distill(module, bare, algorithm="layers", width=1, random_state=0)
    truth = (raw(1)[:, 0] > 0).astype(int)
    labelled = gl.write_shards(tmp_path / "labelled", OWN, truth)
    gl.distill(module, labelled, algorithm="layers", width=1, random_state=0)
    assert labelled.teacher_labels is not None
    assert np.mean(labelled.teacher_labels == truth) > 0.95


# What users say -----------------------------------------------------------------------------------


def test_bad_words_about_outputs() -> None:
    with pytest.raises(ValueError, match="outputs must be one of 'auto', 'scores', 'logit'"):
        Teacher(balanced(1), outputs="sigmoid")  # type: ignore[arg-type]
    with pytest.raises(TeacherError, match="outputs='scores' means two or more numbers.*returns 1"):
        Teacher(balanced(1), outputs="scores").predict(OWN)
    with pytest.raises(TeacherError, match="outputs='logit' means one number.*returns 3"):
        Teacher(balanced(3), outputs="logit").predict(OWN)
    with pytest.raises(TeacherError, match="from 0 to 1. The network returns numbers from -"):
        Teacher(balanced(1), outputs="probability").predict(OWN)


def test_a_squeezed_logit() -> None:
    module = seeded(lambda: OneLogit(squeeze=True))
    assert Teacher(module, outputs="logit").predict(OWN).shape == (60,)
    assert len(Teacher(node_model()).predict(data())) == graphs().n_nodes
