"""Fitted models of either form, as users give them: rules, scorecards, and distillers of these."""

from __future__ import annotations

from gnn2logic._validation import check_fitted
from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.multi_target.predictor import MultiTargetPredictor
from gnn2logic.scorecards.predictor import ScorecardPredictor

__all__ = ["FittedModel", "fitted_classifier", "fitted_model"]

FittedModel = IDTPredictor | ScorecardPredictor


def fitted_model(model: object) -> FittedModel:
    """Return a fitted rule or scorecard, also from the estimator that distilled it."""
    # A distiller; its room needs torch, which most users of models do not.
    if hasattr(type(model), "fitted_model"):
        model = model.fitted_model  # type: ignore[attr-defined]
    if isinstance(model, IDTPredictor):
        check_fitted(model, "model_")
        return model
    if isinstance(model, ScorecardPredictor):
        check_fitted(model, "path_")
        return model
    if isinstance(model, MultiTargetPredictor):
        raise UnsupportedInputError(
            "model must be the model of one target. Choose one of "
            f"{', '.join(map(repr, model))}: model[name]."
        )
    raise UnsupportedInputError(
        "model must be a fitted rule or scorecard, such as an IDTClassifier, or the distiller of "
        f"one. Got {type(model).__name__} instead; from_formulas makes a model of formulas."
    )


def fitted_classifier(model: object, *, reason: str) -> FittedModel:
    """Return a fitted model that tells classes; `reason` says why numbers will not do."""
    fitted = fitted_model(model)
    if fitted.target is not None:
        raise UnsupportedInputError(f"{reason}. This model predicts numbers.")
    return fitted
