"""`load` and `load_from`: data sets by name or folder, and the table of those that are known."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gnn2logic._text import did_you_mean
from gnn2logic._validation import check_flag
from gnn2logic.datasets.cache import check_name, find_folder
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.datasets.formulas import PAPER_FORMULAS, formula_dataset
from gnn2logic.datasets.shapes import ba_2motifs, ba_multi_shapes
from gnn2logic.datasets.stored import read_stored
from gnn2logic.datasets.tu import read_tu
from gnn2logic.exceptions import DataSetError, ParameterError
from gnn2logic.storage import is_store

__all__ = ["Entry", "Registry", "check_options", "load", "load_from", "names", "registry"]


@dataclass(frozen=True)
class Entry:
    """What is known about a data set; None where nothing is.

    Parameters
    ----------
    name : str
    graphs : int
    nodes, edges : float
        On average per graph; an undirected edge counts once.
    features : int or None
        The number of predicates.
    classes : int
    source : {"generated", "TU"}
    """

    name: str
    graphs: int
    nodes: float
    edges: float
    features: int | None
    classes: int
    source: str = "TU"


# With default options. The numbers of edges are expectations, the others are exact.
_GENERATED = (
    Entry("psi_0", 1000, 13, 39, 2, 2, "generated"),
    Entry("psi_1", 1000, 13, 39, 2, 2, "generated"),
    Entry("psi_2", 1000, 13, 39, 2, 2, "generated"),
    Entry("BAMultiShapes", 1000, 40, 44.87, 1, 2, "generated"),
    Entry("BA-2Motifs", 1000, 25, 25.5, 1, 2, "generated"),
)
# Averages as the page of the collection gives them; it does not say how many labels there are.
_TU = (
    Entry("AIDS", 2000, 15.69, 16.20, 38, 2),
    Entry("BZR", 405, 35.75, 38.36, 10, 2),
    Entry("COLLAB", 5000, 74.49, 2457.78, 0, 3),
    Entry("COX2", 467, 41.22, 43.45, None, 2),
    Entry("DD", 1178, 284.32, 715.66, None, 2),
    Entry("ENZYMES", 600, 32.63, 62.14, 3, 6),
    Entry("FRANKENSTEIN", 4337, 16.90, 17.88, 0, 2),
    Entry("IMDB-BINARY", 1000, 19.77, 96.53, 0, 2),
    Entry("IMDB-MULTI", 1500, 13.00, 65.94, 0, 3),
    Entry("MUTAG", 188, 17.93, 19.79, 7, 2),
    Entry("Mutagenicity", 4337, 30.32, 30.77, None, 2),
    Entry("NCI1", 4110, 29.87, 32.30, None, 2),
    Entry("NCI109", 4127, 29.68, 32.13, None, 2),
    Entry("PROTEINS", 1113, 39.06, 72.82, 3, 2),
    Entry("PTC_FM", 349, 14.11, 14.48, None, 2),
    Entry("PTC_FR", 351, 14.56, 15.00, None, 2),
    Entry("PTC_MM", 336, 13.97, 14.32, None, 2),
    Entry("PTC_MR", 344, 14.29, 14.69, None, 2),
    Entry("REDDIT-BINARY", 2000, 429.63, 497.75, 0, 2),
    Entry("REDDIT-MULTI-5K", 4999, 508.52, 594.87, 0, 5),
)

_BUILDERS: dict[str, Callable[..., Dataset]] = {
    **{name: partial(formula_dataset, text, name=name) for name, text in PAPER_FORMULAS.items()},
    "BAMultiShapes": ba_multi_shapes,
    "BA-2Motifs": ba_2motifs,
}


class Registry:
    """The data sets that are known; printed, it is a table."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def __getitem__(self, name: str) -> Entry:
        for entry in self._entries:
            if entry.name == name:
                return entry
        raise DataSetError(
            f"There is no entry {name!r}.{did_you_mean(name, names())} "
            f"There are: {', '.join(names())}."
        )

    def __repr__(self) -> str:
        heads = ("name", "graphs", "nodes", "edges", "features", "classes", "source")
        lines = [f"{heads[0]:<16}" + "".join(f"{head:>10}" for head in heads[1:])]
        for entry in self._entries:
            features = "" if entry.features is None else str(entry.features)
            lines.append(
                f"{entry.name:<16}{entry.graphs:>10}{entry.nodes:>10.2f}{entry.edges:>10.2f}"
                f"{features:>10}{entry.classes:>10}{entry.source:>10}"
            )
        return "\n".join(lines)


