from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

from gnn2logic.exceptions import ModelFileError
from gnn2logic.idt.documents import content_digest
from gnn2logic.models import GNNClassifier, GNNNodeClassifier, load_gnn
from gnn_samples import labelled, quick


@pytest.fixture(scope="module")
def trained() -> GNNClassifier:
    graphs, y = labelled(n_graphs=20)
    return quick(class_weight={0: 1.0, 1: 2.0}, conv="gin").fit(graphs, y)


@pytest.fixture
def saved(trained: GNNClassifier, tmp_path: Path) -> Path:
    trained.save(tmp_path / "net")
    return tmp_path / "net"


def refused(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        load_gnn(path)
    assert str(caught.value).startswith(f"Cannot load '{path}.json'. ")
    return str(caught.value)


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the JSON beside the weights, and sign it as somebody would who wants to deceive."""
    config = Path(f"{path}.json")
    document = json.loads(config.read_text())
    change(document)
    document["digest"] = content_digest(document)
    config.write_text(json.dumps(document))


def rewrite_weights(path: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the weights, and sign them as somebody would who wants to deceive."""
    tensors = safetensors.torch.load(Path(f"{path}.safetensors").read_bytes())
    change(tensors)
    sign(path, safetensors.torch.save(tensors))


def sign(path: Path, weights: bytes) -> None:
    Path(f"{path}.safetensors").write_bytes(weights)
    rewrite(path, lambda own: own.update(weights_sha256=hashlib.sha256(weights).hexdigest()))


# Good files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".json", ".safetensors"])
def test_round_trip(trained: GNNClassifier, tmp_path: Path, ending: str) -> None:
    trained.save(tmp_path / f"my.net{ending}")
    assert sorted(os.listdir(tmp_path)) == ["my.net.json", "my.net.safetensors"]
    again = load_gnn(tmp_path / f"my.net{ending}")
    assert type(again) is GNNClassifier
    assert again.get_params() == trained.get_params()
    assert again.history_ == trained.history_
    assert again.best_epoch_ == trained.best_epoch_
    assert again.feature_names_ == ("U0", "U1")
    assert again.classes_.tolist() == [0, 1]
    assert not again.module_.training
    fresh, _ = labelled(n_graphs=9, seed=3)
    assert (again.predict_proba(fresh) == trained.predict_proba(fresh)).all()


@pytest.mark.parametrize("conv", ["gcn", "sage", "gat"])
@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-5, 7]])
def test_round_trip_of_other_networks(conv: str, labels: list[Any], tmp_path: Path) -> None:
    graphs, y = labelled(n_graphs=20)
    gnn = quick(conv=conv, norm=None, pooling="sum", max_epochs=1)
    gnn.fit(graphs, np.array(labels)[y]).save(tmp_path / "net")
    again = load_gnn(tmp_path / "net")
    assert again.classes_.dtype == gnn.classes_.dtype
    assert (again.predict(graphs) == gnn.predict(graphs)).all()


def test_round_trip_of_nodes(tmp_path: Path) -> None:
    graphs, _ = labelled(n_graphs=5)
    gnn = GNNNodeClassifier(
        n_layers=1, hidden=4, max_epochs=1, random_state=np.random.default_rng(0)
    )
    gnn.fit(graphs, graphs.column("U0")).save(tmp_path / "net")
    again = load_gnn(tmp_path / "net")
    assert type(again) is GNNNodeClassifier
    assert (again.predict_proba(graphs) == gnn.predict_proba(graphs)).all()


def test_a_loaded_network_can_be_trained_again(saved: Path, trained: GNNClassifier) -> None:
    graphs, y = labelled(n_graphs=20)
    again = load_gnn(saved).fit(graphs, y)
    assert (again.predict_proba(graphs) == trained.predict_proba(graphs)).all()


