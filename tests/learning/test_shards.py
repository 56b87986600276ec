"""What shards keep, and how they are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnn2logic.learning.shard.rows import RowTable
from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.shelves import DiskShelf, MemoryShelf, Shelf


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

    def ask(self, request: str, *arguments: Any) -> int:
        self.asked.append((request, *arguments))
        return len(self.asked)

    def close(self) -> None:
        raise AssertionError("who placed the shards closes them")


def test_what_shards_are_told_goes_along_with_the_next_question() -> None:
    crew = RecordingCrew()
    shards = Shards(crew)
    assert shards.ask("first", 1, 2) == 1
    shards.tell("do this", 3)
    shards.tell("and that")
    assert crew.asked == [("first", 1, 2)]
    assert shards.ask("second") == 2
    assert shards.ask("third") == 3
    together = [("do this", (3,)), ("and that", ()), ("second", ())]
    assert crew.asked[1:] == [("in_turn", together), ("third",)]
    assert shards.cells == 5
