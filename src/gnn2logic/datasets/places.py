"""`load_from`: a data set by its name or its folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from gnn2logic.datasets.dataset import Dataset
from gnn2logic.datasets.registry import check_options, load, names
from gnn2logic.datasets.tu import read_tu
from gnn2logic.exceptions import DataSetError
from gnn2logic.storage import is_store

__all__ = ["load_from"]


def load_from(place: str, **options: Any) -> Dataset:
    """Return a data set by its name or its folder; known names come first.

    Parameters
    ----------
    place : str
        A name that `load` knows, or a folder with the files of the TU format, or with a folder
        ``raw`` that has them.
    **options
        Those of `load` for a name, and those of `read_tu` for a folder.

    Examples
    --------
    >>> load_from("psi_0", n_graphs=20)
    Dataset('psi_0', 20 graphs, 2 features, 2 classes)
    """
    folder = Path(place)
    is_path = folder.is_dir() or str(folder.parent) != "." or place.startswith(".")
    if place in names() or not is_path:
        return load(place, **options)
    if is_store(folder):
        raise DataSetError(
            f"{place!r} is a shard store. The commands check and evaluate read one; for others "
            "give the data set that it was made of."
        )
    named = {key: value for key, value in options.items() if key != "name"}
    check_options(place, partial(read_tu, folder), named)
    inside = folder / "raw"
    if inside.is_dir() and not list(folder.glob("*_graph_indicator.txt")):
        # As PyTorch Geometric keeps them.
        return read_tu(inside, **{"name": folder.resolve().name} | options)
    return read_tu(folder, **options)
