"""`explain`: one graph (or node), one model, all that there is to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gnn2logic.explanation.flips import flips_at
from gnn2logic.explanation.path import Search
from gnn2logic.explanation.result import Explanation
from gnn2logic.explanation.subject import subject_of
from gnn2logic.explanation.teacher_answer import ask_teacher
from gnn2logic.explanation.witnesses import witnesses_of
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.tree import Tree

__all__ = ["explain"]


def explain(
    idt: IDTPredictor | IDT,
    graph: object,
    teacher: object = None,
    *,
    node: int | None = None,
    class_names: Iterable[object] | None = None,
) -> Explanation:
    """Explain why a model gives a graph (or a node) its class.

    Parameters
    ----------
    idt : IDTClassifier, IDTNodeClassifier, IDTPredictor or IDT
        A fitted model. An `IDT` reads graphs that have its predicates; its classes are numbers.
    graph : one graph of any kind that the model was fitted on
    teacher : Teacher, torch module or anything with ``predict(graphs)``, optional
        Whose answer to set beside that of the model. Only a network needs torch.
    node : int, optional
        Which node to explain, for models that classify nodes.
    class_names : sequence of labels, optional
        Other names for the classes of the model, in their order.

    Returns
    -------
    Explanation
        The path through the final tree. For every condition: the count, the threshold, by how much
        it is met, and the nodes that satisfy each part of its formula. The smallest change of
        counts that gives another class.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> idt = gl.from_formulas({"hub": "1(A true > 2) > 0"}, otherwise="no hub", names=[])
    >>> star = gl.from_edges([(0, 1), (0, 2), (0, 3)], 4).symmetrize()
    >>> print(explain(idt, star))
    Predicted class: hub
    <BLANKLINE>
    Because
      1. At least one node has more than 2 neighbours.
         1(A true > 2) > 0
         1 of 4 counted; 1 fewer would break it.
    <BLANKLINE>
    Nodes
      - Nodes that have more than 2 neighbours: 0
    <BLANKLINE>
    The smallest change of counts for another class
      - no hub, by 1: No nodes have more than 2 neighbours (now 1).
      This is about the counts that the final tree compares. A change of the graph may change
      several of them at once, and not every combination of counts belongs to a graph.
    """
    if isinstance(graph, Iterator):
        graph = list(graph)
    subject = subject_of(idt, graph, node=node, class_names=class_names)
    search = Search(subject.model, subject.graph)
    found = witnesses_of(subject, search)
    final = subject.model.final
    leaf, _ = search.path(final, subject.row)
    values = final.values[final.leaves[leaf]]
    shares = (values / values.sum()).tolist()
    return Explanation(
        level=subject.model.level,
        witnesses=found,
        shares=dict(zip(subject.labels, shares, strict=True)),
        support=_support(final, leaf),
        flips=flips_at(search, subject.row, leaf, subject.labels),
        teacher=None if teacher is None else ask_teacher(teacher, graph, subject, found.label),
    )


def _support(final: Tree, leaf: int) -> float | None:
    """Return the share of the training data in a leaf; None if there was none.

    A tree that was built from formulas has the weight 1 in every leaf.
    """
    weights = final.values[list(final.leaves)].sum(axis=1)
    if np.all(weights == 1.0):
        return None
    return float(weights[leaf] / weights.sum())
