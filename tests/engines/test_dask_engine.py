"""Shards on a real Dask cluster of two processes, which die, move and are asked from everywhere."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest

from dask_processes import client_of_two_workers
from engine_shards import FixedMaker, Listed, NumberMaker, NumberShard, steps_in_a_task
from gnn2logic import IDTClassifier, IDTNodeClassifier, parse, random_graphs
from gnn2logic.engines import DaskEngine, LocalEngine, as_engine, cluster, cluster_watch
from gnn2logic.engines.protocol import Crew, Engine, Maker
from gnn2logic.exceptions import EngineError, ParameterError, StoreError
from narrow_search import learned_by_search, narrow_search


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with client_of_two_workers() as connected:
        yield connected


@pytest.fixture(autouse=True)
def whole_and_tidy(client: distributed.Client) -> Iterator[None]:
    """Start every test with two workers, and see that it leaves nothing behind."""
    try:
        client.wait_for_workers(2, timeout=5)
    except TimeoutError:
        # A nanny gives up when its worker dies while it is starting.
        restart(client)
        client.wait_for_workers(2, timeout=20)
    yield
    assert until(lambda: tasks_of(client) == 0)


@pytest.fixture(autouse=True)
def small_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each worker hold several bundles, also of shards that are too small for that."""
    monkeypatch.setattr(cluster, "_WORTH_A_TASK", 1)


