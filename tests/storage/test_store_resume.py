"""A write that was interrupted goes on, and other data is never mixed in."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

import gnn2logic as gl
from gnn2logic import GraphBatch, open_shards, random_graphs, write_shards
from gnn2logic._files import write_atomically
from gnn2logic.exceptions import Gnn2LogicError, StoreError
from gnn2logic.storage import shard_writer

BATCH = random_graphs(40, sizes=[1 + number % 7 for number in range(40)], random_state=0)
LABELS = [number % 3 for number in range(40)]
NODES = 20
# Of the same sizes; the second begins with the same graphs.
OTHER = random_graphs(40, sizes=BATCH.sizes, random_state=1)
LATE = GraphBatch.concat([BATCH[:12], OTHER[12:]])


class PowerCutError(Exception):
    """Stands for whatever may happen."""


def broken_after(count: int, graphs: Any = BATCH) -> Iterator[GraphBatch]:
    for number, graph in enumerate(graphs):
        if number == count:
            raise PowerCutError
        yield graph


def files(folder: Path) -> dict[str, tuple[int, int]]:
    found = folder.rglob("shard-*.bin")
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in found}


def interrupted(folder: Path, count: int, **options: Any) -> None:
    with pytest.raises(PowerCutError):
        write_shards(folder, broken_after(count), shard_nodes=NODES, **options)


@pytest.mark.parametrize("count", [0, 1, 6, 17, 39, 40])
@pytest.mark.parametrize("labelled", [False, True])
def test_an_interrupted_write_goes_on(tmp_path: Path, count: int, labelled: bool) -> None:
    y = LABELS if labelled else None
    expected = write_shards(tmp_path / "whole", BATCH, y, shard_nodes=NODES)
    folder = tmp_path / "cut"
    if count < 40:
        interrupted(folder, count, y=y)
        with pytest.raises(StoreError, match="not finished|no manifest"):
            open_shards(folder)
    before = files(folder)
    store = write_shards(folder, BATCH, y, shard_nodes=NODES)
    assert store.digest == expected.digest
    assert GraphBatch.concat(store) == BATCH
    after = files(folder)
    assert {name: after[name] for name in before} == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([*after, "manifest.json"])
    if count == 17:
        assert len(before) > 1


@pytest.mark.parametrize("count", [6, 17, 25])
def test_an_interrupted_write_of_labelled_nodes_goes_on(tmp_path: Path, count: int) -> None:
    labels = [number % 5 for number in range(BATCH.n_nodes)]
    interrupted(tmp_path, count, y=labels, level="node")
    store = write_shards(tmp_path, BATCH, labels, level="node", shard_nodes=NODES)
    assert store.y is not None
    assert store.y.tolist() == labels
    assert GraphBatch.concat(store) == BATCH


@pytest.mark.parametrize("pieces", [1, 3, 7])
def test_batches_may_reach_over_the_break(tmp_path: Path, pieces: int) -> None:
    from torch_geometric.data import Batch

    interrupted(tmp_path, 25)
    graphs = gl.to_pyg(BATCH)
    step = -(-40 // pieces)
    batches = [Batch.from_data_list(graphs[start : start + step]) for start in range(0, 40, step)]
    store = write_shards(tmp_path, batches, shard_nodes=NODES)
    assert GraphBatch.concat(store) == BATCH


def test_a_finished_store_is_not_written_again(tmp_path: Path) -> None:
    store = write_shards(tmp_path, BATCH, LABELS, shard_nodes=NODES)
    before = files(tmp_path)
    again = write_shards(tmp_path, iter(BATCH), LABELS, shard_nodes=NODES)
    assert again.digest == store.digest
    assert files(tmp_path) == before


@pytest.mark.parametrize("finished", [False, True])
@pytest.mark.parametrize(
    ("graphs", "y", "options", "why"),
    [
        (BATCH, [1] * 40, {}, "the labels in its shard 0 are different"),
        (BATCH, [*LABELS[:20], *LABELS[:20]], {}, "the labels in its shard 4 are different"),
        (OTHER, LABELS, {}, "the graphs in its shard 0 are different"),
        (LATE, LABELS, {}, "the graphs in its shard 2 are different"),
        (BATCH, None, {}, "its labels are of another kind"),
        (BATCH, [str(label) for label in LABELS], {}, "its labels are of another kind"),
        (BATCH[::-1], LABELS[::-1], {}, "the labels in its shard 0 are different"),
        (random_graphs(40, sizes=9, random_state=0), LABELS, {}, "nodes, not 2 with 18"),
        (BATCH[:3], LABELS[:3], {}, "its shard 0 has 5 graphs with 15 nodes, not 3 with 6"),
        (BATCH[:5], LABELS[:5], {}, "more graphs"),
        (BATCH.with_predicates(BATCH.predicates[:, :1], ["U0"]), LABELS, {}, "encoder or features"),
        (BATCH, LABELS, {"shard_nodes": 21}, "another shard_nodes, encoder"),
        (BATCH, LABELS, {"encoder": gl.PredicateEncoder(n_thresholds=2)}, "another shard_nodes"),
        (BATCH, LABELS, {"encoder": gl.PredicateEncoder(max_categories=5).fit(BATCH)}, "encoder"),
    ],
)
def test_other_data_is_refused(
    tmp_path: Path, finished: bool, graphs: Any, y: Any, options: dict[str, Any], why: str
) -> None:
    if finished:
        write_shards(tmp_path, BATCH, LABELS, shard_nodes=NODES)
    else:
        interrupted(tmp_path, 30, y=LABELS)
    before = files(tmp_path)
    with pytest.raises(StoreError, match=f"{why}.*overwrite=True"):
        write_shards(tmp_path, graphs, y, **{"shard_nodes": NODES} | options)
    assert files(tmp_path) == before
    store = write_shards(tmp_path, graphs, y, **{"shard_nodes": NODES, "overwrite": True} | options)
    assert GraphBatch.concat(store) == graphs
    assert (store.y is None) == (y is None)


def test_the_encoder_must_be_the_one_that_the_graphs_give(tmp_path: Path) -> None:
    # By the thresholds of the first numbers all is as it was; by their own it is not.
    graphs = [path_with([0.1, 0.2, 0.8, 0.9])] * 3
    write_shards(tmp_path, graphs)
    write_shards(tmp_path, graphs)
    with pytest.raises(StoreError, match="another shard_nodes, encoder or features"):
        write_shards(tmp_path, [path_with([0.1, 0.2, 0.9, 1.0])] * 3)


def path_with(values: list[float]) -> Any:
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, dict(enumerate(values)), "x")
    return graph


def test_a_finished_store_does_not_grow(tmp_path: Path) -> None:
    write_shards(tmp_path, BATCH, shard_nodes=NODES)
    with pytest.raises(StoreError, match="its shard 8 has 4 graphs with 14 nodes, not 7 with 20"):
        write_shards(tmp_path, [BATCH, BATCH], shard_nodes=NODES)
    assert GraphBatch.concat(open_shards(tmp_path)) == BATCH


def test_a_damaged_shard_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    interrupted(folder, 39)
    expected = write_shards(tmp_path / "other", BATCH, shard_nodes=NODES)
    bad = folder / "shard-000001.bin"
    data = bytearray(bad.read_bytes())
    data[-1] ^= 1
    bad.write_bytes(data)
    with subprocess.Popen([sys.executable, "-c", "pass"]) as gone:
        pass
    (folder / f".gnn2logic-{platform.node()}-{gone.pid}-x.part").write_bytes(b"half")
    store = write_shards(folder, BATCH, shard_nodes=NODES)
    assert store.digest == expected.digest
    assert not list(folder.glob(".*"))


def test_overwriting_waits_for_graphs_that_can_be_read(tmp_path: Path) -> None:
    store = write_shards(tmp_path, BATCH, shard_nodes=NODES)
    store.add_activations(0, [[[1.0]] * store.shard(0).n_nodes])
    for bad in ("text", [], [BATCH[:1], "text"]):
        with pytest.raises(Gnn2LogicError):
            write_shards(tmp_path, bad, overwrite=True)
        assert GraphBatch.concat(open_shards(tmp_path)) == BATCH
    for _ in range(3):
        replaced = write_shards(tmp_path, BATCH[:7], overwrite=True)
        assert replaced.n_shards == 1
        assert replaced.n_activation_layers == 0
        assert replaced.digest == write_shards(tmp_path / "fresh", BATCH[:7]).digest
        shutil.rmtree(tmp_path / "fresh")
        assert len(files(tmp_path)) == 1
        assert len(list(tmp_path.iterdir())) == 2
        replaced.add_activations(0, [[[2.0]] * replaced.n_nodes])
        assert open_shards(tmp_path).shard(0).activations(0).max() == 2


def test_shards_of_another_plan_are_written_again(tmp_path: Path) -> None:
    folder, other = tmp_path / "folder", tmp_path / "other"
    interrupted(folder, 30)
    interrupted(other, 30, y=LABELS)
    strange = other / "shard-000000.bin"
    (folder / "shard-000000.bin").write_bytes(strange.read_bytes())
    store = write_shards(folder, BATCH, shard_nodes=NODES)
    assert store.y is None
    assert GraphBatch.concat(store) == BATCH


@pytest.mark.parametrize("name", ["notes.txt", "sub"])
def test_a_folder_of_other_things_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "sub":
        path.mkdir()
    else:
        path.write_text("mine")
    for overwrite in (False, True):
        with pytest.raises(StoreError, match="holds other files"):
            write_shards(tmp_path, BATCH, overwrite=overwrite)
    assert [own.name for own in tmp_path.iterdir()] == [name]
    with pytest.raises(FileExistsError):
        write_shards(path if path.is_file() else __file__, BATCH)


def test_a_kill_in_the_middle(tmp_path: Path) -> None:
    code = f"""
