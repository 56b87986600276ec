"""Graphs of nauty's geng are those of our own enumeration."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from gnn2logic.logic.equivalence import geng
from gnn2logic.logic.equivalence.orbits import Representatives, bit_matrix
from gnn2logic.logic.equivalence.result import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.space import GraphSpace

SIMPLE = GraphSpace("simple", (None,), ())
NAMES = ("geng", "nauty-geng")
needs_geng = pytest.mark.skipif(
    not any(map(shutil.which, NAMES)), reason="needs nauty's geng, of Debian's package nauty"
)


def as_networkx(number: int, n_nodes: int) -> nx.Graph:
    slots = SIMPLE.slots(n_nodes)
    taken = bit_matrix(np.array([number]), len(slots))[0]
    graph = nx.empty_graph(n_nodes)
    graph.add_edges_from(
        (slot.source, slot.target) for slot, bit in zip(slots, taken, strict=True) if bit
    )
    return graph


@needs_geng
def test_both_ways_give_the_same_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geng, "_FEWEST_NODES", 2)
    for n_nodes in (2, 3, 4, 5):
        theirs = geng.graphs_of_geng(SIMPLE, n_nodes, Deadline(None))
        assert theirs is not None
        ours = Representatives(SIMPLE, Deadline(None))._smallest_of_orbits((n_nodes,))
        left = [as_networkx(number, n_nodes) for number in ours.tolist()]
        for number in theirs.tolist():
            graph = as_networkx(number, n_nodes)
            same = [other for other in left if nx.is_isomorphic(graph, other)]
            assert len(same) == 1
            left = [other for other in left if other is not same[0]]
        assert not left


@needs_geng
def test_partitions_do_not_extend_graphs_of_geng(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geng, "_FEWEST_NODES", 3)
    asked_first = Representatives(SIMPLE, Deadline(None))
    assert len(asked_first((4,))) == 11
    monkeypatch.setattr(geng, "_FEWEST_NODES", 99)
    alone = Representatives(SIMPLE, Deadline(None))
    np.testing.assert_array_equal(asked_first((4, 1)), alone((4, 1)))


@needs_geng
def test_eight_nodes_come_from_geng() -> None:
    representatives = Representatives(SIMPLE, Deadline(None))
    assert len(representatives((8,))) == 12346
    assert not any(sum(groups) == 8 for groups in representatives._known)


@pytest.mark.parametrize(
    "script",
    ["exit 3", "echo 'not a graph'", "printf 'Gxxxxx\\n'", "yes 'G?????' | head -12346", "true"],
)
def test_another_program_of_that_name_is_of_no_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    pretend(tmp_path, monkeypatch, script)
    assert geng.graphs_of_geng(SIMPLE, 8, Deadline(None)) is None


def test_time_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, monkeypatch, "exec sleep 30")
    with pytest.raises(OutOfTimeError):
        geng.graphs_of_geng(SIMPLE, 8, Deadline(0.2))


@pytest.mark.parametrize(
    "space", [GraphSpace("directed", (None,), ()), GraphSpace("simple", ("r", None), ())]
)
def test_other_graphs_are_our_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, space: GraphSpace
) -> None:
    pretend(tmp_path, monkeypatch, f"touch {tmp_path}/asked")
    assert geng.graphs_of_geng(space, 8, Deadline(None)) is None
    assert not (tmp_path / "asked").exists()


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called geng in front of all others."""
    program = folder / "geng"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
