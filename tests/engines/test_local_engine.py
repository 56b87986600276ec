"""Shards in this process: one by one, on threads, in files."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from engine_shards import Listed, NumberMaker, NumberShard
from gnn2logic.engines import LocalEngine, as_engine
from gnn2logic.engines.local import bytes_from
from gnn2logic.exceptions import ParameterError, StoreError

ENGINES = [LocalEngine(), LocalEngine(3), LocalEngine(2, max_memory="1 GiB")]


@pytest.mark.parametrize("engine", ENGINES)
def test_shards_answer_in_order_and_answers_are_added(engine: LocalEngine) -> None:
    crew = engine.place([NumberMaker(n) for n in range(7)])
    assert crew.ask(NumberShard.listed) == Listed((0, 1, 2, 3, 4, 5, 6))
    number, [array] = crew.ask(NumberShard.step, 3)
    assert number == array.tolist()[0] == sum(3 * n + 1 for n in range(7))
    assert crew.ask(NumberShard.nothing) is None
    assert crew.ask(NumberShard.step, 10)[0] == sum(10 * (3 * n + 1) + 1 for n in range(7))
    crew.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_of_shards_are_raised_as_they_are(engine: LocalEngine) -> None:
    crew = engine.place([NumberMaker(n) for n in range(4)])
    with pytest.raises(StoreError, match="^shard 2 cannot be read$"):
        crew.ask(NumberShard.fail, 2)
    crew.close()
    assert threading.active_count() < 10


class _Meeting(NumberShard):
    """Waits until another shard is asked at the same time."""

    barrier = threading.Barrier(2, timeout=10)

    def meet(self) -> int:
        self.barrier.wait()
        return 1


class _MeetingMaker(NumberMaker):
    def __call__(self, scratch: Path | None = None) -> _Meeting:
        return _Meeting(self.number)


def test_threads_work_at_the_same_time() -> None:
    crew = LocalEngine(2).place([_MeetingMaker(n) for n in range(4)])
    assert crew.ask(_Meeting.meet) == 4
    crew.close()


class _Kept(NumberShard):
    def __init__(self, number: int, folder: str) -> None:
        super().__init__(number)
        self.folder = folder

    def folders(self) -> list[str]:
        return [self.folder]


class _Keeping(NumberMaker):
    """Says which folder it was given."""

    def __call__(self, scratch: Path | None = None) -> Any:
        return _Kept(self.number, str(scratch))


def test_files_of_shards_are_removed(tmp_path: Path) -> None:
    crew = LocalEngine(max_memory="1 GiB", scratch=tmp_path).place([_Keeping(0)])
    (folder,) = crew.ask(_Kept.folders)
    assert Path(folder).parent.parent == tmp_path
    assert list(tmp_path.iterdir())
    crew.close()
    assert not list(tmp_path.iterdir())


def test_a_limit_that_is_too_low_is_refused() -> None:
    with pytest.raises(ParameterError, match="max_memory must leave room for one shard"):
        LocalEngine(max_memory="301 MiB").place([NumberMaker(0, work_bytes=2**21)])
    labels = [NumberMaker(n, row_bytes=2**26) for n in range(4)]
    with pytest.raises(ParameterError, match=r"about 557 MiB, of which 556 MiB .* Got 556 MiB\."):
        LocalEngine(max_memory="556 MiB").place(labels)
    LocalEngine(max_memory="557 MiB").place(labels).close()


def test_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as gone:
        pass
    host = platform.node()
    left = tmp_path / f"gnn2logic-{host}-{gone.pid}-abc"
    others = {
        tmp_path / name
        for name in (
            f"gnn2logic-{host}-{os.getpid()}-abc",
            f"gnn2logic-other{host}-{gone.pid}-abc",
            f"gnn2logic-{host}-notes-abc",
            f"mine-{gone.pid}-abc",
        )
    }
    for folder in (left, *others):
        folder.mkdir()
        (folder / "codes.npy").touch()
    LocalEngine(max_memory="1 GiB", scratch=tmp_path).place([NumberMaker(0)]).close()
    assert set(tmp_path.iterdir()) == others


def test_as_engine() -> None:
    assert isinstance(as_engine(None), LocalEngine)
    engine = LocalEngine(2)
    assert as_engine(engine) is engine
    for wrong in ("tcp://127.0.0.1:8786", 3, LocalEngine, object()):
        with pytest.raises(ParameterError, match="engine must be None, a distributed.Client"):
            as_engine(wrong)


# Amounts of memory ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [(5, 5), ("5", 5), ("2 kB", None), ("2 KB", 2000), ("1GiB", 2**30), (" 0.5 MiB ", 2**19)],
)
def test_amounts(text: object, size: int | None) -> None:
    if size is None:
        with pytest.raises(ParameterError, match="max_memory must be a number of bytes"):
            bytes_from("max_memory", text)
    else:
        assert bytes_from("max_memory", text) == size


@pytest.mark.parametrize(
    "amount", [0, -1, True, 1.5, "0", "GiB", "1e9", "1 GiB or so", b"1", "1 XB"]
)
def test_what_is_no_amount(amount: object) -> None:
    with pytest.raises(ParameterError, match="'1 GiB' or '500 MB'"):
        LocalEngine(max_memory=amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_threads", [0, -1, True, "2", 1.5])
def test_threads_are_counted(n_threads: object) -> None:
    with pytest.raises(ParameterError, match="n_threads"):
        LocalEngine(n_threads)  # type: ignore[arg-type]
