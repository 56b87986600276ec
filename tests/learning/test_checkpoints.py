"""A fit that was killed goes on after its last layer, to the same model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnn2logic._digests import digest_of_document
from gnn2logic.exceptions import CheckpointError, ParameterError
from gnn2logic.learning import IDTClassifier, checkpoints
from gnn2logic.learning.layers import InnerLearner
from gnn2logic.storage import open_shards, write_shards
from learned_models import TRUTH, graphs_to_learn_from, learned


class Killed(BaseException):
    pass


def stop_before_layer(monkeypatch: pytest.MonkeyPatch, number: int) -> list[int]:
    """Let a fit break off before a layer; return the numbers of those that it learned."""
    original = InnerLearner.learn_layer
    seen: list[int] = []

    def learn_layer(self: InnerLearner, *arguments: Any) -> None:
        if len(self.layers) == number:
            raise Killed
        seen.append(len(self.layers))
        original(self, *arguments)

    monkeypatch.setattr(InnerLearner, "learn_layer", learn_layer)
    return seen


SETTINGS: list[dict[str, Any]] = [
    {},
    {"max_samples": 0.5, "random_thresholds": True, "layer_depth": 3},
    {"modalities": [["I"], ["A"], ["I", "A", "1-A"]], "leaf_sets": "merge"},
]


@pytest.mark.parametrize("changes", SETTINGS)
@pytest.mark.parametrize("at", [1, 2])
def test_a_fit_goes_on_where_it_broke_off(
    changes: dict[str, Any], at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = graphs_to_learn_from()
    y = TRUTH.evaluate(graphs)
    file = tmp_path / "fit.checkpoint"
    options: dict[str, Any] = {"n_layers": 3, "width": 3, "random_state": 5, **changes}
    plain = learned(IDTClassifier(algorithm="layers", **options).fit(graphs, y), tmp_path)
    with monkeypatch.context() as patched:
        stop_before_layer(patched, at)
        with pytest.raises(Killed):
            IDTClassifier(algorithm="layers", **options, checkpoint=file).fit(graphs, y)
    assert file.exists()
    seen = stop_before_layer(monkeypatch, 99)
    again = IDTClassifier(algorithm="layers", **options, checkpoint=file, n_shards=4).fit(graphs, y)
    assert seen == list(range(at, 3))
    assert learned(again, tmp_path) == plain
    assert not file.exists()


def test_a_drawn_seed_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graphs_to_learn_from()
    y = TRUTH.evaluate(graphs)
    file = tmp_path / "fit.checkpoint"
    model = IDTClassifier(2, algorithm="layers", width=3, checkpoint=file)
    with monkeypatch.context() as patched:
        stop_before_layer(patched, 1)
        with pytest.raises(Killed):
            model.fit(graphs, y)
    seed = json.loads(file.read_bytes())["seed"]
    model.fit(graphs, y)
    seeded = IDTClassifier(2, algorithm="layers", width=3, random_state=seed).fit(graphs, y)
    assert learned(model, tmp_path) == learned(seeded, tmp_path)


def test_killed_by_the_system_in_the_middle_of_a_layer(tmp_path: Path) -> None:
    """kill -9, in another process, on a store."""
    graphs = graphs_to_learn_from()
    store = write_shards(tmp_path / "store", graphs, TRUTH.evaluate(graphs), shard_nodes=200)
    script = """
        import os, signal, sys
        import gnn2logic as gl
        from gnn2logic.learning.shard.state import ShardState
        from gnn2logic.learning import IDTClassifier
        if sys.argv[2] == "kill":
            original = ShardState.leaf_sums
            count = 0
            def leaf_sums(self, *arguments):
                global count
                count += 1
                if count == 1 + len(store):
                    os.kill(os.getpid(), signal.SIGKILL)
                return original(self, *arguments)
            ShardState.leaf_sums = leaf_sums
        folder = sys.argv[1]
        store = gl.open_shards(folder + "/store")
        model = IDTClassifier(
            2, algorithm="layers", width=3, random_state=1, checkpoint=folder + "/checkpoint"
        )
        model.fit(store).save(folder + "/model.json")
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path)]
    killed = subprocess.run([*command, "kill"], check=False)
    assert killed.returncode == -signal.SIGKILL
    saved = json.loads((tmp_path / "checkpoint").read_bytes())
    assert len(saved["layers"]) == 1
    subprocess.run([*command, "go on"], check=True)
    found = json.loads((tmp_path / "model.json").read_bytes())
    plain = learned(
        IDTClassifier(2, algorithm="layers", width=3, random_state=1).fit(open_shards(store.path)),
        tmp_path,
    )
    assert {key: found[key] for key in plain} == plain


