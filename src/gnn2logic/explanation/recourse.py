"""`recourse`: the smallest change of a graph after which a rule says something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gnn2logic._progress import Progress
from gnn2logic._text import one_line
from gnn2logic._validation import check_whole, some_of
from gnn2logic.chem.edits import MoleculeEdits
from gnn2logic.exceptions import ParameterError
from gnn2logic.explanation.edits import ALLOWED, Edit, GraphEdits
from gnn2logic.explanation.recourse_search import Editor, MoleculeEditor, RecourseSearch
from gnn2logic.explanation.subject import graph_subject
from gnn2logic.fitted_models import fitted_classifier
from gnn2logic.graphs.batch import GraphBatch

__all__ = ["Recourse", "recourse"]

# Other changes that are as small; nobody reads more.
_MOST_OTHERS = 9


@dataclass(frozen=True, eq=False)
class Recourse:
    """What `recourse` returns; printed, it says what to change. It is true if there is a change.

    Attributes
    ----------
    edits : tuple of Edit
        What to change, one after the other; empty if nothing was found.
    graph : object or None
        The changed graph, in the type in which the graph was given (matrices as a `GraphBatch`).
    before, after : object
        What the rule says about the given graph and about the changed one.
    teacher_before, teacher_after : object
        The same of the teacher; None without one.
    tried_all : int
        All changes of at most so many edits were tried. If there are fewer edits than this, or one
        more, no smaller change does it.
    others : tuple of tuple of Edit
        Other changes of as many edits that do it as well, some of them.
    max_edits : int
        How many edits a change was allowed to have.
    n_graphs : int
        How many changed graphs were tried.
    chemistry : bool
        Whether all graphs were checked to be molecules, by RDKit.
    level : {"graph", "node"}
    """

    edits: tuple[Edit, ...]
    graph: Any
    before: Any
    after: Any
    teacher_before: Any
    teacher_after: Any
    tried_all: int
    others: tuple[tuple[Edit, ...], ...]
    max_edits: int
    n_graphs: int
    chemistry: bool
    level: Literal["graph", "node"]

    @property
    def smallest(self) -> bool:
        """Whether it is certain that no change of fewer edits does it."""
        return bool(self.edits) and self.tried_all >= len(self.edits) - 1

    def __bool__(self) -> bool:
        return bool(self.edits)

    def __str__(self) -> str:
        if not self.edits:
            return (
                f"No change was found after which {self._who} something else than "
                f"{_shown(self.before)}. {self._searched}"
            )
        lines = [f"{number}. {edit}" for number, edit in enumerate(self.edits, start=1)]
        said = f"Then the rule says {_shown(self.after)} and no longer {_shown(self.before)}"
        if self.teacher_before is not None:
            said += (
                f", and the network {_shown(self.teacher_after)} and no longer "
                f"{_shown(self.teacher_before)}"
            )
        also = ""
        if self.others:
            is_all = len(self.others) < _MOST_OTHERS and self.tried_all >= len(self.edits)
            least = "" if is_all else "At least "
            count = len(self.others)
            also = f" {least}{count} other change{'s' * (count > 1)} of this size would do as well."
        return "\n".join([*lines, f"{said}. {self._searched}{also}"])

    def __repr__(self) -> str:
        if not self.edits:
            return f"<Recourse: none found, from {self.before!r}>"
        return f"<Recourse of {_edits(len(self.edits))}, from {self.before!r} to {self.after!r}>"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, without the changed graph."""
        return {
            "edits": [str(edit) for edit in self.edits],
            "before": _plain(self.before),
            "after": _plain(self.after),
            "teacher_before": _plain(self.teacher_before),
            "teacher_after": _plain(self.teacher_after),
            "smallest": self.smallest,
            "tried_all": self.tried_all,
            "max_edits": self.max_edits,
            "n_graphs": self.n_graphs,
            "chemistry": self.chemistry,
            "others": [[str(edit) for edit in edits] for edits in self.others],
        }

    @property
    def _who(self) -> str:
        return "the rule says" if self.teacher_before is None else "rule and network both say"

    @property
    def _searched(self) -> str:
        if self.smallest:
            if len(self.edits) == 1:
                return "No smaller change is possible."
            fewer = _edits(len(self.edits) - 1)
            return f"No smaller change does it: all changes of at most {fewer} were tried."
        if self.tried_all == 0:
            proven = "Not even all single edits were tried"
        else:
            proven = f"All changes of at most {_edits(self.tried_all)} were tried"
        if self.edits:
            return f"{proven}; of larger ones only promising ones, so a smaller change may exist."
        if self.tried_all < self.max_edits:
            proven += "; of larger ones only promising ones, so there may be such a change"
        return f"{proven} ({self.n_graphs} graphs in all)."


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _shown(label: object) -> str:
    return one_line(str(label))


