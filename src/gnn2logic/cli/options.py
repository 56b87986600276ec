"""Arguments and options that several commands share: one name and one meaning for each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gnn2logic._text import did_you_mean
from gnn2logic.exceptions import DataSetError, ParameterError

__all__ = [
    "ConvOption",
    "Convolution",
    "DataArgument",
    "DataOption",
    "DataSplit",
    "EpochsOption",
    "GnnOption",
    "HiddenOption",
    "JsonOption",
    "LabelOption",
    "LabelsOption",
    "LayersOption",
    "ModelArgument",
    "QuietOption",
    "SeedOption",
    "SmilesOption",
    "SplitOption",
    "TeacherOption",
    "settings_from",
    "with_columns",
]


class DataSplit(StrEnum):
    """The graphs of a data set to take."""

    TRAIN = "train"
    TEST = "test"
    ALL = "all"


class Convolution(StrEnum):
    """How a network passes messages."""

    GCN = "gcn"
    GIN = "gin"
    SAGE = "sage"
    GAT = "gat"


def _known_names(incomplete: str) -> list[str]:
    """Complete the name of a data set."""
    from gnn2logic import datasets

    return [name for name in datasets.names() if name.startswith(incomplete)]


def _not_mistyped(name: str | None) -> str | None:
    """Refuse the name of a data set that is not here, but much like a known one."""
    from gnn2logic import datasets
    from gnn2logic.datasets.cache import find_folder

    if name is None or name in datasets.names() or Path(name).exists():
        return name
    close = did_you_mean(name, datasets.names())
    if close:
        try:
            find_folder(name, download=False)
        except DataSetError:
            raise DataSetError(f"There is no data set {name!r}.{close}") from None
    return name


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="The name of a data set (see gnn2logic datasets), a folder in TU format or of shards, "
        "or a CSV file of molecules.",
        autocompletion=_known_names,
        # Before complaints about other options: a name that is mistyped is mended first.
        callback=_not_mistyped,
        is_eager=True,
        show_default=False,
    ),
]
ModelArgument = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model that distill wrote.", show_default=False),
]
IndexArgument = Annotated[
    int,
    typer.Argument(
        metavar="INDEX",
        min=0,
        help="The number of the graph in the data set, from 0.",
        show_default=False,
    ),
]
SplitOption = Annotated[
    DataSplit,
    typer.Option(help="Which graphs: 80% are to learn from, 20% to test on, always the same ones."),
]
DataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="KEY=VALUE",
        help="An option of the data set, such as n_graphs=200, random_state=1 or edge_labels=true.",
    ),
]
GnnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--gnn",
        metavar="KEY=VALUE",
        help="Another setting of the network, such as pooling=mean, dropout=0.1 or lr=0.01.",
    ),
]
TeacherOption = Annotated[
    str | None,
    typer.Option(
        "--teacher",
        metavar="FILE|MODULE:FUNCTION",
        help="A network that train wrote, or package.module:factory, a function of yours without "
        "parameters that returns a torch module or a Teacher.",
        show_default=False,
    ),
]
ConvOption = Annotated[Convolution, typer.Option("--conv", help="How messages are passed.")]
LayersOption = Annotated[int, typer.Option("--layers", min=1, help="Layers of the network.")]
HiddenOption = Annotated[int, typer.Option("--hidden", min=1, help="Channels of every layer.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1, help="Epochs at most.")]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same result.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no warnings on stderr.")
]


SmilesOption = Annotated[
    str | None,
    typer.Option(
        "--smiles",
        metavar="COLUMN",
        help="Of a CSV file: the column with the molecules as SMILES.",
        show_default=False,
    ),
]
LabelOption = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Of a CSV file: the column with the classes.",
        show_default=False,
    ),
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Of a CSV file: the column with the classes. Given more than once, with --variant "
        "true: a model of several targets; cells may be empty.",
        show_default=False,
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option("--target", help="Of a model of several targets: which one.", show_default=False),
]


def with_columns(data: list[str] | None, smiles: str | None, label: str | None) -> list[str] | None:
    """Return the options of a data set with the columns of a table among them.

    >>> with_columns(["errors=skip"], "smiles", None)
    ['errors=skip', 'smiles="smiles"']
    """
    columns = {"smiles": smiles, "label": label}
    given = [f"{key}={json.dumps(value)}" for key, value in columns.items() if value is not None]
    return [*(data or ()), *given] if given else data


def settings_from(option: str, given: Iterable[str] | None, known: Iterable[str]) -> dict[str, Any]:
    """Return what ``KEY=VALUE`` texts say; values are JSON, or else texts.

    >>> settings_from("--idt", ["width=8", "leaf_sets=merge"], ["width", "leaf_sets"])
    {'width': 8, 'leaf_sets': 'merge'}
    """
    names = list(known)
    settings = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or key not in names:
            raise ParameterError(
                f"{option} must be KEY=VALUE with one of the keys {', '.join(names)}. "
                f"Got {text!r} instead.{did_you_mean(key, names) if key not in names else ''}"
            )
        try:
            settings[key] = json.loads(value)
        except ValueError:
            settings[key] = value
    return settings
