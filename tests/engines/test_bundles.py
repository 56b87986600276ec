"""Shards are dealt out evenly, in their order."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine_shards import NumberMaker
from gnn2logic.engines.cluster import bundles

MIB = 2**20


@given(
    st.lists(st.integers(0, 8000), min_size=1, max_size=40),
    st.lists(st.integers(1, 4), max_size=4),
)
def test_every_shard_has_its_place(sizes: list[int], threads: list[int]) -> None:
    makers = [NumberMaker(n, work_bytes=size * MIB) for n, size in enumerate(sizes)]
    workers = {f"tcp://{n}": number for n, number in enumerate(threads)}
    found = bundles(makers, workers)
    assert [make for bundle in found for make in bundle.makers] == makers
    assert all(bundle.makers for bundle in found)
    if not workers:
        assert [bundle.worker for bundle in found] == [None] * len(makers)
        return
    assert len(found) <= 4 * sum(threads)
    # Neighbours are together, and all threads have the same number of bundles, give or take one.
    order = list(workers)
    places = [order.index(str(bundle.worker)) for bundle in found]
    assert places == sorted(places)
    for place, count in Counter(places).items():
        per_thread = len(found) / sum(threads)
        assert abs(count - per_thread * threads[place]) < 1
    # No bundle is larger than it must be.
    fair = sum(max(size * MIB, 1) for size in sizes) / sum(threads)
    for bundle in found:
        assert sum(make.work_bytes for make in bundle.makers) <= fair + max(sizes) * MIB


def test_small_data_is_one_bundle_for_each_thread() -> None:
    makers = [NumberMaker(n, work_bytes=MIB) for n in range(100)]
    sizes = [len(bundle.makers) for bundle in bundles(makers, {"a": 2, "b": 1})]
    assert sizes == [33, 34, 33]


def test_much_data_is_several_bundles_for_each_thread() -> None:
    makers = [NumberMaker(n, work_bytes=2**31) for n in range(100)]
    found = bundles(makers, {"a": 1, "b": 1})
    assert [bundle.worker for bundle in found] == ["a"] * 4 + ["b"] * 4
    assert {len(bundle.makers) for bundle in found} <= {12, 13}
