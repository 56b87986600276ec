"""What explanations of rules and of scores share: witnesses, told, drawn and as plain data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnn2logic.explanation.evidence import Witnesses
from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.parts import FormulaPart
from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.subject import TeacherAnswer
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.molecules import molecule_names
from gnn2logic.logic.syntax import Formula

if TYPE_CHECKING:
    from gnn2logic.chem.drawing import Drawing
    from gnn2logic.explanation.wording import Wording

__all__ = [
    "WitnessedExplanation",
    "condition_to_dict",
    "flip_to_dict",
    "numbers_of",
    "teacher_to_dict",
]


class WitnessedExplanation(ABC):
    """An explanation that has witnesses: conditions, with the nodes and edges they are about."""

    witnesses: Witnesses
    flips: tuple[Flip, ...]

    @property
    def label(self) -> Any:
        """The class that the model predicts, or the number; rules give it with its unit."""
        return self.witnesses.label

    @property
    def graph(self) -> GraphBatch:
        """The graph as the model sees it."""
        return self.witnesses.graph

    @property
    def node(self) -> int | None:
        """The node that the answer is about, for models of nodes."""
        return self.witnesses.node

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that decide.

        Of a rule these are the decisions on the path through the final tree, from the root,
        without implied ones; of a score those that give points.
        """
        return self.witnesses.conditions

    @property
    def rule(self) -> Formula:
        """The rule that fires: all conditions together."""
        return self.witnesses.rule

    @property
    def flip(self) -> Flip | None:
        """The smallest change of counts that gives another class; None if there is none."""
        return self.flips[0] if self.flips else None

    def to_text(self, names: Names | None = None) -> str:
        """Return the explanation in words.

        Parameters
        ----------
        names : mapping of str to str or (str, str), optional
            Words for predicates and relations, as ``formula.to_english`` takes them. Molecules are
            told in the words of chemists without them; `gnn2logic.chem.molecule_words` also has
            the names of groups.
        """
        from gnn2logic.explanation.wording import to_text

        return to_text(self._wording(names))

    @abstractmethod
    def _wording(self, names: Names | None = None) -> Wording:
        """Return what is said, sentence by sentence."""

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from gnn2logic.explanation.wording import to_html

        drawing = self.drawing
        picture = "" if drawing is None else drawing.svg[drawing.svg.index("<svg") :]
        return picture + to_html(self._wording())

    @property
    def _names(self) -> Names | None:
        """Words for what the graph has predicates for, where there are special ones."""
        return molecule_names(self.graph.names)

    @property
    def drawing(self) -> Drawing | None:
        """A molecule with the atoms and bonds that the answer is about; None for other graphs.

        It needs RDKit (extra ``chem``) and is None without it.
        """
        from gnn2logic.chem.drawing import drawing_if_molecule

        pairs = [(int(source), int(target)) for source, target in self.witnesses.edges]
        return drawing_if_molecule(self.graph, self.witnesses.nodes, pairs)


def numbers_of(nodes: npt.NDArray[np.bool_]) -> list[int]:
    """Return the numbers of the nodes that are marked."""
    numbers: list[int] = np.flatnonzero(nodes).tolist()
    return numbers


def condition_to_dict(
    condition: Condition, parts: Sequence[FormulaPart], names: Names | None
) -> dict[str, Any]:
    """Return a condition, with the parts of what it counts."""
    threshold = condition.threshold
    return {
        "formula": str(condition.formula),
        "english": condition.formula.to_english(names),
        "modality": str(condition.modality),
        "inner": str(condition.inner),
        "count": condition.count,
        "size": condition.size,
        "threshold": threshold if isinstance(threshold, int) else str(threshold),
        "met": condition.met,
        "margin": condition.margin,
        "nodes": numbers_of(condition.nodes),
        "counted": numbers_of(condition.counted),
        "parts": [
            {
                "formula": str(part.formula),
                "english": part.formula.to_english(names),
                "nodes": numbers_of(part.nodes),
            }
            for part in parts
        ],
    }


def flip_to_dict(flip: Flip, names: Names | None) -> dict[str, Any]:
    """Return a change of counts."""
    return {
        "label": flip.label,
        "total": flip.total,
        "changes": [
            {
                "formula": str(change.formula),
                "english": change.formula.to_english(names),
                "modality": str(change.modality),
                "inner": str(change.inner),
                "before": change.before,
                "after": change.after,
            }
            for change in flip.changes
        ],
    }


def teacher_to_dict(teacher: TeacherAnswer | None) -> dict[str, Any] | None:
    """Return the answer of a teacher, if there is one."""
    if teacher is None:
        return None
    return {
        "label": teacher.label,
        "probability": teacher.probability,
        "agrees": teacher.agrees,
    }
