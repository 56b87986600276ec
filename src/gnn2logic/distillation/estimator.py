"""`IDTDistiller` and `ScorecardDistiller`: distillation as scikit-learn estimators."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gnn2logic.distillation.agreement import fidelity
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.variants import Form, fit_to_teacher, short_variant
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.encoder import graph_tags
from gnn2logic.idt.rules import RuleTable
from gnn2logic.learning import (
    IDTClassifier,
    IDTNodeClassifier,
    ScorecardClassifier,
    ScorecardNodeClassifier,
)
from gnn2logic.logic.syntax import Formula
from gnn2logic.scorecards.path import CardPath

__all__ = ["Distiller", "IDTDistiller", "ScorecardDistiller"]


class Distiller(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What both distillers share: the network is frozen, copies of the estimator share it."""

    _into: Form
    # The parameter that holds what is fitted; with an underscore behind, what was fitted.
    _student: str
    _students: tuple[Any, Any]
    teacher: object
    variant: str

    def fit(
        self, graphs: object, y: object = None, *, mask: object = None, sample_weight: object = None
    ) -> Self:
        """Ask the teacher about the graphs and learn from that, and from `y` if the variant does.

        `mask` chooses the nodes to learn from, for teachers that classify nodes.
        """
        given: Any = getattr(self, self._student)
        level = None
        parameters: dict[str, Any] = {}
        if isinstance(given, self._students):
            level = given.level
            parameters = given.get_params(deep=False)
        elif given is not None:
            names = " or ".join(f"a {each.__name__}" for each in self._students)
            raise ParameterError(
                f"{self._student} must be {names.replace('a I', 'an I')}, or None. "
                f"Got {given!r} instead."
            )
        fitted = fit_to_teacher(
            as_teacher(self.teacher),
            graphs,
            y,
            short_variant(self.variant),
            parameters,
            into=self._into,
            level=level,
            mask=mask,
            sample_weight=sample_weight,
        )
        setattr(self, f"{self._student}_", fitted)
        self.classes_ = fitted.classes_
        return self

    @property
    def fitted_model(self) -> Any:
        """The model that was fitted."""
        check_is_fitted(self, f"{self._student}_")
        return getattr(self, f"{self._student}_")

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class of every graph (or node)."""
        labels: npt.NDArray[Any] = self.fitted_model.predict(graphs)
        return labels

    def predict_proba(self, graphs: object) -> npt.NDArray[np.float64]:
        """Return the probability of every class, as the fitted model gives it."""
        probabilities: npt.NDArray[np.float64] = self.fitted_model.predict_proba(graphs)
        return probabilities

    def score(self, graphs: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy; without labels the fidelity to the teacher."""
        model = self.fitted_model
        expected = self.teacher if y is None else y
        return fidelity(model, expected, graphs, sample_weight=sample_weight)

    def formula(self, label: object) -> Formula:
        """Return the formula that is true exactly where the model predicts `label`."""
        formula: Formula = self.fitted_model.formula(label)
        return formula

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the graphs: features, or predicates if they had those."""
        count: int = self.fitted_model.n_features_in_
        return count

    @property
    def feature_names_in_(self) -> npt.NDArray[np.object_]:
        """The names of these columns."""
        names: npt.NDArray[np.object_] = self.fitted_model.feature_names_in_
        return names

    def __sklearn_tags__(self) -> Any:
        tags = graph_tags(super().__sklearn_tags__())
        # By default what the teacher says is enough; fit asks for labels where the variant does.
        tags.target_tags.required = False
        return tags

    # The teacher is trained: its parameters are no parameters of this estimator.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and those of what is fitted with its name before them."""
        parameters: dict[str, Any] = super().get_params(deep=deep)
        return {
            name: value for name, value in parameters.items() if not name.startswith("teacher__")
        }

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``idt__...`` and the like also where the model is None."""
        for name in params:
            if name.startswith("teacher__"):
                raise ParameterError(
                    "The parameters of the teacher cannot be set, because it is trained. "
                    f"Got {name!r}; train another teacher instead."
                )
        student = self._student
        inner = any(name.startswith(f"{student}__") for name in params)
        if inner and params.get(student, getattr(self, student)) is None:
            of_graphs, of_nodes = self._students
            classifies_nodes = as_teacher(self.teacher).level == "node"
            params[student] = of_nodes() if classifies_nodes else of_graphs()
        super().set_params(**params)
        return self

    def __str__(self) -> str:
        return str(self.fitted_model) if hasattr(self, f"{self._student}_") else repr(self)

    def __sklearn_clone__(self) -> Any:
        # Copies share the trained network: a plain clone would copy or even untrain it.
        shared = copy.copy(self)
        shared.teacher = as_teacher(self.teacher)
        return super(Distiller, shared).__sklearn_clone__()


class IDTDistiller(Distiller):
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

    _into = "idt"
    _student = "idt"
    _students = (IDTClassifier, IDTNodeClassifier)
    idt_: IDTClassifier | IDTNodeClassifier

    def __init__(self, teacher: object, idt: object = None, *, variant: str = "IDT(GNN)") -> None:
        self.teacher = teacher
        self.idt = idt
        self.variant = variant

    @property
    def rules_(self) -> RuleTable:
        """The trade-off between size and accuracy: rules from small to large."""
        table: RuleTable = self.fitted_model.rules_
        return table


class ScorecardDistiller(Distiller):
    """Distil a trained network into a scorecard, for grid search and cross-validation.

    As `IDTDistiller`, but lines with points are learned, as by ``distill(into="scorecard")``.

    Parameters
    ----------
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    scorecard : ScorecardClassifier or ScorecardNodeClassifier, optional
        What to fit; its parameters are searched as ``scorecard__max_lines`` and so on. By default
        one with default parameters, for what the teacher classifies.
    variant : str
        As in `distill`. With the default, ``"gnn"``, `fit` does not use labels.

    Attributes
    ----------
    scorecard_ : ScorecardClassifier or ScorecardNodeClassifier
        The fitted model, which can be saved.
    classes_ : array
    path_ : CardPath
        Cards from no line to the most, with accuracy on training and held-out data.
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.models.formula_network import to_gnn
    >>> from sklearn.model_selection import GridSearchCV
    >>> graphs = gl.random_graphs(200, sizes=7, random_state=0)
    >>> card = gl.ScorecardClassifier(n_layers=0, random_state=0)
    >>> distiller = ScorecardDistiller(to_gnn(gl.parse("1 U1 > 3")), card)
    >>> search = GridSearchCV(distiller, {"scorecard__max_lines": [1, 2]}, cv=2).fit(list(graphs))
    >>> print(search.best_score_)
    1.0
    """

    _into = "scorecard"
    _student = "scorecard"
    _students = (ScorecardClassifier, ScorecardNodeClassifier)
    scorecard_: ScorecardClassifier | ScorecardNodeClassifier

    def __init__(self, teacher: object, scorecard: object = None, *, variant: str = "gnn") -> None:
        self.teacher = teacher
        self.scorecard = scorecard
        self.variant = variant

    @property
    def path_(self) -> CardPath:
        """Cards from no line to the most, with accuracy on training and held-out data."""
        path: CardPath = self.fitted_model.path_
        return path
