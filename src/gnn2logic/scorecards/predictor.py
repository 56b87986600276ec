"""A fitted scorecard in use: predicting, reading, choosing, saving.

Apart from the estimators, so that a saved card is used without scikit-learn and without anything
that only learning needs.
"""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnn2logic._files import write_atomically
from gnn2logic._labels import check_labels, check_numbers, check_weights
from gnn2logic._optional import import_optional
from gnn2logic._validation import check_fitted, check_whole
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.graph_model import GraphModel, r_squared
from gnn2logic.idt.target import Target
from gnn2logic.logic.export import ClassAnswer, PointsColumn, ScoreAnswer
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.molecules import molecule_names
from gnn2logic.logic.syntax import Formula
from gnn2logic.logic.walk import predicate_names, relation_names
from gnn2logic.scorecards.card import Line, Scorecard
from gnn2logic.scorecards.documents import CardContents, to_bytes
from gnn2logic.scorecards.formulas import card_formula
from gnn2logic.scorecards.path import CardPath
from gnn2logic.scorecards.tables import CardTable, card_table, table_to_html, table_to_text

__all__ = ["ScorecardPredictor"]

FloatArray = npt.NDArray[np.float64]


class ScorecardPredictor(GraphModel):
    """A scorecard ready for use, as `gnn2logic.load` returns it and as estimators become by fit.

    Attributes
    ----------
    card_ : Scorecard
        The scorecard as a plain value: lines, points, what a score means.
    lines_ : tuple of Line
    path_ : CardPath
        Cards from no line to the most, with accuracy (or R2) on training and held-out data.
    classes_ : array
        For classes; a card that predicts numbers has none.
    encoder_ : FittedEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.
    """

    path_: CardPath
    classes_: npt.NDArray[Any]
    # Hyper-parameters of the estimator, in the form of the file; they are kept for saving again.
    _parameters: dict[str, Any]

    @property
    def card_(self) -> Scorecard:
        """The chosen scorecard."""
        check_fitted(self, "path_")
        return self.path_.rows[self.path_.chosen].card

    @property
    def lines_(self) -> tuple[Line, ...]:
        """The lines of the chosen scorecard."""
        return self.card_.lines

    def _terms(self) -> tuple[set[str], set[str]]:
        conditions = [formula for line in self.lines_ for formula in line.conditions]
        return set(predicate_names(*conditions)), set(relation_names(*conditions))

    # Predicting --------------------------------------------------------------------------------

    def _scores(self, graphs: object) -> npt.NDArray[np.int64]:
        card = self.card_
        return np.concatenate([card.scores(card.held(batch)) for batch in self._batches(graphs)])

    def decision_function(self, graphs: object) -> npt.NDArray[np.int64]:
        """Return the score of every graph (or node): a whole number, for each class if many."""
        scores = self._scores(graphs)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def points(self, graphs: object) -> npt.NDArray[np.int64]:
        """Return the points of every line, of shape (n_rows, n_lines), or one more for classes.

        Their sum over lines and the base points is the score.
        """
        card = self.card_
        columns = [
            np.stack(
                [line.table()[held[:, n]] for n, line in enumerate(card.lines)]
                or [np.zeros((len(held), len(card.base)), dtype=np.int64)],
                axis=1,
            )[:, : len(card.lines)]
            for batch in self._batches(graphs)
            for held in (card.held(batch),)
        ]
        points = np.concatenate(columns)
        return points[:, :, 0] if points.shape[2] == 1 else points

    def predict(self, graphs: object) -> npt.NDArray[Any]:
        """Return the predicted class, or number, of every graph (or node).

        Parameters
        ----------
        graphs : anything that `gnn2logic.as_batch` reads, or ShardStore
            Of a store one shard is in memory at a time; this goes for all methods.
        """
        card, scores = self.card_, self._scores(graphs)
        if card.answer == "number":
            return card.numbers(scores)[:, 0]
        return np.asarray(self.classes_[card.classes(scores)])

    def predict_proba(self, graphs: object) -> FloatArray:
        """Return the probability of every class that the score stands for."""
        card = self.card_
        if card.answer == "number":
            raise ParameterError("predict_proba is for classes. This scorecard predicts numbers.")
        return card.probabilities(self._scores(graphs))

    def score(self, graphs: object, y: object = None, sample_weight: object = None) -> float:
        """Return the accuracy, or R2 for numbers; a `ShardStore` knows its labels."""
        predicted = self.predict(graphs)
        given = self._truth(graphs, y)
        weights = check_weights(sample_weight, len(predicted), of=self._level)
        if self.card_.answer == "number":
            truth = check_numbers(given, len(predicted), of=self._level)
            return r_squared(truth, predicted, weights)
        labels = check_labels(given, len(predicted), of=self._level)
        return float(np.average(predicted == labels, weights=weights))

    # Reading -----------------------------------------------------------------------------------

    def formula(self, label: object) -> Formula:
        """Return the formula that is true exactly where the scorecard predicts `label`."""
        card = self.card_
        if card.answer == "number":
            raise ParameterError("formula is for classes. This scorecard predicts numbers.")
        for number, known in enumerate(self.classes_.tolist()):
            if known == label:
                return card_formula(card, number)
        raise LabelError(f"{label!r} is not a class. The classes are {self.classes_.tolist()}.")

    @property
    def target(self) -> Target | None:
        """What a card predicts that predicts numbers: its name and unit, as far as given."""
        if self.card_.answer == "class":
            return None
        return Target.of_parameters(self._parameters_to_save(), self.card_.slope)

    def get_rules(self) -> Any:
        """Return the lines as a ``pandas.DataFrame``: each condition with its points."""
        pandas = import_optional("pandas", extra=None, purpose="A table of lines as a data frame")
        table = self.table()
        rows = [
            {
                "line": row.line,
                "formula": str(row.formula),
                "size": row.formula.size,
                "modal_depth": row.formula.modal_depth,
                **dict(zip(table.columns, row.points, strict=True)),
            }
            for row in table.rows
        ]
        names = ["line", "formula", "size", "modal_depth", *table.columns]
        return pandas.DataFrame(rows, columns=names)

    def _asked(self) -> ClassAnswer | ScoreAnswer:
        card = self.card_
        if card.n_classes == 1:
            return ClassAnswer((), self.classes_.tolist()[0])
        columns = tuple(
            PointsColumn(
                base,
                tuple(
                    (formula, row[column])
                    for line in card.lines
                    for formula, row in line.cases
                    if row[column]
                ),
            )
            for column, base in enumerate(card.base)
        )
        is_class = card.answer == "class"
        labels = tuple(self.classes_.tolist()) if is_class else ()
        threshold = card.threshold if len(labels) == 2 else 0
        return ScoreAnswer(columns, labels, threshold, card.slope, card.intercept)

    def table(self, class_names: object = None, names: Names | None = None) -> CardTable:
        """Return the scorecard as people read it: lines with points, and what scores mean.

        Parameters
        ----------
        class_names : sequence of labels, optional
            Other names for the classes of the model, in their order.
        names : mapping of str to str or (str, str), optional
            Words for predicates and relations, as ``formula.to_english`` takes them. Molecules are
            told in the words of chemists without them.
        """
        card = self.card_
        if names is None:
            names = molecule_names(self.encoder_.names_)
        if card.answer == "number":
            return card_table(card, target=self.target, vocabulary=names)
        labels: Any = self.classes_.tolist() if class_names is None else class_names
        return card_table(card, list(labels), vocabulary=names)

    def pick(self, index: int | None = None, *, n_lines: int | None = None) -> Self:
        """Return a copy of the model that uses another card of `path_`.

        Parameters
        ----------
        index : int, optional
            The number of the card on the path.
        n_lines : int, optional
            Instead: the number of lines of the card.
        """
        check_fitted(self, "path_")
        if (index is None) == (n_lines is None):
            raise ParameterError("pick needs the index of a card on path_, or n_lines=...")
        path = self.path_
        if n_lines is not None:
            number = path.with_lines(check_whole("n_lines", n_lines, least=0))
        else:
            number = check_whole("index", index, least=0, most=len(path) - 1)
        other = copy.copy(self)
        other.path_ = replace(path, chosen=number, reason="picked", calibration=())
        return other

    # Files -------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file that `gnn2logic.load` reads back."""
        write_atomically(path, self._to_bytes())

    def _to_bytes(self) -> bytes:
        check_fitted(self, "path_")
        classes = [] if self.card_.answer == "number" else self.classes_.tolist()
        contents = CardContents(
            self.path_, classes, self.encoder_.to_document(), self._parameters_to_save()
        )
        return to_bytes(contents)

    def _parameters_to_save(self) -> dict[str, Any]:
        return self._parameters

    def _take(self, contents: CardContents, encoder: FittedEncoder) -> None:
        """Become the model that was read from a file."""
        self.encoder_ = encoder
        self.path_ = contents.path
        self._level = self.card_.level
        if self.card_.answer == "class":
            self.classes_ = np.array(contents.classes)
        self._parameters = dict(contents.parameters)

    def to_text(self, names: Names | None = None) -> str:
        """Return the scorecard as plain text; `names` are as in `table`."""
        check_fitted(self, "path_")
        text = table_to_text(self.table(names=names))
        if self.card_.answer == "class" and self.card_.n_classes == 2 and len(self.lines_) == 1:
            label = self.classes_.tolist()[1]
            text += f"\n\nOne line is one rule: {label} where {self.formula(label)}"
        return text

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "path_") else repr(self)

    def _repr_html_(self) -> str:
        check_fitted(self, "path_")
        return table_to_html(self.table())
