"""From formulas to an IDT: the constructive half of the paper's theorem, as a model in use.

Layers are built so that every formula asked for is a leaf set of one of their trees. A tree splits
on the atoms (predicates and comparisons) of its formulas; a branch knows that ``S phi > 3`` settles
``S phi > 2``, so h thresholds of one count give h + 1 leaves, not 2**h.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gnn2logic._labels import check_labels
from gnn2logic._text import did_you_mean
from gnn2logic._validation import check_choice, check_names, some_of
from gnn2logic.exceptions import (
    LabelError,
    TranslationError,
    UnknownPredicateError,
    UnknownRelationError,
    UnsupportedInputError,
)
from gnn2logic.graphs.encoded_columns import EncodedColumn
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.graphs.modality import Modality
from gnn2logic.idt.model import IDT, Column, InputPredicate, Layer, LeafSet, Prunings, TrueColumn
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.simplification.boxes import Box, Theory
from gnn2logic.logic.simplification.cover import assume, atoms_of
from gnn2logic.logic.syntax import (
    TRUE,
    Constant,
    Formula,
    Modal,
    Predicate,
    modal,
    negation,
)
from gnn2logic.logic.walk import predicate_names, relation_names, subformulas

__all__ = ["ColumnBuilder", "from_formulas", "model_from_formulas"]

MAX_LEAVES = 4096
"""A single tree with more leaves than this is refused."""

# Several formulas share a tree while it stays this small; then each gets a tree of its own.
_SHARED_LEAVES = 16

_ITSELF = Modality.from_set("I")
_EVERYTHING = Modality.from_set("1")
_THEORY = Theory(simple=False)


def from_formulas(
    formulas: Mapping[Any, Formula | str],
    *,
    otherwise: Any,
    names: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
    level: Literal["graph", "node"] = "graph",
) -> IDTPredictor:
    """Return a model that predicts the class of the first formula that is true.

    It is an Iterated Decision Tree like one that was learned: it predicts, prints and saves.

    Parameters
    ----------
    formulas : mapping of label to Formula or str
        One formula for each class but one. On the graph level a formula is true of a graph iff it
        is true at all of its nodes.
    otherwise : label
        The class of what satisfies none of them.
    names : sequence of str, optional
        All predicates of the graphs that will be given, such as ``graphs.names`` of a batch; by
        default those in the formulas. Like any model it refuses graphs with other ones.
    relations : sequence of str, optional
        All edge relations of those graphs; by default those in the formulas.
    level : {"graph", "node"}
        Whether graphs or nodes are classified.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> model = from_formulas({"large": "1 true > 12"}, otherwise="small", names=["U0"])
    >>> model.predict(gl.random_graphs(3, sizes=[5, 12, 13], names=["U0"], random_state=0))
    array(['small', 'small', 'large'], dtype='<U5')
    >>> print(model.formula("small"))
    1 true < 13
    """
    if not isinstance(formulas, Mapping) or not formulas:
        raise UnsupportedInputError(
            "formulas must map labels to formulas, for one class or more. "
            f"Got {type(formulas).__name__} instead."
        )
    check_choice("level", level, ("graph", "node"))
    given = {label: parse(f) if isinstance(f, str) else f for label, f in formulas.items()}
    labels = [*given, otherwise]
    if otherwise in given:
        raise LabelError(f"otherwise must be a class without a formula. Got {otherwise!r}.")
    classes, order = np.unique(check_labels(labels, len(labels), of="class"), return_index=True)
    vocabulary = _vocabulary(names, predicate_names(*given.values()), "predicate", "names")
    types = _vocabulary(relations, relation_names(*given.values()), "relation", "relations")
    model = model_from_formulas(list(given.values()), level=level)
    # Classes are sorted, as those of estimators are.
    final = replace(model.final, values=model.final.values[:, order])
    encoder = FittedEncoder()
    encoder._set_learned([EncodedColumn(name, "binary") for name in vocabulary], types, [])
    predictor = IDTPredictor()
    predictor._level = level
    predictor._parameters = {}
    predictor.encoder_ = encoder
    predictor.classes_ = classes
    predictor.model_ = model.with_final(final)
    predictor.prunings_ = Prunings.of_one(final)
    predictor.chosen_ = 0
    return predictor


def _vocabulary(
    listed: Sequence[str] | None, used: tuple[str, ...], word: str, argument: str
) -> tuple[str, ...]:
    """Return the names that were listed, or those in use; all that are in use must be there."""
    if listed is None:
        return used
    known = check_names(listed, what=word.capitalize())
    for name in used:
        if name not in known:
            error = UnknownPredicateError if word == "predicate" else UnknownRelationError
            raise error(
                f"The formulas must use the {word}s in {argument}: {some_of(known)}. "
                f"Got {name!r} instead.{did_you_mean(name, known)}"
            )
    return known


# The model itself ------------------------------------------------------------------------------


def model_from_formulas(
    formulas: Sequence[Formula], *, level: Literal["graph", "node"] = "graph"
) -> IDT:
    """Return a model that predicts, for each graph or node, the first formula that is true.

    Class number i stands for ``formulas[i]``; the last class, number ``len(formulas)``, for none of
    them. On the graph level a formula is true of a graph iff it is true at all of its nodes.

    Raises
    ------
    TranslationError
        If a tree would need more than `MAX_LEAVES` leaves.

    Examples
    --------
    >>> from gnn2logic.idt.formulas import class_formula
    >>> from gnn2logic.logic import parse
    >>> model = model_from_formulas([parse("1(A(A U0 > 6) > 1/2) > 1/2")])
    >>> len(model.layers), str(class_formula(model, 0))
    (2, '1(A(A U0 > 6) > 1/2) > 1/2')
    """
    top = list(formulas)
    if level == "graph":
        top = [_about_graph(formula) for formula in top]
    builder = ColumnBuilder(top)
    builder.build(_counted(top))
    final, leaf_values = builder.tree(top)
    values = np.zeros((final.n_nodes, len(top) + 1))
    for leaf, truths in zip(final.leaves, leaf_values, strict=True):
        values[leaf, truths.index(True) if True in truths else len(top)] = 1.0
    values = final.node_sums(values[list(final.leaves)])
    with_values = Tree(
        final.splits, final.false_child, final.true_child, values, values.sum(axis=1)
    )
    return IDT(tuple(builder.columns), tuple(builder.layers), with_values, level)


def _about_graph(formula: Formula) -> Formula:
    """Return the formula as a combination of comparisons along ``1``, one value per graph."""
    if all(isinstance(a, Modal) and a.modality == _EVERYTHING for a in atoms_of(formula)):
        return formula
    return negation(modal(_EVERYTHING, negation(formula), 0))


def _counted(formulas: Sequence[Formula]) -> list[Formula]:
    """Return what the comparisons of the formulas count."""
    atoms = [atom for formula in formulas for atom in atoms_of(formula)]
    return [atom.child for atom in atoms if isinstance(atom, Modal)]


class ColumnBuilder:
    """Grows columns and layers for formulas, from below."""

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self.columns: list[Column] = [TrueColumn()]
        self.layers: list[Layer] = []
        self._column_of: dict[Formula, int] = {TRUE: 0}
        names = predicate_names(*formulas)
        for node in subformulas(*formulas):
            if isinstance(node, Predicate):
                self._column_of[node] = 1 + names.index(node.name)
        self.columns.extend(InputPredicate(name) for name in names)

    def build(self, wanted: Sequence[Formula]) -> None:
        """Make a column for each wanted formula."""
        by_layer: dict[int, dict[Formula, None]] = {}
        stack = list(wanted)
        ranks = _ranks(wanted)
        while stack:
            formula = stack.pop()
            if formula in self._column_of:
                continue
            group = by_layer.setdefault(ranks[formula] - 1, {})
            if formula not in group:
                group[formula] = None
                stack.extend(_counted([formula]))
        for number in range(max(by_layer, default=-1) + 1):
            self._add_layer(number, sorted(by_layer.get(number, {})))

    def _add_layer(self, number: int, formulas: Sequence[Formula]) -> None:
        trees: list[Tree] = []
        for group in self._groups(formulas):
            tree, leaf_values = self.tree(group)
            for position, formula in enumerate(group):
                leaves = tuple(n for n, truths in enumerate(leaf_values) if truths[position])
                self._column_of[formula] = len(self.columns)
                self.columns.append(LeafSet(number, len(trees), leaves))
            trees.append(tree)
        self.layers.append(Layer(tuple(trees)))

    def _groups(self, formulas: Sequence[Formula]) -> list[list[Formula]]:
        """Put formulas into one tree as long as it stays small."""
        groups: list[list[Formula]] = []
        for formula in formulas:
            if groups and self._fits([*groups[-1], formula]):
                groups[-1].append(formula)
            else:
                groups.append([formula])
        return groups

    def _fits(self, formulas: list[Formula]) -> bool:
        try:
            self.tree(formulas, max_leaves=_SHARED_LEAVES)
        except TranslationError:
            return False
        return True

    def tree(
        self, formulas: Sequence[Formula], *, max_leaves: int = MAX_LEAVES
    ) -> tuple[Tree, list[list[bool]]]:
        """Return a tree whose leaves settle all formulas, and their truth at each leaf."""
        splits: list[Split | None] = []
        children: list[list[int]] = []
        truths: dict[int, list[bool]] = {}
        stack = [(list(formulas), Box({}), -1, 0)]
        while stack:
            rest, box, parent, side = stack.pop()
            number = len(splits)
            children.append([-1, -1])
            if parent >= 0:
                children[parent][side] = number
            atom = _most_common_atom(rest)
            if atom is None:
                splits.append(None)
                truths[number] = [isinstance(f, Constant) and f.value for f in rest]
                if len(truths) > max_leaves:
                    raise TranslationError(
                        f"A tree for {formulas[0]} (and {len(formulas) - 1} more) would need more "
                        f"than {max_leaves} leaves. Simplify the formulas, or give fewer of them."
                    )
                continue
            splits.append(self.split(atom))
            for value in (True, False):
                bounded = box.bound(atom, value)
                smaller = [assume(formula, bounded, _THEORY) for formula in rest]
                stack.append((smaller, bounded, number, int(value)))
        n_nodes = len(splits)
        tree = Tree(
            tuple(splits),
            tuple(low for low, _ in children),
            tuple(high for _, high in children),
            np.empty((n_nodes, 0)),
            np.ones(n_nodes),
        )
        return tree, [truths[leaf] for leaf in tree.leaves]

    def split(self, atom: Formula) -> Split:
        """Return the split that decides a comparison of a column, or a column itself."""
        if isinstance(atom, Modal):
            return Split(self._column_of[atom.child], atom.modality, atom.threshold)
        return Split(self._column_of[atom], _ITSELF, 0)


def _ranks(formulas: Sequence[Formula]) -> dict[Formula, int]:
    """Return how many layers every counted formula needs: 0 for predicates and `true`."""
    ranks: dict[Formula, int] = {}
    for node in subformulas(*formulas):
        if isinstance(node, Modal):
            ranks[node] = ranks[node.child] + 1
        elif isinstance(node, Predicate) or node is TRUE:
            ranks[node] = 0
        else:
            # A combination (and `false`) is a leaf set: it takes a layer even without counts.
            ranks[node] = max([1, *(ranks[child] for child in node.children)])
    return ranks


def _most_common_atom(formulas: Sequence[Formula]) -> Formula | None:
    """Return the atom that most formulas still depend on, the first of equals."""
    uses = Counter(atom for formula in formulas for atom in atoms_of(formula))
    return min(uses, key=lambda atom: (-uses[atom], atom.key), default=None)
