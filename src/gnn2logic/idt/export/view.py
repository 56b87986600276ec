"""What all formats show of a model: its trees layer by layer, and the names in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gnn2logic._text import one_line
from gnn2logic._validation import check_fitted
from gnn2logic.exceptions import LabelError, UnsupportedInputError
from gnn2logic.idt.formulas import column_formulas, leaf_classes
from gnn2logic.idt.model import IDT, LeafSet, TrueColumn
from gnn2logic.idt.pruning import prune
from gnn2logic.idt.target import Target
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic.printing.infix import Style, write_infix
from gnn2logic.logic.syntax import TRUE, Formula, modal, predicate

__all__ = ["ModelView", "ShownTree", "one_line", "view_of"]


@dataclass(frozen=True)
class ShownTree:
    """A tree with its place in the model.

    Parameters
    ----------
    tree : Tree
    layer, number : int
        The layer, and the place of the tree in it.
    leaf_sets : tuple of tuple of int
        The columns of the leaf sets that contain each leaf, from left to right.
    classes : tuple of str or None
        The class of each leaf of the final tree; None for inner trees.
    """

    tree: Tree
    layer: int
    number: int
    leaf_sets: tuple[tuple[int, ...], ...]
    classes: tuple[str, ...] | None = None

    @property
    def is_final(self) -> bool:
        """Whether the leaves are classes."""
        return self.classes is not None

    @cached_property
    def depths(self) -> list[int]:
        """How far each node is from the root."""
        depths = [0] * self.tree.n_nodes
        # Children come after their parent.
        for node, split in enumerate(self.tree.splits):
            if split is not None:
                for child in (self.tree.false_child[node], self.tree.true_child[node]):
                    depths[child] = depths[node] + 1
        return depths


@dataclass(frozen=True)
class ModelView:
    """A model as it is shown; leaves of the final tree say classes, or numbers."""

    model: IDT
    classes: tuple[str, ...]
    target: Target | None = None

    @property
    def is_number(self) -> bool:
        """Whether leaves of the final tree say numbers."""
        return self.target is not None

    @property
    def heading(self) -> str | None:
        """What leaves say, where the model has a name for it."""
        if self.target is None or self.target.name is None:
            return None
        return f"Predicted {self.target.noun}"

    @property
    def leaf_word(self) -> str:
        """What stands before what a leaf of the final tree says."""
        return "" if self.is_number else "Class "

    @cached_property
    def layers(self) -> list[list[ShownTree]]:
        """The trees of every layer, the final tree as the last layer of its own."""
        sets: dict[tuple[int, int, int], tuple[int, ...]] = {}
        for number, column in enumerate(self.model.columns):
            if isinstance(column, LeafSet):
                for leaf in column.leaves:
                    key = (column.layer, column.tree, leaf)
                    sets[key] = (*sets.get(key, ()), number)
        layers: list[list[ShownTree]] = []
        for number, layer in enumerate(self.model.layers):
            layers.append([])
            for position, tree in enumerate(layer.trees):
                keys = [(number, position, leaf) for leaf in range(tree.n_leaves)]
                marks = tuple(sets.get(key, ()) for key in keys)
                layers[-1].append(ShownTree(tree, number, position, marks))
        final = self.model.final
        labels = tuple(self.classes[number] for number in leaf_classes(final))
        return [*layers, [ShownTree(final, len(layers), 0, ((),) * final.n_leaves, labels)]]

    @cached_property
    def leaf_sets(self) -> dict[int, tuple[int, int]]:
        """The j and i of every leaf set M_j^i, by column: it is number j of layer i."""
        numbers: dict[int, tuple[int, int]] = {}
        counts = [0] * len(self.model.layers)
        for number, column in enumerate(self.model.columns):
            if isinstance(column, LeafSet):
                numbers[number] = (counts[column.layer], column.layer)
                counts[column.layer] += 1
        return numbers

    @cached_property
    def legend(self) -> dict[int, Formula]:
        """The formula chi_j^i of every leaf set, by column."""
        formulas = column_formulas(self.model, self.leaf_sets)
        return {column: formulas[column] for column in self.leaf_sets}

    def write_split(self, split: Split, style: Style, chi: str) -> str:
        """Return the text of a split; `chi` is a template with places for j and i."""
        column = self.model.columns[split.column]
        if isinstance(column, LeafSet):
            # Any formula can stand for the leaf set: it is written by its name.
            counted = TRUE
            references = {counted: chi.format(*self.leaf_sets[split.column])}
        else:
            counted = TRUE if isinstance(column, TrueColumn) else predicate(column.name)
            references = {}
        return write_infix(modal(split.modality, counted, split.threshold), references, style)


def view_of(model: object, class_names: Sequence[object] | None, *, pruned: bool) -> ModelView:
    """Return the view of a fitted estimator or of an IDT, checked."""
    idt, labels = _model_and_labels(model)
    if class_names is not None:
        labels = list(class_names)
    n_classes = idt.final.values.shape[1]
    if labels is None:
        labels = list(range(n_classes))
    if len(labels) != n_classes:
        raise LabelError(
            f"class_names must have one name for each of the {n_classes} classes of the model. "
            f"Got {len(labels)} instead."
        )
    names = tuple(str(label) for label in labels)
    return ModelView(prune(idt) if pruned else idt, names, getattr(model, "target", None))


def _model_and_labels(model: object) -> tuple[IDT, list[Any] | None]:
    if isinstance(model, IDT):
        return model, None
    hint = " model['name'] is that of one target." if hasattr(model, "target_names_") else ""
    if hasattr(model, "fit") and not hint and not hasattr(model, "card_"):
        check_fitted(model, "model_")
    fitted = getattr(model, "model_", None)
    if not isinstance(fitted, IDT) or not hasattr(model, "classes_"):
        raise UnsupportedInputError(
            "model must be a fitted IDTClassifier, IDTRegressor or the like, or an IDT. "
            f"Got {type(model).__name__} instead.{hint}"
        )
    # Numbers are shown with their unit.
    return fitted, list(getattr(model, "shown_classes", model.classes_))
