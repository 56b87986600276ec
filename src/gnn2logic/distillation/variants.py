"""`distill`: from a network and graphs to an Iterated Decision Tree, or to a scorecard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from torch_geometric.data import Data

from gnn2logic._notices import telling_caller
from gnn2logic._validation import check_choice, to_numpy
from gnn2logic.distillation.behaviour import read_of_edges
from gnn2logic.distillation.captured_answers import capture
from gnn2logic.distillation.conversion import as_teacher, teacher_of_classes
from gnn2logic.distillation.node_types import among
from gnn2logic.distillation.readings import NOT_ASKED
from gnn2logic.distillation.regression import Task, distill_numbers, is_regression
from gnn2logic.distillation.soft_labels import log_shares
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning import (
    IDTClassifier,
    IDTNodeClassifier,
    IDTNodeRegressor,
    IDTRegressor,
    MultiTargetEstimator,
    ScorecardClassifier,
    ScorecardNodeClassifier,
    ScorecardNodeRegressor,
    ScorecardRegressor,
)
from gnn2logic.models.pyg_data import pyg_graphs
from gnn2logic.storage import ShardStore

__all__ = ["VARIANTS", "Form", "distill", "fit_to_teacher", "short_variant"]

# The names in the paper and their short forms.
VARIANTS = {"gnn": "IDT(GNN)", "gnn+true": "IDT(GNN+True)", "true": "IDT(True)"}

Form = Literal["idt", "scorecard"]
Student = IDTClassifier | IDTNodeClassifier | ScorecardClassifier | ScorecardNodeClassifier
NumberStudent = IDTRegressor | IDTNodeRegressor | ScorecardRegressor | ScorecardNodeRegressor
_STUDENTS: dict[str, dict[str, Any]] = {
    "idt": {"graph": IDTClassifier, "node": IDTNodeClassifier},
    "scorecard": {"graph": ScorecardClassifier, "node": ScorecardNodeClassifier},
}


@overload
def distill(
    teacher: object,
    graphs: object,
    y: object = None,
    *,
    into: Literal["idt"] = "idt",
    variant: str | None = None,
    task: Task = "auto",
    mask: object = None,
    counterexamples: object = None,
    time_limit: float | None = None,
    **params: Any,
) -> IDTClassifier | IDTNodeClassifier | IDTRegressor | IDTNodeRegressor: ...


@overload
def distill(
    teacher: object,
    graphs: object,
    y: object = None,
    *,
    into: Literal["scorecard"],
    variant: str | None = None,
    task: Task = "auto",
    mask: object = None,
    counterexamples: object = None,
    time_limit: float | None = None,
    **params: Any,
) -> (
    ScorecardClassifier | ScorecardNodeClassifier | ScorecardRegressor | ScorecardNodeRegressor
): ...


@overload
def distill(
    teacher: object,
    graphs: object,
    y: object = None,
    *,
    into: Form = "idt",
    task: Task = "auto",
    mask: object = None,
    targets: Sequence[str],
    **params: Any,
) -> MultiTargetEstimator: ...


def distill(
    teacher: object,
    graphs: object,
    y: object = None,
    *,
    into: Form = "idt",
    variant: str | None = None,
    task: Task = "auto",
    mask: object = None,
    counterexamples: object = None,
    time_limit: float | None = None,
    targets: object = None,
    **params: Any,
) -> Student | NumberStudent | MultiTargetEstimator:
    """Distil a trained network into rules, or into a scorecard.

    By default short rules are searched that tell the answers of the network about whole graphs;
    what the paper's layers learn from its node representations joins the search.
    With ``algorithm="layers"`` every inner layer is fitted to the node representations of a layer
    of the network, and the final layer to labels, as in the paper.

    A scorecard adds up the points of a few lines. It follows how sure the network is of every
    class, not the answers alone; the answers that a store keeps are all that is known there.

    Parameters
    ----------
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    graphs : PyG graphs, anything that `gnn2logic.as_batch` reads, or a ShardStore
        What the teacher says about a store is kept there, see `capture`.
    y : array, optional
        True labels of the graphs, or of all nodes. Without them the classes that the teacher
        predicts are learned. For a store they may be left out if it has labels.
    into : {"idt", "scorecard"}
        What to make of the network: rules, or lines with points.
    variant : str, optional
        By its name in the paper, or in short:

        - ``"IDT(GNN)"`` or ``"gnn"``: rules, or the final layer, from what the teacher says. This
          is the default without labels. ``classes_`` are all classes of the teacher.
        - ``"IDT(GNN+True)"`` or ``"gnn+true"``: rules, or the final layer, from the labels; node
          representations take part. A scorecard takes the mean of labels and of what the teacher
          says, and no node representations. This is the default with labels.
        - ``"IDT(True)"`` or ``"true"``: everything from the labels. Of the teacher only the number
          of layers is used, and for a scorecard not even that.
    task : {"auto", "classes", "regression"}
        ``"regression"``: the one number that the network returns for every graph or node is a
        quantity, and rules (or a scorecard) that predict numbers are learned from it. ``"auto"``:
        classes, unless the network keeps a loss for quantities, such as ``criterion=MSELoss()``.
    mask : array of bool, optional
        For node tasks: the nodes to learn from.
    counterexamples : int, "all", or sequence of Disagreement or PyG graphs, optional
        Graphs to learn from as well, such as ``certify(...).counterexamples``. A whole number: so
        many times, at most, graphs are searched on which rule and teacher differ (see
        `find_disagreements`), and the rule is learned again with these, until none are found.
        ``"all"``: as often as any are found. For IDT(GNN), because only the teacher has labels for
        them.
    time_limit : float, optional
        Seconds after which no more counterexamples are searched. What is being learned then is
        learned to its end, for which ``max_time`` is the limit.
    targets : sequence of str, optional
        For a network with several outputs that are answers to different questions: what each of
        them is called. Every target gets a model of its own, of classes 0 and 1, or of numbers for
        ``task="regression"``. See `MultiTargetEstimator`.
    **params
        Parameters of `IDTClassifier`, such as ``max_size`` or ``random_state``, or of
        `ScorecardClassifier`, such as ``max_lines``.

    Returns
    -------
    IDTClassifier, IDTNodeClassifier, ScorecardClassifier, IDTRegressor or the like
        Whether the rows that the teacher returns are graphs or nodes decides which. With `targets`
        a `MultiTargetEstimator` of these.

    Warns
    -----
    TeacherWarning
        If the teacher does what an IDT cannot follow, see `Teacher.check`.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.models import GNNClassifier
    >>> graphs = gl.random_graphs(200, sizes=7, random_state=0)
    >>> truth = gl.parse("1 U1 > 1/2").evaluate(graphs)
    >>> gnn = GNNClassifier(n_layers=1, hidden=16, lr=0.01, random_state=0).fit(graphs, truth)
    >>> idt = distill(gnn, graphs, random_state=0)
    >>> bool((idt.predict(graphs) == gnn.predict(graphs)).mean() > 0.95)
    True
    >>> card = distill(gnn, graphs, into="scorecard", max_lines=5, random_state=0)
    >>> bool((card.predict(graphs) == gnn.predict(graphs)).mean() > 0.95)
    True
    """
    check_choice("into", into, tuple(_STUDENTS))
    network = as_teacher(teacher)
    check_choice("task", task, ("auto", "classes", "regression"))
    if targets is not None:
        from gnn2logic.distillation.several_targets import distill_targets

        others = {"y": y, "variant": variant, "counterexamples": counterexamples}
        return distill_targets(network, graphs, targets, task, mask, params, others, into=into)
    if is_regression(task, network, y):
        if variant is not None or counterexamples is not None:
            raise ParameterError(
                "variant and counterexamples are about classes. Leave them out for a network "
                "whose output is a quantity, or say task='classes'."
            )
        numbers: NumberStudent = distill_numbers(network, graphs, y, mask, params, into=into)
        return numbers
    if variant is None:
        variant = "gnn" if y is None else "gnn+true"
    short = short_variant(variant)
    if short == "gnn" and y is not None:
        raise ParameterError(
            "True labels must not be given for IDT(GNN), which learns what the teacher predicts. "
            "Leave y out, or choose IDT(GNN+True)."
        )
    # Unknown names are told before the teacher is asked, which takes time.
    given = _STUDENTS[into]["graph"]().set_params(**params).get_params(deep=False)
    fitted: Student
    if counterexamples is not None:
        from gnn2logic.distillation.corrections import distill_with_counterexamples

        if short != "gnn" or mask is not None or isinstance(graphs, ShardStore):
            raise ParameterError(
                "counterexamples are for IDT(GNN) on graphs in memory, without labels and mask: "
                "only the teacher has labels for them."
            )
        fitted = distill_with_counterexamples(
            network, graphs, counterexamples, given, into=into, time_limit=time_limit
        )
    elif time_limit is not None:
        raise ParameterError(
            "time_limit is for the search for counterexamples, which was not asked for: say "
            "counterexamples='all'. To limit the search for rules, give max_time."
        )
    else:
        fitted = fit_to_teacher(network, graphs, y, short, given, into=into, mask=mask)
    return fitted


def short_variant(variant: object) -> str:
    """Return the short name of a variant."""
    for short, name in VARIANTS.items():
        if isinstance(variant, str) and variant.lower() in (short, name.lower()):
            return short
    raise ParameterError(
        f"variant must be one of {', '.join(map(repr, (*VARIANTS.values(), *VARIANTS)))}. "
        f"Got {variant!r} instead."
    )


def fit_to_teacher(
    teacher: Teacher,
    graphs: object,
    labels: object,
    variant: str,
    params: dict[str, Any],
    *,
    into: Form = "idt",
    level: str | None = None,
    **fit_params: Any,
) -> Any:
    """Fit an estimator with these parameters to what a teacher says about graphs.

    Parameters
    ----------
    into : {"idt", "scorecard"}
        Which estimator.
    level : {"graph", "node"}, optional
        What the rows of the teacher must be.
    **fit_params
        ``mask`` and ``sample_weight`` of the estimator; those that are None are left out.
    """
    stored = isinstance(graphs, ShardStore)
    if variant != "gnn" and labels is None and not stored:
        raise LabelError(f"{VARIANTS[variant]} learns from labels. Got None instead.")
    if into == "idt":
        _check_layers(variant, params)
    if not stored:
        graphs = read_once(graphs)
        fit_params["mask"] = among(fit_params.get("mask"), teacher.asked_nodes(graphs))
    # What a network returns is learned from only if it is kept in a store, if there are no labels,
    # or if a scorecard follows it.
    is_read = variant == "gnn" or (variant != "true" and (stored or into == "scorecard"))
    teacher = teacher_of_classes(teacher, _n_classes(labels, graphs) if is_read else NOT_ASKED)
    answers = _ask(teacher, graphs, variant, params.get("encoder"), with_layers=into == "idt")
    level = _level(answers, level, fit_params.get("mask"))
    given = {name: value for name, value in fit_params.items() if value is not None}
    student: Any = _STUDENTS[into][level](**params)
    if into == "scorecard" and variant != "true":
        truth = None if variant == "gnn" else student._given_labels(labels, graphs)
        if len(answers.classes) > 1:
            given["scores"] = log_shares(answers.classes, answers.probabilities, truth)
            given["classes"] = answers.classes
    elif variant == "true":
        if into == "idt" and student.n_layers is None:
            student.n_layers = answers.n_layers
    else:
        given["activations"] = answers.activations
    if variant == "gnn":
        given["classes"] = answers.classes
        labels = answers.labels
    return telling_caller(lambda: student.fit(graphs, labels, **given))


def _check_layers(variant: str, params: dict[str, Any]) -> None:
    searches = params.get("algorithm", "search") == "search"
    if variant != "true" and not searches and params.get("n_layers") is not None:
        raise ParameterError(
            f"n_layers must be None for {VARIANTS[variant]}: there are as many layers as the "
            f"teacher has. Got {params['n_layers']!r} instead."
        )


def _level(answers: _Answers, wanted: str | None, mask: object) -> str:
    """Return whether graphs or nodes are classified."""
    level = answers.level
    if wanted is None:
        level = "node" if answers.either_level and mask is not None else answers.level
    elif answers.level == wanted or answers.either_level:
        level = wanted
    else:
        raise ParameterError(
            f"The teacher must classify {wanted}s, as the estimator does. It classifies "
            f"{answers.level}s; give an estimator for these, such as IDTNodeClassifier() for nodes."
        )
    if level == "graph" and mask is not None:
        raise ParameterError(
            "mask is for teachers that classify nodes. This one classifies graphs."
        )
    return level


def _n_classes(labels: object, graphs: object) -> int | None:
    """Return how many classes the labels have, if there are any; bad ones are refused later."""
    if labels is None and isinstance(graphs, ShardStore):
        labels = graphs.y
    values: Any = to_numpy(labels)
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, list | tuple) or any(
        isinstance(label, list | tuple) for label in listed
    ):
        return None
    return len({str(label) for label in listed})


@dataclass(frozen=True)
class _Answers:
    """What is learned from a teacher; activations as `fit` takes them."""

    level: str
    either_level: bool
    n_layers: int
    labels: Any
    classes: Any
    probabilities: Any
    activations: Any


def _ask(
    teacher: Teacher, graphs: object, variant: str, encoder: object, *, with_layers: bool
) -> _Answers:
    if isinstance(graphs, ShardStore):
        if variant != "true":
            capture(teacher, graphs)
            level, labels = graphs.teacher_label_level, graphs.teacher_labels
            classes = np.asarray(graphs.teacher_classes)
            assert level is not None
            assert labels is not None
            return _Answers(
                level,
                teacher.level == "auto" and graphs.n_nodes == graphs.n_graphs,
                graphs.n_activation_layers,
                labels,
                classes,
                # A store keeps answers alone.
                (labels[:, None] == classes).astype(np.float64),
                "stored",
            )
        encoder = graphs.encoder
        # One shard shows how many layers there are.
        graphs = graphs.shard(0).load()
    asked = _decisive_graph(graphs) if variant == "true" else graphs
    answers = teacher.run(asked, activations=with_layers)
    teacher.check(graphs, **read_of_edges(encoder))
    return _Answers(
        answers.level,
        answers.either_level,
        len(answers.activations),
        answers.labels,
        answers.classes,
        answers.probabilities,
        answers.activations,
    )


def _decisive_graph(graphs: object) -> Data:
    """Return one graph, with two nodes or more if there is one: graphs and nodes then differ."""
    items = pyg_graphs(graphs, typed=True)
    return next((data for data in items if data.num_nodes > 1), items[0])
