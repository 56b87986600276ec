"""Dask clusters for tests: one of processes that a test can kill one by one, and a plain one."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import distributed

from gnn2logic.exceptions import ParameterError

TESTS = Path(__file__).parent


class DaskProcesses:
    """A scheduler and workers, each in a process of its own that is not started again."""

    def __init__(self, folder: Path, processes: contextlib.ExitStack) -> None:
        self._folder, self._processes = folder, processes
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        while not file.exists() or not file.read_text():
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    def add_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker."""
        return self._start("worker", self.address, "--no-nanny", "--nthreads", str(threads))

    def _start(self, command: str, *arguments: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", "distributed.cli.dask_" + command, *arguments]
        process = subprocess.Popen(
            [*line, "--dashboard-address", ":0", "--host", "127.0.0.1"],
            cwd=self._folder,
            # Workers import the package that the tests import, wherever that is.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)]),
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.callback(_end, process)
        return process


@contextlib.contextmanager
def client_of_two_workers() -> Iterator[distributed.Client]:
    """Give a client of a cluster with two worker processes, which come back when they die."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def slow(seconds: float) -> float:
    """Wait; a task for workers."""
    time.sleep(seconds)
    return seconds


def fails() -> None:
    """Raise an error; a task for workers."""
    raise ParameterError("a fold cannot be run")
