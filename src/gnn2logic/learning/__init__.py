"""How Iterated Decision Trees and scorecards are learned, from shards of whole graphs."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnn2logic.learning.estimators import IDTClassifier, IDTNodeClassifier
    from gnn2logic.learning.multi_target import MultiTargetEstimator
    from gnn2logic.learning.refits import stability
    from gnn2logic.learning.regressors import IDTNodeRegressor, IDTRegressor
    from gnn2logic.learning.scorecard_regressors import ScorecardNodeRegressor, ScorecardRegressor
    from gnn2logic.learning.scorecards import ScorecardClassifier, ScorecardNodeClassifier
    from gnn2logic.learning.stable_rules import Stability

__all__ = [
    "IDTClassifier",
    "IDTNodeClassifier",
    "IDTNodeRegressor",
    "IDTRegressor",
    "MultiTargetEstimator",
    "ScorecardClassifier",
    "ScorecardNodeClassifier",
    "ScorecardNodeRegressor",
    "ScorecardRegressor",
    "Stability",
    "stability",
]

_HOMES = {
    "IDTClassifier": "estimators",
    "IDTNodeClassifier": "estimators",
    "IDTNodeRegressor": "regressors",
    "IDTRegressor": "regressors",
    "MultiTargetEstimator": "multi_target",
    "ScorecardClassifier": "scorecards",
    "ScorecardNodeClassifier": "scorecards",
    "ScorecardNodeRegressor": "scorecard_regressors",
    "ScorecardRegressor": "scorecard_regressors",
    "Stability": "stable_rules",
    "stability": "refits",
}


def __getattr__(name: str) -> Any:
    # Workers of a cluster import the state of a shard from here. They need no scikit-learn, which
    # is slow to import.
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
