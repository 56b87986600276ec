"""The search for the smallest change of a graph after which a rule says something else.

All changes of one edit are tried, then all of two, as long as that is few graphs. Where it is too
many, the search goes on from those graphs that are nearest to another answer: the counts that the
rule compares say how near, and the witnesses of the answer say where to begin.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnn2logic._progress import Progress
from gnn2logic.chem.edits import MoleculeEdits
from gnn2logic.exceptions import UnseenCategoryWarning
from gnn2logic.explanation.card_reasons import line_reasons
from gnn2logic.explanation.edits import Edit, GraphEdits
from gnn2logic.explanation.flips import flips_at
from gnn2logic.explanation.path import GraphDecisions
from gnn2logic.explanation.score_flips import score_flips
from gnn2logic.explanation.subject import GraphSubject, ask_teacher, teacher_with_predict
from gnn2logic.explanation.witnesses import witnesses
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.idt.formulas import leaf_classes
from gnn2logic.idt.model import IDT
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.scorecards import Scorecard, ScorecardPredictor

__all__ = ["Change", "Editor", "MoleculeEditor", "RecourseSearch"]

# How many graphs are asked about at once.
_AT_ONCE = 256
# Where not all graphs are changed further: how many are, and of how many these are the nearest.
_BEAM = 32
_MOST_RANKED = 1000
# Of large graphs, how many changes are made for each one that may be asked about.
_MOST_MADE = 5


class Editor(Protocol):
    """Changed graphs (drafts) of one sort."""

    start: Any

    def key(self, draft: Any) -> object:
        """Return what is the same for drafts that are the same graph."""

    def position(self, draft: Any) -> int | None:
        """Return where the node is that is classified."""

    def write(self, draft: Any) -> Any:
        """Return the graph as rule and teacher read it."""

    def edits(self, draft: Any) -> Iterator[tuple[Edit, Any]]:
        """Yield every single change, always in the same order."""


class MoleculeEditor:
    """Changed molecules."""

    def __init__(self, molecules: MoleculeEdits) -> None:
        self.start = molecules.start
        self.key, self.position = molecules.key, molecules.position
        self.write = molecules.write
        self._edits = molecules.edits

    def edits(self, draft: Any) -> Iterator[tuple[Edit, Any]]:
        """Yield every single change."""
        for text, atoms, changed in self._edits(draft):
            yield Edit(text, atoms), changed


@dataclass(frozen=True, eq=False)
class Change:
    """A changed graph; its promise is how much its edits are about witnesses."""

    edits: tuple[Edit, ...]
    draft: Any
    promise: float


class RecourseSearch:
    """One search, for one graph (or node)."""

    def __init__(
        self,
        rule: IDTPredictor | ScorecardPredictor,
        graph: object,
        teacher: object,
        subject: GraphSubject,
        editor: Editor,
        progress: Progress,
    ) -> None:
        self._rule, self._subject, self._editor = rule, subject, editor
        self._progress = progress
        self.n_asked = 0
        self._start = Change((), editor.start, 0.0)
        self.before = self._asked(rule, [self._start])[0]
        self._teacher: Any = None
        self.teacher_before: Any = None
        if teacher is not None:
            # It refuses teachers with other classes or another level.
            ask_teacher(teacher, graph, subject, self.name(self.before))
            self._teacher = teacher_with_predict(teacher, len(subject.labels))
            self.teacher_before = self._asked(self._teacher, [self._start])[0]
        scores = witnesses(rule, graph, node=subject.node).node_scores.tolist()
        names: Sequence[str] = [str(number) for number in range(len(scores))]
        if isinstance(editor, GraphEdits):
            names = editor.form.names
        self._scores = dict(zip(names, scores, strict=True))

    def name(self, label: Any) -> Any:
        """Return a class as the user calls it."""
        labels = self._subject.labels
        return self._subject.names[labels.index(label)] if label in labels else label

    def run(self, max_edits: int, max_graphs: int, *, most: int) -> tuple[list[Change], int]:
        """Return some changes of the smallest size found, and up to which size all were tried."""
        level, seen = [self._start], {self._editor.key(self._start.draft)}
        tried_all, is_complete, per_graph = 0, True, 1
        for size in range(1, max_edits + 1):
            left, levels_left = max_graphs - self.n_asked, max_edits - size
            # Something is kept back for larger changes.
            room = left if size == 1 or not levels_left else left * 3 // 4
            if len(level) * per_graph > room:
                room = left // (levels_left + 1)
                width = min(_BEAM, max(1, room // per_graph))
                level, is_complete = self._nearest(level, width), False
            level, is_all = self._changed_once(level, seen, room)
            hits = self._settled(level, most)
            is_complete = is_complete and is_all
            if is_complete:
                tried_all = size
            if hits or not level:
                return hits, tried_all if level else (max_edits if is_complete else tried_all)
            if size == 1:
                # The others have about as many.
                per_graph = len(level)
        return [], tried_all

    def _changed_once(
        self, graphs: Sequence[Change], seen: set[object], most: int
    ) -> tuple[list[Change], bool]:
        """Return the graphs one edit further, the promising first, and whether these are all."""
        level: dict[object, Change] = {}
        is_all = True
        made = ((each, *one) for each in graphs for one in self._editor.edits(each.draft))
        for number, (change, edit, draft) in enumerate(made):
            if len(level) > 2 * most:
                level, is_all = dict(_promising(level)[:most]), False
            if number > _MOST_MADE * most:
                is_all = False
                break
            key = self._editor.key(draft)
            if key not in seen and key not in level:
                promise = max(self._scores.get(name, 0.0) for name in edit.nodes)
                level[key] = Change((*change.edits, edit), draft, change.promise + promise)
        kept = _promising(level)[:most]
        seen.update(key for key, _ in kept)
        return [change for _, change in kept], is_all and len(level) <= most

    # Asking -----------------------------------------------------------------------------------

    def _settled(self, level: Sequence[Change], most: int) -> list[Change]:
        """Return the first changes after which rule and teacher say something else."""
        hits: list[Change] = []
        for start in range(0, len(level), _AT_ONCE):
            some = level[start : start + _AT_ONCE]
            self.n_asked += len(some)
            for change in some:
                self._progress.step(f"{len(change.edits)} edits,")
            if len(hits) < most:
                others = _where(some, self._asked(self._rule, some), self.before)
                if others and self._teacher is not None:
                    others = _where(others, self._asked(self._teacher, others), self.teacher_before)
                # A network may say another thing about a graph in a batch than about it alone.
                hits += [change for change in others if self._holds_alone(change)]
        return hits[:most]

    def _holds_alone(self, change: Change) -> bool:
        ours, theirs = self.said(change)
        return bool(
            ours != self.before and (self._teacher is None or theirs != self.teacher_before)
        )

    def said(self, change: Change) -> tuple[Any, Any]:
        """Return what rule and teacher say about one graph, run on it alone."""
        theirs = None if self._teacher is None else self._asked(self._teacher, [change])[0]
        return self._asked(self._rule, [change])[0], theirs

    def _asked(self, model: Any, changes: Sequence[Change]) -> list[Any]:
        """Return the classes that a model gives."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            labels = np.asarray(model.predict(self._written(changes)))
        return [labels[row].item() for row in self._rows(changes)]

    def _written(self, changes: Sequence[Change]) -> Any:
        graphs = [self._editor.write(change.draft) for change in changes]
        return GraphBatch.concat(graphs) if isinstance(graphs[0], GraphBatch) else graphs

    def _rows(self, changes: Sequence[Change]) -> list[int]:
        """Return which rows of an answer are about the graphs, or the nodes, in question."""
        if self._subject.node is None:
            return list(range(len(changes)))
        rows = []
        for change, first in zip(changes, self._encoded(changes).ptr.tolist(), strict=False):
            position = self._editor.position(change.draft)
            assert position is not None
            rows.append(first + position)
        return rows

    def _encoded(self, changes: Sequence[Change]) -> GraphBatch:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            return self._rule.encoder_.transform(self._written(changes))

    # Which to change further ------------------------------------------------------------------

    def _nearest(self, level: Sequence[Change], width: int) -> list[Change]:
        """Return the graphs that are nearest to another answer; of equal ones, the promising."""
        ranked = list(level[:_MOST_RANKED])
        distances = self._distances(ranked)
        sure = np.zeros(len(ranked))
        if hasattr(self._teacher, "predict_proba"):
            # Where the rule has changed its mind, the least sure teacher is nearest.
            probabilities = np.asarray(self._teacher.predict_proba(self._written(ranked)))
            sure = probabilities[self._rows(ranked)].max(axis=1)
        order = np.lexsort((sure, distances))
        return [ranked[at] for at in order[:width].tolist()]

    def _distances(self, changes: Sequence[Change]) -> npt.NDArray[np.float64]:
        """Return how many counts have to change until the rule changes its mind."""
        model = self._subject.model
        batch = self._encoded(changes)
        rows = [self._editor.position(change.draft) or 0 for change in changes]
        if isinstance(model, Scorecard):
            missing = _PointsMissing(model, self._subject.labels, self.before)
            return np.array([missing(*each) for each in zip(batch, rows, strict=True)])
        return np.array(
            [self._counts_missing(model, *each) for each in zip(batch, rows, strict=True)]
        )

    def _counts_missing(self, model: IDT, graph: GraphBatch, row: int) -> float:
        decisions = GraphDecisions(model, graph)
        leaf, _ = decisions.path(model.final, row)
        labels = self._subject.labels
        if labels[leaf_classes(model.final)[leaf]] != self.before:
            return 0.0
        flips = flips_at(decisions, row, leaf, labels)
        return float(flips[0].total) if flips else np.inf


