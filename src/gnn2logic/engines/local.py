"""Shards in this process, one by one or on threads; what they keep is in memory or in files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Concatenate

from gnn2logic._files import left_behind, name_of_this_process
from gnn2logic._validation import check_whole, is_whole
from gnn2logic.engines.protocol import Answer, Maker, P, added
from gnn2logic.engines.threads import one_loop_thread
from gnn2logic.exceptions import ParameterError

__all__ = ["LocalEngine", "bytes_from", "scratch_folder"]

# What Python and the libraries take before any data is looked at.
_LIBRARIES = 300 * 2**20
_CELLS = 2**22


class LocalEngine:
    """Runs shards in this process.

    Parameters
    ----------
    n_threads : int
        Shards that are worked on at the same time. With 1 they take turns, and the loops inside of
        a shard may use several threads instead.
    max_memory : int or str, optional
        A limit such as ``"1 GiB"`` for the whole process, which it keeps to by having what the
        shards keep in files and by working on fewer shards at a time. Without it everything is in
        memory, which is faster.
    scratch : path, optional
        The folder for these files; by default the system's folder for temporary files. They are
        removed afterwards.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graphs = gl.random_graphs(200, sizes=8, random_state=0)
    >>> labels = gl.parse("1 U0 > 3").evaluate(graphs)
    >>> small = gl.IDTClassifier(1, engine=LocalEngine(max_memory="1 GiB"), random_state=0)
    >>> print(small.fit(graphs, labels).formula(True))
    1 U0 > 3
    """

    def __init__(
        self,
        n_threads: int = 1,
        *,
        max_memory: int | str | None = None,
        scratch: str | os.PathLike[str] | None = None,
    ) -> None:
        self.n_threads = check_whole("n_threads", n_threads, least=1)
        self.max_memory = None if max_memory is None else bytes_from("max_memory", max_memory)
        self.scratch = scratch

    def place(self, makers: Sequence[Maker]) -> LocalCrew:
        """Make the state of every shard."""
        if self.max_memory is None:
            return LocalCrew([make() for make in makers], self.n_threads, _CELLS)
        n_threads = self._threads_within(self.max_memory, makers)
        # Answers, sums of two answers and what is made from them are there at the same time.
        cells = min(_CELLS, self.max_memory // (8 * 16))
        folder = scratch_folder(self.scratch)
        states = [make(Path(folder.name) / str(n)) for n, make in enumerate(makers)]
        return LocalCrew(states, n_threads, cells, folder)

    def _threads_within(self, limit: int, makers: Sequence[Maker]) -> int:
        """Return on how many shards can be worked at the same time."""
        largest = max(make.work_bytes for make in makers)
        always = _LIBRARIES + sum(make.row_bytes for make in makers)
        fitting = (limit - always) // largest
        if fitting < 1:
            raise ParameterError(
                f"max_memory must leave room for one shard: about {_mib(always + largest)}, of "
                f"which {_mib(always)} are for Python and all labels, and the rest for the largest "
                f"shard. Got {_mib(limit)}. Allow more (engine=LocalEngine(max_memory=...)), or "
                "cut the data into smaller shards (n_shards, or shard_nodes of write_shards)."
            )
        return int(min(self.n_threads, fitting))


class LocalCrew:
    """The states of the shards."""

    def __init__(
        self,
        states: Sequence[Any],
        n_threads: int,
        cells: int,
        folder: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.cells = cells
        self._states = states
        self._folder = folder
        self._pool = None
        if n_threads > 1 and len(states) > 1:
            self._pool = ThreadPoolExecutor(n_threads, initializer=one_loop_thread)
        self._n_threads = n_threads

    def ask(
        self,
        request: Callable[Concatenate[Any, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """Ask all shards and return the sum of their answers."""
        total: Any = None
        if self._pool is None:
            for state in self._states:
                total = added(total, request(state, *arguments, **named))
        else:
            for answer in self._side_by_side(self._pool, request, arguments, named):
                total = added(total, answer)
        answer_of_all: Answer = total
        return answer_of_all

    def _side_by_side(
        self, pool: ThreadPoolExecutor, request: Any, arguments: Any, named: Any
    ) -> Iterator[Any]:
        # Answers can be large: no more of them than there are threads wait to be added.
        running: deque[Future[Any]] = deque()
        for state in self._states:
            running.append(pool.submit(request, state, *arguments, **named))
            if len(running) > self._n_threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()

    def close(self) -> None:
        """Forget the shards, and remove their files."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._states = ()
        if self._folder is not None:
            self._folder.cleanup()


def _mib(amount: int) -> str:
    return f"{-(-amount // 2**20)} MiB"


_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def bytes_from(name: str, amount: object) -> int:
    """Return a number of bytes from a number, or a text such as ``"1 GiB"`` or ``"500 MB"``.

    Examples
    --------
    >>> bytes_from("max_memory", "1.5 GiB"), bytes_from("max_memory", "500MB")
    (1610612736, 500000000)
    """
    if is_whole(amount) and amount > 0:
        return int(amount)
    if isinstance(amount, str):
        match = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]i?|)B?\s*", amount)
        if match is not None:
            size = int(float(match[1]) * {**_UNITS, **_BINARY}[match[2]])
            if size > 0:
                return size
    raise ParameterError(
        f"{name} must be a number of bytes above 0, or a text such as '1 GiB' or '500 MB'. "
        f"Got {amount!r} instead."
    )


_PREFIX = "gnn2logic-"


def scratch_folder(parent: str | os.PathLike[str] | None) -> tempfile.TemporaryDirectory[str]:
    """Make a folder; remove those that processes of this machine left behind when they died.

    Parameters
    ----------
    parent : path, optional
        Where to make it; by default the system's folder for temporary files.
    """
    where = Path(tempfile.gettempdir() if parent is None else parent)
    if where.is_dir():
        for folder in left_behind(where, _PREFIX):
            shutil.rmtree(folder, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=name_of_this_process(_PREFIX), dir=where)
