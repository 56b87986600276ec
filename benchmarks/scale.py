"""Learning from graphs on disk: time and memory as the data grows, and on a Dask cluster.

psi_2 of the paper on random graphs of 13 nodes, default settings. Each store is written from an
iterator, and each fit runs in a process of its own, so that its peak memory can be told. Prints

- seconds and peak memory for each size, within a limit of memory;
- the same for a store with node representations of a network (64 numbers at each node and layer);
- how much faster two Dask workers are than one, each with one thread;
- what passes between shards and the one who adds up, what shards keep, and what all this predicts
  for larger data.

    python benchmarks/scale.py [--sizes 100000 1000000 10000000] [--folder DIR]

Returns 1 if a peak is above the limit, if time grows faster than the data, or if a rule is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Concatenate

import numpy as np

import gnn2logic as gl
from gnn2logic.engines import LocalEngine, Maker
from gnn2logic.engines.protocol import Answer, P

TRUTH = gl.parse("1(A(A U0 > 6) > 1/2) > 1/2")
SIZE, CHUNK, SHARD_NODES = 13, 5000, 50_000
LIMIT = "1 GiB"
WIDTH, LAYERS = 64, 3
# Time per node may grow by so much from the smallest to the largest size: caches, disks, noise.
GROWTH = 2.0
# Small tasks that Dask is timed with.
TASKS = 2000
# Bytes per second between two machines: a network of 1 Gbit/s.
BANDWIDTH = 1e8
PREDICTED = (
    ("reddit_threads", 5_000_000, 1),
    ("ogbg-molpcba", 11_000_000, 1),
    ("ogbg-molpcba", 11_000_000, 8),
    ("PCQM4Mv2", 53_000_000, 8),
    ("10^9 nodes", 1_000_000_000, 100),
)


def labelled_graphs(n_nodes: int) -> Iterator[tuple[gl.GraphBatch, Any]]:
    left = n_nodes // SIZE
    for seed in range(10**9):
        if left <= 0:
            return
        graphs = gl.random_graphs(
            min(CHUNK, left), sizes=SIZE, density=0.5, probability=[1.0, 0.5], random_state=seed
        )
        left -= graphs.n_graphs
        yield graphs, TRUTH.evaluate(graphs)


def add_representations(store: gl.ShardStore) -> None:
    """Write what a network with random weights says, the same for equal neighbourhoods."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(width, WIDTH)) for width in (2, *[WIDTH] * (LAYERS - 1))]
    for shard in store.shards:
        batch = shard.load()
        own, layers = batch.predicates.astype(float), []
        for weight in weights:
            own = np.tanh((own + batch.adjacency @ own) @ weight / 16)
            layers.append(own.astype(np.float32))
        store.add_activations(shard.number, layers)


