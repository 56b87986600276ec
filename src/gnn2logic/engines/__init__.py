"""Who runs the work of shards: this process, its threads, or a Dask cluster."""

from __future__ import annotations

import sys

from gnn2logic.engines.cluster import DaskEngine, connected
from gnn2logic.engines.local import LocalEngine
from gnn2logic.engines.protocol import Crew, Engine, Maker, added
from gnn2logic.exceptions import ParameterError

__all__ = [
    "Crew",
    "DaskEngine",
    "Engine",
    "LocalEngine",
    "Maker",
    "added",
    "as_engine",
    "connected",
]


def as_engine(value: object) -> Engine:
    """Return the engine that was meant.

    Parameters
    ----------
    value : Engine, distributed.Client or None
        None means this process.

    Examples
    --------
    >>> as_engine(None).n_threads
    1
    """
    if value is None:
        return LocalEngine()
    if isinstance(value, Engine) and not isinstance(value, type):
        return value
    # Without distributed nobody can have made a client of it.
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(value, distributed.Client):
        return DaskEngine(value)
    raise ParameterError(
        "engine must be None, a distributed.Client, or an engine of gnn2logic.engines. "
        f"Got {value!r} of type {type(value).__name__} instead."
    )
