"""Learning from a folder of shards: nothing is trained, and all of its graphs are learned from."""

from __future__ import annotations

from typing import Any

from gnn2logic.cli.scores import share
from gnn2logic.cli.teachers import named_teacher
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.storage import ShardStore

__all__ = ["learn_from_store", "scores_on_store"]


def learn_from_store(
    store: ShardStore, teacher: str | None, variant: str, n_layers: int, settings: dict[str, Any]
) -> Any:
    """Return a model that was learned from a store."""
    if variant == "true" and teacher is None:
        from gnn2logic.learning import IDTClassifier, IDTNodeClassifier

        if store.label_level is None:
            raise LabelError("The store must have labels to learn from. It was written without.")
        kind = IDTClassifier if store.label_level == "graph" else IDTNodeClassifier
        return kind(**({"n_layers": n_layers} | settings)).fit(store)
    if teacher is None:
        raise ParameterError(
            "--teacher must be given for a folder of shards: no network is trained on it. "
            "Or learn from its labels with --variant true."
        )
    from gnn2logic import distillation

    return distillation.distill(named_teacher(teacher), store, variant=variant, **settings)


def scores_on_store(store: ShardStore, model: Any) -> list[dict[str, Any]]:
    """Return accuracy and fidelity on all of a store."""
    level = model.model_.level
    predicted = model.predict(store)
    truth = store.y if store.label_level == level else None
    teacher = store.teacher_labels if store.teacher_label_level == level else None
    return [
        {
            "part": "all",
            "graphs": store.n_graphs,
            "rule_accuracy": share(predicted, truth),
            "network_accuracy": share(teacher, truth),
            "fidelity": share(predicted, teacher),
        }
    ]