def _edits(count: int) -> str:
    return f"{count} edit{'s' * (count != 1)}"


def recourse(
    model: object,
    graph: object,
    teacher: object = None,
    max_edits: int = 3,
    *,
    node: int | None = None,
    allowed: Sequence[str] = ALLOWED,
    one_hot: Sequence[Sequence[str]] | None = None,
    max_graphs: int = 20_000,
    verbose: int | None = None,
) -> Recourse:
    """Search for the smallest change of a graph after which a rule says something else.

    One edit is one of these:

    - one value of one node: a predicate, another category, a number beyond a threshold;
    - one edge more or less. New edges are of a sort that the graph has, between nodes that have
      none;
    - one node less, with its edges; or one more, with at most one edge. It has the values of a
      node that is there.

    Molecules as `gnn2logic.chem.from_smiles` reads them are changed as such: an element, a bond, an
    atom with its bond. RDKit checks that each is a molecule, and counts hydrogens and rings anew.
    Chemistry is checked for no other graphs, also if their nodes are called atoms.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        A fitted model that tells classes: rules or a scorecard.
    graph : one graph of any kind that the model was fitted on
        But for PyG's ``HeteroData`` and ``Batch``.
    teacher : Teacher, torch module or anything with ``predict(graphs)``, optional
        Its answer has to change as well, to whatever class.
    max_edits : int
        How many edits a change may have.
    node : int, optional
        Which node's class shall change, for models that classify nodes. It is not removed.
    allowed : sequence of {"predicates", "edges", "nodes"}
        Which edits may be made; of molecules, elements are predicates.
    one_hot : sequence of sequences of str, optional
        Groups of columns of which each node has exactly one: they change together. A categorical
        column is such a group always. By default, columns of 0 and 1 are one group if each node of
        the graph has exactly one of them; ``[]`` is no group.
    max_graphs : int
        How many graphs are tried. As long as all changes of a size are fewer, all are tried; then
        only the most promising are changed further.
    verbose : int, optional
        1 shows progress, 0 shows nothing.

    Returns
    -------
    Recourse
        With the changed graph, on which rule and teacher were run. It says how much was tried.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> rule = gl.from_formulas({"yes": "1(A red > 1) > 0"}, otherwise="no", names=["red"])
    >>> path = gl.from_edges([(0, 1), (1, 2)], 3, [[1], [0], [0]], names=["red"]).symmetrize()
    >>> change = recourse(rule, path)
    >>> print(change)
    1. make red true at node 2
    Then the rule says yes and no longer no. No smaller change is possible. 1 other change of \
this size would do as well.
    >>> rule.predict(change.graph)
    array(['yes'], dtype='<U3')
    """
    check_whole("max_edits", max_edits, least=1)
    check_whole("max_graphs", max_graphs, least=1)
    rule = fitted_classifier(model, reason="recourse changes classes")
    if isinstance(allowed, str) or not allowed or set(allowed) - set(ALLOWED):
        raise ParameterError(f"allowed must name some of {some_of(ALLOWED)}. Got {allowed!r}.")
    if isinstance(graph, Iterator):
        graph = list(graph)
    subject = graph_subject(rule, graph, node=node)
    editor: Editor | None = None
    chemistry = False
    if isinstance(graph, GraphBatch):
        molecules = MoleculeEdits.of(graph, node=subject.node, allowed=frozenset(allowed))
        if molecules is not None:
            editor, chemistry = MoleculeEditor(molecules), True
    if editor is None:
        editor = GraphEdits(
            graph, rule.encoder_, node=subject.node, allowed=allowed, one_hot=one_hot
        )
    elif one_hot is not None:
        raise ParameterError("one_hot is not for molecules: their elements change as such.")
    with Progress("recourse: graph", max_graphs, verbose=verbose) as progress:
        search = RecourseSearch(rule, graph, teacher, subject, editor, progress)
        changes, tried_all = search.run(max_edits, max_graphs, most=1 + _MOST_OTHERS)
    best = changes[0] if changes else None
    after, teacher_after = (None, None) if best is None else search.said(best)
    return Recourse(
        edits=() if best is None else best.edits,
        graph=None if best is None else editor.write(best.draft),
        before=search.name(search.before),
        after=None if best is None else search.name(after),
        teacher_before=search.name(search.teacher_before),
        teacher_after=search.name(teacher_after),
        tried_all=tried_all,
        others=tuple(each.edits for each in changes[1:]),
        max_edits=max_edits,
        n_graphs=search.n_asked,
        chemistry=chemistry,
        level=subject.level,
    )
