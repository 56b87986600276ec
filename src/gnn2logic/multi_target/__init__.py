"""One model for each of several targets, in use. Needs neither numba nor scikit-learn."""

from gnn2logic.multi_target.predictor import MultiTargetPredictor

__all__ = ["MultiTargetPredictor"]
