"""The search for rules: how fast its hottest loop is, how a fit grows, who else may run it.

- The loop that judges pairs of columns adds each graph to twelve histograms for every pair. It is
  compared with a bare loop on the same words that does the least there is to do: AND, popcount, one
  addition to one histogram. Both run on one thread, in seconds of the processor.
- Judging pairs by some graphs first, the screen: what it saves, and how many of the best pairs it
  keeps, where half of the graphs are of each class and where one in twenty is of the rare one.
- Seconds and peak memory of a default fit on stores of 10^3 to 10^6 small graphs, each in a process
  of its own. A planted rule labels them, and one label in twenty is flipped. From some thousand
  graphs on the search looks at a sample, and the rules are counted on all graphs.
- One and two threads, a store on disk and a Dask cluster on graphs like those of PROTEINS (PROTEINS
  itself if GNN2LOGIC_DATA names a folder that has it). All must give the same model.

    python benchmarks/search.py [--parts pairs growth engines] [--sizes 1000 10000 100000 1000000]
        [--pairs 20000] [--repeats 5] [--fits 2] [--folder DIR]

Returns 1 if the loop takes more than twice as long for a histogram entry as the bare one, if a fit
grows faster than its data or takes too much memory, if a rule is not found or if models differ.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from scale import peak_memory

import gnn2logic as gl
from gnn2logic.engines.threads import one_thread
from gnn2logic.learning.search.columns import ColumnSpace
from gnn2logic.learning.search.cuts import CountBins
from gnn2logic.learning.search.graph_judging import GraphJudge
from gnn2logic.learning.search.kernels import pair_gains, popcount
from gnn2logic.learning.search.rule_search import SearchSettings
from gnn2logic.learning.search.whole_numbers import packed_targets
from gnn2logic.learning.settings import local_modalities

SMALL_TRUTH = gl.parse("1(U0 & A U1 > 1) > 2")
SMALL = (10, 20)
# Of graphs of up to 64 nodes the same rule with a higher threshold holds at about half.
LARGER_TRUTH = gl.parse("1(U0 & A U1 > 1) > 7")
LARGER = (10, 64)
# With this threshold it holds at one in twenty; few of the graphs of a screen might be among them.
RARE_TRUTH = gl.parse("1(U0 & A U1 > 1) > 16")
DEGREE = 3
FLIPPED = 0.05
HISTOGRAMS = 12
# The time of one histogram entry, in times of the bare loop's.
ENTRY_LIMIT = 2.0
KEPT_PAIRS = 250
# At least this share of the best pairs must be among those that the screen leaves.
KEPT_LIMIT = 0.5
CHUNK, SHARD_NODES = 5000, 200_000
# From one size to the next, time and memory may grow by so much more than the number of graphs.
GROWTH_LIMIT = 1.2
MEMORY_LIMIT = 2 * 2**30
# Two threads may take this many times as long as one: noise, since small parts alone are parallel.
THREADS_LIMIT = 1.25

IntArray = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Labelled = tuple[gl.GraphBatch, npt.NDArray[np.int64]]


def labelled_graphs(
    n_graphs: int,
    sizes: tuple[int, int],
    truth: gl.Formula,
    seed: int,
    flipped: float = FLIPPED,
) -> Labelled:
    """Return random graphs with few neighbours, and their labels, some of which are `flipped`."""
    rng = np.random.default_rng(seed)
    n_nodes = rng.integers(*sizes, n_graphs, endpoint=True)
    batch = gl.random_graphs(n_graphs, sizes=n_nodes, density=DEGREE / n_nodes, random_state=rng)
    return batch, (truth.evaluate(batch) ^ (rng.random(n_graphs) < flipped)).astype(np.int64)


def median_each(runs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Return the median seconds of the processor that each of some runs takes on one thread.

    Runs take turns, so that noise hits all alike; the first turn, which compiles, is left out.
    """
    times: dict[str, list[float]] = {name: [] for name in runs}
    with one_thread():
        for turn in range(repeats + 1):
            for name, run in runs.items():
                started = time.process_time()
                run()
                if turn > 0:
                    times[name].append(time.process_time() - started)
    return {name: statistics.median(found) for name, found in times.items()}


