"""What can be compared, by name: networks, readable models learned from something, baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gnn2logic.exceptions import ParameterError

__all__ = [
    "ALL_MODELS",
    "BASELINES",
    "NETWORKS",
    "NUMBER_BASELINES",
    "READABLE",
    "TEACHER",
    "ComparedModel",
    "choose_models",
]

Form = Literal["network", "layers", "search", "scorecard", "baseline"]

# The network that `--teacher` names.
TEACHER = "Teacher"
# The networks, and the name of their convolution; that of the user has its own.
NETWORKS = {"GCN": "gcn", "GIN": "gin", TEACHER: None}
# Those that people can read.
READABLE: tuple[Form, ...] = ("layers", "search", "scorecard")
BASELINES = ("Majority", "Counts tree", "Forest", "WL kernel", "WL-OA")
# Of data sets whose labels are numbers.
NUMBER_BASELINES = ("Mean", "Counts tree", "Forest")
_STRUCTURE = "+structure"


@dataclass(frozen=True)
class ComparedModel:
    """One line of the tables.

    Parameters
    ----------
    name : str
    form : {"network", "layers", "search", "scorecard", "baseline"}
        Layers are the paper's algorithm.
    guide : str or None
        The network that a model is, or that it learns from.
    true_labels : bool
        Whether classes are learned from the labels, not from what the network says.
    structure : bool
        Whether it sees rings, bridges, triangles and so on as predicates.
    """

    name: str
    form: Form
    guide: str | None = None
    true_labels: bool = True
    structure: bool = False

    @property
    def is_readable(self) -> bool:
        """Whether people can read it."""
        return self.form in READABLE

    def predicts(self, *, numbers: bool) -> bool:
        """Whether it can be learned where labels are numbers, or where they are classes.

        Only classes are learned by layers, and from the nodes of a network and labels at once.
        """
        if self.form == "baseline":
            return self.name in (NUMBER_BASELINES if numbers else BASELINES)
        both = self.guide is not None and self.true_labels and self.is_readable
        return not (numbers and (self.form == "layers" or both))


def _all_models() -> dict[str, ComparedModel]:
    models = [ComparedModel(name, "network", name) for name in NETWORKS]
    for structure in (False, True):
        ending = _STRUCTURE * structure
        for form in READABLE:
            for guide in NETWORKS:
                name = f"{form}({guide}){ending}"
                models.append(ComparedModel(name, form, guide, False, structure))
                if form != "scorecard":
                    # Cards follow what a network says; they have no use for its nodes.
                    name = f"{form}({guide}+True){ending}"
                    models.append(ComparedModel(name, form, guide, True, structure))
            models.append(ComparedModel(f"{form}(True){ending}", form, structure=structure))
    models += [
        ComparedModel(name, "baseline") for name in dict.fromkeys((*BASELINES, *NUMBER_BASELINES))
    ]
    return {model.name: model for model in models}


ALL_MODELS = _all_models()
_SIMPLE = tuple(name for name, model in ALL_MODELS.items() if not model.is_readable)
_BY_CASE = {name.lower(): model for name, model in ALL_MODELS.items()}


def choose_models(
    names: Sequence[str] | None, *, has_teacher: bool = False, numbers: bool = False
) -> tuple[ComparedModel, ...]:
    """Return models by their names, in the order of the tables; case does not matter.

    None means the usual ones: a GIN (or the network of the user), what is learned from it and from
    labels, and all baselines. `numbers` says that labels are numbers, which not all can learn.

    Examples
    --------
    >>> [model.name for model in choose_models(["search(gin)", "GIN"])]
    ['GIN', 'search(GIN)']
    """
    guide = TEACHER if has_teacher else "GIN"
    if names is None:
        usual = [
            guide,
            *(f"{form}({source})" for form in READABLE for source in (guide, "True")),
            *(f"{form}(True){_STRUCTURE}" for form in READABLE[1:]),
            *(NUMBER_BASELINES if numbers else BASELINES),
        ]
        names = [name for name in usual if ALL_MODELS[name].predicts(numbers=numbers)]
    unknown = [name for name in names if name.lower() not in _BY_CASE]
    if unknown or not names:
        raise ParameterError(
            f"Each model must be one of {', '.join(_SIMPLE)}, or what is learned "
            f"from a network, labels or both, such as {READABLE[0]}(GIN), {READABLE[1]}(True), "
            f"{READABLE[1]}(GIN+True) or {READABLE[2]}(GIN), each also with {_STRUCTURE} behind "
            f"it. Got {', '.join(map(repr, unknown)) or 'none'} instead."
        )
    wanted = {_BY_CASE[name.lower()].name for name in names}
    chosen = tuple(model for name, model in ALL_MODELS.items() if name in wanted)
    if unable := [model.name for model in chosen if not model.predicts(numbers=numbers)]:
        able = (
            f"{', '.join((*NETWORKS, *NUMBER_BASELINES))}, and search or scorecard of a network or "
            "of True"
            if numbers
            else "all others"
        )
        raise ParameterError(
            f"{unable[0]} is not for labels that are {'numbers' if numbers else 'classes'}. "
            f"Models that can: {able}."
        )
    if not has_teacher and (guided := [m.name for m in chosen if m.guide == TEACHER]):
        raise ParameterError(
            f"{guided[0]} needs a network of yours. Name a function that trains one with --teacher."
        )
    return chosen
