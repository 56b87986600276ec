"""What shards keep, and how they are asked."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from gnn2logic import GraphBatch, Modality, random_graphs
from gnn2logic.exceptions import UnknownPredicateError
from gnn2logic.learning.coding import CodedFeatures, ValueSpace
from gnn2logic.learning.shard.rows import RowTable
from gnn2logic.learning.shard.shards import Request, Shards, in_turn
from gnn2logic.learning.shard.shelves import DiskShelf, MemoryShelf, Shelf
from gnn2logic.learning.shard.sources import MemorySource, ShardRows
from gnn2logic.learning.shard.state import ShardMaker, ShardState


@pytest.mark.parametrize("on_disk", [False, True])
def test_groups_of_equal_rows(on_disk: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    shelf: Shelf = DiskShelf(tmp_path) if on_disk else MemoryShelf()
    table = RowTable(shelf, "x", (0, 50), code_type=np.uint8, node_type=np.int32)
    blocks = [rng.integers(2, size=(3, 50)).astype(np.uint8) for _ in range(3)]
    for block in blocks:
        table.propose(block)
        table.keep([range(3)], [2, 2, 2])
        table.refine()
        # The hottest loop reads along features: anything else reads a byte of each cache line.
        assert table.codes.flags.c_contiguous
    whole = np.concatenate(blocks)
    assert table.codes.shape == (9, len(np.unique(whole, axis=1).T))
    assert np.array_equal(table.codes[:, table.of_row], whole)


class RecordingCrew:
    """Shards that answer with the number of the request."""

    cells = 5

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def ask(self, request: Any, *arguments: Any, **named: Any) -> Any:
        self.asked.append((request, *arguments))
        return len(self.asked)

    def close(self) -> None:
        raise AssertionError("who placed the shards closes them")


def test_what_shards_are_told_goes_along_with_the_next_question() -> None:
    crew = RecordingCrew()
    shards = Shards(crew)
    first: Any = shards.ask(ShardState.column_differences, [(1, 2)])
    assert first == 1
    shards.tell(ShardState.keep_columns, [3])
    shards.tell(ShardState.finish_layer)
    assert crew.asked == [(ShardState.column_differences, [(1, 2)])]
    second: Any = shards.ask(ShardState.bounds, layer=0)
    third: Any = shards.ask(ShardState.bounds, 1)
    assert (second, third) == (2, 3)
    together = [
        Request(ShardState.keep_columns, ([3],), {}),
        Request(ShardState.finish_layer, (), {}),
        Request(ShardState.bounds, (), {"layer": 0}),
    ]
    assert crew.asked[1:] == [(in_turn, together), (ShardState.bounds, 1)]
    assert shards.cells == 5


def some_shard(scratch: Path | None, n_graphs: int = 20) -> tuple[GraphBatch, ShardState]:
    batch = random_graphs(n_graphs, sizes=6, random_state=0)
    weights = np.ones(n_graphs, dtype=np.int64)
    rows = ShardRows(0, 0, "graph", weights * 0, weights, 2, 1, guided=False)
    return batch, ShardMaker(MemorySource(batch), rows)(scratch)


def test_several_requests_are_done_in_turn() -> None:
    batch, state = some_shard(None)
    prints = state.propose_inputs(["U0", "U1"])
    assert len(prints) == 3
    requests = [
        Request(ShardState.keep_columns, ([0, 2],), {}),
        Request(ShardState.propose_inputs, (), {"names": ["U1"]}),
        Request(ShardState.column_differences, ([(0, 2), (1, 3), (0, 1)],), {}),
    ]
    found = in_turn(state, requests)
    assert (found == 0).tolist() == [True, True, False]
    assert np.array_equal(state.columns.block([1])[:, 0], batch.column("U1"))


def test_graphs_on_disk_are_let_go_after_every_request(tmp_path: Path) -> None:
    space = ValueSpace.of_counts(6)
    blocks = [CodedFeatures(Modality.from_set("A"), space)]
    for scratch, kept in ((None, True), (tmp_path, False)):
        _, state = some_shard(scratch)
        state.propose_inputs(["U0"])
        state.keep_columns([0, 1])
        assert (state._batch is not None) == kept
        counts = state.value_counts("nodes", [0, 1], blocks)
        assert counts[0].sum() == 2 * 20 * 6
        assert (state._counts is not None, bool(state._known_sizes)) == (kept, kept)
        with pytest.raises(UnknownPredicateError):
            state.propose_inputs(["nothing"])
        assert (state._batch is not None) == kept


def test_requests_are_sent_by_name_not_as_code() -> None:
    """Workers have the same version, and run their own code."""
    requests = [method for name, method in vars(ShardState).items() if not name.startswith("_")]
    assert len(requests) > 20
    for request in (*requests, in_turn):
        sent = cloudpickle.dumps(request)
        assert len(sent) < 120
        assert pickle.loads(sent) is request
