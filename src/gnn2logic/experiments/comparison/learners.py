"""Learning on one fold: a network that others learn from, and models that people can read."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.datasets import Dataset
from gnn2logic.distillation.answers import Answers
from gnn2logic.distillation.conversion import teacher_of_classes
from gnn2logic.distillation.user_functions import UserFunction
from gnn2logic.exceptions import (
    InterruptedSearchWarning,
    LabelError,
    LongRuleWarning,
    ParameterError,
    SingleClassWarning,
    TeacherError,
)
from gnn2logic.experiments.comparison.data import ComparedFold
from gnn2logic.experiments.comparison.names import NETWORKS, TEACHER, ComparedModel
from gnn2logic.experiments.comparison.settings import ComparisonSettings
from gnn2logic.experiments.networks import choose_network
from gnn2logic.experiments.plans import combinations
from gnn2logic.experiments.rows import Seconds
from gnn2logic.graphs import PredicateEncoder
from gnn2logic.graphs.structure_names import (
    check_families,
    structure_predicates,
    structure_relations,
)
from gnn2logic.learning import IDTClassifier, ScorecardClassifier

__all__ = [
    "LearnedModel",
    "LearnedNetwork",
    "card_look",
    "check_teacher",
    "encoder_for",
    "fit_whole",
    "learn_network",
    "learn_readable",
    "network_graphs",
    "train_by_user",
    "with_degrees",
]

Array = npt.NDArray[Any]
_NAMES = ("graphs", "validation", "random_state")
_TRAINS = (
    "a function of graphs, validation (lists of PyTorch Geometric graphs) and random_state that "
    "returns a network trained on them"
)


@dataclass(frozen=True)
class LearnedNetwork:
    """A network that was trained on a fold, and what it says about it.

    Parameters
    ----------
    known : Answers
        About the training part.
    tested : Answers
        About the test part, without node representations.
    tuned : dict
    seconds : Seconds
    """

    known: Answers
    tested: Answers
    tuned: dict[str, Any]
    seconds: Seconds


def check_teacher(teacher: str | None, models: Collection[ComparedModel]) -> None:
    """Find the function of ``--teacher`` before anything runs; it must be of use."""
    if teacher is None:
        return
    module, colon, function = teacher.rpartition(":")
    if not (colon and module and function):
        raise ParameterError(f"--teacher must be package.module:function. Got {teacher!r} instead.")
    if all(model.guide != TEACHER for model in models):
        raise ParameterError(
            f"--teacher is given, but none of the models learns from it. Add {TEACHER} or "
            f"search({TEACHER}) to the models, or leave --teacher out."
        )
    parameters = inspect.signature(UserFunction(teacher, _TRAINS).find()).parameters
    takes_all = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    if not takes_all and not set(_NAMES) <= set(parameters):
        raise ParameterError(
            f"--teacher {teacher} must be {_TRAINS}. It has the parameters "
            f"{', '.join(parameters) or 'none'}."
        )


def learn_network(
    name: str, fold: ComparedFold, settings: ComparisonSettings, seed: int, teacher: str | None
) -> LearnedNetwork:
    """Train a network on a fold, and ask it; width and learning rate are chosen on what it watches.

    The test part has no part in it.
    """
    conv = NETWORKS[name]
    train, test = (with_degrees(data, settings.degrees) for data in (fold.train, fold.test))
    tuned: dict[str, Any] = {}
    started = time.process_time()
    if conv is None:
        assert teacher is not None
        network = train_by_user(teacher, train, fold.validation, seed)
        tune_seconds = 0.0
    else:
        chosen = choose_network(
            conv,
            network_graphs(train),
            fold.train.y,
            {**settings.gnn, **getattr(settings, conv)},
            combinations(settings.gnn_grid),
            seed,
            fold.validation if fold.validation.any() else None,
        )
        network, tuned, tune_seconds = chosen.network, chosen.tuned, chosen.tune_seconds
    train_seconds = time.process_time() - started - tune_seconds
    asked = teacher_of_classes(network, fold.train.n_classes)
    started = time.process_time()
    known = asked.run(network_graphs(train))
    capture_seconds = time.process_time() - started
    tested = asked.run(network_graphs(test), activations=False)
    if known.level != "graph":
        raise TeacherError("The network of --teacher must classify graphs. It classifies nodes.")
    _check_classes(known, fold.train)
    seconds = Seconds(train=train_seconds, capture=capture_seconds, tune=tune_seconds)
    return LearnedNetwork(known, tested, tuned, seconds)


def with_degrees(data: Dataset, most: int) -> Dataset:
    """Return a data set whose nodes have something to read: degrees up to `most`, if nothing else.

    Rules need it not, they count neighbours by themselves. With 0 the data set stays as it is.
    """
    graphs = data.graphs
    if data.attributes is not None or graphs.names or not most:
        return data
    counts = np.minimum(np.asarray(graphs.adjacency.sum(axis=1)).ravel(), most)
    names = [*(f"degree={count}" for count in range(most)), f"degree>={most}"]
    return replace(
        data, graphs=graphs.with_predicates(counts[:, None] == np.arange(most + 1), names)
    )


def network_graphs(data: Dataset) -> Any:
    """Return what networks read: numbers at the nodes are not cut into predicates."""
    return data.graphs if data.attributes is None else data.to_pyg()


def train_by_user(
    teacher: str, train: Dataset, validation: npt.NDArray[np.bool_], seed: int
) -> Any:
    """Return the network that the function of ``--teacher`` trains on a fold."""
    parts: dict[bool, list[Any]] = {False: [], True: []}
    for graph, watched in zip(train.to_pyg(), validation.tolist(), strict=True):
        parts[watched].append(graph)
    return UserFunction(teacher, _TRAINS).call(
        graphs=parts[False], validation=parts[True], random_state=seed
    )


def _check_classes(answers: Answers, data: Dataset) -> None:
    known = set(range(data.n_classes))
    if not set(answers.classes.tolist()) <= known:
        raise LabelError(
            f"The network must have the class numbers of {data.name}, 0 to {data.n_classes - 1}. "
            f"It has {answers.classes.tolist()}."
        )


@dataclass(frozen=True)
class LearnedModel:
    """What a model says about the test part, and what it looks like.

    Parameters
    ----------
    predictions : array
    scores : array
        A column for each of the `classes`.
    classes : array
    size, depth, leaves, lines : int or None
        Symbols, nested modal parameters, leaves of a rule, lines of a scorecard.
    held_out : float or None
        How often models like this were right, within the training part, about what they were not
        learned from.
    text : str
        The model as people read it.
    fit_seconds : float
    """

    predictions: Array
    scores: Array
    classes: Array
    size: int | None
    depth: int | None
    leaves: int | None
    lines: int | None
    held_out: float | None
    text: str
    fit_seconds: float


def learn_readable(
    model: ComparedModel,
    fold: ComparedFold,
    guide: LearnedNetwork | None,
    settings: ComparisonSettings,
    seed: int,
) -> LearnedModel:
    """Learn a rule or a scorecard on the training part of a fold; each tunes itself within it."""
    encoder = encoder_for(model, fold, settings)
    fixed: dict[str, Any] = {"n_jobs": 1, "random_state": seed, "encoder": encoder, "verbose": 0}
    target: Array = fold.train.y
    given: dict[str, Any] = {"classes": np.arange(fold.train.n_classes)}
    if guide is not None:
        if not model.true_labels:
            target = guide.known.labels
        if model.form == "scorecard":
            given["scores"] = guide.known.scores
            given["classes"] = guide.known.classes
        else:
            given["activations"] = guide.known.activations
    estimator: Any = (
        ScorecardClassifier(**settings.scorecard, **fixed)
        if model.form == "scorecard"
        else IDTClassifier(algorithm=model.form, **getattr(settings, model.form), **fixed)
    )
    seconds = fit_whole(estimator, fold.train.inputs, target, **given)
    look = card_look if model.form == "scorecard" else _rule_look
    return LearnedModel(
        predictions=estimator.predict(fold.test.inputs),
        scores=estimator.predict_proba(fold.test.inputs),
        classes=estimator.classes_,
        fit_seconds=seconds,
        **look(estimator),
    )


def encoder_for(
    model: ComparedModel, fold: ComparedFold, settings: ComparisonSettings
) -> PredicateEncoder | None:
    """Return the encoder of a model with ``+structure``: shapes that the graphs do not name yet.

    Molecules have predicates for their rings, for example.
    """
    if not model.structure:
        return None
    graphs = fold.train.graphs
    named = {*graphs.names, *graphs.relations}
    families = [
        family
        for family in check_families(settings.structure)
        if not named & {*structure_predicates([family]), *structure_relations([family])}
    ]
    return PredicateEncoder(structure=families)


def fit_whole(estimator: Any, graphs: Any, target: Array, **given: Any) -> float:
    """Fit an estimator to the end, and return the seconds that it took."""
    started = time.process_time()
    with warnings.catch_warnings():
        # A network that always says the same is a result like any other, and so is a long rule.
        warnings.simplefilter("ignore", SingleClassWarning)
        warnings.simplefilter("ignore", LongRuleWarning)
        # An interrupted search gives what it has so far, which is no row: the run must end.
        warnings.simplefilter("error", InterruptedSearchWarning)
        try:
            estimator.fit(graphs, target, **given)
        except InterruptedSearchWarning:
            raise KeyboardInterrupt from None
    return time.process_time() - started


def card_look(card: Any) -> dict[str, Any]:
    """Return what a scorecard looks like, as in `LearnedModel`."""
    return {
        "size": card.card_.size,
        "depth": max((formula.modal_depth for formula in card.card_.conditions), default=0),
        "leaves": None,
        "lines": len(card.lines_),
        "held_out": card.path_.rows[card.path_.chosen].held_out,
        "text": str(card),
    }


def _rule_look(idt: Any) -> dict[str, Any]:
    rule = idt.rules_.chosen
    # The class with the longest formula is whatever the others are not.
    by_size = sorted(rule.formulas.items(), key=lambda item: item[1].size)
    shown = by_size[:-1] or by_size
    return {
        "size": rule.size,
        "depth": rule.modal_depth,
        "leaves": rule.n_leaves,
        "lines": None,
        "held_out": rule.held_out,
        "text": "\n".join(f"{label}: {formula}" for label, formula in shown),
    }