def test_a_failed_save_leaves_the_old_files(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved.parent
    before = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    graphs, y = labelled(n_graphs=10)
    other = quick(max_epochs=1).fit(graphs, y)
    calls: list[int] = []

    def full_at_second(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_at_second)
    with pytest.raises(OSError, match="No space left"):
        other.save(saved)
    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before


# Bad files ------------------------------------------------------------------------------------


def test_missing_files(saved: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_gnn(saved.parent / "other")
    Path(f"{saved}.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="safetensors"):
        load_gnn(saved)


@pytest.mark.parametrize(
    "text",
    [b"", b"{}", b"[]", b"\x00", pickle.dumps({"format": "gnn2logic.gnn"}), b"[" * 100_000],
)
def test_files_that_are_no_networks(saved: Path, text: bytes) -> None:
    Path(f"{saved}.json").write_bytes(text)
    assert "saved network" in refused(saved)


def test_cut_and_flipped_files(saved: Path) -> None:
    for ending in (".json", ".safetensors"):
        file = Path(saved.name).with_suffix(ending)
        path = saved.parent / file
        good = path.read_bytes()
        for stop in range(0, len(good) - 1, max(len(good) // 10, 1)):
            path.write_bytes(good[:stop])
            refused(saved)
        path.write_bytes(good)
    weights = Path(f"{saved}.safetensors")
    good = weights.read_bytes()
    for place in range(0, len(good), max(len(good) // 10, 1)):
        weights.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert "not those that it was saved with" in refused(saved)


def test_flipped_configurations(saved: Path) -> None:
    config = Path(f"{saved}.json")
    good = config.read_bytes()
    for place in range(0, len(good), 7):
        for bit in (1, 2, 4, 16):
            flipped = good[:place] + bytes([good[place] ^ bit]) + good[place + 1 :]
            config.write_bytes(flipped)
            # The last of 17 digits may be another one of the same number.
            if not same_content(flipped, good):
                refused(saved)
    config.write_bytes(good)
    load_gnn(saved)


def same_content(first: bytes, second: bytes) -> bool:
    try:
        return bool(json.loads(first) == json.loads(second))
    except ValueError:
        return False


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"pooling": "sum"', '"pooling": "mean"'),
        ('"typical_size": ', '"typical_size": 1'),
        ('"best_epoch": ', '"best_epoch": -'),
        (' "digest":', ' "extra": 1,\n "digest":'),
        (' "version": 1,', ' "version": 1,\n "digest": "",'),
    ],
)
def test_configurations_edited_by_hand(saved: Path, old: str, new: str) -> None:
    config = Path(f"{saved}.json")
    text = config.read_text()
    assert old in text
    config.write_text(text.replace(old, new))
    refused(saved)


def test_edited_classes_are_noticed(saved: Path) -> None:
    config = Path(f"{saved}.json")
    document = json.loads(config.read_text())
    document["classes"] = [1, 0]
    config.write_text(json.dumps(document))
    assert "Its digest does not fit its content" in refused(saved)
    del document["digest"]
    config.write_text(json.dumps(document))
    assert "Its digest does not fit its content" in refused(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "Got version 2; a newer gnn2logic may read it"),
        ({"version": True}, "Got version True"),
        ({"extra": 1}, "unknown field `extra`"),
        ({"classes": [0, 1, 2]}, "one class for each of the 2 outputs. Got 3"),
        ({"classes": [0, 0]}, "must be distinct"),
        ({"classes": [0, "a"]}, "all of one kind"),
        ({"feature_names": ["a"]}, "each of the 2 features. Got 1"),
        ({"feature_names": ["a", "a"]}, "must be distinct"),
        ({"best_epoch": 99}, "best_epoch must be below"),
        ({"parameters": {"n_layer": 1}}, "unknown field `n_layer`"),
        ({"parameters": {"lr": "x"}}, "Expected"),
        ({"network": {}}, "missing required field"),
    ],
)
def test_changed_configurations(saved: Path, changes: dict[str, Any], message: str) -> None:
    rewrite(saved, lambda own: own.update(changes))
    assert message in refused(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conv": "gcn"}, "The weights 'blocks.0.conv"),
        ({"conv": "exec"}, "Invalid enum value 'exec'"),
        ({"hidden": 10**12}, "sizes of the network"),
        ({"hidden": 9}, "must have shape"),
        ({"hidden": 0}, "sizes of the network"),
        ({"n_layers": 10**9}, "sizes of the network"),
        ({"n_layers": 1}, "are not part of the network"),
        ({"n_layers": 3}, "are missing"),
        ({"n_features": 3}, "each of the 3 features"),
        ({"dropout": 1.5}, "sizes of the network"),
        ({"typical_size": 0.0}, "sizes of the network"),
        ({"norm": None}, "are not part of the network"),
    ],
)
def test_changed_networks(saved: Path, changes: dict[str, Any], message: str) -> None:
    rewrite(saved, lambda own: own["network"].update(changes))
    assert message in refused(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own.pop("head.0.bias"), "'head.0.bias' are missing"),
        (lambda own: own.update(more=torch.ones(1)), "'more' are not part"),
        (lambda own: own.update({"head.0.bias": torch.ones(3)}), "must have shape (8,)"),
        (lambda own: own.update({"head.0.bias": torch.ones(8).double()}), "torch.float64"),
        (lambda own: own.update({"head.0.bias": torch.full((8,), torch.nan)}), "must be finite"),
    ],
)
def test_changed_weights(
    saved: Path, change: Callable[[dict[str, torch.Tensor]], object], message: str
) -> None:
    rewrite_weights(saved, change)
    assert message in refused(saved)


def test_weights_that_are_no_safetensors(saved: Path) -> None:
    for data in (b"", b"x" * 100, pickle.dumps([1]), (2**62).to_bytes(8, "little") + b"{}"):
        sign(saved, data)
        assert "not a valid safetensors file" in refused(saved)
