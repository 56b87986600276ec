"""Models do not depend on where the shards are: in memory, in files, on threads, in a store."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gnn2logic as gl
from gnn2logic.engines import LocalEngine
from gnn2logic.exceptions import ActivationError, LabelError, ParameterError
from gnn2logic.graphs import GraphBatch
from gnn2logic.learning import IDTClassifier, IDTNodeClassifier
from gnn2logic.learning.features import first_of_equals
from gnn2logic.learning.shard.shelves import DiskShelf, MemoryShelf, Shelf
from gnn2logic.storage import ShardStore, write_shards
from learned_models import TRUTH, graphs_to_learn_from, learned


def representations(graphs: GraphBatch, seed: int = 0) -> list[npt.NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    near = graphs.adjacency @ graphs.predicates.astype(float)
    mixed = np.concatenate([near, near @ rng.normal(size=(2, 18))], axis=1)
    return [np.tanh(mixed).astype(np.float32), np.tanh(near @ near.T[:, :20]).astype(np.float32)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ShardStore:
    graphs = graphs_to_learn_from()
    folder = tmp_path_factory.mktemp("stores") / "store"
    found = write_shards(folder, graphs, TRUTH.evaluate(graphs), shard_nodes=150)
    layers = representations(graphs)
    for shard in found.shards:
        own = slice(shard.first_node, shard.first_node + shard.n_nodes)
        found.add_activations(shard.number, [layer[own] for layer in layers])
    return found


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_shards=st.integers(1, 7),
    engine=st.sampled_from(["threads", "files", "files and threads"]),
    changes=st.sampled_from(
        [
            {},
            {"layer_depth": 3},
            {"random_thresholds": True, "layer_depth": 3},
            {"max_samples": 0.6},
            {"leaf_sets": "all", "projection": 3},
            {"class_weight": "balanced", "min_samples_leaf": 4},
        ]
    ),
    guided=st.booleans(),
)
def test_every_engine_gives_the_same_model(
    seed: int,
    n_shards: int,
    engine: str,
    changes: dict[str, Any],
    guided: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("models")
    graphs = graphs_to_learn_from(seed=seed)
    y = TRUTH.evaluate(graphs) ^ (np.random.default_rng(seed).random(graphs.n_graphs) < 0.1)
    activations = representations(graphs, seed) if guided else None
    settings = {"width": 3, "random_state": seed, **changes}
    if not guided:
        settings["n_layers"] = 2
    plain = IDTClassifier(algorithm="layers", **settings).fit(graphs, y, activations=activations)
    own = LocalEngine(
        2 if "threads" in engine else 1,
        max_memory="1 GiB" if "files" in engine else None,
        scratch=folder,
    )
    other = IDTClassifier(algorithm="layers", **settings, engine=own, n_shards=n_shards)
    other.fit(graphs, y, activations=activations)
    assert learned(other, folder) == learned(plain, folder)
    assert [path.name for path in folder.iterdir()] == ["model.json"], "scratch files are left"


def test_a_store_gives_the_same_model_as_its_graphs(store: ShardStore, tmp_path: Path) -> None:
    graphs = graphs_to_learn_from()
    y = TRUTH.evaluate(graphs)
    plain = IDTClassifier(2, algorithm="layers", width=4, random_state=0).fit(graphs, y)
    assert learned(
        IDTClassifier(2, algorithm="layers", width=4, random_state=0).fit(store), tmp_path
    ) == learned(plain, tmp_path)
    guided = IDTClassifier(algorithm="layers", width=4, random_state=0)
    from_arrays = learned(guided.fit(graphs, y, activations=representations(graphs)), tmp_path)
    from_files = learned(guided.fit(store, activations="stored"), tmp_path)
    assert from_files == from_arrays
    assert guided.score(store) == guided.score(graphs, y)


def test_nodes_of_a_store(tmp_path: Path) -> None:
    graphs = graphs_to_learn_from()
    y = gl.parse("A(A U1 > 1) > 1").evaluate(graphs, level="node")
    found = write_shards(tmp_path / "nodes", graphs, y, level="node", shard_nodes=200)
    mask = np.random.default_rng(0).random(len(y)) < 0.7
    model = IDTNodeClassifier(1, algorithm="layers", width=4, random_state=0)
    plain = learned(model.fit(graphs, y, mask=mask), tmp_path)
    assert learned(model.fit(found, mask=mask), tmp_path) == plain


def test_what_a_store_lacks_is_said(store: ShardStore, tmp_path: Path) -> None:
    bare = write_shards(tmp_path / "bare", graphs_to_learn_from(10))
    with pytest.raises(LabelError, match="y must be given for a store without labels of graphs"):
        IDTClassifier().fit(bare)
    with pytest.raises(LabelError, match="labels of nodes"):
        IDTNodeClassifier().fit(store)
    with pytest.raises(ActivationError, match=r"capture.*puts them there"):
        IDTClassifier().fit(bare, np.arange(10) % 2, activations="stored")
    with pytest.raises(ActivationError, match="'stored' or None"):
        IDTClassifier().fit(store, activations=[np.zeros((3, 3))])
    with pytest.raises(ParameterError, match="write_shards"):
        IDTClassifier(algorithm="layers", encoder=gl.PredicateEncoder()).fit(store)
    with pytest.raises(ParameterError, match="smaller shards"):
        IDTClassifier(algorithm="layers", engine=LocalEngine(max_memory="1 MiB")).fit(store)
    with pytest.raises(LabelError, match="y must hold one label for each of the 120 graphs"):
        IDTClassifier().fit(graphs_to_learn_from())


def test_an_error_in_a_shard_leaves_no_files(tmp_path: Path) -> None:
    graphs = graphs_to_learn_from(30)
    found = write_shards(tmp_path / "store", graphs, np.arange(30) % 2, shard_nodes=50)
    os.unlink(sorted((tmp_path / "store").glob("shard-*"))[-1])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    engine = LocalEngine(2, max_memory="1 GiB", scratch=scratch)
    with pytest.raises(gl.exceptions.StoreError):
        IDTClassifier(algorithm="layers", engine=engine).fit(found)
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("on_disk", [False, True])
def test_shelves(on_disk: bool, tmp_path: Path) -> None:
    shelf: Shelf = DiskShelf(tmp_path / "shelf") if on_disk else MemoryShelf()
    large = np.arange(50_000).reshape(5, -1)
    shelf["a.large"], shelf["a.none"], shelf["b"] = large, np.empty((0, 3)), np.ones(2)
    first = shelf["a.large"]
    assert np.array_equal(first, large)
    assert shelf["a.none"].shape == (0, 3)
    shelf["a.large"] = -large
    assert np.array_equal(shelf["a.large"], -large)
    assert np.array_equal(first, large), "what was handed out stays"
    shelf.clear("a.")
    assert "a.large" not in shelf
    assert "a.none" not in shelf
    assert "b" in shelf
    if on_disk:
        assert not list((tmp_path / "shelf").iterdir())


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12),
    known=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=4, unique=True),
)
def test_first_of_equals_though_keys_collide(
    values: list[tuple[int, int]], known: list[tuple[int, int]]
) -> None:
    """The key of a thing is the first number; whether things are equal, both decide."""
    things = dict(enumerate([*known, *values]))
    keys: dict[int, list[int]] = {}
    for thing in range(len(known)):
        keys.setdefault(things[thing][0], []).append(thing)
    new = {thing: things[thing][0] for thing in range(len(known), len(things))}

    def differ(pairs: Any) -> npt.NDArray[np.int64]:
        assert all(things[a][0] == things[b][0] for a, b in pairs)
        return np.array([things[a] != things[b] for a, b in pairs], dtype=np.int64)

    found = first_of_equals(new, keys, differ)
    seen = set(known)
    expected = []
    for thing in new:
        if things[thing] not in seen:
            seen.add(things[thing])
            expected.append(thing)
    assert found == expected


@pytest.mark.parametrize("n_jobs", [np.int64(2), np.uint8(1), np.int32(-1), 2, -1, None])
def test_numbers_of_numpy_are_numbers(n_jobs: Any, tmp_path: Path) -> None:
    graphs = graphs_to_learn_from(30)
    number: Any = np.int64
    store = write_shards(tmp_path / "store", graphs, np.arange(30) % 2, shard_nodes=number(50))
    options: dict[str, Any] = {"n_layers": np.int8(1), "width": 2, "random_state": np.uint32(0)}
    found = learned(
        IDTClassifier(algorithm="layers", **options, n_jobs=n_jobs).fit(store), tmp_path
    )
    assert found == learned(
        IDTClassifier(1, algorithm="layers", width=2, random_state=0).fit(store), tmp_path
    )
    engine = LocalEngine(number(2), max_memory=number(2**30))
    assert found == learned(
        IDTClassifier(algorithm="layers", **options, engine=engine).fit(store), tmp_path
    )


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, True, np.True_, "2"])
def test_numbers_of_jobs_that_make_no_sense(n_jobs: Any, tmp_path: Path) -> None:
    graphs = graphs_to_learn_from(30)
    y = np.arange(30) % 2
    store = write_shards(tmp_path / "store", graphs, y, shard_nodes=50)
    for data in ((graphs, y), (store,)):
        with pytest.raises(gl.exceptions.ParameterError, match="n_jobs must be a whole number"):
            IDTClassifier(1, algorithm="layers", width=2, n_jobs=n_jobs).fit(*data)


@pytest.mark.parametrize("order", ["C", "F"])
def test_files_keep_arrays_as_they_are(order: Literal["C", "F"], tmp_path: Path) -> None:
    shelf = DiskShelf(tmp_path)
    for dtype in (bool, np.uint8, np.int64, np.float32, np.uint64):
        array = np.asarray(np.arange(200_000).reshape(40, -1) % 251, dtype=dtype, order=order)
        for number, given_array in enumerate((array, array[:, ::2], array[3:])):
            shelf[str(number)] = given_array
            kept = shelf[str(number)]
            assert kept.dtype == dtype
            assert np.array_equal(kept, given_array)
        shelf["whole"] = array
        assert shelf["whole"].flags.f_contiguous == (order == "F")
        # Compiled loops want arrays that can be written, though nobody does.
        assert shelf["whole"].flags.writeable
        assert type(shelf["whole"]) is np.ndarray


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_scratch_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = DiskShelf(tmp_path)

    def full(**_: object) -> tuple[int, str]:
        return os.open("/dev/full", os.O_WRONLY), str(tmp_path / "x")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(OSError, match=r"No space left.*LocalEngine\(scratch=") as caught:
        shelf["a"] = np.arange(50_000)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path)
