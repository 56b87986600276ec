"""Rules of several fits: which of them are the same, and how often their parts occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic.idt.rule_figures import shown_labels
from gnn2logic.logic.equivalence import equivalent
from gnn2logic.logic.equivalence.space import enumerable_nodes, space_of
from gnn2logic.logic.simplification.cover import atoms_of
from gnn2logic.logic.syntax import Constant, Formula, Modal, modal
from gnn2logic.logic.walk import predicate_names

__all__ = ["RuleFrequency", "condition_counts", "grouped_rules"]

# A budget of graphs, not of seconds: a busy machine must not change the answer.
_MAX_GRAPHS = 50_000


@dataclass(frozen=True, eq=False)
class RuleFrequency:
    """A rule, and how many of the fits came back with it.

    Three things are told apart, each weaker than the one before: the same formula, formulas that
    are proved equal on all small graphs, and rules that say the same about all given graphs.

    Attributes
    ----------
    formulas : dict
        The formula of every class, by label: those that most of these fits have, and among equally
        frequent ones the shortest.
    fits : tuple of int
        The numbers of the fits whose rule says the same about all given graphs. On other graphs
        these rules may differ.
    n_identical : int
        How many of these fits have the very same formulas.
    n_proved : int
        How many have the same formulas, or some that were proved equal to them on all graphs with
        at most `proved_nodes` nodes. Proofs whose bound is too small for a threshold do not count.
    proved_nodes : int or None
        That bound; None if nothing but identical formulas was counted.
    accuracy : float
        The mean accuracy of these fits on what they were not learned from; NaN if there is no such.
    given : bool
        Whether the estimator was fitted when it was given, and its rule says the same as well.
    others : tuple of dict
        The other formulas of these fits.
    """

    formulas: dict[Any, Formula]
    fits: tuple[int, ...]
    n_identical: int
    n_proved: int
    proved_nodes: int | None
    accuracy: float
    given: bool
    others: tuple[dict[Any, Formula], ...] = field(repr=False)

    @property
    def count(self) -> int:
        """The number of fits whose rule says the same about all given graphs."""
        return len(self.fits)

    @property
    def size(self) -> int:
        """The size of the formulas of all classes but the largest of them."""
        return sum(self.formulas[label].size for label in shown_labels(self.formulas))

    @property
    def modal_depth(self) -> int:
        """The depth of the deepest formula."""
        return max(formula.modal_depth for formula in self.formulas.values())

    @property
    def is_constant(self) -> bool:
        """Whether the rule says the same about every graph there is."""
        return all(isinstance(formula, Constant) for formula in self.formulas.values())


# Grouping ------------------------------------------------------------------------------------


def grouped_rules(
    formulas: Sequence[dict[Any, Formula]],
    codes: npt.NDArray[np.int64],
    accuracies: Sequence[float],
    *,
    n_fits: int,
    max_nodes: int,
    graph_class: str,
) -> tuple[RuleFrequency, ...]:
    """Return rules that say the same about all rows as one, most frequent first.

    Parameters
    ----------
    formulas : sequence of dict
        Of every fit; behind the `n_fits` fits that count there may be the rule that was given.
    codes : array of shape (len(formulas), n_rows)
        What each of them predicts, as numbers.
    accuracies : sequence of float
        Of the `n_fits` fits.
    n_fits : int
    max_nodes : int
        The bound of proofs.
    graph_class : str
        The graphs of proofs.
    """
    groups: dict[bytes, list[int]] = {}
    for number, row in enumerate(codes):
        groups.setdefault(row.tobytes(), []).append(number)
    rules = []
    for members in groups.values():
        fits = tuple(number for number in members if number < n_fits)
        # Formulas are interned: equal ones are one object.
        distinct = Counter(tuple(formulas[number].items()) for number in fits or members)
        first, *others = sorted(distinct, key=lambda rule: (-distinct[rule], _size(rule)))
        proved, bounds = distinct[first], []
        for other in others:
            bound = _proved_nodes(dict(first), dict(other), max_nodes, graph_class)
            if bound is not None:
                proved += distinct[other]
                bounds.append(bound)
        known = [accuracies[number] for number in fits if not np.isnan(accuracies[number])]
        rules.append(
            RuleFrequency(
                formulas=dict(first),
                fits=fits,
                n_identical=distinct[first] if fits else 0,
                n_proved=proved if fits else 0,
                proved_nodes=min(bounds, default=None),
                accuracy=float(np.mean(known)) if known else float("nan"),
                given=len(fits) < len(members),
                others=tuple(dict(other) for other in others),
            )
        )
    return tuple(sorted(rules, key=lambda rule: (-rule.count, rule.size, rule.fits)))


def _size(rule: tuple[tuple[Any, Formula], ...]) -> tuple[Any, ...]:
    formulas = dict(rule)
    shown = [formulas[label] for label in shown_labels(formulas)]
    return sum(formula.size for formula in shown), *(formula.key for formula in shown)


def _proved_nodes(
    first: Mapping[Any, Formula], second: Mapping[Any, Formula], max_nodes: int, graph_class: str
) -> int | None:
    """Return the bound up to which two rules are proved equal; None if they are not.

    A proof counts only if its bound reaches every threshold: `1 U0 > 6` and `1 U0 > 7` are equal on
    all graphs of four nodes, and nobody would call them the same rule.
    """
    bounds = []
    # The formula of one class is what the others leave over.
    largest = max(first, key=lambda label: first[label].size)
    for label in first:
        if label == largest:
            continue
        pair = first[label], second[label]
        if pair[0] is pair[1]:
            continue
        bound = _largest_bound(pair, max_nodes, graph_class)
        if bound == 0:
            return None
        result = equivalent(
            *pair,
            max_nodes=bound,
            graph_class=graph_class,
            method="enumerate",
            time_limit=None,
            max_graphs=_MAX_GRAPHS,
        )
        if not result or result.unreachable:
            return None
        bounds.append(bound)
    return min(bounds, default=max_nodes)


def _largest_bound(pair: tuple[Formula, Formula], max_nodes: int, graph_class: str) -> int:
    """Return the largest number of nodes, up to `max_nodes`, whose graphs are few enough."""
    return enumerable_nodes(space_of(pair, graph_class), max_nodes, _MAX_GRAPHS)[0]


# Parts of rules ------------------------------------------------------------------------------


def condition_counts(
    rules: Iterable[Mapping[Any, Formula]],
) -> tuple[dict[Formula, int], dict[str, int], dict[str, int]]:
    """Return in how many rules each condition, each count and each predicate occurs."""
    conditions: Counter[Formula] = Counter()
    counts: Counter[str] = Counter()
    predicates: Counter[str] = Counter()
    for formulas in rules:
        shown = [formulas[label] for label in shown_labels(formulas)]
        outside = {atom for formula in shown for atom in atoms_of(formula)}
        conditions.update(outside)
        counts.update({_count_text(atom) for atom in outside if isinstance(atom, Modal)})
        predicates.update(predicate_names(*shown))
    ranked = sorted(conditions, key=lambda atom: (-conditions[atom], atom.key))
    return {atom: conditions[atom] for atom in ranked}, _ranked(counts), _ranked(predicates)


def _ranked(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _count_text(comparison: Modal) -> str:
    """Return a comparison without its threshold."""
    return str(modal(comparison.modality, comparison.child, 0)).removesuffix(" > 0")
