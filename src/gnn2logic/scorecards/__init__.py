"""Scorecards in use: lines with points whose sum gives a class or a number.

Nothing here imports numba or scikit-learn, so a saved card is there at once.
"""

from gnn2logic.scorecards.card import Line, Scorecard
from gnn2logic.scorecards.path import CardPath, PathRow
from gnn2logic.scorecards.predictor import ScorecardPredictor

__all__ = ["CardPath", "Line", "PathRow", "Scorecard", "ScorecardPredictor"]
