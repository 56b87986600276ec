"""A fitted IDT in use: predicting, reading, choosing, pruning, saving.

Apart from the estimators, so that a saved model is used without scikit-learn and without anything
that only learning needs.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._labels import check_labels, check_numbers, check_weights
from gnn2logic._validation import check_fitted, check_whole, some_of
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.documents import Contents, to_bytes
from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.graph_model import GraphModel, r_squared
from gnn2logic.idt.model import IDT, Prunings, RuleFront
from gnn2logic.idt.predict import final_leaves
from gnn2logic.idt.pruning import prune
from gnn2logic.idt.readings import LayerView, Readings, layer_views
from gnn2logic.idt.rule_figures import class_figures, measured_numbers, shown_labels
from gnn2logic.idt.rule_texts import shown_classes
from gnn2logic.idt.rules import Rule, RuleTable
from gnn2logic.idt.target import Target
from gnn2logic.logic.export import ClassAnswer
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.molecules import molecule_names
from gnn2logic.logic.printing.steps import SHORT, ShortNames
from gnn2logic.logic.syntax import Formula

__all__ = ["IDTPredictor"]


class IDTPredictor(GraphModel):
    """A model ready for use, as `gnn2logic.load` returns it and as the estimators become by fit.

    Attributes
    ----------
    classes_ : array
        All classes; of a model that predicts numbers, the numbers of its leaves from low to high.
    model_ : IDT
        The model as a plain value: columns, layers, final tree.
    layers_ : tuple of LayerView
        The inner layers: their trees, their leaf sets, and the columns that these are.
    rules_ : RuleTable
        Rules from small to large, with formulas and accuracy: those of a search, or all prunings
        of the final tree.
    prunings_, chosen_, ccp_alpha_
        The pruning path, the place on it, and the price of a leaf from which on it is the best.
    front_ : RuleFront or None
        The rules that a search has found, among which `chosen_` is a number; None for others.
    encoder_ : FittedEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.
    n_layers_ : int
    """

    model_: IDT
    _answer: Literal["class", "number"] = "class"
    classes_: npt.NDArray[Any]
    prunings_: Prunings
    chosen_: int
    front_: RuleFront | None = None
    # Hyper-parameters of the estimator, in the form of the file; they are kept for saving again.
    _parameters: dict[str, Any]

    def _leaves(self, graphs: object) -> npt.NDArray[Any]:
        """Return the leaf of the final tree for every row."""
        check_fitted(self, "model_")
        return self._leaves_by([self.model_], graphs)[0]

    def _leaves_by(self, models: Sequence[IDT], graphs: object) -> list[npt.NDArray[Any]]:
        """Return the leaf of the final tree of each model for every row, in one pass."""
        reached = [
            [final_leaves(model, batch) for model in models] for batch in self._batches(graphs)
        ]
        return [np.concatenate(leaves) for leaves in zip(*reached, strict=True)]

    def _terms(self) -> tuple[set[str], set[str]]:
        return set(self.model_.predicate_names), set(self.model_.relation_names)

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class, or number, of every graph (or node).

        Parameters
        ----------
        graphs : anything that `gnn2logic.as_batch` reads, or ShardStore
            Of a store one shard is in memory at a time; this goes for all methods.
        """
        leaves = self._leaves(graphs)
        return np.asarray(self.classes_[np.array(leaf_classes(self.model_.final))[leaves]])

    def predict_proba(self, graphs: object) -> npt.NDArray[np.float64]:
        """Return the class shares of the training data in the leaf that each row reaches."""
        check_fitted(self, "model_")
        if self._answer == "number":
            raise ParameterError("predict_proba is for classes. This model predicts numbers.")
        leaves = self._leaves(graphs)
        tree = self.model_.final
        weights = tree.values[list(tree.leaves)]
        return np.asarray((weights / weights.sum(axis=1, keepdims=True))[leaves])

    def score(self, graphs: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy, or R2 for numbers; a `ShardStore` knows its labels."""
        predicted = self.predict(graphs)
        given = self._truth(graphs, y)
        weights = check_weights(sample_weight, len(predicted), of=self._level)
        if self._answer == "number":
            truth = check_numbers(given, len(predicted), of=self._level)
            return r_squared(truth, predicted, weights)
        labels = check_labels(given, len(predicted), of=self._level)
        return float(np.average(predicted == labels, weights=weights))

    def formula(self, label: object) -> Formula:
        """Return the formula that is true exactly where the model predicts `label`."""
        check_fitted(self, "model_")
        for number, known in enumerate(self.classes_.tolist()):
            if known == label:
                return self._readings().formula(number)
        if self._answer == "number":
            raise LabelError(
                f"{label!r} is not a number that the model predicts. It predicts "
                f"{some_of(self.classes_.tolist())}."
            )
        raise LabelError(f"{label!r} is not a class. The classes are {self.classes_.tolist()}.")

    @property
    def target(self) -> Target | None:
        """What a model predicts that predicts numbers: its name and unit, as far as given."""
        if self._answer == "class":
            return None
        # Leaves that differ by little are told apart.
        spread = float(np.ptp(self.classes_)) if hasattr(self, "classes_") else 0.0
        return Target.of_parameters(self._parameters_to_save(), spread / 100 or None)

    @property
    def shown_classes(self) -> list[Any]:
        """The classes as people read them: labels, or numbers with their unit."""
        check_fitted(self, "model_")
        target = self.target
        if target is None:
            return list(self.classes_.tolist())
        return [target.with_unit(value) for value in self.classes_.tolist()]

    @property
    def layers_(self) -> tuple[LayerView, ...]:
        """The inner layers: trees, leaf sets, and the columns that these are."""
        check_fitted(self, "model_")
        return layer_views(self.model_)

    @property
    def n_layers_(self) -> int:
        """The number of inner layers."""
        check_fitted(self, "model_")
        return len(self.model_.layers)

    @property
    def ccp_alpha_(self) -> float:
        """The price of a leaf from which on the chosen pruning is the best; 0 after a search."""
        check_fitted(self, "model_")
        if self.front_ is not None:
            return 0.0
        return self.prunings_.alphas[self.chosen_]

    @property
    def rules_(self) -> RuleTable:
        """The trade-off between size and accuracy: rules from small to large."""
        check_fitted(self, "model_")
        return self._readings().rules

    def get_rules(self) -> Any:
        """Return the table of `rules_` as a ``pandas.DataFrame``, one row for a rule and class."""
        return self.rules_.to_frame()

    def _asked(self) -> ClassAnswer:
        check_fitted(self, "model_")
        formulas = {label: self.formula(label) for label in self.classes_.tolist()}
        # The largest formula is what is left over.
        shown = shown_labels(formulas) if len(formulas) > 1 else []
        (otherwise,) = [label for label in formulas if label not in shown]
        return ClassAnswer(tuple((formulas[label], label) for label in shown), otherwise)

    def _readings(self) -> Readings:
        """Return what was read from the model as it is now; large ones take seconds to read."""
        state = (
            *(self.model_, self.prunings_, self.front_),
            *(self.chosen_, self.classes_, self.target),
        )
        kept: Readings | None = self.__dict__.get("_kept")
        if kept is None or not kept.are_of(*state):
            kept = self._kept = Readings(*state)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        # Copies and files hold the model alone; what was read from it can be read again.
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}

    def rules(self, graphs: object, y: object = None, sample_weight: object = None) -> RuleTable:
        """Return the table of `rules_` with support and accuracy measured on the given data."""
        check_fitted(self, "model_")
        front, full = self.front_, self.prunings_.full
        models = [self.model_.with_final(full)] if front is None else front.models
        leaves = self._leaves_by(models, graphs)
        if front is not None and front.numbers:
            numbers = check_numbers(self._truth(graphs, y), len(leaves[0]), of=self._level)
            weights = check_weights(sample_weight, len(numbers), of=self._level)
            figures = [
                measured_numbers(model.final, said, reached, numbers, weights)
                for model, said, reached in zip(models, front.numbers, leaves, strict=True)
            ]
            return RuleTable.of_front(front, self.classes_, self.chosen_, figures, self.rules_)
        labels = check_labels(self._truth(graphs, y), len(leaves[0]), of=self._level)
        weights = check_weights(sample_weight, len(labels), of=self._level)
        held = np.array([labels == label for label in self.classes_.tolist()])
        code = np.where(held.any(axis=0), held.argmax(axis=0), len(self.classes_))
        tables = []
        for model, reached in zip(models, leaves, strict=True):
            table = np.zeros((model.final.n_leaves, len(self.classes_) + 1))
            np.add.at(table, (reached, code), weights)
            tables.append(table)
        if front is not None:
            figures = [
                class_figures(model.final, table, self.classes_)
                for model, table in zip(models, tables, strict=True)
            ]
            return RuleTable.of_front(front, self.classes_, self.chosen_, figures, self.rules_)
        values = full.node_sums(tables[0])
        return RuleTable.of_prunings(
            self.model_, self.prunings_, self.classes_, self.chosen_, values, self.rules_
        )

    def pick(self, index: int | Rule | None = None, *, max_size: int | None = None) -> Self:
        """Return a copy of the model that predicts with another row of `rules_`.

        Parameters
        ----------
        index : int or Rule, optional
            The row, or its index.
        max_size : int, optional
            Instead of a row: the most accurate rule of at most so many symbols, on held-out data
            where its accuracy there is known.
        """
        check_fitted(self, "model_")
        if (index is None) == (max_size is None):
            raise ParameterError(
                "pick needs a row of rules_, its index, or max_size=..., one of them."
            )
        if max_size is not None:
            index = self.rules_.within(check_whole("max_size", max_size, least=1))
        if isinstance(index, Rule):
            index = index.index
        number = check_whole("index", index, least=0)
        front = self.front_
        n_rules = len(self.prunings_.alphas) if front is None else len(front.models)
        if number >= n_rules:
            raise ParameterError(
                f"index must be below {n_rules}, the number of rules. Got {index} instead."
            )
        other = copy.copy(self)
        other.chosen_ = number
        if front is None:
            other.model_ = self.model_.with_final(self.prunings_.tree(number))
        else:
            other.front_ = replace(front, reason="picked")
            other.model_ = front.models[number]
            if front.numbers:
                other.classes_ = np.array(front.numbers[number].values)
            other.prunings_ = Prunings.of_one(other.model_.final)
        return other

    def prune(self) -> Self:
        """Return a copy without the trees, leaf sets and splits that its prediction does not use.

        It predicts the same classes on every graph. Leaves of one class that were told apart for
        their probabilities alone are merged.
        """
        check_fitted(self, "model_")
        other = copy.copy(self)
        other.model_ = prune(self.model_)
        other.prunings_ = Prunings.of_one(other.model_.final)
        # How well numbers fit is noted with their rules.
        other.front_ = None
        if self.front_ is not None and self.front_.numbers:
            number = self.chosen_
            other.front_ = RuleFront(
                (other.model_,),
                (self.front_.held_out[number],),
                "pruned",
                (self.front_.numbers[number],),
            )
        other.chosen_ = 0
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file that `gnn2logic.load` reads back."""
        write_atomically(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        check_fitted(self, "model_")
        contents = Contents(
            self.model_,
            self.prunings_,
            self.front_,
            self.chosen_,
            self.classes_.tolist(),
            self.encoder_.to_document(),
            self._parameters_to_save(),
            self._answer,
        )
        return to_bytes(contents)

    def _parameters_to_save(self) -> dict[str, Any]:
        return self._parameters

    def _take(self, contents: Contents, encoder: FittedEncoder) -> None:
        """Become the model that was read from a file."""
        self._level = contents.model.level
        self.encoder_ = encoder
        self._answer = contents.answer
        self.classes_ = np.array(contents.classes)
        self.model_ = contents.model
        self.prunings_ = contents.prunings
        self.front_ = contents.front
        self.chosen_ = contents.chosen
        self._parameters = dict(contents.parameters)

    def to_text(self, names: Names | None = None) -> str:
        """Return the table of rules, and with `names` the chosen one in words.

        Parameters
        ----------
        names : mapping of str to str or (str, str), optional
            Words for predicates and relations, as ``formula.to_english`` takes them. Rules about
            molecules are told in the words of chemists without them, and with those of
            `gnn2logic.chem.molecule_words` by the names of groups as well.
        """
        check_fitted(self, "model_")
        if names is None:
            names = molecule_names(self.encoder_.names_)
        layers = "1 inner layer" if self.n_layers_ == 1 else f"{self.n_layers_} inner layers"
        about = f"IDT for {self._level}s, {layers}"
        target = self.target
        text = f"{about}{'' if target is None else f', {target}'}\n{self.rules_}"
        is_one = target is None and sorted(leaf_classes(self.model_.final)) == [0, 1]
        if is_one and len(self.classes_) == 2:
            text += "\nOne condition is a scorecard of one line."
        if names is not None:
            chosen = self.rules_.chosen
            said = {label: chosen.formulas[label] for label in shown_classes(chosen)}
            short_names = ShortNames.of(said.values(), short=SHORT, vocabulary=names)
            lines = [
                f"  {self.rules_.name_of(label)}: {short_names.words(rule)}"
                for label, rule in said.items()
            ]
            text = "\n".join([text, "in words", *lines, *short_names.lines()])
        return text

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "model_") else repr(self)

    def _repr_html_(self) -> str:
        from gnn2logic.idt.export.html import model_to_html

        check_fitted(self, "model_")
        return model_to_html(self)
