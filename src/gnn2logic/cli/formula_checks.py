"""Where a formula holds, and which class it tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.cli.data import Chosen
from gnn2logic.idt import IDTPredictor
from gnn2logic.logic import Formula
from gnn2logic.scorecards import ScorecardPredictor

__all__ = ["ClassScore", "FormulaCheck", "check_formula", "class_scores"]

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ClassScore:
    """How well "the formula holds" predicts "the graph is of this class".

    Parameters
    ----------
    name : str
    graphs : int
        Graphs of the class.
    accuracy, f1 : float
    precision : float or None
        The share of the class among the graphs where the formula holds; None where it never does.
    recall : float or None
        The share of the class where the formula holds; None for a class without graphs.
    """

    name: str
    graphs: int
    accuracy: float
    precision: float | None
    recall: float | None
    f1: float


@dataclass(frozen=True, eq=False)
class FormulaCheck:
    """Where a formula holds.

    Parameters
    ----------
    formula : Formula
    dataset_name : str
    numbers : array of int
        The numbers of the graphs in the whole data set.
    labels : array of str
        The names of their classes.
    ptr : array of int
        The nodes of graph i are those from ``ptr[i]`` on.
    graphs : array of bool
        The graphs all of whose nodes satisfy the formula.
    nodes : array of bool
        The nodes that do, in the order of the graphs.
    scores : list of ClassScore
    """

    formula: Formula
    dataset_name: str
    numbers: npt.NDArray[np.int64]
    labels: npt.NDArray[np.str_]
    ptr: npt.NDArray[np.int64]
    graphs: BoolArray
    nodes: BoolArray
    scores: list[ClassScore]

    @property
    def best(self) -> ClassScore | None:
        """The class that the formula tells best, by F1; None if it holds nowhere."""
        if not self.graphs.any() or not self.scores:
            return None
        return max(self.scores, key=lambda score: (score.f1, score.accuracy))

    def graphs_with_nodes(self) -> list[dict[str, Any]]:
        """Return the graphs with a node that satisfies the formula, and all such nodes."""
        labels = self.labels.tolist()
        entries = []
        for position, number in enumerate(self.numbers.tolist()):
            nodes = np.flatnonzero(self.nodes[self.ptr[position] : self.ptr[position + 1]]).tolist()
            if nodes:
                holds = bool(self.graphs[position])
                entries.append(
                    {"graph": number, "class": labels[position], "satisfied": holds, "nodes": nodes}
                )
        return entries

    def plain(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "formula": str(self.formula),
            "english": self.formula.to_english(),
            "dataset": self.dataset_name,
            "n_graphs": len(self.graphs),
            "n_satisfied_graphs": int(self.graphs.sum()),
            "n_nodes": len(self.nodes),
            "n_satisfied_nodes": int(self.nodes.sum()),
            "classes": [asdict(score) for score in self.scores],
            "best_class": None if self.best is None else self.best.name,
            "graphs": self.graphs_with_nodes(),
        }


def check_formula(
    formula: Formula, chosen: Chosen, reader: IDTPredictor | ScorecardPredictor | None = None
) -> FormulaCheck:
    """Evaluate a formula on graphs and compare it with every class.

    Parameters
    ----------
    reader : IDTPredictor or ScorecardPredictor, optional
        The model whose predicates the formula speaks of, where they are not those of the data.
    """
    batch = chosen.data.graphs if reader is None else reader.encoder_.transform(chosen.graphs)
    holds = formula.evaluate(batch)
    return FormulaCheck(
        formula=formula,
        dataset_name=chosen.data.name,
        numbers=chosen.numbers,
        labels=chosen.labels,
        ptr=batch.ptr,
        graphs=holds,
        nodes=formula.evaluate(batch, level="node"),
        scores=class_scores(holds, chosen.labels, chosen.data.class_names),
    )


def class_scores(
    holds: BoolArray, labels: npt.NDArray[np.str_], names: Iterable[str]
) -> list[ClassScore]:
    """Return how well a formula tells each of the classes with these names."""
    return [_score(name, holds, labels == name) for name in names]


def _score(name: str, holds: BoolArray, is_class: BoolArray) -> ClassScore:
    # As sklearn.metrics has them; this command shall not wait for scikit-learn to be loaded.
    n_both, n_holds, n_class = int((holds & is_class).sum()), int(holds.sum()), int(is_class.sum())
    return ClassScore(
        name=name,
        graphs=n_class,
        accuracy=float(np.mean(holds == is_class)),
        precision=n_both / n_holds if n_holds else None,
        recall=n_both / n_class if n_class else None,
        f1=2 * n_both / (n_holds + n_class) if n_holds + n_class else 0.0,
    )