# The hottest loop -----------------------------------------------------------------------------


@numba.njit(nogil=True)
def bare_loop(
    words: Words, targets: IntArray, left: IntArray, right: IntArray, histogram: IntArray
) -> int:
    """Make one histogram of targets by count for each pair; return a sum, so that all is done."""
    seen = 0
    for pair in range(len(left)):
        histogram[:] = 0
        one, other = words[left[pair]], words[right[pair]]
        for graph in range(len(targets)):
            histogram[popcount(one[graph] & other[graph])] += targets[graph]
        seen += histogram[0]
    return seen


@numba.njit(nogil=True)
def popcounts_alone(words: Words, left: IntArray, right: IntArray) -> int:
    seen = np.uint64(0)
    for pair in range(len(left)):
        one, other = words[left[pair]], words[right[pair]]
        for graph in range(len(one)):
            seen += popcount(one[graph] & other[graph])
    return int(seen)


def columns_for_pairs(batch: gl.GraphBatch, n_pairs: int) -> tuple[ColumnSpace, list[int]]:
    """Return columns, so many that there are enough pairs of them."""
    space = ColumnSpace(batch, local_modalities(batch))
    wanted = int((2 * n_pairs) ** 0.5) + 2
    found = space.inputs[1:]
    for pool in (space.inputs, space.literals(space.inputs)):
        found = [*dict.fromkeys([*found, *space.literals(pool[:50])])]
    if len(found) < wanted:
        raise ValueError(f"There are {len(found)} columns; {n_pairs} pairs take {wanted}.")
    return space, found[:wanted]


def report_loop(n_graphs: int, n_pairs: int, repeats: int) -> bool:
    batch, y = labelled_graphs(n_graphs, LARGER, LARGER_TRUTH, seed=0)
    space, numbers = columns_for_pairs(batch, n_pairs)
    left, right = (side[:n_pairs] for side in np.triu_indices(len(numbers), 1))
    words, counts = space.words(numbers), space.counts(numbers)
    bins, layout = CountBins(batch.sizes), space.layout
    packed, _ = packed_targets(y.astype(float), np.ones(n_graphs, dtype=np.int64))
    histogram = np.zeros(65, dtype=np.int64)
    least = SearchSettings().least_weight
    seconds = median_each(
        {
            "pair_gains": lambda: pair_gains(
                words,
                layout.first,
                layout.one_word_each,
                counts,
                batch.sizes,
                packed,
                bins.bins_of_cell,
                bins.share_offset,
                bins.n_counts,
                bins.n_shares,
                left,
                right,
                least,
            ),
            "bare loop": lambda: bare_loop(words, packed, left, right, histogram),
            "AND and popcount": lambda: popcounts_alone(words, left, right),
        },
        repeats,
    )
    print(f"\n{n_pairs} pairs, {n_graphs} graphs of 10 to 64 nodes, one thread")
    print(f"{'':20}{'seconds':>9}{'10^6 pairs x graphs/s':>23}{'ns per entry':>14}")
    per_entry = {}
    for name, taken in seconds.items():
        each = taken / (n_pairs * n_graphs)
        per_entry[name] = each / (HISTOGRAMS if name == "pair_gains" else 1) * 1e9
        print(f"{name:20}{taken:9.3f}{1e-6 / each:23.1f}{per_entry[name]:14.3f}")
    ratio = per_entry["pair_gains"] / per_entry["bare loop"]
    print(f"an entry takes {ratio:.2f} times as long as in the bare loop (at most {ENTRY_LIMIT:g})")
    return ratio <= ENTRY_LIMIT


