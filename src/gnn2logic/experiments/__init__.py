"""The paper's experiments: seven models on seven data sets, cross-validated, as four tables."""

from gnn2logic.experiments.reproduction import reproduce
from gnn2logic.experiments.verification import verify

__all__ = ["reproduce", "verify"]
