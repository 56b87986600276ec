"""What a report says about rules: formulas of classes, the table of rules, paths of examples."""

from __future__ import annotations

from typing import Any

from gnn2logic.chem.words import molecule_words
from gnn2logic.explanation.flips import flips_at
from gnn2logic.explanation.path import GraphDecisions
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.export.text import export_text
from gnn2logic.idt.parameters import PARAMETERS
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.pruning import prune
from gnn2logic.logic.syntax import Formula
from gnn2logic.reporting.examples import decision_of, flip_of
from gnn2logic.reporting.formulas import (
    ROLES,
    class_formulas,
    class_rules,
    cut_text,
    short_names_in,
    shown_formulas,
    split_formulas,
    trade_off,
)
from gnn2logic.reporting.subject import ReportLimits, ReportSubject

__all__ = ["TreeStory"]


class TreeStory:
    """What there is to say about an Iterated Decision Tree.

    Parameters
    ----------
    subject : ReportSubject
    model : IDTPredictor
    limits : ReportLimits
    """

    speaks = "rules use"
    roles = ROLES
    parameters = PARAMETERS

    def __init__(self, subject: ReportSubject, model: IDTPredictor, limits: ReportLimits) -> None:
        self._subject, self._model, self._limits = subject, model, limits
        # What the prediction does not use is not told.
        self._small = prune(model.model_)
        self._classes = class_formulas(subject)
        self._splits = split_formulas(self._small)
        self._final = {split for split in self._small.final.splits if split is not None}
        self.short_names = short_names_in(
            self._classes, self._splits, self._final, molecule_words(subject.batch)
        )
        # The decisions on the graph that was asked for last: examples of nodes share graphs.
        self._decisions: GraphDecisions | None = None

    def formulas(self) -> dict[Formula, list[tuple[str, str]]]:
        """Return all formulas to choose from, with their roles; the most telling come first."""
        return shown_formulas(self._classes, self._splits, self._final, self.short_names)

    def terms(self) -> tuple[list[str], list[str]]:
        """Return the predicates and relations in use."""
        return list(self._small.predicate_names), list(self._small.relation_names)

    def entries(self, shown: list[Formula]) -> dict[str, Any]:
        """Return what the document has for rules alone."""
        text = export_text(self._model, class_names=self._subject.model_class_names)
        return {
            "rules": class_rules(self._subject, self._classes, self.short_names, self._limits),
            "card": None,
            "trade_off": trade_off(self._subject, self._model, self._limits),
            "tree": cut_text(text, self._limits.max_text),
        }

    def model(self) -> dict[str, Any]:
        """Return what the model is."""
        whole, small = self._model.model_, self._small
        return {
            "n_layers": len(whole.layers),
            "n_trees": sum(len(layer.trees) for layer in whole.layers),
            "n_leaves": whole.final.n_leaves,
            "used": {
                "n_layers": len(small.layers),
                "n_trees": sum(len(layer.trees) for layer in small.layers),
                "n_leaves": small.final.n_leaves,
                "n_leaf_sets": small.n_leaf_sets,
                "predicates": list(small.predicate_names),
            },
        }

    def on_graph(
        self, graph: GraphBatch, node: int | None, number_of: dict[Formula, int]
    ) -> dict[str, Any]:
        """Return why the model gives one graph (or node) its class."""
        if self._decisions is None or self._decisions.graph is not graph:
            self._decisions = GraphDecisions(self._small, graph)
        # Decisions about a graph are the same at every node.
        leaf, _, conditions = self._decisions.follow(node or 0)
        flips = flips_at(self._decisions, node or 0, leaf, self._subject.model_class_names)
        return {
            "decisions": [decision_of(condition, number_of) for condition in conditions],
            "score": None,
            "flips": [flip_of(flip, self.short_names) for flip in flips],
        }