def report_screen(
    n_graphs: int, n_pairs: int, repeats: int, truth: gl.Formula, flipped: float
) -> bool:
    batch, y = labelled_graphs(n_graphs, LARGER, truth, seed=0, flipped=flipped)
    space, numbers = columns_for_pairs(batch, n_pairs)
    screened, unscreened = (
        GraphJudge(
            space,
            CountBins(batch.sizes),
            np.arange(n_graphs),
            y.astype(float),
            np.ones(n_graphs, dtype=np.int64),
            price=SearchSettings().price,
            least_weight=SearchSettings().least_weight,
        )
        for _ in range(2)
    )
    unscreened._screen = None
    seconds = median_each(
        {
            "with": lambda: screened.pairs(numbers, KEPT_PAIRS),
            "without": lambda: unscreened.pairs(numbers, KEPT_PAIRS),
        },
        repeats,
    )
    # Equal columns have equal numbers.
    best = set(unscreened.pairs(numbers, KEPT_PAIRS))
    kept = len(best & set(screened.pairs(numbers, KEPT_PAIRS)))
    print(
        f"judging them with the screen, {y.mean():.0%} of the graphs in class 1: "
        f"{seconds['with']:.3f} s, without {seconds['without']:.3f} s: "
        f"{seconds['without'] / seconds['with']:.1f} times faster; "
        f"{kept} of the best {len(best)} are kept"
    )
    return kept >= KEPT_LIMIT * len(best)


# Growth ---------------------------------------------------------------------------------------


def labelled_chunks(n_graphs: int) -> Iterator[Labelled]:
    for seed, start in enumerate(range(0, n_graphs, CHUNK)):
        yield labelled_graphs(min(CHUNK, n_graphs - start), SMALL, SMALL_TRUTH, seed)


def fit_once(folder: str) -> None:
    """Fit on a store and print what it took; runs in a process of its own."""
    store = gl.open_shards(folder)
    started = time.perf_counter()
    model = gl.IDTClassifier(random_state=0).fit(store)
    seconds, peak = time.perf_counter() - started, peak_memory()
    found = {"seconds": seconds, "bytes": peak, "score": model.score(store)}
    print(json.dumps({**found, "rule": str(model.formula(1))}))


