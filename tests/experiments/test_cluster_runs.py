"""Experiments on a Dask cluster: the same rows, and an error when it is gone."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from cli_runs import run
from dask_processes import DaskProcesses, fails, slow
from gnn2logic.exceptions import EngineError, ParameterError
from gnn2logic.experiments import reproduce
from gnn2logic.experiments.rows import Row, RowFile, Seconds
from gnn2logic.experiments.runner import on_cluster

MODELS = ["GCN", "IDT(GCN)"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskProcesses]:
    with contextlib.ExitStack() as processes:
        started = DaskProcesses(tmp_path_factory.mktemp("cluster"), processes)
        # Two threads in one process: its folds must not disturb each other.
        started.add_worker(threads=2)
        yield started


def rows_in(folder: Path) -> list[Row]:
    rows, broken = RowFile(folder / "rows.jsonl", Row).read()
    assert not broken
    return [msgspec.structs.replace(row, seconds=Seconds()) for row in rows]


def test_the_same_rows_come_from_a_cluster(cluster: DaskProcesses, tmp_path: Path) -> None:
    reproduce(tmp_path / "here", datasets=["psi_0"], models=MODELS, smoke=True)
    line = ["--datasets", "psi_0", "--models", ",".join(MODELS), "--smoke"]
    run("reproduce", *line, "--out", tmp_path / "there", "--dask", cluster.address)
    assert len(rows_in(tmp_path / "there")) == 4
    assert rows_in(tmp_path / "there") == rows_in(tmp_path / "here")
    # The second time there is nothing to do, with or without a cluster.
    reproduce(tmp_path / "there", datasets=["psi_0"], models=MODELS, smoke=True, dask="nowhere:1")


def test_errors_and_lost_clusters(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="There must be a Dask scheduler at '127.0.0.1:1'"):
        list(on_cluster(slow, [(0,)], "127.0.0.1:1", timeout=0.5))
    assert list(on_cluster(slow, [], "127.0.0.1:1")) == []
    with contextlib.ExitStack() as processes:
        cluster = DaskProcesses(tmp_path, processes)
        with pytest.raises(EngineError, match="It had none for 1 seconds"):
            list(on_cluster(slow, [(0,)], cluster.address, timeout=1))
        worker = cluster.add_worker(threads=2)
        assert sorted(on_cluster(slow, [(0.2,), (0.1,)], cluster.address)) == [0.1, 0.2]
        with pytest.raises(ParameterError, match="^a fold cannot be run$"):
            list(on_cluster(fails, [(), ()], cluster.address))
        threading.Timer(0.5, worker.kill).start()
        with pytest.raises(EngineError, match="It had none for 1 seconds"):
            list(on_cluster(slow, [(2,), (2,)], cluster.address, timeout=1))
        cluster.add_worker(threads=2)
        threading.Timer(2, cluster.scheduler.kill).start()
        with pytest.raises(EngineError, match="The Dask cluster was lost"):
            list(on_cluster(slow, [(9,), (9,)], cluster.address))