import os, signal, gnn2logic as gl
batch = gl.random_graphs(40, sizes=[1 + number % 7 for number in range(40)], random_state=0)
def graphs():
    for number, graph in enumerate(batch):
        if number == 30:
            os.kill(os.getpid(), signal.SIGKILL)
        yield graph
gl.write_shards({str(tmp_path)!r}, graphs(), shard_nodes={NODES})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == -9
    before = files(tmp_path)
    assert before
    store = write_shards(tmp_path, BATCH, shard_nodes=NODES)
    assert GraphBatch.concat(store) == BATCH
    assert {name: files(tmp_path)[name] for name in before} == before


@contextlib.contextmanager
def without_rights() -> Iterator[None]:
    """Be somebody else for a while: root may write anywhere."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="needs the rights of POSIX files")
def test_a_folder_that_cannot_be_written() -> None:
    # Others may not look into the folders of pytest.
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        folder = Path(base) / "store"
        store = write_shards(folder, BATCH, shard_nodes=NODES)
        folder.chmod(0o555)
        try:
            with without_rights():
                assert GraphBatch.concat(open_shards(folder)) == BATCH
                with pytest.raises(PermissionError):
                    write_shards(folder, BATCH[:3], overwrite=True)
                with pytest.raises(PermissionError):
                    store.add_activations(0, [[[1.0]] * store.shard(0).n_nodes])
            assert GraphBatch.concat(open_shards(folder)) == BATCH
        finally:
            folder.chmod(0o700)


def test_a_full_disk_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def full(path: Path, data: Any) -> None:
        calls.append(path)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_atomically(path, data)

    monkeypatch.setattr(shard_writer, "write_atomically", full)
    with pytest.raises(OSError, match="No space left.*complete stay.*same call again") as caught:
        write_shards(tmp_path, BATCH, shard_nodes=NODES)
    assert caught.value.errno == errno.ENOSPC
    assert GraphBatch.concat(write_shards(tmp_path, BATCH, shard_nodes=NODES)) == BATCH


# Replacing a store ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [6, 17, 39])
def test_an_interrupted_replacement_leaves_the_old_store(tmp_path: Path, count: int) -> None:
    write_shards(tmp_path, OTHER, shard_nodes=NODES)
    interrupted(tmp_path, count, overwrite=True)
    assert GraphBatch.concat(open_shards(tmp_path)) == OTHER
    assert GraphBatch.concat(write_shards(tmp_path, OTHER, shard_nodes=NODES)) == OTHER
    with pytest.raises(StoreError, match="the graphs in its shard 0 are different"):
        write_shards(tmp_path, BATCH, shard_nodes=NODES)
    before = files(tmp_path / "generation-1")
    store = write_shards(tmp_path, BATCH, shard_nodes=NODES, overwrite=True)
    assert GraphBatch.concat(store) == BATCH
    after = files(tmp_path)
    assert {name: after[name] for name in before} == before, "what is complete is kept"


@pytest.mark.parametrize("finished", [False, True])
def test_the_rest_of_another_replacement_is_not_used(tmp_path: Path, finished: bool) -> None:
    if finished:
        write_shards(tmp_path, OTHER, shard_nodes=NODES)
    interrupted(tmp_path, 39, overwrite=True)
    data = tmp_path / "generation-1" if finished else tmp_path
    n_shards = len(list(data.glob("shard-*.bin")))
    with pytest.raises(PowerCutError):
        write_shards(tmp_path, broken_after(20, LATE), shard_nodes=NODES, overwrite=True)
    assert 2 < len(list(data.glob("shard-*.bin"))) < n_shards
    store = write_shards(tmp_path, LATE, shard_nodes=NODES, overwrite=finished)
    assert GraphBatch.concat(store) == LATE


def test_a_damaged_store_can_be_replaced(tmp_path: Path) -> None:
    write_shards(tmp_path, OTHER, shard_nodes=NODES)
    write_shards(tmp_path, OTHER, shard_nodes=NODES, overwrite=True)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(StoreError, match="Cannot read"):
        write_shards(tmp_path, BATCH, shard_nodes=NODES)
    store = write_shards(tmp_path, BATCH, shard_nodes=NODES, overwrite=True)
    assert GraphBatch.concat(store) == BATCH
    interrupted(tmp_path, 20, overwrite=True)
    next(tmp_path.glob("generation-*/unfinished.json")).write_text("{}")
    store = write_shards(tmp_path, OTHER, shard_nodes=NODES, overwrite=True)
    assert GraphBatch.concat(store) == OTHER


def test_a_store_can_be_cut_anew_in_its_place(tmp_path: Path) -> None:
    store = write_shards(tmp_path, BATCH, shard_nodes=NODES)
    again = write_shards(tmp_path, store, shard_nodes=7, overwrite=True)
    assert again.n_shards > store.n_shards
    assert GraphBatch.concat(again) == BATCH


KILLED_AT_ANY_STEP = """
import os, signal, sys
from pathlib import Path
import gnn2logic as gl

