"""One graph: the rule that fires, and what it is about. Two models: what changed."""

from typing import TYPE_CHECKING, Any

from gnn2logic.explanation.card_reasons import LineReason
from gnn2logic.explanation.differences import ModelDifference, diff
from gnn2logic.explanation.edits import Edit
from gnn2logic.explanation.explanations import Explanation, explain
from gnn2logic.explanation.flips import CountChange, Flip
from gnn2logic.explanation.parts import FormulaPart
from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.recourse import Recourse, recourse
from gnn2logic.explanation.score_explanations import ScoreExplanation
from gnn2logic.explanation.subject import TeacherAnswer
from gnn2logic.explanation.witnesses import Witnesses, witnesses
from gnn2logic.logic.printing.steps import in_steps

if TYPE_CHECKING:
    from gnn2logic.explanation.pyg import IDTExplainer

__all__ = [
    "Condition",
    "CountChange",
    "Edit",
    "Explanation",
    "Flip",
    "FormulaPart",
    "IDTExplainer",
    "LineReason",
    "ModelDifference",
    "Recourse",
    "ScoreExplanation",
    "TeacherAnswer",
    "Witnesses",
    "diff",
    "explain",
    "in_steps",
    "recourse",
    "witnesses",
]


def __getattr__(name: str) -> Any:
    # The adapter needs torch; witnesses do not.
    if name == "IDTExplainer":
        from gnn2logic.explanation.pyg import IDTExplainer

        return IDTExplainer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
