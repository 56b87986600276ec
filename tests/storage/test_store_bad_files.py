"""Nothing in a store is trusted: bad files give a `StoreError`, and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnn2logic import GraphBatch, ShardStore, open_shards, random_graphs, write_shards
from gnn2logic.exceptions import ActivationError, StoreError
from gnn2logic.storage.documents import _digest

START = 48


def typed_batch() -> GraphBatch:
    own = random_graphs(
        6, sizes=5, directed=True, names=["P", "Q"], relations=["r", "s"], random_state=0
    )
    heavy = own.adjacency + own.relations["r"]
    return GraphBatch(
        own.predicates, heavy, ptr=own.ptr, names=own.names, relations=dict(own.relations)
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "store"
    store = write_shards(folder, typed_batch(), list("ababab"), shard_nodes=15)
    assert store.n_shards == 2
    for shard in store.shards:
        layers = [np.arange(shard.n_nodes * 2, dtype=float).reshape(-1, 2)]
        store.add_activations(shard.number, layers, [0, 1, 0], classes=[0, 1], source="me")
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "store"))


def read_all(folder: Path) -> ShardStore:
    """Look at all there is; what comes out is valid, whatever was on disk."""
    store = open_shards(folder)
    assert store.n_nodes > 0
    for shard in store.shards:
        batch = shard.load()
        assert shard.load() == batch
        again = GraphBatch(
            batch.predicates,
            batch.adjacency.toarray(),
            ptr=batch.ptr,
            names=batch.names,
            relations={name: matrix.toarray() for name, matrix in batch.relations.items()},
        )
        assert again == batch
        if store.label_level is not None:
            assert shard.y is not None
            assert len(shard.y) == (batch.n_graphs if store.label_level == "graph" else len(again))
    for shard in store.shards[: store.n_activation_layers and None]:
        for layer in range(store.n_activation_layers):
            assert np.isfinite(shard.activations(layer)).all()
        assert shard.teacher_labels is None or len(shard.teacher_labels)
    return store


def sign(folder: Path, name: str = "shard-000000.bin") -> None:
    """Make the checksums right again, as somebody would who means harm."""
    path = folder / name
    data = bytearray(path.read_bytes())
    digest = hashlib.blake2b(data[START:], digest_size=32)
    data[START - 32 : START] = digest.digest()
    path.write_bytes(data)
    if "/" not in name:
        change_manifest(
            folder,
            lambda plain: plain["shards"][int(name[6:12])].update(checksum=digest.hexdigest()),
        )


def change_manifest(folder: Path, change: Callable[[Any], Any]) -> None:
    path = folder / "manifest.json"
    plain = json.loads(path.read_text())
    del plain["checksum"]
    change(plain)
    plain["checksum"] = _digest(plain)
    path.write_text(json.dumps(plain))


def change_header(
    folder: Path, change: Callable[[Any], Any], name: str = "shard-000000.bin"
) -> None:
    """Change the header of a file whose arrays stay where they are."""
    path = folder / name
    data = path.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    first = START + length + -(START + length) % 64
    plain = json.loads(data[START : START + length])
    change(plain)
    text = json.dumps(plain, separators=(",", ":")).encode()
    start = data[:8] + len(text).to_bytes(8, "little") + bytes(32) + text
    path.write_bytes(start + bytes(-len(start) % 64) + data[first:])
    sign(folder, name)


def place_of(folder: Path, array: int, name: str = "shard-000000.bin") -> int:
    """Where an array of the file begins: boundaries, predicates, rows, targets, counts, ..."""
    data = (folder / name).read_bytes()
    length = int.from_bytes(data[8:16], "little")
    header = json.loads(data[START : START + length])
    place = START + length + -(START + length) % 64
    n = header["n_nodes"]
    sizes = [8 * (header["n_graphs"] + 1), header["n_predicates"] * ((n + 7) // 8)]
    for matrix in (header["adjacency"], *header["relations"]):
        sizes += [4 * (n + 1), 4 * matrix["entries"]]
        sizes += [4 * matrix["entries"]] if matrix["counts"] else []
    for size in sizes[:array]:
        place += size + -size % 64
    return place


def put(folder: Path, array: int, value: int, *, entry: int = 0, width: int = 4) -> None:
    path = folder / "shard-000000.bin"
    data = bytearray(path.read_bytes())
    at = place_of(folder, array) + entry * width
    data[at : at + width] = value.to_bytes(width, "little", signed=value < 0)
    path.write_bytes(data)
    sign(folder)


def test_the_good_store_is_good(good: Path) -> None:
    store = read_all(good)
    assert GraphBatch.concat(store) == typed_batch()
    assert store.teacher_classes == [0, 1]
    assert store.n_activation_layers == 1


# Damage ---------------------------------------------------------------------------------------

FILES = ("manifest.json", "shard-000000.bin", "shard-000001.bin", "activations/shard-000000.bin")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(name=st.sampled_from(FILES), place=st.floats(0, 1), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found(folder: Path, name: str, place: float, bit: int) -> None:
    path = folder / name
    before = path.read_bytes()
    data = bytearray(before)
    data[int(place * (len(data) - 1))] ^= 1 << bit
    path.write_bytes(data)
    # White space around the parts of the manifest carries nothing.
    is_harmless = False
    if name == "manifest.json":
        with contextlib.suppress(ValueError):
            is_harmless = json.loads(data) == json.loads(before)
    try:
        with contextlib.nullcontext() if is_harmless else pytest.raises(StoreError):
            read_all(folder)
    finally:
        path.write_bytes(before)
    read_all(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("length", [0, 7, 40, 200, -3])
def test_truncated_files(folder: Path, name: str, length: int) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(StoreError, match=path.name):
        read_all(folder)


@pytest.mark.parametrize("name", FILES)
def test_missing_files(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(StoreError):
        read_all(folder)


def test_files_that_are_something_else(folder: Path, tmp_path: Path) -> None:
    path = folder / "shard-000000.bin"
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError, match="not a regular file"):
        read_all(folder)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(StoreError, match="not a regular file"):
        read_all(folder)
    for place in (tmp_path / "nowhere", tmp_path, Path(__file__)):
        with pytest.raises(StoreError, match="must be a folder that write_shards wrote"):
            open_shards(place)


def test_shards_in_the_wrong_place(folder: Path) -> None:
    first, second = folder / "shard-000000.bin", folder / "shard-000001.bin"
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
    with pytest.raises(StoreError, match="not the file that the manifest speaks of"):
        read_all(folder)
    change_manifest(folder, lambda plain: plain["shards"].reverse())
    with pytest.raises(StoreError, match="not what the manifest says"):
        read_all(folder)


def test_a_change_after_the_first_look_is_seen(folder: Path) -> None:
    store = read_all(folder)
    path = folder / "shard-000000.bin"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match="checksum"):
        store.shard(0).load()


# Harm: the checksums are right ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "entry", "value", "width", "match"),
    [
        (0, 1, 0, 8, "does not hold graphs"),
        (0, 0, 1, 8, "must start at 0"),
        (0, 3, 2**62, 8, "does not hold graphs"),
        (0, 1, -5, 8, "does not hold graphs"),
        (0, 1, 7, 8, "must not join two graphs"),
        (1, 1, 255, 1, "nodes that are not there"),
        (2, 0, 1, 4, "overlap"),
        (2, 3, 10**9, 4, "overlap"),
        (2, 15, 10**9, 4, "overlap"),
        (2, 3, -7, 4, "overlap"),
        (3, 0, 15, 4, "node that is not there"),
        (3, 0, -1, 4, "node that is not there"),
        (3, 0, 14, 4, "not sorted|two graphs"),
        (4, 0, 0, 4, "from 1 to"),
        (4, 0, -3, 4, "from 1 to"),
        (4, 0, 2**31 - 1, 4, "too many edges"),
        (6, 0, 2**31 - 1, 4, "node that is not there"),
    ],
)
def test_structures_that_are_no_graphs(
    folder: Path, array: int, entry: int, value: int, width: int, match: str
) -> None:
    put(folder, array, value, entry=entry, width=width)
    with pytest.raises(StoreError, match=match):
        read_all(folder)


def test_relations_are_parts_of_the_edges(folder: Path) -> None:
    batch = open_shards(folder).shard(0).load()
    own = batch.relations["r"]
    row = int(np.flatnonzero(np.diff(own.indptr))[0])
    last = int(own.indptr[row + 1]) - 1
    first = int(batch.ptr[batch.graph_index[row]])
    free = np.flatnonzero(batch.adjacency.toarray()[row, first : first + 5] == 0) + first
    wanted = free[free > (own.indices[last - 1] if last > own.indptr[row] else -1)]
    # The last edge of the first row of r leads to a node that the whole does not lead to.
    put(folder, 6, int(wanted[-1]), entry=last)
    with pytest.raises(StoreError, match="must be a part of adjacency"):
        read_all(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"is_symmetric": True},
        {"n_edges": 3},
        {"n_nodes": 14},
        {"n_nodes": 2**62},
        {"n_nodes": 2**70},
        {"n_nodes": -1},
        {"n_graphs": 2},
        {"n_predicates": 3},
        {"index": "<i8"},
        {"index": "|O"},
        {"relations": []},
        {"labels": None},
        {"labels": {"level": "node", "classes": ["a", "b"]}},
        {"labels": {"level": "graph", "classes": ["a"]}},
        {"labels": {"level": "graph", "classes": []}},
        {"labels": {"level": "graph", "classes": ["a", 1]}},
        {"labels": {"level": "graph", "classes": [1, 2]}},
        {"labels": {"level": "graph", "classes": ["a", "a"]}},
        {"labels": {"level": "graph", "classes": [2**64, 1]}},
        {"number": 1},
        {"version": 2},
        {"more": 1},
        {"adjacency": {"entries": 2**62, "counts": None}},
    ],
)
def test_headers_that_lie(folder: Path, change: dict[str, Any]) -> None:
    change_header(folder, lambda plain: plain.update(change))
    with pytest.raises(StoreError):
        read_all(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain["shards"].pop(),
        lambda plain: plain["shards"].append(plain["shards"][0]),
        lambda plain: plain["shards"].clear(),
        lambda plain: plain["shards"][0].update(n_graphs=4),
        lambda plain: plain["shards"][0].update(n_nodes=0),
        lambda plain: plain["shards"][0].update(is_symmetric=True),
        lambda plain: plain["shards"][0].update(path="../elsewhere"),
        lambda plain: plain["shards"][0].update(checksum="../../etc/passwd"),
        lambda plain: plain.update(version=99),
        lambda plain: plain.update(version="1"),
        lambda plain: plain.update(format="gnn2logic.idt"),
        lambda plain: plain.update(extra=1),
        lambda plain: plain["plan"].update(encoder={}),
        lambda plain: plain["plan"]["encoder"]["columns"].pop(),
        lambda plain: plain["plan"]["encoder"]["relations"].append("t"),
        lambda plain: plain["plan"]["encoder"]["columns"][0].update(name=""),
        lambda plain: plain["plan"].update(labels=None),
        lambda plain: plain["plan"].update(labels={"level": "graph", "kind": "int"}),
        lambda plain: plain["plan"].update(shard_nodes=0),
    ],
)
def test_manifests_that_lie(folder: Path, change: Callable[[Any], Any]) -> None:
    change_manifest(folder, change)
    if json.loads((folder / "manifest.json").read_text())["shards"][1:] == []:
        # One shard less is a smaller store, and a good one.
        try:
            assert open_shards(folder).n_shards == 1
            return
        except StoreError:
            pass
    with pytest.raises(StoreError):
        read_all(folder)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"a": 1, "a": 2}',
        b"\xff",
        b"{",
        b"NaN",
        b'{"a": 1e999}',
    ],
)
def test_manifests_that_are_no_documents(folder: Path, text: bytes) -> None:
    (folder / "manifest.json").write_bytes(text)
    with pytest.raises(StoreError, match="manifest.json"):
        open_shards(folder)
    (folder / "manifest.json").rename(folder / "unfinished.json")
    with pytest.raises(StoreError, match="unfinished.json"):
        write_shards(folder, typed_batch(), list("ababab"), shard_nodes=15)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    name=st.sampled_from(FILES[1:]),
    places=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_signed_changes_give_graphs_or_our_error(
    good: Path, folder: Path, name: str, places: list[tuple[float, int]]
) -> None:
    path = folder / name
    data = bytearray((good / name).read_bytes())
    for place, value in places:
        data[START + int(place * (len(data) - START - 1))] = value
    path.write_bytes(data)
    sign(folder, name)
    try:
        with contextlib.suppress(StoreError):
            read_all(folder)
    finally:
        for own in ("manifest.json", name):
            (folder / own).write_bytes((good / own).read_bytes())


# Activations ----------------------------------------------------------------------------------


def test_activations_of_another_shard(folder: Path) -> None:
    (folder / FILES[3]).write_bytes((folder / "activations/shard-000001.bin").read_bytes())
    with pytest.raises(StoreError, match="made for another shard"):
        open_shards(folder).shard(0).activations(0)


def test_activations_that_are_not_finite(folder: Path) -> None:
    path = folder / FILES[3]
    data = bytearray(path.read_bytes())
    place = data.rindex(np.float32(29).tobytes())
    data[place : place + 4] = np.float32(np.nan).tobytes()
    path.write_bytes(data)
    sign(folder, FILES[3])
    with pytest.raises(StoreError, match="not finite"):
        open_shards(folder).shard(0).activations(0)


@pytest.mark.parametrize(
    "change",
    [{"widths": []}, {"widths": [3]}, {"widths": [2**40]}, {"labels": None}, {"source": 1}],
)
def test_activation_headers_that_lie(folder: Path, change: dict[str, Any]) -> None:
    change_header(folder, lambda plain: plain.update(change), FILES[3])
    with pytest.raises(StoreError):
        open_shards(folder).shard(0).activations(0)


def test_activations_are_complete_or_not_there(folder: Path) -> None:
    store = open_shards(folder)
    (folder / FILES[3]).unlink()
    with pytest.raises(StoreError, match="Got 1 of 2"):
        _ = store.n_activation_layers
    with pytest.raises(ActivationError, match="capture them first"):
        store.shard(0).activations(0)
    store.add_activations(0, [np.zeros((15, 2))], [0, 0, 0], classes=[0, 1], source="other")
    with pytest.raises(StoreError, match="one teacher"):
        _ = store.n_activation_layers
    store.remove_activations()
    assert store.n_activation_layers == 0
    assert store.teacher_labels is None
    read_all(folder)
