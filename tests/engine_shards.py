"""Small shards for tests of engines; workers in other processes can import this module."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnn2logic.engines import DaskEngine
from gnn2logic.exceptions import StoreError


@dataclass(frozen=True)
class NumberMaker:
    """Makes a shard that holds a number."""

    number: int
    work_bytes: int = 8
    row_bytes: int = 0
    ballast: bytes = b""

    def __call__(self, scratch: Path | None = None) -> NumberShard:
        return NumberShard(self.number)


class NumberShard:
    """A number that requests change; the order of the requests matters."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.array = np.zeros(1000)

    def step(self, factor: int) -> tuple[int, list[Any]]:
        """Change the number and return it, in two ways."""
        self.number = (factor * self.number + 1) % 1_000_003
        return self.number, [np.array([self.number])]

    def listed(self) -> Listed:
        """Return the number so that the order of the shards shows in the sum."""
        return Listed((self.number,))

    def nothing(self) -> None:
        """Return nothing."""

    def add(self, values: Any) -> int:
        """Add something large to the number and return it."""
        self.number += int(values.sum())
        return self.number

    def process(self) -> Listed:
        """Return the process that the shard is in."""
        return Listed((os.getpid(),))

    def threads(self) -> Listed:
        """Return how many threads compiled loops may use."""
        import numba

        return Listed((numba.get_num_threads(),))

    def slow_step(self, factor: int, seconds: float) -> tuple[int, list[Any]]:
        """Change the number half, wait, change the rest."""
        self.number *= factor
        time.sleep(seconds)
        self.number = (self.number + 1) % 1_000_003
        return self.number, [np.array([self.number])]

    def slow_note(self, folder: Path, seconds: float) -> None:
        """Wait, then leave a file: where there is none, nobody waited for this to end."""
        time.sleep(seconds)
        (folder / f"ended {self.number}").touch()

    def fail(self, number: int) -> None:
        """Fail in the shard that has this number."""
        if self.number == number:
            raise StoreError(f"shard {number} cannot be read")

    def late(self) -> None:
        """Fail in a way that looks like waiting in vain."""
        raise TimeoutError("the disk of a shard does not answer")

    def die(self) -> None:
        """Take the worker along."""
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Listed:
    """Numbers; the sum of two lists is the longer list."""

    numbers: tuple[int, ...]

    def __add__(self, other: Listed) -> Listed:
        return Listed(self.numbers + other.numbers)


def steps_in_a_task(makers: Sequence[NumberMaker], factors: Sequence[int]) -> list[int]:
    """Ask shards from inside of a task of the cluster that they are placed on."""
    from distributed import get_client

    crew = DaskEngine(get_client()).place(makers)
    try:
        return [crew.ask(NumberShard.step, factor)[0] for factor in factors]
    finally:
        crew.close()


class FixedShard(NumberShard):
    """A number that cannot be copied to another process."""

    def __reduce__(self) -> Any:
        raise TypeError("this shard cannot be copied")


@dataclass(frozen=True)
class FixedMaker(NumberMaker):
    """Makes a shard that cannot be copied."""

    def __call__(self, scratch: Path | None = None) -> FixedShard:
        return FixedShard(self.number)
