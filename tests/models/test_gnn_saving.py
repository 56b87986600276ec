from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

from gnn2logic._digests import digest_of_document
from gnn2logic.exceptions import ModelFileError
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
    assert str(caught.value).startswith(f"Cannot load '{path}.safetensors'. ")
    return str(caught.value)


def contents(path: Path) -> tuple[dict[str, torch.Tensor], str]:
    """Return the weights and the settings of a file."""
    file = Path(f"{path}.safetensors")
    with safetensors.safe_open(file, "pt") as opened:
        return safetensors.torch.load(file.read_bytes()), opened.metadata()["gnn2logic.gnn"]


def put_together(path: Path, tensors: dict[str, torch.Tensor], text: str) -> None:
    data = safetensors.torch.save(tensors, {"gnn2logic.gnn": text})
    Path(f"{path}.safetensors").write_bytes(data)


def rewrite(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the settings, and sign them as somebody would who wants to deceive."""
    tensors, text = contents(path)
    document = json.loads(text)
    change(document)
    document["digest"] = digest_of_document(document)
    put_together(path, tensors, json.dumps(document))


def rewrite_weights(path: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the weights, and sign them as somebody would who wants to deceive."""
    tensors, text = contents(path)
    change(tensors)
    put_together(path, tensors, text)
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        digest.update(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        digest.update(value.numpy().tobytes())
    rewrite(path, lambda own: own.update(weights_sha256=digest.hexdigest()))


def split_as_before(path: Path) -> None:
    """Make two files of one, as version 1 of the format has them."""
    tensors, text = contents(path)
    weights = safetensors.torch.save(tensors)
    Path(f"{path}.safetensors").write_bytes(weights)
    document = json.loads(text)
    document |= {"version": 1, "weights_sha256": hashlib.sha256(weights).hexdigest()}
    document["digest"] = digest_of_document(document)
    Path(f"{path}.json").write_text(json.dumps(document))


# Good files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".json", ".safetensors"])
def test_round_trip(trained: GNNClassifier, tmp_path: Path, ending: str) -> None:
    trained.save(tmp_path / f"my.net{ending}")
    assert sorted(os.listdir(tmp_path)) == ["my.net.safetensors"]
    again = load_gnn(tmp_path / f"my.net{ending}")
    assert type(again) is GNNClassifier
    assert again.get_params() == trained.get_params()
    assert again.history_ == trained.history_
    assert again.best_epoch_ == trained.best_epoch_
    assert again.feature_names_in_.tolist() == ["U0", "U1"]
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


def test_a_failed_save_leaves_the_old_file(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved.parent
    before = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    graphs, y = labelled(n_graphs=10)
    other = quick(max_epochs=1).fit(graphs, y)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/net.safetensors'"):
        other.save(saved)
    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_kill_leaves_a_network_that_can_be_read(saved: Path, call: int) -> None:
    # Killed before and after every step that changes what is in the folder.
    code = f"""
import os, signal
from gnn2logic.models import load_gnn
network = load_gnn({str(saved)!r})
network.classes_ += 1
calls = []
replace = os.replace
def killing(*arguments):
    for step in (lambda: None, lambda: replace(*arguments)):
        step()
        calls.append(step)
        if len(calls) == {call}:
            os.kill(os.getpid(), signal.SIGKILL)
os.replace = killing
network.save({str(saved)!r})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == (-9 if call < 3 else 0), done.stderr
    assert load_gnn(saved).classes_.tolist() == ([0, 1] if call == 1 else [1, 2])


def test_two_files_as_earlier_versions_wrote_them(saved: Path, trained: GNNClassifier) -> None:
    split_as_before(saved)
    for ending in ("", ".json", ".safetensors"):
        again = load_gnn(f"{saved}{ending}")
        assert again.get_params() == trained.get_params()
    config = Path(f"{saved}.json")
    config.write_text(config.read_text().replace('"version": 1', '"version": 2'))
    assert "Got version 2" in refused(saved)
    config.unlink()
    with pytest.raises(FileNotFoundError, match="net.json"):
        load_gnn(saved)
    trained.save(saved)
    config.write_text("something else")
    load_gnn(saved)


def test_weights_beside_the_settings_of_another_network(saved: Path) -> None:
    split_as_before(saved)
    weights = Path(f"{saved}.safetensors")
    tensors = safetensors.torch.load(weights.read_bytes())
    tensors["head.0.bias"] += 1
    weights.write_bytes(safetensors.torch.save(tensors))
    assert "not those that the settings were saved with" in refused(saved)


# Bad files ------------------------------------------------------------------------------------


def test_missing_files(saved: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_gnn(saved.parent / "other")
    Path(f"{saved}.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="safetensors"):
        load_gnn(saved)


@pytest.mark.parametrize("text", ["", "{}", "[]", "\x00", "[" * 100_000])
def test_settings_that_are_no_networks(saved: Path, text: str) -> None:
    tensors, _ = contents(saved)
    put_together(saved, tensors, text)
    assert "saved network" in refused(saved)


def test_cut_and_flipped_files(saved: Path) -> None:
    path = Path(f"{saved}.safetensors")
    good = path.read_bytes()
    for stop in range(0, len(good) - 1, max(len(good) // 20, 1)):
        path.write_bytes(good[:stop])
        refused(saved)
    start = 8 + int.from_bytes(good[:8], "little")
    for place in range(start, len(good), max(len(good) // 20, 1)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert "not those that the settings were saved with" in refused(saved)


def test_flipped_headers(saved: Path) -> None:
    path = Path(f"{saved}.safetensors")
    good = path.read_bytes()
    header = good[8 : 8 + int.from_bytes(good[:8], "little")]
    for place in range(8, 8 + len(header), 5):
        for bit in (1, 2, 4, 16):
            flipped = good[:place] + bytes([good[place] ^ bit]) + good[place + 1 :]
            path.write_bytes(flipped)
            # The last of 17 digits may be another one of the same number.
            if not same_content(flipped[8 : 8 + len(header)], header):
                with pytest.raises((ModelFileError, FileNotFoundError)):
                    load_gnn(saved)
    path.write_bytes(good)
    load_gnn(saved)


def same_content(first: bytes, second: bytes) -> bool:
    try:
        documents = [json.loads(one) for one in (first, second)]
        texts = [own.pop("__metadata__")["gnn2logic.gnn"] for own in documents]
        return documents[0] == documents[1] and bool(json.loads(texts[0]) == json.loads(texts[1]))
    except (ValueError, KeyError):
        return False


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"pooling": "sum"', '"pooling": "mean"'),
        ('"typical_size": ', '"typical_size": 1'),
        ('"best_epoch": ', '"best_epoch": -'),
        (' "digest":', ' "extra": 1,\n "digest":'),
        (' "version": 2,', ' "version": 2,\n "digest": "",'),
    ],
)
def test_settings_edited_by_hand(saved: Path, old: str, new: str) -> None:
    tensors, text = contents(saved)
    assert old in text
    put_together(saved, tensors, text.replace(old, new))
    refused(saved)


def test_edited_classes_are_noticed(saved: Path) -> None:
    tensors, text = contents(saved)
    document = json.loads(text)
    document["classes"] = [1, 0]
    put_together(saved, tensors, json.dumps(document))
    assert "Its digest does not fit its content" in refused(saved)
    del document["digest"]
    put_together(saved, tensors, json.dumps(document))
    assert "Its digest does not fit its content" in refused(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 3}, "Got version 3; a newer gnn2logic may read it"),
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


def test_files_that_are_no_safetensors(saved: Path) -> None:
    for data in (b"", b"x" * 100, pickle.dumps([1]), (2**62).to_bytes(8, "little") + b"{}"):
        Path(f"{saved}.safetensors").write_bytes(data)
        assert "not a valid safetensors file" in refused(saved)


def test_devices_and_huge_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "net.safetensors").symlink_to("/dev/zero")
    assert "must be a regular file" in refused(tmp_path / "net")
    with (tmp_path / "huge.safetensors").open("wb") as file:
        file.truncate(100 * 10**9)
    assert "It has 100,000,000,000" in refused(tmp_path / "huge")