class _PointsMissing:
    """How many counts have to change until a scorecard changes its mind."""

    def __init__(self, card: Scorecard, labels: Sequence[Any], before: Any) -> None:
        self._card, self._labels, self._before = card, labels, before
        # Many changed graphs have the same counts.
        self._known: dict[tuple[tuple[int, int], ...], float] = {}

    def __call__(self, graph: GraphBatch, row: int) -> float:
        reasons = line_reasons(self._card, graph, row)
        counts = tuple((each.conditions[0].count, each.conditions[0].size) for each in reasons)
        if counts not in self._known:
            scores = np.array(self._card.base) + sum(np.array(each.points) for each in reasons)
            label = self._labels[int(self._card.classes(scores[None, :])[0])]
            flips = score_flips(self._card, reasons, self._labels)
            near = float(flips[0].total) if flips else np.inf
            self._known[counts] = near if label == self._before else 0.0
        return self._known[counts]


def _promising(level: dict[object, Change]) -> list[tuple[object, Change]]:
    # Sorting is stable, so the order is the same each time.
    return sorted(level.items(), key=lambda entry: -entry[1].promise)


def _where(changes: Sequence[Change], labels: Sequence[Any], before: Any) -> list[Change]:
    return [change for change, label in zip(changes, labels, strict=True) if label != before]
