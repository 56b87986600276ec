"""Who does the work of learning, as commands name it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnn2logic.exceptions import ParameterError

if TYPE_CHECKING:
    from gnn2logic.engines import Engine

__all__ = ["CheckpointOption", "DaskOption", "MemoryOption", "engine_from"]

DaskOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Learn on the cluster of this Dask scheduler."),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="A limit for learning, such as '500 MiB'; for a folder of shards 1 GiB by default.",
        show_default=False,
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="A file written after every layer; a command that was killed goes on there."),
]


@contextlib.contextmanager
def engine_from(dask: str | None, max_memory: str | None) -> Iterator[Engine | None]:
    """Return the engine that the options name; None is the usual one."""
    from gnn2logic.engines import LocalEngine, connected

    if dask is not None and max_memory is not None:
        raise ParameterError("--max-memory is for this machine. Leave it out with --dask.")
    if dask is not None:
        with connected(dask) as engine:
            yield engine
    else:
        threads = os.cpu_count() or 1
        yield None if max_memory is None else LocalEngine(threads, max_memory=max_memory)