def registry() -> Registry:
    """Return the table of known data sets: graphs, nodes and edges per graph, features, classes.

    Every other data set of the TU collection can be loaded by its name as well.

    Examples
    --------
    >>> from gnn2logic import datasets
    >>> datasets.registry()["AIDS"].graphs
    2000
    >>> print(datasets.registry())  # doctest: +ELLIPSIS
    name                graphs     nodes     edges  features   classes    source
    psi_0                 1000     13.00     39.00         2         2 generated
    ...
    AIDS                  2000     15.69     16.20        38         2        TU
    ...
    """
    return Registry((*_GENERATED, *_TU))


def names() -> tuple[str, ...]:
    """Return the names of the data sets in the `registry`.

    Examples
    --------
    >>> names()[:5]
    ('psi_0', 'psi_1', 'psi_2', 'BAMultiShapes', 'BA-2Motifs')
    """
    return tuple(entry.name for entry in (*_GENERATED, *_TU))


def load(name: str, **options: Any) -> Dataset:
    """Return a data set by its name.

    Parameters
    ----------
    name : str
        One of `names`, or any other data set of the TU collection. These are looked for in the
        folder that the environment variable ``GNN2LOGIC_DATA`` names (``NAME/raw`` or ``NAME``),
        then in the cache (``GNN2LOGIC_CACHE``, by default in the user's cache folder), and else
        downloaded into the cache, over https and with checksums.
    **options
        For psi_0, psi_1, psi_2 those of `formula_dataset`; for BAMultiShapes those of
        `ba_multi_shapes`; for BA-2Motifs those of `ba_2motifs`. For TU data sets those of
        `read_tu`, and ``download=False`` to stay off the network.

    Examples
    --------
    >>> from gnn2logic import datasets
    >>> graphs, y = datasets.load("BA-2Motifs", n_graphs=10, random_state=1)
    >>> len(graphs), y.tolist()
    (10, [1, 0, 1, 0, 0, 0, 1, 1, 1, 0])
    """
    check_name(name)
    build = _BUILDERS.get(name)
    if build is None:
        similar = [known for known in names() if known.lower() == name.lower() and known != name]
        if similar:
            raise DataSetError(f"There is no data set {name!r}. Did you mean {similar[0]!r}?")
        build = partial(_load_tu, name)
    check_options(name, build, options)
    return build(**options)


def _load_tu(
    name: str,
    *,
    node_labels: bool = True,
    node_attributes: bool = False,
    edge_labels: bool = False,
    node_names: Mapping[Any, str] | str | None = None,
    edge_names: Mapping[Any, str] | None = None,
    download: bool = True,
) -> Dataset:
    check_flag("download", download)
    try:
        folder = find_folder(name, download=download)
    except DataSetError as error:
        close = "" if name in names() else did_you_mean(name, names())
        if not close:
            raise
        raise type(error)(f"{error}{close}") from error
    return read_tu(
        folder,
        name,
        node_labels=node_labels,
        node_attributes=node_attributes,
        edge_labels=edge_labels,
        node_names=node_names,
        edge_names=edge_names,
    )


def check_options(name: str, build: Callable[..., Dataset], options: dict[str, Any]) -> None:
    """Refuse options that the function which makes a data set does not have."""
    given = build.args if isinstance(build, partial) else ()
    parameters = list(inspect.signature(getattr(build, "func", build)).parameters)[len(given) :]
    known = [option for option in parameters if option != "name"]
    for option in options:
        if option not in known:
            raise ParameterError(
                f"The data set {name!r} has no option {option!r}. It has: {', '.join(known)}."
                f"{did_you_mean(option, known)}"
            )


def load_from(name_or_folder: str, **options: Any) -> Dataset:
    """Return a data set by its name or its folder; known names come first.

    Parameters
    ----------
    name_or_folder : str
        A name that `load` knows, or a folder with the files of the TU format, or with a folder
        ``raw`` that has them, or a shard store.
    **options
        Those of `load` for a name, and those of `read_tu` for a folder.

    Examples
    --------
    >>> load_from("psi_0", n_graphs=20)
    Dataset('psi_0', 20 graphs, 2 features, 2 classes)
    """
    folder = Path(name_or_folder)
    is_path = folder.is_dir() or str(folder.parent) != "." or name_or_folder.startswith(".")
    if name_or_folder in names() or not is_path:
        return load(name_or_folder, **options)
    if is_store(folder):
        if options:
            raise ParameterError(
                "A shard store is read as it was written, without options. Got "
                f"{next(iter(options))!r} for {name_or_folder!r}."
            )
        return read_stored(folder)
    named = {key: value for key, value in options.items() if key != "name"}
    check_options(name_or_folder, partial(read_tu, folder), named)
    inside = folder / "raw"
    if inside.is_dir() and not list(folder.glob("*_graph_indicator.txt")):
        # As PyTorch Geometric keeps them.
        return read_tu(inside, **{"name": folder.resolve().name} | options)
    return read_tu(folder, **options)
