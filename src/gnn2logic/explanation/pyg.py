"""`IDTExplainer`: a distilled model as an algorithm of PyTorch Geometric's ``Explainer``."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from gnn2logic._optional import naming_extra
from gnn2logic.distillation.agreement import check_same_names
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.estimator import Distiller
from gnn2logic.exceptions import FormulaError, GraphError, ParameterError, UnsupportedInputError
from gnn2logic.explanation.witnesses import Witnesses, witnesses
from gnn2logic.fitted_models import FittedModel, fitted_classifier
from gnn2logic.graphs.read_pyg import edges_by_relation
from gnn2logic.logic.syntax import Formula
from gnn2logic.scorecards import ScorecardPredictor

with naming_extra("torch", "torch_geometric", extra="torch", purpose="IDTExplainer"):
    import torch
    from torch import Tensor
    from torch_geometric.data import Data
    from torch_geometric.explain import ExplainerAlgorithm, Explanation
    from torch_geometric.explain.config import (
        ExplanationType,
        MaskType,
        ModelMode,
        ModelTaskLevel,
    )

__all__ = ["IDTExplainer"]

_LEVELS = {"graph": ModelTaskLevel.graph, "node": ModelTaskLevel.node}


class IDTExplainer(ExplainerAlgorithm):  # type: ignore[misc]
    """Explain a network by the rule of the model that was distilled from it.

    The masks rank the witnesses of the rule that fires: the nodes that its conditions count, down
    to the input features, and the edges along which they are found. What every condition counts
    has 1, what only decides further down has less (see `Witnesses.node_scores`), all others have
    0. Of a scorecard the lines that give points take the place of the rule, and count as much as
    their points. The explanation also has

    - ``formula``: the `Formula` of the class that the model predicts; None for a scorecard of so
      many lines that its formula is too long,
    - ``rule``: the conditions that hold in this graph, as text,
    - ``label``: the class that the model predicts,
    - ``agrees``: whether that is the class that the network predicts. If not, the rule explains
      the model and not the network.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        A model that was fitted on the features that the network reads.
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module, optional
        What the model was distilled from. It says which labels the outputs of the network stand
        for, so it is needed unless these are ``0, 1, ...``.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from torch_geometric.explain import Explainer
    >>> from gnn2logic.models.formula_network import to_gnn
    >>> graphs = gl.random_graphs(200, sizes=8, density=0.5, random_state=1)
    >>> network = to_gnn(gl.parse("1 U0 > 4"))
    >>> idt = gl.distill(network, graphs, random_state=0)
    >>> explainer = Explainer(
    ...     network, IDTExplainer(idt), explanation_type="model",
    ...     node_mask_type="object", edge_mask_type="object",
    ...     model_config=dict(mode="binary_classification", task_level="graph", return_type="raw"),
    ... )
    >>> data = gl.to_pyg(graphs)[0]
    >>> explanation = explainer(data.x, data.edge_index)
    >>> explanation.rule, explanation.label, explanation.agrees
    ('1 U0 > 4', 1, True)
    >>> explanation.node_mask.flatten().equal(data.x[:, 0])
    True
    """

    def __init__(self, model: FittedModel | Distiller, teacher: object = None) -> None:
        super().__init__()
        self.subject = fitted_classifier(model, reason="IDTExplainer explains classes")
        if teacher is None and isinstance(model, Distiller):
            teacher = model.teacher
        self._outputs = _output_labels(self.subject, teacher)

    def forward(
        self,
        model: torch.nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> Explanation:
        """Return the explanation of one graph, or of one node; `model` itself is not asked."""
        if not isinstance(x, Tensor) or not isinstance(edge_index, Tensor):
            raise UnsupportedInputError(
                "IDTExplainer explains graphs with one type of nodes. Got a dictionary of tensors."
            )
        row = self._row(index, kwargs.get("batch"))
        node = row if self.subject.level == "node" else None
        data = self._data(x, edge_index, kwargs)
        reasons = witnesses(self.subject, data, node=node)
        explanation = Explanation()
        if self.explainer_config.node_mask_type is not None:
            explanation.node_mask = _tensor(reasons.node_scores, x).unsqueeze(1)
        if self.explainer_config.edge_mask_type is not None:
            explanation.edge_mask = _edge_mask(reasons, data, self.subject).to(x.device)
        explanation.formula = self._formula(reasons.label)
        explanation.rule = str(reasons.rule)
        explanation.label = reasons.label
        explanation.agrees = reasons.label == self._label(int(target.flatten()[row or 0]))
        return explanation

    def _formula(self, label: object) -> Formula | None:
        try:
            return self.subject.formula(label)
        except FormulaError:
            if isinstance(self.subject, ScorecardPredictor):
                return None
            raise

    def _row(self, index: int | Tensor | None, batch: Tensor | None) -> int | None:
        if self.subject.level == "graph":
            if batch is not None and bool((batch != 0).any()):
                raise GraphError(
                    f"One graph is explained at a time. Got a batch of {int(batch.max()) + 1}."
                )
            return None
        if index is None or torch.as_tensor(index).numel() != 1:
            raise ParameterError(
                "index must be the number of the node to explain, one at a time. "
                f"Got {index!r} instead."
            )
        return int(index)

    def _data(self, x: Tensor, edge_index: Tensor, others: dict[str, Any]) -> Data:
        """Return the input of the network as graphs that the encoder of the IDT reads."""
        data = Data(x=x, edge_index=edge_index, num_nodes=len(x))
        for key, value in others.items():
            if isinstance(value, Tensor) and key != "batch":
                data[key] = value
        names = [column.name for column in self.subject.encoder_.columns_]
        if names and len(names) == x.shape[1]:
            data.predicate_names = names
        elif not names:
            # Without predicates the network saw a column of ones.
            data.x = None
        relations = list(self.subject.encoder_.given_relations_)
        if not all(name.isdigit() for name in relations):
            data.relation_names = relations
        return data

    def _label(self, number: int) -> object:
        if self._outputs is None:
            return number
        if number >= len(self._outputs):
            raise ParameterError(
                f"teacher must name each class of the network. Got {self._outputs} and an answer "
                f"of the class number {number}."
            )
        return self._outputs[number]

    def supports(self) -> bool:
        """Whether the settings of the ``Explainer`` make sense here; errors are logged."""
        problem = self._problem()
        if problem is not None:
            logging.error("'%s' %s", type(self).__name__, problem)
        return problem is None

    def _problem(self) -> str | None:
        level = self.subject.level
        settings, model = self.explainer_config, self.model_config
        if settings.explanation_type != ExplanationType.model:
            return (
                "explains what the network predicts; 'explanation_type' must be 'model' "
                f"(got '{settings.explanation_type.value}')."
            )
        if model.mode == ModelMode.regression:
            return "explains classes; 'mode' must not be 'regression'."
        if model.task_level != _LEVELS[level]:
            return (
                f"was given a model that classifies {level}s; 'task_level' must be '{level}' "
                f"(got '{model.task_level.value}')."
            )
        for name in ("node_mask_type", "edge_mask_type"):
            mask_type = getattr(settings, name)
            if mask_type not in (None, MaskType.object):
                return (
                    f"marks whole nodes and edges; '{name}' must be 'object' "
                    f"(got '{mask_type.value}')."
                )
        return None


def _tensor(marked: Any, like: Tensor) -> Tensor:
    return torch.from_numpy(np.asarray(marked, dtype=np.float32)).to(like.device)


def _output_labels(model: FittedModel, teacher: object) -> list[object] | None:
    """Return the labels that the outputs of the network stand for; None if they are numbers."""
    ours: list[object] = model.classes_.tolist()
    names = None if teacher is None else as_teacher(teacher).classes
    if names is not None:
        check_same_names(model.classes_, names, complete=True)
        listed: list[object] = names.tolist()
        return listed
    if ours == list(range(len(ours))) or (teacher is not None and not isinstance(ours[0], str)):
        return None
    raise ParameterError(
        f"teacher must be given, with names for its classes, because those of the model are {ours} "
        "and not 0, 1, ...: IDTExplainer(model, Teacher(module, classes=...)), or the "
        "GNNClassifier that the model was distilled from."
    )


def _edge_mask(reasons: Witnesses, data: Data, model: FittedModel) -> Tensor:
    """Return the scores of edges that are witnesses, 0 at the others."""
    size = reasons.graph.n_nodes
    sources, targets = data.edge_index.cpu().numpy()
    codes = sources * size + targets
    every, none = np.arange(len(codes)), np.zeros(0, dtype=np.intp)
    marked = np.zeros(len(codes), dtype=np.float32)
    relations = edges_by_relation(data, model.encoder_.edge_types)
    by_feature = model.encoder_.edges_by_feature(data)
    # What the structure adds is found among all edges.
    shapes = {None, *model.encoder_.relations_} - {*model.encoder_.given_relations_, *by_feature}
    relations |= by_feature
    for relation, pairs in reasons.edges_by_relation.items():
        # Of parallel edges only those of the relation are meant.
        of_relation = every if relation in shapes else relations.get(relation or "", none)
        # Pairs are sorted, and so are their codes.
        known, scores = pairs[:, 0] * size + pairs[:, 1], reasons.edge_scores_by_relation[relation]
        is_known = np.isin(codes[of_relation], known)
        chosen = of_relation[is_known]
        marked[chosen] = np.maximum(marked[chosen], scores[np.searchsorted(known, codes[chosen])])
    return torch.from_numpy(marked)
