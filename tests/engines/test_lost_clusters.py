"""Clusters that are gone: a clear error, soon, and never a wait without end."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

from dask_processes import DaskProcesses, slow
from engine_shards import NumberMaker, NumberShard
from gnn2logic.engines import DaskEngine, cluster_watch, connected
from gnn2logic.exceptions import EngineError, MissingDependencyError

MAKERS = [NumberMaker(n) for n in range(3)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    with contextlib.ExitStack() as processes:
        yield DaskProcesses(tmp_path, processes)


def test_a_cluster_that_falls_apart(cluster: DaskProcesses, tmp_path: Path) -> None:
    with distributed.Client(cluster.address, timeout=10, set_as_default=False) as client:
        engine = DaskEngine(client, timeout=1)
        # Nobody has come yet.
        with pytest.raises(EngineError, match="must have workers that work. It had none for 1"):
            engine.place(MAKERS).ask(NumberShard.step, 2)
        # All workers leave in the middle of a request.
        worker = cluster.add_worker()
        crew = DaskEngine(client, timeout=20).place(MAKERS)
        assert crew.ask(NumberShard.step, 2)[0] == 1 + 3 + 5
        crew.close()
        crew = engine.place(MAKERS)
        threading.Timer(0.5, worker.kill).start()
        with pytest.raises(EngineError, match="must have workers that work. It had none for 1"):
            crew.ask(NumberShard.slow_step, 2, 1)
        # The scheduler is stopped, but its machine is still there.
        cluster.add_worker()
        client.wait_for_workers(1, timeout=20)
        crew = engine.place(MAKERS)
        assert crew.ask(NumberShard.step, 2)[0] == 1 + 3 + 5
        cluster.scheduler.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match="The Dask cluster was lost"):
            crew.ask(NumberShard.step, 2)
        cluster.scheduler.send_signal(signal.SIGCONT)
        # The scheduler is killed in the middle of a request.
        crew = engine.place(MAKERS)
        threading.Timer(0.5, cluster.scheduler.kill).start()
        with pytest.raises(EngineError, match="The Dask cluster was lost.* fit again"):
            crew.ask(NumberShard.slow_note, tmp_path, 20)
        assert not list(tmp_path.glob("ended *"))
        for _ in range(2):
            with pytest.raises(EngineError, match="The Dask cluster was lost"):
                engine.place(MAKERS)
    with pytest.raises(EngineError, match="the client is 'closed'"):
        engine.place(MAKERS)


def test_a_worker_that_was_stopped(cluster: DaskProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither dead nor at work, and the scheduler would wait for it for minutes."""
    monkeypatch.setattr(cluster_watch, "_SILENCE", 2.0)
    message = "must be heard of. Nothing came from tcp://.* has a part of the work: it was stopped"
    with distributed.Client(cluster.address, timeout=20, set_as_default=False) as client:
        engine = DaskEngine(client, timeout=1)
        workers = [cluster.add_worker() for _ in range(2)]
        client.wait_for_workers(2, timeout=30)
        crew = DaskEngine(client, timeout=30).place(MAKERS)
        assert crew.ask(NumberShard.step, 2)[0] == 1 + 3 + 5
        crew.close()
        crew = engine.place(MAKERS)
        pids = set(crew.ask(NumberShard.process).numbers)
        assert pids == {worker.pid for worker in workers}
        # One of two with tasks, while the other one has done its own.
        workers[0].send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=message):
            crew.ask(NumberShard.step, 2)
        workers[0].send_signal(signal.SIGCONT)
        # One that has done its work, but not handed it over; who works elsewhere is no help.
        where = {pid: address for address, pid in client.run(os.getpid).items()}
        result = client.submit(bytes, 2**20, workers=[where[workers[1].pid]], pure=False)
        assert len(result.result(timeout=30)) == 2**20
        busy = client.submit(slow, 60, workers=[where[workers[0].pid]], pure=False)
        workers[1].send_signal(signal.SIGSTOP)
        with pytest.raises(EngineError, match=message):
            engine.watch.results([result])
        workers[1].send_signal(signal.SIGCONT)
        busy.cancel()


def test_connecting(cluster: DaskProcesses) -> None:
    cluster.add_worker()
    with connected(cluster.address, timeout=20) as engine:
        crew = engine.place(MAKERS)
        assert crew.ask(NumberShard.step, 2)[0] == 1 + 3 + 5
    with pytest.raises(EngineError, match="The Dask cluster was lost"):
        crew.ask(NumberShard.step, 2)
    for nowhere in ("127.0.0.1:1", "nonsense://x", "no such host"):
        with (
            pytest.raises(EngineError, match=f"There must be a Dask scheduler at '{nowhere}'"),
            connected(nowhere, timeout=0.5),
        ):
            pass


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'gnn2logic\[dask\]'"):
        DaskEngine(object())
