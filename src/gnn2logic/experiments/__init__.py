"""The paper's experiments, as four tables; and comparisons on data of anybody's choice."""

from gnn2logic.experiments.comparison import compare
from gnn2logic.experiments.reproduction import reproduce
from gnn2logic.experiments.verification import verify

__all__ = ["compare", "reproduce", "verify"]