@pytest.mark.parametrize(
    ("options", "labels", "count"),
    [({"width": 4}, 0, 120), ({"random_state": 6}, 0, 120), ({}, 1, 120), ({}, 0, 119)],
)
def test_the_checkpoint_of_another_fit_is_refused(
    options: dict[str, Any],
    labels: int,
    count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graphs = graphs_to_learn_from()
    y = TRUTH.evaluate(graphs)
    file = tmp_path / "fit.checkpoint"
    common: dict[str, Any] = {"n_layers": 2, "width": 3, "random_state": 5, "checkpoint": file}
    with monkeypatch.context() as patched:
        stop_before_layer(patched, 1)
        with pytest.raises(Killed):
            IDTClassifier(algorithm="layers", **common).fit(graphs, y)
    other = y.copy()
    other[:labels] ^= True
    with pytest.raises(CheckpointError, match="other data or settings"):
        IDTClassifier(algorithm="layers", **{**common, **options}).fit(
            graphs[:count], other[:count]
        )
    assert file.exists()


def checkpoint_text(folder: Path) -> str:
    graphs = graphs_to_learn_from(30)
    model = IDTClassifier(1, algorithm="layers", width=2, random_state=0).fit(
        graphs, np.arange(30) % 2
    )
    file = checkpoints.Checkpoint(folder / "x", "fit")
    file.write(checkpoints.Progressed(7, model.model_.columns, model.model_.layers))
    found = file.read()
    assert found is not None
    assert found.columns == model.model_.columns
    assert found.seed == 7
    return (folder / "x").read_text(encoding="utf-8")


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_damaged_checkpoints_give_our_own_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("checkpoints")
    whole = checkpoint_text(folder)
    text = bytearray(whole, "utf-8")
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != text[place]))
    damaged = bytes(text[: data.draw(st.sampled_from([len(text), place]))])
    # One kind of white space instead of another is no damage.
    assume(damaged.split() != whole.encode().split())
    (folder / "x").write_bytes(damaged)
    with pytest.raises(CheckpointError, match="Delete it to begin anew"):
        checkpoints.Checkpoint(folder / "x", "fit").read()


def test_references_of_a_checkpoint_are_audited(tmp_path: Path) -> None:
    document = json.loads(checkpoint_text(tmp_path))
    document["columns"][-1]["tree"] = 17
    document["digest"] = digest_of_document(document)
    (tmp_path / "x").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CheckpointError, match="a tree that is not there"):
        checkpoints.Checkpoint(tmp_path / "x", "fit").read()


def test_a_checkpoint_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    graphs = graphs_to_learn_from(30)
    model = IDTClassifier(
        1, algorithm="layers", width=2, checkpoint=os.path.join(tmp_path, "missing", "x")
    )
    with pytest.raises(FileNotFoundError):
        model.fit(graphs, np.arange(30) % 2)


# Files made on purpose -----------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [5, True, ["x"], b"x", 1.5])
def test_a_checkpoint_must_be_a_path(wrong: Any) -> None:
    graphs = graphs_to_learn_from(30)
    with pytest.raises(ParameterError, match="checkpoint must be the path of a file, or None. Got"):
        IDTClassifier(1, algorithm="layers", width=2, checkpoint=wrong).fit(
            graphs, np.arange(30) % 2
        )


