"""How sure it is that a rule says what a network says: bounds, all small graphs, proofs."""

from gnn2logic.certification.certificates import Certificate
from gnn2logic.certification.certifying import certify
from gnn2logic.certification.statistical import agreement_bound

__all__ = ["Certificate", "agreement_bound", "certify"]
