"""Figures of rules: how well one does on data, and how much of it people read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.graph_model import r_squared
from gnn2logic.idt.model import RuleNumbers
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.syntax import FALSE, Formula

__all__ = [
    "RuleFigures",
    "class_figures",
    "measured_numbers",
    "number_figures",
    "predicted_nodes",
    "shown_labels",
    "shown_size",
]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RuleFigures:
    """What is known about a rule on some data.

    Parameters
    ----------
    accuracy : float
        The share of the weight of the data that it gets right; R2 for numbers.
    support : dict
        The share of the weight that is given each class or number.
    mae : float or None
        The mean absolute error, for numbers.
    """

    accuracy: float
    support: dict[Any, float]
    mae: float | None = None


def class_figures(tree: Tree, leaves: FloatArray, classes: npt.NDArray[Any]) -> RuleFigures:
    """Return accuracy and support, given the weight of each true class at every leaf."""
    # Rows are classes that are predicted, columns those that are true.
    confusion = np.zeros((len(classes), leaves.shape[1]))
    np.add.at(confusion, leaf_classes(tree), leaves)
    confusion /= confusion.sum()
    shares = confusion.sum(axis=1).tolist()
    return RuleFigures(float(np.trace(confusion)), dict(zip(classes.tolist(), shares, strict=True)))


def number_figures(tree: Tree, numbers: RuleNumbers) -> RuleFigures:
    """Return what was noted about a rule when it was learned."""
    leaves = tree.values[list(tree.leaves)]
    support = class_figures(tree, leaves, np.array(numbers.values)).support
    return RuleFigures(numbers.r2, support, numbers.mae)


def measured_numbers(
    tree: Tree,
    numbers: RuleNumbers,
    leaves: npt.NDArray[np.integer[Any]],
    truth: FloatArray,
    weights: FloatArray,
) -> RuleFigures:
    """Return how well a rule does on rows whose leaves and numbers are given."""
    codes = np.array(leaf_classes(tree))[leaves]
    predicted = np.array(numbers.values)[codes]
    shares = np.bincount(codes, weights, len(numbers.values)) / weights.sum()
    return RuleFigures(
        r_squared(truth, predicted, weights),
        dict(zip(numbers.values, shares.tolist(), strict=True)),
        float(np.average(np.abs(truth - predicted), weights=weights)),
    )


def predicted_nodes(full: Tree, cut: frozenset[int]) -> frozenset[tuple[int, int]]:
    """Return the nodes, each as high up as can be, below which one class is predicted."""
    below: dict[int, tuple[tuple[int, int], ...]] = {}
    for node in reversed(range(full.n_nodes)):
        if full.splits[node] is None or node in cut:
            below[node] = ((node, int(np.argmax(full.values[node]))),)
        else:
            sides = below[full.false_child[node]] + below[full.true_child[node]]
            one_class = len({predicted for _, predicted in sides}) == 1
            below[node] = ((node, sides[0][1]),) if one_class else sides
    return frozenset(below[0])


def shown_labels(formulas: Mapping[Any, Formula]) -> list[Any]:
    """Return the labels that are answered at all, but the one with the largest formula.

    That one is what is left over; `false` would be read for nothing.
    """
    answered = [label for label in formulas if formulas[label] is not FALSE] or list(formulas)
    if len(answered) == 1:
        return answered
    largest = max(answered, key=lambda label: (formulas[label].size, formulas[label].key))
    return [label for label in answered if label != largest]


def shown_size(formulas: Mapping[Any, Formula]) -> int:
    """Return how many symbols people read: the size of all formulas that are shown.

    >>> from gnn2logic.logic import parse
    >>> shown_size({"no": parse("1 U0 < 3"), "yes": parse("1 U0 > 2"), "never": parse("false")})
    2
    """
    return sum(formulas[label].size for label in shown_labels(formulas))
