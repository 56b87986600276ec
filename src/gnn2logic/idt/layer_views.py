"""The inner layers of a model, for people to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gnn2logic.idt.export.text import CHI, tree_to_text
from gnn2logic.idt.model import IDT, Column, InputPredicate, LeafSet, TrueColumn
from gnn2logic.idt.tree import Tree
from gnn2logic.logic.syntax import TRUE, Formula, predicate

__all__ = ["LayerView", "layer_views"]


@dataclass(frozen=True, repr=False)
class LayerView:
    """One inner layer as it was learned, unused parts included.

    Parameters
    ----------
    trees : tuple of Tree
    leaf_sets : mapping of int to LeafSet
        The leaf sets of the trees that became columns, by the number of the column. A leaf set that
        is true at the same nodes as an earlier column on all the training data became none.
    columns : tuple of Column
        All columns of the model; the splits of the trees speak of them by number.
    """

    trees: tuple[Tree, ...]
    leaf_sets: Mapping[int, LeafSet]
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        blocks = []
        formulas = [_name(number, column) for number, column in enumerate(self.columns)]
        for number, tree in enumerate(self.trees):
            sets = {n: few.leaves for n, few in self.leaf_sets.items() if few.tree == number}
            leaves = [
                ", ".join(f"column {n}" for n, members in sets.items() if leaf in members)
                for leaf in range(tree.n_leaves)
            ]
            blocks.append(f"tree {number}\n{tree_to_text(tree, formulas, leaves)}")
        return "\n".join(blocks)


def _name(number: int, column: Column) -> Formula:
    """Return what a column is called: its predicate, or its layer and number."""
    if isinstance(column, TrueColumn):
        return TRUE
    if isinstance(column, InputPredicate):
        return predicate(column.name)
    return predicate(CHI.format(number, column.layer))


def layer_views(model: IDT) -> tuple[LayerView, ...]:
    """Return a view of every inner layer."""
    return tuple(
        LayerView(
            layer.trees,
            {
                number: column
                for number, column in enumerate(model.columns)
                if isinstance(column, LeafSet) and column.layer == position
            },
            model.columns,
        )
        for position, layer in enumerate(model.layers)
    )
