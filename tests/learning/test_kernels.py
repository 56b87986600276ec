"""Compiled loops do what numpy does more slowly, however they are run.

They are also run as plain Python: a tracer of lines sees nothing of machine code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from gnn2logic.graphs import random_graphs
from gnn2logic.learning import IDTClassifier, kernels, threaded_loops
from gnn2logic.learning.threaded_loops import ThreadedLoop
from gnn2logic.logic import parse

N_FEATURES, N_ROWS, N_CODES = 4, 30, 5


@pytest.fixture(params=["one thread", "all threads", "plain Python"])
def way_to_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(kernel: Any) -> Any:
        if request.param == "all threads":
            return kernel.parallel
        return kernel.serial if request.param == "one thread" else kernel.serial.py_func

    for name, kernel in list(vars(kernels).items()):
        if isinstance(kernel, ThreadedLoop):
            loop = chosen(kernel)
            monkeypatch.setattr(
                kernels, name, lambda steps, *arguments, loop=loop: loop(*arguments)
            )
    if request.param == "plain Python":
        monkeypatch.setattr(kernels, "_leaf_sums", kernels._leaf_sums.py_func)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def drawn_codes(rng: np.random.Generator) -> Any:
    return rng.integers(N_CODES, size=(N_FEATURES, N_ROWS), dtype=np.uint8)


@pytest.mark.usefixtures("way_to_run")
@pytest.mark.parametrize("width", [1, 2, 3])
def test_histograms(rng: np.random.Generator, width: int) -> None:
    codes, features = drawn_codes(rng), np.array([3, 1])
    rows, starts = np.array([0, 2, 2, 5, 29]), np.array([0, N_CODES])
    sums = rng.integers(100, size=(len(rows), width))
    out = np.ones((2 * N_CODES, width), dtype=np.int64)
    kernels.add_histograms(codes, features, starts, rows, sums, out)
    expected = np.ones_like(out)
    for feature, start in zip(features, starts, strict=True):
        np.add.at(expected, start + codes[feature][rows], sums)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.usefixtures("way_to_run")
def test_values_and_their_codes(rng: np.random.Generator) -> None:
    """A value is a count in a set of some size; the offset of a row is where its size begins."""
    counts = rng.integers(3, size=(N_ROWS, N_FEATURES), dtype=np.int32)
    offsets = rng.choice([0, 3], size=N_ROWS)
    ranks = np.array([0, 1, 3, 0, 2, 3])
    seen = np.zeros((N_FEATURES, 4), dtype=np.int64)
    kernels.count_values(counts, offsets, ranks, seen)
    rank_of = ranks[offsets[:, None] + counts].T
    expected = [np.bincount(row, minlength=4) for row in rank_of]
    np.testing.assert_array_equal(seen, expected)
    code_of_rank = rng.integers(9, size=(N_FEATURES, 4), dtype=np.uint16)
    codes = np.zeros((N_FEATURES, N_ROWS), dtype=np.uint8)
    kernels.encode_values(counts, offsets, ranks, code_of_rank, codes)
    np.testing.assert_array_equal(codes, np.take_along_axis(code_of_rank, rank_of, axis=1))


@pytest.mark.usefixtures("way_to_run")
def test_hashes_wrap_around(rng: np.random.Generator) -> None:
    codes = drawn_codes(rng)
    salt = rng.integers(2**63, size=N_ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    prints = np.zeros(N_FEATURES, dtype=np.uint64)
    mixed = np.full(N_ROWS, 7, dtype=np.uint64)
    # numpy warns about numbers that wrap around when they are scalars.
    with np.errstate(over="ignore"):
        kernels.fingerprint(codes, salt, prints)
        kernels.mix_rows(codes, salt[:N_FEATURES], mixed)
    whole = [[int(code) for code in row] for row in codes]
    salts = [int(number) for number in salt]
    assert [int(number) for number in prints] == [
        sum(code * number for code, number in zip(row, salts, strict=True)) % 2**64 for row in whole
    ]
    assert [int(number) for number in mixed] == [
        (7 + sum(code * salts[j] for j, code in enumerate(column))) % 2**64
        for column in zip(*whole, strict=True)
    ]


@pytest.mark.usefixtures("way_to_run")
def test_differences(rng: np.random.Generator) -> None:
    codes, like = drawn_codes(rng), rng.integers(N_ROWS, size=N_ROWS)
    assert kernels.count_differences(codes, like) == int((codes != codes[:, like]).sum()) > 0
    assert kernels.count_differences(codes, np.arange(N_ROWS)) == 0


@pytest.mark.usefixtures("way_to_run")
def test_leaves(rng: np.random.Generator) -> None:
    """The root asks feature 2, its upper child feature 0."""
    codes = drawn_codes(rng)
    feature, limit = np.array([2, -1, 0, -1, -1]), np.array([1, 0, 3, 0, 0])
    children = np.array([[1, 2], [-1, -1], [3, 4], [-1, -1], [-1, -1]])
    numbers, reached = np.array([-1, 0, -1, 1, 2]), np.zeros(N_ROWS, dtype=np.int32)
    kernels.reach_leaves(codes, feature, limit, children, numbers, reached)
    expected = np.where(codes[2] <= 1, 0, np.where(codes[0] <= 3, 1, 2))
    np.testing.assert_array_equal(reached, expected)
    values = rng.integers(50, size=(N_ROWS, 3))
    sums = kernels.sum_leaves(reached, values, n_leaves=4)
    np.testing.assert_array_equal(sums, [values[expected == leaf].sum(axis=0) for leaf in range(4)])


def test_the_two_versions_of_a_loop_are_two_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code for all threads, run from several threads at once, can end the process."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kernel = ThreadedLoop(kernels._count_differences)
    out = np.zeros(2, dtype=np.int64)
    for version in (kernel.serial, kernel.parallel):
        version(np.zeros((2, 3), dtype=np.uint8), np.arange(3), out)
        assert not version.stats.cache_hits
        assert sum(version.stats.cache_misses.values()) == 1
    # And both are found again.
    again = ThreadedLoop(kernels._count_differences)
    for version in (again.serial, again.parallel):
        version(np.zeros((2, 3), dtype=np.uint8), np.arange(3), out)
        assert sum(version.stats.cache_hits.values()) == 1


def test_a_search_on_all_threads_finds_what_one_thread_finds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphs = random_graphs(60, sizes=8, density=0.4, random_state=0)
    y = parse("1(A U0 > 1) > 3").evaluate(graphs)
    found = []
    for worth_threads in (10**18, -1):
        monkeypatch.setattr(threaded_loops, "WORTH_THREADS", worth_threads)
        found.append(IDTClassifier(n_layers=1, random_state=0).fit(graphs, y))
    one_thread, all_threads = found
    assert str(one_thread.rules_) == str(all_threads.rules_)
    assert one_thread.formula(True) == all_threads.formula(True)
