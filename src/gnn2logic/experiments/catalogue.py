"""What is compared: the names of data sets and models, and what each model learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from gnn2logic.exceptions import ParameterError

__all__ = [
    "ABLATIONS",
    "BASELINES",
    "DATASETS",
    "NETWORKS",
    "PAPER_MODELS",
    "Model",
    "choose",
    "model_named",
]

DATASETS = ("AIDS", "BZR", "PROTEINS", "psi_0", "psi_1", "psi_2", "BAMultiShapes")
# The networks, and the name of their convolution.
NETWORKS = {"GCN": "gcn", "GIN": "gin"}


@dataclass(frozen=True)
class Model:
    """One column of the tables.

    Parameters
    ----------
    name : str
    model_type : {"network", "idt", "baseline"}
    guide : str or None
        The network that a model is, or whose node representations guide its inner layers.
    true_labels : bool
        Whether the final layer learns the labels, not what the network predicts.
    changes : dict
        For ablations: these settings in place of the usual ones, and nothing is tuned.
    """

    name: str
    model_type: Literal["network", "idt", "baseline"]
    guide: str | None = None
    true_labels: bool = True
    changes: dict[str, Any] = field(default_factory=dict, hash=False)


PAPER_MODELS = (
    Model("GCN", "network", "GCN"),
    Model("GIN", "network", "GIN"),
    Model("IDT(GCN)", "idt", "GCN", true_labels=False),
    Model("IDT(GCN+True)", "idt", "GCN"),
    Model("IDT(GIN)", "idt", "GIN", true_labels=False),
    Model("IDT(GIN+True)", "idt", "GIN"),
    Model("IDT(True)", "idt"),
)

BASELINES = (
    Model("Majority", "baseline"),
    Model("Counts tree", "baseline"),
    Model("WL kernel", "baseline"),
)

# The paper's own choices, which each ablation changes in one place.
_AS_IN_PAPER: dict[str, Any] = {
    "modalities": ["I", "A", "I+A"],
    "width": 8,
    "leaf_sets": "merge",
    "relative": True,
}
_EIGHT = ["0", "1", "I", "A", "1-I", "1-A", "I+A", "1-I-A"]


def _ablation(name: str, **changes: Any) -> Model:
    return Model(name, "idt", "GCN", changes={**_AS_IN_PAPER, **changes})


# All are IDT(GCN+True), the best model of the paper.
ABLATIONS = (
    _ablation("Paper's choices"),
    _ablation("Eight parameters", modalities=_EIGHT),
    _ablation("Width 1", width=1),
    _ablation("All leaf sets", leaf_sets="all"),
    _ablation("Counts only", relative=False),
)

_BY_NAME = {model.name: model for model in (*PAPER_MODELS, *BASELINES, *ABLATIONS)}


def model_named(name: str) -> Model:
    """Return a model by its name.

    Examples
    --------
    >>> model_named("IDT(GIN+True)").guide
    'GIN'
    """
    return _BY_NAME[name]


def choose(what: str, wanted: Sequence[str] | None, known: Sequence[str]) -> tuple[str, ...]:
    """Return the known names that are wanted, in the order of the tables; None means all.

    Case does not matter.

    Examples
    --------
    >>> choose("data set", ["BZR", "aids"], DATASETS)
    ('AIDS', 'BZR')
    """
    if wanted is None:
        return tuple(known)
    by_case = {name.lower(): name for name in known}
    unknown = [name for name in wanted if name.lower() not in by_case]
    if unknown or not wanted:
        raise ParameterError(
            f"Each {what} must be one of {', '.join(known)}. "
            f"Got {', '.join(map(repr, unknown)) or 'none'} instead."
        )
    chosen = {by_case[name.lower()] for name in wanted}
    return tuple(name for name in known if name in chosen)
