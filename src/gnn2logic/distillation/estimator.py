"""`IDTDistiller`: distillation as a scikit-learn estimator."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gnn2logic.distillation.agreement import fidelity
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.variants import fit_to_teacher, short_variant
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.encoder import graph_tags
from gnn2logic.idt.rules import RuleTable
from gnn2logic.learning import IDTClassifier, IDTNodeClassifier
from gnn2logic.logic.syntax import Formula

__all__ = ["IDTDistiller"]


class IDTDistiller(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Distil a trained network, for grid search and cross-validation.

    The network is frozen: copies of the estimator share it. `fit` asks it about the graphs of each
    split and learns an IDT from that, as `distill` does.

    Parameters
    ----------
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    idt : IDTClassifier or IDTNodeClassifier, optional
        What to fit; its parameters are searched as ``idt__width`` and so on. By default one with
        default parameters, for what the teacher classifies. To search the parameters of a default
        one for a `Teacher` of nodes, say ``level="node"`` there.
    variant : str
        As in `distill`. With the default, ``"IDT(GNN)"``, `fit` does not use labels.

    Attributes
    ----------
    idt_ : IDTClassifier or IDTNodeClassifier
        The fitted model, which can be saved.
    classes_ : array
    rules_ : RuleTable
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.models import GNNClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> graphs = gl.random_graphs(200, sizes=7, random_state=0)
    >>> truth = gl.parse("1 U1 > 1/2").evaluate(graphs)
    >>> gnn = GNNClassifier(n_layers=1, hidden=16, lr=0.01, random_state=0).fit(graphs, truth)
    >>> distiller = IDTDistiller(gnn, gl.IDTClassifier(random_state=0))
    >>> search = GridSearchCV(distiller, {"idt__n_layers": [0, 1]}, cv=2).fit(list(graphs), truth)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    idt_: IDTClassifier | IDTNodeClassifier

    def __init__(self, teacher: object, idt: object = None, *, variant: str = "IDT(GNN)") -> None:
        self.teacher = teacher
        self.idt = idt
        self.variant = variant

    def fit(
        self, graphs: object, y: object = None, *, mask: object = None, sample_weight: object = None
    ) -> Self:
        """Ask the teacher about the graphs and learn from that, and from `y` if the variant does.

        `mask` chooses the nodes to learn from, for teachers that classify nodes.
        """
        level = None
        parameters: dict[str, Any] = {}
        if isinstance(self.idt, IDTClassifier | IDTNodeClassifier):
            level = self.idt._level
            parameters = self.idt.get_params(deep=False)
        elif self.idt is not None:
            raise ParameterError(
                "idt must be an IDTClassifier, an IDTNodeClassifier or None. "
                f"Got {self.idt!r} instead."
            )
        self.idt_ = fit_to_teacher(
            as_teacher(self.teacher),
            graphs,
            y,
            short_variant(self.variant),
            parameters,
            level=level,
            mask=mask,
            sample_weight=sample_weight,
        )
        self.classes_ = self.idt_.classes_
        return self

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class of every graph (or node)."""
        check_is_fitted(self, "idt_")
        return self.idt_.predict(graphs)

    def predict_proba(self, graphs: object) -> npt.NDArray[np.float64]:
        """Return the class shares of the training data in the leaf that each row reaches."""
        check_is_fitted(self, "idt_")
        return self.idt_.predict_proba(graphs)

    def score(self, graphs: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy; without labels the fidelity to the teacher."""
        check_is_fitted(self, "idt_")
        expected = self.teacher if y is None else y
        return fidelity(self.idt_, expected, graphs, sample_weight=sample_weight)

    def formula(self, label: object) -> Formula:
        """Return the formula that is true exactly where the model predicts `label`."""
        check_is_fitted(self, "idt_")
        return self.idt_.formula(label)

    @property
    def rules_(self) -> RuleTable:
        """The trade-off between size and accuracy: rules from small to large."""
        check_is_fitted(self, "idt_")
        return self.idt_.rules_

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the graphs: features, or predicates if they had those."""
        check_is_fitted(self, "idt_")
        return self.idt_.n_features_in_

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of these columns."""
        check_is_fitted(self, "idt_")
        return self.idt_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = graph_tags(super().__sklearn_tags__())
        # By default what the teacher says is enough; fit asks for labels where the variant does.
        tags.target_tags.required = False
        return tags

    # The teacher is trained: its parameters are no parameters of this estimator.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and those of `idt` as ``idt__...``."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        return {
            name: value for name, value in parameters.items() if not name.startswith("teacher__")
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; where `idt` is None, ``idt__...`` are those of a default one."""
        for name in params:
            if name.startswith("teacher__"):
                raise ParameterError(
                    "The parameters of the teacher cannot be set, because it is trained. "
                    f"Got {name!r}; train another teacher instead."
                )
        if params.get("idt", self.idt) is None and any(name.startswith("idt__") for name in params):
            params["idt"] = self._default_idt()
        super().set_params(**params)
        return self

    def _default_idt(self) -> IDTClassifier | IDTNodeClassifier:
        classifies_nodes = as_teacher(self.teacher).level == "node"
        return IDTNodeClassifier() if classifies_nodes else IDTClassifier()

    def __str__(self) -> str:
        return str(self.idt_) if hasattr(self, "idt_") else repr(self)

    def __sklearn_clone__(self) -> Any:
        # Copies share the trained network: a plain clone would copy or even untrain it.
        shared = copy.copy(self)
        shared.teacher = as_teacher(self.teacher)
        return super(IDTDistiller, shared).__sklearn_clone__()