def peak_memory() -> int:
    """Return the most memory that this process ever had, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise OSError("this system does not tell the peak memory of a process")


def fit_once(folder: str, activations: str | None) -> None:
    """Fit on a store and print what it took; runs in a process of its own."""
    store = gl.open_shards(folder)
    started = time.perf_counter()
    model = gl.IDTClassifier(algorithm="layers", random_state=0).fit(store, activations=activations)
    seconds = time.perf_counter() - started
    print(
        json.dumps(
            {
                "seconds": seconds,
                "bytes": peak_memory(),
                "score": model.score(store),
                "rule": str(model.formula(True)),
            }
        )
    )


def fit_elsewhere(folder: Path, *more: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--fit", str(folder), *more]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(found.stdout)
    return result


def dask_seconds(store: gl.ShardStore, n_workers: int, repeats: int) -> tuple[list[float], float]:
    """Return the seconds of some fits, and of one small task."""
    from distributed import Client, LocalCluster

    times = []
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        learner = gl.IDTClassifier(algorithm="layers", random_state=0, engine=client)
        # The first fit starts everything up.
        learner.fit(store)
        for _ in range(repeats):
            started = time.perf_counter()
            learner.fit(store)
            times.append(time.perf_counter() - started)
        started = time.perf_counter()
        client.gather([client.submit(abs, -n, pure=False) for n in range(TASKS)])
        task = (time.perf_counter() - started) / TASKS
    return times, task


def report_sizes(folder: Path, sizes: list[int]) -> bool:
    print(f"{'nodes':>10}{'written':>10}{'fit':>10}{'us/node':>10}{'peak MiB':>10}{'right':>8}")
    fine, per_node = True, []
    for n_nodes in sizes:
        started = time.perf_counter()
        place = folder / str(n_nodes)
        store = gl.write_shards(place, labelled_graphs(n_nodes), shard_nodes=SHARD_NODES)
        written = time.perf_counter() - started
        result = fit_elsewhere(place)
        per_node.append(result["seconds"] / store.n_nodes * 1e6)
        fine &= result["bytes"] <= 2**30 and result["score"] > 0.99
        print(
            f"{store.n_nodes:10}{written:9.1f}s{result['seconds']:9.1f}s{per_node[-1]:10.1f}"
            f"{result['bytes'] / 2**20:10.0f}{result['score']:8.4f}",
            flush=True,
        )
    print(f"the rule of the largest: {result['rule']}")
    return fine and per_node[-1] <= GROWTH * per_node[0]


def report_activations(folder: Path, n_nodes: int) -> bool:
    store = gl.open_shards(folder / str(n_nodes))
    add_representations(store)
    result = fit_elsewhere(folder / str(n_nodes), "--activations")
    print(
        f"{store.n_nodes} nodes with {LAYERS} layers of {WIDTH} numbers: "
        f"{result['seconds']:.1f} s, {result['bytes'] / 2**20:.0f} MiB"
    )
    store.remove_activations()
    return bool(result["bytes"] <= 2**30)


def report_dask(folder: Path, n_nodes: int, repeats: int) -> tuple[float, float]:
    """Return the seconds per node of one worker, and per task."""
    store = gl.open_shards(folder / str(n_nodes))
    (ones, task), (twos, _) = (dask_seconds(store, n, repeats) for n in (1, 2))
    one, two = statistics.median(ones), statistics.median(twos)
    print(
        f"Dask, {store.n_nodes} nodes, median of {repeats}: 1 worker {one:.1f} s, 2 workers "
        f"{two:.1f} s, {one / two:.2f} times faster (aim 1.6); {task * 1000:.1f} ms for a task"
    )
    return one / store.n_nodes, task


class Counted:
    """An engine and its crew that count what passes through them."""

    def __init__(self, scratch: Path) -> None:
        self._engine = LocalEngine(max_memory=LIMIT, scratch=scratch)
        self._scratch = scratch
        self.requests = self.sent = self.answered = self.largest = 0
        self.kept = 0.0

    def place(self, makers: Sequence[Maker]) -> Counted:
        """Place the shards."""
        self._crew = self._engine.place(makers)
        self.cells = self._crew.cells
        return self

    def ask(
        self,
        request: Callable[Concatenate[Any, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """Ask all shards, and note what it takes."""
        answer = self._crew.ask(request, *arguments, **named)
        size = len(pickle.dumps(answer))
        self.requests += 1
        self.sent += len(pickle.dumps(arguments))
        self.answered += size
        self.largest = max(self.largest, size)
        files = self._scratch.rglob("*.npy")
        self.kept = max(self.kept, sum(file.stat().st_size for file in files))
        return answer

    def close(self) -> None:
        """Forget the shards."""
        self._crew.close()


def report_costs(folder: Path, n_nodes: int) -> Counted:
    store = gl.open_shards(folder / str(n_nodes))
    scratch = folder / "scratch"
    scratch.mkdir()
    counted = Counted(scratch)
    gl.IDTClassifier(algorithm="layers", random_state=0, engine=counted).fit(store)
    counted.kept /= store.n_nodes
    print(
        f"one fit: {counted.requests} requests; arguments {counted.sent / 2**20:.1f} MiB, answers "
        f"{counted.answered / 2**20:.1f} MiB per shard, the largest {counted.largest / 2**20:.1f} "
        f"MiB; shards keep {counted.kept:.0f} bytes per node"
    )
    return counted


def report_predictions(costs: Counted, one_thread: float, task: float) -> None:
    print(f"predicted with {one_thread * 1e6:.0f} us per node and thread:")
    print(f"{'':20}{'nodes':>14}{'workers':>9}{'minutes':>9}{'GiB kept per worker':>21}")
    for name, nodes, workers in PREDICTED:
        work = nodes / workers * one_thread
        # Each worker has up to four bundles of shards. Every level of the tree of additions, four
        # at a time, passes all answers on; and all workers get the fold of every graph, twice.
        bundles = 4 * workers
        levels = math.ceil(math.log(bundles, 4)) if workers > 1 else 0
        passing = (levels * costs.answered + 2 * nodes / SIZE) / BANDWIDTH
        # Two tasks for each bundle at every request, and the additions.
        planning = costs.requests * (2 + 1 / 3) * bundles * task
        minutes = (work + passing + planning) / 60
        kept = nodes * costs.kept / workers / 2**30
        print(f"{name:20}{nodes:14,}{workers:9}{minutes:9.1f}{kept:21.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**5, 10**6, 10**7])
    parser.add_argument("--folder", help="where the stores go; a temporary folder by default")
    parser.add_argument("--repeats", type=int, default=5, help="fits on Dask; 0 to leave it out")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    parser.add_argument("--activations", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit is not None:
        fit_once(options.fit, "stored" if options.activations else None)
        return 0
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder = Path(temporary)
        fine = report_sizes(folder, options.sizes)
        middle = sorted(options.sizes)[len(options.sizes) // 2]
        fine &= report_activations(folder, middle)
        costs = report_costs(folder, middle)
        if options.repeats:
            report_predictions(costs, *report_dask(folder, middle, options.repeats))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