folder = Path(sys.argv[1])
old, new = (gl.random_graphs(20, sizes=5, random_state=seed) for seed in (0, 1))
options = {"shard_nodes": 40, "overwrite": True}

def deadly(function, left):
    def step(*arguments, **more):
        if not left.pop():
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **more)
    return step

def killed_after(steps):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = [True] * 1000 + [False] + [True] * steps
    # Every change of the folder.
    for name in ("replace", "unlink", "mkdir", "rmdir"):
        setattr(os, name, deadly(getattr(os, name), left))
    gl.write_shards(folder, new, **options)
    os._exit(0)

gl.write_shards(folder, old, **options)
code, steps = None, 0
while code != 0:
    code = killed_after(steps)
    found = gl.GraphBatch.concat(gl.open_shards(folder))
    assert found in (old, new), steps
    print(code, "new" if found == new else "old")
    if steps % 2:
        # Sometimes from the beginning, sometimes behind what is there.
        gl.write_shards(folder, old, **options)
    steps += 1
store = gl.write_shards(folder, new, **options)
assert gl.GraphBatch.concat(store) == new
assert len(list(folder.rglob("*.bin"))) == store.n_shards
assert len(list(folder.iterdir())) == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be killed")
def test_kills_while_a_store_is_replaced(tmp_path: Path) -> None:
    """At whatever step: the old store or the new one, whole, and the same call goes on."""
    command = [sys.executable, "-c", KILLED_AT_ANY_STEP, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.splitlines()) == {"-9 old", "-9 new", "0 new"}