def test_a_checkpoint_must_be_a_regular_file(tmp_path: Path) -> None:
    graphs = graphs_to_learn_from(30)
    pipe, device, huge = tmp_path / "pipe", tmp_path / "device", tmp_path / "huge"
    os.mkfifo(pipe)
    device.symlink_to(os.devnull)
    with huge.open("wb") as file:
        file.truncate(100 * 10**9)
    for wrong in (pipe, device, huge):
        with pytest.raises(CheckpointError, match="is no checkpoint. It must"):
            IDTClassifier(1, algorithm="layers", width=2, checkpoint=wrong).fit(
                graphs, np.arange(30) % 2
            )
    assert sorted(tmp_path.iterdir()) == [device, huge, pipe]
    link = tmp_path / "link"
    link.symlink_to("real")
    IDTClassifier(1, algorithm="layers", width=2, checkpoint=link).fit(graphs, np.arange(30) % 2)
    assert link.is_symlink()
    assert not link.exists()


def begun(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[IDTClassifier, Any, Any]:
    """Return a model, its data and the checkpoint after its first layer."""
    graphs = graphs_to_learn_from(60)
    y = TRUTH.evaluate(graphs)
    file = folder / "fit.checkpoint"
    model = IDTClassifier(2, algorithm="layers", width=2, random_state=5, checkpoint=file)
    with monkeypatch.context() as patched:
        stop_before_layer(patched, 1)
        with pytest.raises(Killed):
            model.fit(graphs, y)
    return model, (graphs, y), json.loads(file.read_bytes())


def put(file: Path, document: Any) -> None:
    document["digest"] = digest_of_document(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def first_split(document: Any) -> Any:
    return next(node for node in document["layers"][0][0] if "column" in node)


def other_modality(document: Any) -> None:
    first_split(document)["set"] = "1-I-A"


def unknown_relation(document: Any) -> None:
    first_split(document).update(set="A", direction="in", relation="r")


def other_seed(document: Any) -> None:
    document["seed"] = 6


def negative_seed(document: Any) -> None:
    document["seed"] = -1


def more_layers(document: Any) -> None:
    document["layers"] += [[[{"weight": 1.0}]]] * 3


def other_predicate(document: Any) -> None:
    document["columns"][1] = {"predicate": "other"}


def all_leaves(document: Any) -> None:
    tree = document["layers"][0][document["columns"][-1]["tree"]]
    n_leaves = sum("column" not in node for node in tree)
    document["columns"][-1]["leaves"] = list(range(n_leaves))


def huge_threshold(document: Any) -> None:
    first_split(document)["more_than"] = 10**30


@pytest.mark.parametrize(
    "change",
    [
        other_modality,
        unknown_relation,
        other_seed,
        negative_seed,
        more_layers,
        other_predicate,
        all_leaves,
        huge_threshold,
    ],
)
def test_checkpoints_made_on_purpose(
    change: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data, document = begun(tmp_path, monkeypatch)
    change(document)
    put(tmp_path / "fit.checkpoint", document)
    with pytest.raises(CheckpointError, match="no sound checkpoint: .* Delete it to begin anew"):
        model.fit(*data)
    assert (tmp_path / "fit.checkpoint").exists()


def test_random_changes_of_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever signs a changed checkpoint gets another model or our error, and nothing else."""
    model, data, document = begun(tmp_path, monkeypatch)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        changed = json.loads(json.dumps(document))
        tree = changed["layers"][0][rng.integers(2)]
        node = tree[rng.integers(len(tree))]
        column = changed["columns"][rng.integers(len(changed["columns"]))]
        where = [changed, node, column][rng.integers(3)]
        key = list(where)[rng.integers(len(where))] if where else "leaves"
        values = [0, 1, -1, 2, 10**20, "1/2", "x", None, [], [0], [1], True, 0.5, {}, "A", "1-I"]
        where[key] = values[rng.integers(len(values))]
        put(tmp_path / "fit.checkpoint", changed)
        try:
            model.fit(*data)
        except CheckpointError:
            refused += 1
    assert refused > 30
