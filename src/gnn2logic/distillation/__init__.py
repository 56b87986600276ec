"""Networks in, formulas out: teachers, distillation and how well it went. Needs torch."""

from gnn2logic._optional import naming_extra

with naming_extra(
    "torch", "torch_geometric", "safetensors", extra="torch", purpose="gnn2logic.distillation"
):
    from gnn2logic.distillation.agreement import fidelity
    from gnn2logic.distillation.answers import Answers
    from gnn2logic.distillation.captured_answers import capture
    from gnn2logic.distillation.conversion import as_teacher
    from gnn2logic.distillation.counterexamples import find_disagreements
    from gnn2logic.distillation.disagreements import Disagreement, Disagreements, disagreements
    from gnn2logic.distillation.estimator import IDTDistiller, ScorecardDistiller
    from gnn2logic.distillation.teacher import Teacher
    from gnn2logic.distillation.variants import distill

__all__ = [
    "Answers",
    "Disagreement",
    "Disagreements",
    "IDTDistiller",
    "ScorecardDistiller",
    "Teacher",
    "as_teacher",
    "capture",
    "disagreements",
    "distill",
    "fidelity",
    "find_disagreements",
]
