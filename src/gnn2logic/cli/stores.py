"""Shard stores as commands read them: one shard in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.cli.data import numbers_in
from gnn2logic.cli.formula_checks import FormulaCheck, class_scores
from gnn2logic.cli.options import DataSplit
from gnn2logic.cli.subjects import Model, load_classes, share
from gnn2logic.cli.teachers import named_teacher
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.logic import Formula
from gnn2logic.reporting.comparison import Comparison
from gnn2logic.storage import ShardStore, open_shards

__all__ = [
    "check_store",
    "compare_on_store",
    "learn_from_store",
    "learner",
    "open_store",
    "scores_on_store",
]


def open_store(path: str, options: Iterable[str] | None) -> ShardStore:
    """Open a store for a command; it was written already, so no options of data sets apply."""
    if options:
        raise ParameterError("--data is for data sets. A shard store is read as it was written.")
    return open_shards(path)


def compare_on_store(
    model: Path, store: ShardStore, split: DataSplit, target: str | None = None
) -> Comparison:
    """Return what a model says about a split of a store; classes are compared as texts."""
    idt = load_classes(model, target)
    level = idt.level
    predicted = idt.predict(store).astype(str)
    truth = store.y if store.label_level == level else None
    teacher = store.teacher_labels if store.teacher_label_level == level else None
    known = [labels.astype(str) for labels in (truth, teacher) if labels is not None]
    of_model = set(idt.classes_.astype(str).tolist())
    every = of_model.union(*(labels.tolist() for labels in known))
    for labels in known:
        if not of_model & set(labels.tolist()):
            raise LabelError(
                f"The model must have classes of the store, {', '.join(np.unique(labels))}. "
                f"Its classes are {', '.join(sorted(of_model))}."
            )
    rows = _rows(store, split, level)
    # AUROC is about the second of two classes.
    is_binary = len(idt.classes_) == len(every) == 2
    certain = idt.predict_proba(store)[rows, 1] if is_binary else None
    return Comparison(
        level,
        {name: name for name in sorted(every)},
        rows,
        predicted[rows],
        None if truth is None else truth.astype(str)[rows],
        None if teacher is None else teacher.astype(str)[rows],
        certain,
    )


def check_store(
    formula: Formula, store: ShardStore, split: DataSplit, reader: Model | None = None
) -> FormulaCheck:
    """Evaluate a formula on a split of a store and compare it with every class."""
    if reader is not None:
        raise ParameterError(
            "--model is for data sets. A shard store has predicates of its own already: "
            "write it with the encoder of the model."
        )
    by_shard = [(formula.evaluate(batch, level="node"), batch.sizes.copy()) for batch in store]
    nodes, sizes = (np.concatenate(arrays) for arrays in zip(*by_shard, strict=True))
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    numbers = _rows(store, split, "graph")
    chosen = np.repeat(np.isin(np.arange(store.n_graphs), numbers), sizes)
    graphs = np.logical_and.reduceat(nodes, ptr[:-1])[numbers]
    labels: npt.NDArray[Any] = np.full(len(numbers), "")
    if store.label_level == "graph" and (y := store.y) is not None:
        labels = y[numbers].astype(str)
    names = [name for name in np.unique(labels).tolist() if name]
    return FormulaCheck(
        formula=formula,
        dataset_name=store.path.name,
        numbers=numbers,
        labels=labels,
        ptr=np.concatenate([[0], np.cumsum(sizes[numbers])]),
        graphs=graphs,
        nodes=nodes[chosen],
        scores=class_scores(graphs, labels, names),
    )


def _rows(store: ShardStore, split: DataSplit, level: str) -> npt.NDArray[np.int64]:
    """Return the graphs (or nodes) of a split; they are those of the data set it was made of."""
    if level == "node" or split is DataSplit.ALL:
        return np.arange(store.n_graphs if level == "graph" else store.n_nodes)
    y = store.y if store.label_level == "graph" else None
    codes = np.zeros(store.n_graphs, dtype=np.int64)
    if y is not None:
        codes = np.unique(y, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return numbers_in(split, codes, store.path.name)


def learn_from_store(
    store: ShardStore, teacher: str | None, variant: str, into: str, settings: dict[str, Any]
) -> Any:
    """Return a model that was learned from a store."""
    if variant == "true" and teacher is None:
        if store.label_level is None:
            raise LabelError("The store must have labels to learn from. It was written without.")
        return learner(into, store.label_level)().set_params(**settings).fit(store)
    if teacher is None:
        raise ParameterError(
            "--teacher must be given for a folder of shards: no network is trained on it. "
            "Or learn from its labels with --variant true."
        )
    from gnn2logic import distillation

    settings.pop("n_layers", None)
    network: Any = named_teacher(teacher)
    form: Any = into
    return distillation.distill(network, store, into=form, variant=variant, **settings)


def learner(into: str, level: str, *, numbers: bool = False) -> Any:
    """Return the estimator that learns a form of models for graphs, or for nodes."""
    from gnn2logic import learning

    if numbers:
        return learning.IDTRegressor if into == "idt" else learning.ScorecardRegressor
    if into == "idt":
        return learning.IDTClassifier if level == "graph" else learning.IDTNodeClassifier
    return learning.ScorecardClassifier if level == "graph" else learning.ScorecardNodeClassifier


def scores_on_store(store: ShardStore, model: Any) -> list[dict[str, Any]]:
    """Return accuracy and fidelity on all of a store."""
    level = model.level
    predicted = model.predict(store)
    truth = store.y if store.label_level == level else None
    teacher = store.teacher_labels if store.teacher_label_level == level else None
    return [
        {
            "split": "all",
            "graphs": store.n_graphs,
            "rule_accuracy": share(predicted, truth),
            "network_accuracy": share(teacher, truth),
            "fidelity": share(predicted, teacher),
        }
    ]
