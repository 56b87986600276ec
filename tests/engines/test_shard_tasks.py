"""States of shards that count the requests they have answered."""

from __future__ import annotations

import pickle
import sys
import threading
from typing import Any

import pytest

from engine_shards import FixedShard, NumberShard
from gnn2logic.engines.local import LocalCrew
from gnn2logic.engines.shard_tasks import PlacedShard, StaleShardError, add_up, answer_of


def placed_on(number: int, shard: NumberShard) -> PlacedShard:
    return PlacedShard(number, LocalCrew([shard], n_threads=1, cells=1))


def copied(placed: PlacedShard) -> PlacedShard:
    found = pickle.loads(pickle.dumps(placed))
    assert isinstance(found, PlacedShard)
    return found


def test_a_request_is_answered_once() -> None:
    placed = placed_on(4, NumberShard(5))
    placed.ask(0, NumberShard.step, 10)
    for number in (0, 2, -1):
        with pytest.raises(StaleShardError) as caught:
            placed.ask(number, NumberShard.step, 10)
        assert caught.value.shard == 4
    assert answer_of(placed, 0)[0] == 51
    placed.ask(1, NumberShard.step, 10)
    assert answer_of(placed, 1)[0] == 511


def test_an_answer_is_given_to_its_own_request_alone() -> None:
    placed = placed_on(0, NumberShard(5))
    for number in (-1, 0, 1):
        with pytest.raises(StaleShardError):
            placed.answer(number) if number >= 0 else placed.answer(-2)
    placed.ask(0, NumberShard.step, 10)
    with pytest.raises(StaleShardError):
        placed.answer(1)


def test_a_copy_goes_its_own_way() -> None:
    placed = placed_on(0, NumberShard(5))
    placed.ask(0, NumberShard.step, 10)
    copy = copied(placed)
    placed.ask(1, NumberShard.step, 2)
    assert copy.answer(0)[0] == 51
    copy.ask(1, NumberShard.step, 3)
    assert (placed.answer(1)[0], copy.answer(1)[0]) == (103, 154)


def test_a_shard_that_failed_is_of_no_use() -> None:
    placed = placed_on(0, NumberShard(5))
    with pytest.raises(TimeoutError):
        placed.ask(0, NumberShard.late)
    for shard in (placed, copied(placed)):
        for number in (-1, 0, 1):
            with pytest.raises(StaleShardError):
                shard.ask(number, NumberShard.step, 10)


class _Waiting(NumberShard):
    """Stops half way through a change."""

    half, goes_on = threading.Event(), threading.Event()

    def change(self) -> None:
        self.number += 1
        self.half.set()
        assert self.goes_on.wait(10)
        self.number += 1


def test_a_copy_taken_during_a_change_is_refused() -> None:
    placed = placed_on(3, _Waiting(5))
    thread = threading.Thread(target=placed.ask, args=(0, _Waiting.change))
    thread.start()
    assert _Waiting.half.wait(10)
    copy = copied(placed)
    _Waiting.goes_on.set()
    thread.join()
    for number in (0, 1):
        with pytest.raises(StaleShardError):
            copy.ask(number, NumberShard.step, 10)
    placed.ask(1, NumberShard.step, 10)
    assert placed.answer(1)[0] == 71


def test_what_cannot_be_copied_is_refused_later() -> None:
    copy = copied(placed_on(3, FixedShard(5)))
    with pytest.raises(StaleShardError) as caught:
        copy.ask(0, NumberShard.step, 10)
    assert caught.value.shard == 3


def test_the_size_counts_arrays() -> None:
    placed = placed_on(0, NumberShard(5))
    assert 8_000 < sys.getsizeof(placed) < 10_000
    assert 8_000 < sys.getsizeof(copied(placed)) < 10_000


def test_errors_of_stale_shards_travel() -> None:
    error: Any = pickle.loads(pickle.dumps(StaleShardError(7)))
    assert error.shard == 7


def test_sums_keep_the_order_of_the_shards() -> None:
    assert add_up((1, ["a"]), (2, ["b"]), (3, ["c"])) == (6, ["abc"])
    assert add_up(None, None) is None
    assert add_up("only") == "only"
