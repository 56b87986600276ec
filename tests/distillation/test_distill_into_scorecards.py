"""Networks as scorecards: what is followed, and that everything around distillation knows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor, nn
from torch_geometric.nn import global_add_pool

from distill_networks import balanced_zoo, data, graphs, node_model
from gnn2logic import (
    ScorecardClassifier,
    ScorecardDistiller,
    ScorecardNodeClassifier,
    ScorecardRegressor,
    distill,
    fidelity,
    find_disagreements,
    parse,
    random_graphs,
    write_shards,
)
from gnn2logic.distillation import Teacher, disagreements
from gnn2logic.distillation.soft_labels import log_shares
from gnn2logic.exceptions import LabelError, ParameterError, UnsupportedInputError
from gnn2logic.models import to_gnn

OPTIONS: dict[str, Any] = {"max_lines": 4, "n_layers": 0, "random_state": 0}


CLASSES = np.array(["neg", "pos"])


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    # Its classes are not in the order of the alphabet, as those of estimators are.
    return Teacher(balanced_zoo("GIN"), classes=["pos", "neg"])


def same(first: Any, second: Any) -> bool:
    return bool(first.path_ == second.path_ and (first.classes_ == second.classes_).all())


def test_a_card_follows_how_sure_the_network_is(teacher: Teacher) -> None:
    own = graphs(80)
    card = distill(teacher, own, into="scorecard", **OPTIONS)
    answers = teacher.run(own)
    # One column of logits is for the second class in the order of the alphabet: "pos", the first.
    lead = answers.scores[:, 0] - answers.scores[:, 1]
    by_hand = ScorecardClassifier(**OPTIONS).fit(own, answers.labels, scores=lead)
    assert isinstance(card, ScorecardClassifier)
    assert card.classes_.tolist() == ["neg", "pos"]
    assert card.card_.lines == by_hand.card_.lines
    assert fidelity(card, teacher, own) > 0.7
    # The answers alone are something else.
    assert not same(card, ScorecardClassifier(**OPTIONS).fit(own, answers.labels))


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_networks_that_are_never_sure_are_followed_as_well(scale: float) -> None:
    own = graphs(200)
    many, few = (parse(text).evaluate(own) for text in ("1 U0 > 2", "1 U1 > 2"))
    scores = 2.0 * many + few - 1.5
    card = ScorecardClassifier(**OPTIONS).fit(own, scores > 0, scores=scale * scores[:, None])
    assert len(card.lines_) == 2
    assert card.score(own, scores > 0) == 1


def test_labels_count_as_much_as_the_network(teacher: Teacher) -> None:
    own = graphs(80)
    truth = np.where(own.sizes > 4, "pos", "neg")
    card = distill(teacher, own, truth, into="scorecard", **OPTIONS)
    chances = teacher.run(own).probabilities[:, ::-1]
    half = (chances + (truth[:, None] == np.array(["neg", "pos"]))) / 2
    by_hand = ScorecardClassifier(**OPTIONS).fit(own, truth, scores=np.log(half))
    assert same(card, by_hand)
    alone = distill(teacher, own, truth, into="scorecard", variant="true", **OPTIONS)
    assert same(alone, ScorecardClassifier(**OPTIONS).fit(own, truth))
    assert not same(alone, card)


def test_log_shares_leave_labels_of_others_and_zero_alone() -> None:
    shares = np.array([[1.0, 0.0], [0.2, 0.8]])
    result = log_shares(np.array([0, 1]), shares, [7, 1])
    assert np.isfinite(result).all()
    assert np.exp(result).round(6).tolist() == [[1.0, 0.0], [0.1, 0.9]]
    assert shares.tolist() == [[1.0, 0.0], [0.2, 0.8]]


def test_a_store_keeps_answers_and_they_are_enough(teacher: Teacher, tmp_path: Path) -> None:
    own = graphs(60)
    store = write_shards(tmp_path / "shards", own, shard_nodes=150)
    card = distill(teacher, store, into="scorecard", **OPTIONS)
    answers = teacher.predict(own)
    # As if the network were always sure.
    certain = log_shares(CLASSES, (answers[:, None] == CLASSES).astype(np.float64))
    by_hand = ScorecardClassifier(**OPTIONS).fit(own, answers, scores=certain)
    assert card.card_.lines == by_hand.card_.lines
    assert (card.predict(store) == by_hand.predict(own)).all()
    truth = np.where(own.sizes > 4, "pos", "neg")
    labelled = write_shards(tmp_path / "labelled", own, truth, shard_nodes=150)
    both = distill(teacher, labelled, variant="gnn+true", into="scorecard", **OPTIONS)
    assert both.classes_.tolist() == ["neg", "pos"]
    assert both.score(labelled) > 0.6


def test_nodes() -> None:
    own, network = graphs(30), Teacher(node_model())
    mask = np.random.default_rng(0).random(own.n_nodes) < 0.7
    few: dict[str, Any] = {"max_lines": 3, "n_layers": 0, "random_state": 0}
    card = distill(network, own, into="scorecard", mask=mask, **few)
    assert isinstance(card, ScorecardNodeClassifier)
    assert card.classes_.tolist() == network.run(own).classes.tolist()
    assert len(disagreements(card, network, own)) == int(
        (card.predict(own) != network.predict(own)).sum()
    )


class CountedKinds(nn.Module):
    """Adds up nodes: +2 for those in U0, -3 for those in U1."""

    def forward(self, x: Tensor, batch: Tensor) -> Tensor:
        total: Tensor = global_add_pool(x @ torch.tensor([[2.0], [-3.0]]), batch)
        return total


def test_what_adds_up_is_followed_where_one_rule_is_not() -> None:
    own = random_graphs(600, sizes=9, random_state=0)
    unseen = random_graphs(400, sizes=9, random_state=1)
    network = Teacher(CountedKinds(), outputs="logit", layers=lambda _, batch: [batch.x])
    settings: dict[str, Any] = {"n_layers": 0, "random_state": 0}
    card = distill(network, own, into="scorecard", **settings)
    assert fidelity(card, network, unseen) > 0.9
    assert card.decision_function(unseen).shape == (400,)


def test_disagreements_and_counterexamples_are_called_by_their_form() -> None:
    own = random_graphs(100, sizes=5, random_state=0)
    truth = parse("1 U0 > 2").evaluate(own).astype(int)
    card = ScorecardClassifier(max_lines=1, n_layers=0, random_state=0).fit(own, truth)
    network = to_gnn(parse("1 U0 > 1"))
    some = disagreements(card, network, own[[0, 1, 3, 4]])
    assert str(some).splitlines()[1] == "graph  nodes  edges  scorecard  teacher"
    assert [item.model for item in some] == [0, 0]
    smallest = find_disagreements(card, network, own, n_disagreements=1, random_state=0)[0]
    assert smallest.graph.column("U0").tolist() == [True, True]


def test_the_distiller_is_an_estimator(teacher: Teacher) -> None:
    own = graphs(60)
    few = {"scorecard__max_lines": 2, "scorecard__n_layers": 0}
    distiller = ScorecardDistiller(teacher).set_params(**few)
    copied = clone(distiller)
    assert copied.teacher is distiller.teacher
    assert copied.scorecard is not distiller.scorecard
    fitted = copied.set_params(scorecard__random_state=0).fit(own)
    direct = distill(teacher, own, into="scorecard", max_lines=2, n_layers=0, random_state=0)
    assert same(fitted.scorecard_, direct)
    assert fitted.score(own) == fidelity(fitted.scorecard_, teacher, own)
    assert (fitted.predict(own) == fitted.scorecard_.predict(own)).all()
    assert fitted.path_ is fitted.scorecard_.path_
    assert str(fitted) == str(fitted.scorecard_)
    assert (fitted.formula("pos").evaluate(own) == (fitted.predict(own) == "pos")).all()
    # Labels that somebody hands over are not used by the default variant.
    again = clone(copied).fit(own, np.where(own.sizes > 4, "pos", "neg"))
    assert same(again.scorecard_, fitted.scorecard_)


def test_what_is_refused(teacher: Teacher) -> None:
    own = graphs(30)
    with pytest.raises(ParameterError, match="into must be one of 'idt', 'scorecard'"):
        distill(teacher, own, into="tree")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="'max_size' is not a parameter"):
        distill(teacher, own, into="scorecard", max_size=3)
    with pytest.raises(LabelError, match="learns from labels"):
        distill(teacher, own, into="scorecard", variant="true")
    with pytest.raises(ParameterError, match="scorecard must be a ScorecardClassifier or"):
        ScorecardDistiller(teacher, 3).fit(own)
    with pytest.raises(ParameterError, match="mask is for teachers that classify nodes"):
        distill(teacher, data(30), into="scorecard", mask=[True] * own.n_nodes)
    numbers = ScorecardRegressor(max_lines=1, n_layers=0).fit(own, own.sizes)
    with pytest.raises(UnsupportedInputError, match="This model predicts numbers"):
        disagreements(numbers, teacher, own)


def test_a_quantity_becomes_a_scorecard_of_numbers() -> None:
    own = random_graphs(300, sizes=9, random_state=0)
    network = Teacher(CountedKinds(), layers=lambda _, batch: [batch.x])
    card: Any = distill(
        network, own, into="scorecard", task="regression", n_layers=0, max_lines=8, random_state=0
    )
    assert isinstance(card, ScorecardRegressor)
    assert fidelity(card, network, own) > 0.8
    settings: dict[str, Any] = {"n_layers": 0, "max_lines": 4, "random_state": 0}
    robust: Any = distill(
        network, own, into="scorecard", task="regression", loss="absolute", **settings
    )
    assert robust.loss == "absolute"
    assert fidelity(robust, network, own) > 0.6