def report_growth(folder: Path, sizes: list[int]) -> bool:
    print(f"\n{'graphs':>10}{'written':>10}{'fit':>9}{'peak MiB':>10}{'right':>8}  rule")
    fine = True
    before: tuple[int, float, int] | None = None
    for n_graphs in sorted(sizes):
        place = folder / str(n_graphs)
        started = time.perf_counter()
        gl.write_shards(place, labelled_chunks(n_graphs), shard_nodes=SHARD_NODES)
        written = time.perf_counter() - started
        command = [sys.executable, __file__, "--fit", str(place)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        result = json.loads(answer)
        print(
            f"{n_graphs:10}{written:9.1f}s{result['seconds']:8.1f}s{result['bytes'] / 2**20:10.0f}"
            f"{result['score']:8.4f}  {result['rule']}",
            flush=True,
        )
        fine &= result["bytes"] <= MEMORY_LIMIT and result["score"] > 1 - 1.5 * FLIPPED
        if before is not None:
            most = GROWTH_LIMIT * n_graphs / before[0]
            fine &= result["seconds"] <= most * before[1] and result["bytes"] <= most * before[2]
        before = n_graphs, result["seconds"], result["bytes"]
    return fine


# Engines --------------------------------------------------------------------------------------


def proteins() -> tuple[gl.GraphBatch, npt.NDArray[np.int64], str]:
    if os.environ.get("GNN2LOGIC_DATA"):
        data = gl.datasets.load("PROTEINS", download=False)
        batch = gl.PredicateEncoder().fit_transform(data.graphs)
        return batch, np.asarray(data.y), "PROTEINS"
    rng = np.random.default_rng(0)
    sizes = np.clip(np.rint(rng.lognormal(3.3, 0.8, 1113)), 4, 620).astype(np.int64)
    batch = gl.random_graphs(
        1113, sizes=sizes, density=np.minimum(1, 3.7 / sizes), random_state=rng
    )
    labels = rng.integers(0, 3, batch.n_nodes)
    names = ["L0", "L1", "L2"]
    batch = batch.with_predicates(labels[:, None] == np.arange(3), names)
    rule = gl.parse("1(L0 & A L1 > 1) > 3")
    y = (rule.evaluate(batch) ^ (rng.random(1113) < 0.2)).astype(np.int64)
    return batch, y, "graphs like those of PROTEINS"


def learned(model: gl.IDTClassifier, folder: Path) -> dict[str, Any]:
    """Return what a file says about a model, but for the settings, which differ here."""
    model.save(folder / "model.json")
    document: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    for about_settings in ("parameters", "digest"):
        del document[about_settings]
    return document


def report_engines(folder: Path, fits: int) -> bool:
    from distributed import Client, LocalCluster

    batch, y, name = proteins()
    store = gl.write_shards(folder / "proteins", [(batch, y)], shard_nodes=batch.n_nodes // 4 + 1)
    models: dict[str, gl.IDTClassifier] = {}
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        runs: dict[str, tuple[gl.IDTClassifier, tuple[Any, ...]]] = {
            "1 thread": (gl.IDTClassifier(random_state=0, n_jobs=1), (batch, y)),
            "2 threads": (gl.IDTClassifier(random_state=0, n_jobs=2), (batch, y)),
            "2 threads, store": (gl.IDTClassifier(random_state=0, n_jobs=2), (store,)),
            "2 Dask workers": (gl.IDTClassifier(random_state=0, engine=client), (store,)),
        }
        times: dict[str, list[float]] = {title: [] for title in runs}
        # A short fit compiles the loops.
        gl.IDTClassifier(max_time=1, random_state=0).fit(batch[:100], y[:100])
        for _ in range(fits):
            for title, (learner, given) in runs.items():
                started = time.perf_counter()
                models[title] = learner.fit(*given)
                times[title].append(time.perf_counter() - started)
    seconds = {title: statistics.median(found) for title, found in times.items()}
    documents = {title: learned(model, folder) for title, model in models.items()}
    expected = documents["1 thread"]
    print(f"\n{name}: {batch.n_graphs} graphs, {batch.n_nodes} nodes, median of {fits}")
    print(f"{'':20}{'seconds':>9}{'ratio':>8}  model")
    for title, document in documents.items():
        differing = [key for key in expected if document.get(key) != expected[key]]
        same = f"differs in {', '.join(differing)}" if differing else "the same"
        print(f"{title:20}{seconds[title]:9.1f}{seconds[title] / seconds['1 thread']:8.2f}  {same}")
    print(f"the rule: {models['1 thread'].formula(1)}")
    return seconds["2 threads"] <= THREADS_LIMIT * seconds["1 thread"] and all(
        document == expected for document in documents.values()
    )


def main() -> int:
    parts = ["pairs", "growth", "engines"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", default=parts, choices=parts)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5, 10**6])
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5, help="of the loops over pairs")
    parser.add_argument("--fits", type=int, default=2, help="for each engine")
    parser.add_argument("--folder", help="where the stores go; a temporary folder by default")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit is not None:
        fit_once(options.fit)
        return 0
    fine = True
    if "pairs" in options.parts:
        fine &= report_loop(1000, options.pairs, options.repeats)
        fine &= report_loop(4000, options.pairs, options.repeats)
        fine &= report_screen(4000, options.pairs, options.repeats, LARGER_TRUTH, FLIPPED)
        fine &= report_screen(4000, options.pairs, options.repeats, RARE_TRUTH, flipped=0)
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        if "growth" in options.parts:
            fine &= report_growth(Path(temporary), options.sizes)
        if "engines" in options.parts:
            fine &= report_engines(Path(temporary), options.fits)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
