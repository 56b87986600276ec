"""Which shards go together, and on which worker of a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnn2logic.engines.protocol import Maker

__all__ = ["Bundle", "bundles"]

# Every bundle means some more tasks at each request, which take Dask milliseconds. With several on
# a thread, though, many workers share the work of one that died, and new ones have something to do.
_BUNDLES_PER_THREAD = 4
# So small bundles, by the bytes that shards work on, are not worth their tasks.
_WORTH_A_TASK = 2**31


@dataclass(frozen=True)
class Bundle:
    """Shards that one task asks one after the other, and the worker they go to, if that matters."""

    makers: Sequence[Maker]
    worker: str | None


def bundles(makers: Sequence[Maker], threads: Mapping[str, int]) -> list[Bundle]:
    """Deal out shards, in their order.

    Parameters
    ----------
    makers : sequence of Maker
    threads : mapping
        How many threads each worker has. Without any worker every shard is a bundle, so that they
        can go to all workers that may come.
    """
    slots = [worker for worker, number in threads.items() for _ in range(number)]
    if not slots:
        return [Bundle([make], None) for make in makers]
    sizes = np.array([max(make.work_bytes, 1) for make in makers], dtype=float)
    per_thread = int(sizes.sum() / (_WORTH_A_TASK * len(slots)))
    n_bundles = len(slots) * min(max(per_thread, 1), _BUNDLES_PER_THREAD)
    # A shard goes where its middle is when all of them are laid side by side.
    middles = (np.cumsum(sizes) - sizes / 2) / sizes.sum()
    starts = np.flatnonzero(np.diff(np.floor(n_bundles * middles), prepend=-1)).tolist()
    parts = [makers[start:end] for start, end in itertools.pairwise([*starts, len(makers)])]
    # Neighbours are on one worker, where their answers can be added.
    return [
        Bundle(own, slots[number * len(slots) // len(parts)]) for number, own in enumerate(parts)
    ]