def until(condition: Any, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def restart(client: distributed.Client) -> None:
    """Replace all workers, also those that were retired."""
    client.cluster.scale(0)
    assert until(lambda: not client.nthreads())
    client.cluster.scale(2)


def tasks_of(client: distributed.Client) -> int:
    found: int = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    return found


def kill_worker(client: distributed.Client) -> None:
    """Kill a process and wait until the scheduler knows."""
    client.wait_for_workers(2, timeout=5)
    address, process = min(client.run(os.getpid).items())
    os.kill(process, signal.SIGKILL)
    assert until(lambda: address not in client.nthreads())


def stepped(numbers: Sequence[int], factors: Sequence[int]) -> list[int]:
    """Return what shards answer, computed by hand."""
    totals = []
    for factor in factors:
        numbers = [(factor * number + 1) % 1_000_003 for number in numbers]
        totals.append(sum(numbers))
    return totals


# Answers --------------------------------------------------------------------------------------


# Not hypothesis: Dask's threads draw random numbers, which it takes for those of a strategy.
@pytest.mark.parametrize("seed", range(6))
def test_answers_are_added_in_order(client: distributed.Client, seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers, factors = (rng.integers(1000, size=n).tolist() for n in rng.integers(1, 10, size=2))
    crew = as_engine(client).place([NumberMaker(number) for number in numbers])
    assert crew.ask(NumberShard.listed) == Listed(tuple(numbers))
    assert crew.ask(NumberShard.nothing) is None
    assert [crew.ask(NumberShard.step, factor)[0] for factor in factors] == stepped(
        numbers, factors
    )
    crew.close()


def test_shards_stay_on_one_worker_each(client: distributed.Client) -> None:
    crew = DaskEngine(client).place([NumberMaker(n) for n in range(6)])
    (first,) = {crew.ask(NumberShard.process) for _ in range(5)}
    assert Counter(first.numbers) == dict.fromkeys(client.run(os.getpid).values(), 3)
    assert crew.ask(NumberShard.threads) == Listed((1,) * 6)
    crew.close()


def test_large_shards_and_arguments_are_sent_without_a_warning(client: distributed.Client) -> None:
    crew = DaskEngine(client).place([NumberMaker(0, ballast=bytes(11_000_000)), NumberMaker(1)])
    assert crew.ask(NumberShard.add, np.ones(1_500_000)) == 3_000_001
    crew.close()


# Models ---------------------------------------------------------------------------------------


def learned(model: Any, folder: Path) -> dict[str, Any]:
    """Return all that was learned, as it is written to a file."""
    model.save(folder / "model.json")
    found: dict[str, Any] = json.loads((folder / "model.json").read_text())
    # How it was learned may differ.
    del found["parameters"], found["digest"]
    return found


class Disturbed:
    """An engine in whose crews something happens before some requests."""

    def __init__(self, engine: Engine, what: Any, *before: int) -> None:
        self.engine, self.what, self.before = engine, what, before
        self.happened = 0

    def place(self, makers: Sequence[Maker]) -> Crew:
        crew: Any = self.engine.place(makers)
        ask, count = crew.ask, iter(range(10**6))

        def disturbed(request: Any, *arguments: Any) -> Any:
            if next(count) in self.before:
                self.what()
                self.happened += 1
            return ask(request, *arguments)

        crew.ask = disturbed
        return crew  # type: ignore[no-any-return]


GRAPHS = random_graphs(60, sizes=7, density=0.4, random_state=0)


@pytest.mark.parametrize(("n_shards", "worth_a_task"), [(1, 1), (5, 1), (5, 2**31)])
def test_models_of_graphs_are_the_same(
    client: distributed.Client,
    n_shards: int,
    worth_a_task: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_WORTH_A_TASK", worth_a_task)
    labels = parse("1(A U0 > 1/2) > 3").evaluate(GRAPHS)
    make = IDTClassifier(
        2, algorithm="layers", width=6, max_samples=0.7, random_thresholds=True, random_state=3
    )
    here = learned(make.fit(GRAPHS, labels), tmp_path)
    make.set_params(engine=client, n_shards=n_shards)
    assert learned(make.fit(GRAPHS, labels), tmp_path) == here


@pytest.mark.parametrize("n_shards", [1, 5])
def test_models_by_search_are_the_same(
    client: distributed.Client, n_shards: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow_search(monkeypatch)
    labels = parse("1(A U0 > 1/2) > 3").evaluate(GRAPHS)
    labels ^= np.random.default_rng(0).random(len(labels)) < 0.1
    make = IDTClassifier(0, max_samples=0.7, random_state=3)
    here = learned_by_search(make.fit(GRAPHS, labels), tmp_path)
    engine = Disturbed(DaskEngine(client), lambda: kill_worker(client), 0)
    make.set_params(engine=engine, n_shards=n_shards)
    assert learned_by_search(make.fit(GRAPHS, labels), tmp_path) == here
    assert engine.happened == 1


def test_a_worker_killed_again_and_again_changes_nothing(
    client: distributed.Client, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    layers = [rng.normal(size=(GRAPHS.n_nodes, 3)) for _ in range(2)]
    labels = parse("A U0 > 2").evaluate(GRAPHS, level="node")
    make = IDTNodeClassifier(algorithm="layers", width=6, random_state=0)
    here = learned(make.fit(GRAPHS, labels, activations=layers), tmp_path)
    engine = Disturbed(DaskEngine(client), lambda: kill_worker(client), 1, 10, 20)
    make.set_params(engine=engine, n_shards=4)
    assert learned(make.fit(GRAPHS, labels, activations=layers), tmp_path) == here
    assert engine.happened == 3


# Accidents ------------------------------------------------------------------------------------


def test_a_worker_killed_during_a_request(client: distributed.Client) -> None:
    numbers = [3, 4, 5, 6]
    crew = DaskEngine(client).place([NumberMaker(number) for number in numbers])
    assert [crew.ask(NumberShard.step, f)[0] for f in (2, 3)] == stepped(numbers, [2, 3])
    killer = threading.Timer(0.3, kill_worker, [client])
    killer.start()
    assert crew.ask(NumberShard.slow_step, 5, 0.4)[0] == stepped(numbers, [2, 3, 5])[-1]
    killer.join()
    assert crew.ask(NumberShard.step, 7)[0] == stepped(numbers, [2, 3, 5, 7])[-1]
    crew.close()


def test_all_workers_killed_with_large_arguments_on_them(client: distributed.Client) -> None:
    crew = DaskEngine(client).place([NumberMaker(1), NumberMaker(2)])
    assert crew.ask(NumberShard.add, np.ones(10_000)) == 20_003
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)
    assert crew.ask(NumberShard.add, np.arange(10_000)) == 20_003 + 2 * sum(range(10_000))
    crew.close()


def test_all_workers_killed_before_the_first_answer(client: distributed.Client) -> None:
    numbers = [1, 2, 3]
    crew = DaskEngine(client).place([NumberMaker(number) for number in numbers])
    for process in client.run(os.getpid).values():
        os.kill(process, signal.SIGKILL)
    assert crew.ask(NumberShard.step, 2)[0] == stepped(numbers, [2])[0]
    crew.close()


@pytest.mark.parametrize("maker", [NumberMaker, FixedMaker])
def test_shards_of_a_retired_worker_are_moved_or_made_anew(
    client: distributed.Client, maker: type[NumberMaker]
) -> None:
    numbers = list(range(12))
    crew = DaskEngine(client).place([maker(number) for number in numbers])
    assert crew.ask(NumberShard.step, 2)[0] == stepped(numbers, [2])[0]
    gone = min(client.run(os.getpid))
    client.retire_workers([gone])
    assert crew.ask(NumberShard.step, 3)[0] == stepped(numbers, [2, 3])[-1]
    assert len(set(crew.ask(NumberShard.process).numbers)) == 1
    crew.close()
    restart(client)


def test_a_shard_that_is_always_lost_is_given_up(client: distributed.Client) -> None:
    def lose() -> None:
        # Somebody asks behind our back, so that the state is one request further.
        for state in crew._states:
            client.submit(
                lambda placed: placed.ask(1, NumberShard.step, 1) or 0, state, pure=False
            ).result()

    crew = DaskEngine(client).place([NumberMaker(1)])
    crew.ask(NumberShard.step, 2)
    lose()
    assert crew.ask(NumberShard.step, 3)[0] == stepped([1], [2, 3])[-1]
    rebuilt = crew._rebuilt
    crew._rebuilt = lambda shard: (rebuilt(shard), crew._states[shard])[1]  # type: ignore[method-assign]
    client.submit(lambda placed: placed.ask(2, NumberShard.step, 1) or 0, crew._states[0]).result()
    with pytest.raises(EngineError, match="The state of a shard was lost 3 times"):
        crew.ask(NumberShard.step, 4)


def test_errors_of_shards_are_raised_as_they_are(client: distributed.Client) -> None:
    for request, arguments, error, text in (
        (NumberShard.fail, (2,), StoreError, "^shard 2 cannot be read$"),
        (NumberShard.late, (), TimeoutError, "^the disk of a shard does not answer$"),
    ):
        crew = DaskEngine(client, timeout=1).place([NumberMaker(n) for n in range(4)])
        with pytest.raises(error, match=text):
            crew.ask(request, *arguments)
        assert until(lambda: tasks_of(client) == 0)
        with pytest.raises(EngineError, match="The shards were forgotten"):
            crew.ask(NumberShard.nothing)


def test_a_shard_that_kills_its_workers(client: distributed.Client) -> None:
    def allow(dask_scheduler: Any, failures: int) -> None:
        dask_scheduler.allowed_failures = failures

    client.run_on_scheduler(allow, failures=0)
    try:
        crew = DaskEngine(client).place([NumberMaker(0)])
        with pytest.raises(EngineError, match="every worker that took it died"):
            crew.ask(NumberShard.die)
    finally:
        client.run_on_scheduler(allow, failures=3)


def test_workers_that_do_not_work(client: distributed.Client) -> None:
    def set_status(dask_worker: Any, name: str) -> None:
        dask_worker.status = getattr(type(dask_worker.status), name)

    crew = DaskEngine(client, timeout=1).place([NumberMaker(n) for n in range(4)])
    crew.ask(NumberShard.step, 2)
    client.run(set_status, name="paused")
    try:
        with pytest.raises(EngineError, match="All of them did nothing for 1 seconds"):
            crew.ask(NumberShard.step, 2)
    finally:
        client.run(set_status, name="running")


def test_results_that_take_long_to_get_here(
    client: distributed.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = cluster_watch.Watch(client, timeout=0.01)
    # It is looked at many times before it is there, and all that time nobody works.
    monkeypatch.setattr(cluster_watch, "_LOOK_EVERY", 0.001)
    monkeypatch.setattr(watch, "_tasks_of_workers", lambda: {"a worker": []})
    monkeypatch.setattr(watch, "_silent_workers", lambda now: set())
    large = client.submit(bytes, 50_000_000, pure=False)
    distributed.wait(large)
    assert len(watch.results([large])[0]) == 50_000_000
    large.release()


def test_interrupted_by_the_keyboard(client: distributed.Client, tmp_path: Path) -> None:
    crew = DaskEngine(client).place([NumberMaker(n) for n in range(4)])
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        crew.ask(NumberShard.slow_note, tmp_path, 5)
    assert until(lambda: tasks_of(client) == 0)
    assert not list(tmp_path.glob("ended *"))


def test_a_cluster_restarted_between_and_during_fits(client: distributed.Client) -> None:
    crew = DaskEngine(client).place([NumberMaker(n) for n in range(2)])
    assert crew.ask(NumberShard.step, 2)[0] == stepped([0, 1], [2])[0]
    client.restart(wait_for_workers=False)
    with pytest.raises(EngineError, match="The Dask cluster was lost: .* restarted"):
        crew.ask(NumberShard.step, 2)
    crew = DaskEngine(client).place([NumberMaker(n) for n in range(2)])
    assert crew.ask(NumberShard.step, 2)[0] == stepped([0, 1], [2])[0]
    crew.close()


# Ways to ask ----------------------------------------------------------------------------------


def test_asking_from_inside_of_tasks_that_fill_the_cluster(client: distributed.Client) -> None:
    makers = [NumberMaker(n) for n in range(3)]
    tasks = [client.submit(steps_in_a_task, makers, [2, 3], pure=False) for _ in range(3)]
    assert client.gather(tasks) == [stepped(range(3), [2, 3])] * 3


def test_another_version_on_the_workers(
    client: distributed.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "__version__", "77.0")
    crew = DaskEngine(client).place([NumberMaker(0)])
    with pytest.raises(EngineError, match="of the client, 77.0, .* One has"):
        crew.ask(NumberShard.nothing)


def test_bad_arguments(client: distributed.Client) -> None:
    for wrong in (None, "tcp://127.0.0.1:1", client.cluster):
        with pytest.raises(ParameterError, match="client must be a distributed.Client. Got"):
            DaskEngine(wrong)
    for timeout in (0, -1, float("nan"), float("inf"), "10"):
        with pytest.raises(ParameterError, match="timeout must be a number of seconds above 0"):
            DaskEngine(client, timeout=timeout)  # type: ignore[arg-type]


def test_clients_that_do_not_wait_are_refused(client: distributed.Client) -> None:
    async def use() -> None:
        async with distributed.Client(
            client.scheduler.address, asynchronous=True, set_as_default=False
        ) as waiting:
            with pytest.raises(ParameterError, match="Got one with asynchronous=True"):
                DaskEngine(waiting)

    client.sync(use)


def test_local_and_cluster_agree_on_what_is_too_much(client: distributed.Client) -> None:
    makers = [NumberMaker(0)]
    here, there = LocalEngine().place(makers), DaskEngine(client).place(makers)
    assert here.cells == there.cells
    there.close()
