"""Trained networks as files: weights in safetensors, everything else as JSON in its metadata.

One file, so that it is replaced in one step. The JSON names the digest of the weights, so the two
cannot be mixed up, and its own. Nothing in the file is trusted: the form of the JSON is checked by
a strict schema, and the weights must be exactly those of the network that it describes before
anything is built. Files of version 1 had the JSON beside them; they can still be read.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from gnn2logic._digests import digest_of_document, sha256_of
from gnn2logic._files import read_whole, write_atomically
from gnn2logic._json import strict_json
from gnn2logic._validation import check_names, is_unicode
from gnn2logic.exceptions import FeatureError, ModelFileError
from gnn2logic.idt.documents import check_class_labels
from gnn2logic.models.estimators import GNNClassifier, GNNNodeClassifier
from gnn2logic.models.network import GraphNetwork, NetworkShape
from gnn2logic.models.tensors import check_device
from gnn2logic.models.training import Epoch

__all__ = ["FORMAT_VERSION", "load_gnn", "save_gnn"]

FORMAT_VERSION = 2
_BESIDE = 1
_FORMAT = "gnn2logic.gnn"
_MOST_BYTES = 16 * 2**30
_WEIGHTS, _CONFIG = ".safetensors", ".json"


class _Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    pass


class _Network(_Strict, frozen=True):
    n_features: int
    n_classes: int
    conv: Literal["gcn", "gin", "sage", "gat"]
    hidden: int
    n_layers: int
    norm: Literal["graph"] | None
    pooling: Literal["mean", "sum"] | None
    dropout: float
    typical_size: float


class _Epoch(_Strict, frozen=True):
    training: float
    validation: float | None
    seconds: float


class _Parameters(_Strict, frozen=True):
    """Hyper-parameters; those that a file cannot hold, such as a random generator, are left out."""

    conv: str | msgspec.UnsetType = msgspec.UNSET
    n_layers: int | msgspec.UnsetType = msgspec.UNSET
    hidden: int | msgspec.UnsetType = msgspec.UNSET
    norm: str | msgspec.UnsetType | None = msgspec.UNSET
    pooling: str | msgspec.UnsetType = msgspec.UNSET
    dropout: float | msgspec.UnsetType = msgspec.UNSET
    lr: float | msgspec.UnsetType = msgspec.UNSET
    weight_decay: float | msgspec.UnsetType = msgspec.UNSET
    batch_size: int | msgspec.UnsetType = msgspec.UNSET
    max_epochs: int | msgspec.UnsetType = msgspec.UNSET
    patience: int | msgspec.UnsetType = msgspec.UNSET
    validation_fraction: float | msgspec.UnsetType = msgspec.UNSET
    # JSON objects have texts for keys, but classes may be numbers: pairs of class and weight.
    class_weight: str | list[tuple[bool | int | str, float]] | msgspec.UnsetType | None = (
        msgspec.UNSET
    )
    device: str | msgspec.UnsetType = msgspec.UNSET
    random_state: int | msgspec.UnsetType | None = msgspec.UNSET
    verbose: int | msgspec.UnsetType | None = msgspec.UNSET


class _Model(_Strict, frozen=True):
    format: str
    version: int
    network: _Network
    classes: list[bool | int | str]
    feature_names: list[str] | None
    parameters: _Parameters
    history: list[_Epoch]
    best_epoch: int
    weights_sha256: str
    digest: str = ""


def _both_files(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Return the files of weights and of the rest for a name with either ending, or with none."""
    given = Path(path)
    stem = given.name
    for ending in (_WEIGHTS, _CONFIG):
        stem = stem.removesuffix(ending)
    return given.with_name(stem + _WEIGHTS), given.with_name(stem + _CONFIG)


# Writing --------------------------------------------------------------------------------------


def save_gnn(estimator: GNNClassifier | GNNNodeClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator as one file, or leave an old one as it was."""
    weights_path, _ = _both_files(path)
    classes = estimator.classes_.tolist()
    check_class_labels(classes)
    state = estimator.module_.state_dict()
    # On the processor and free of gaps, as they are written.
    tensors = {name: value.cpu().contiguous() for name, value in state.items()}
    shape = estimator.module_.shape
    names = estimator._feature_names
    document = _Model(
        format=_FORMAT,
        version=FORMAT_VERSION,
        network=_Network(**{field: getattr(shape, field) for field in _Network.__struct_fields__}),
        classes=classes,
        feature_names=None if names is None else list(names),
        parameters=_parameters(estimator),
        history=[
            _Epoch(epoch.training, epoch.validation, epoch.seconds) for epoch in estimator.history_
        ],
        best_epoch=estimator.best_epoch_,
        weights_sha256=_digest(tensors),
    )
    plain = msgspec.to_builtins(document)
    plain["digest"] = digest_of_document(plain)
    text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False)
    write_atomically(weights_path, safetensors.torch.save(tensors, {_FORMAT: text}))


def _parameters(estimator: GNNClassifier | GNNNodeClassifier) -> _Parameters:
    plain: dict[str, Any] = {}
    for field in msgspec.structs.fields(_Parameters):
        value = getattr(estimator, field.name)
        if isinstance(value, np.generic):
            value = value.item()
        if field.name == "class_weight" and isinstance(value, Mapping):
            value = [[label, float(weight)] for label, weight in value.items()]
        # What was set after the fit may be anything; the network does not depend on it.
        with contextlib.suppress(msgspec.ValidationError):
            converted = msgspec.convert(value, field.type)
            if is_unicode(json.dumps(converted, ensure_ascii=False)):
                plain[field.name] = converted
    return _Parameters(**plain)


def _digest(tensors: Mapping[str, Tensor]) -> str:
    pieces: list[bytes | memoryview] = []
    for name, value in sorted(tensors.items()):
        pieces.append(json.dumps([name, str(value.dtype), list(value.shape)]).encode())
        pieces.append(value.reshape(-1).view(torch.uint8).numpy().data)
    return sha256_of(pieces)


# Reading --------------------------------------------------------------------------------------


def load_gnn(
    path: str | os.PathLike[str], *, device: str = "auto"
) -> GNNClassifier | GNNNodeClassifier:
    """Read a network that was saved by ``save``; nothing in the file is executed or trusted.

    Parameters
    ----------
    path : path
        The name of the file, with or without ``.safetensors``. For a file without settings in it,
        as earlier versions wrote them, ``NAME.json`` must be beside it.
    device : str
        Where the network goes: ``"auto"`` is the GPU if there is one.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a network, or from a newer version.

    Examples
    --------
    >>> import tempfile, gnn2logic as gl
    >>> graphs = gl.random_graphs(20, sizes=5, random_state=0)
    >>> gnn = GNNClassifier(n_layers=1, hidden=4, max_epochs=1, random_state=0)
    >>> gnn = gnn.fit(graphs, [0, 1] * 10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gnn.save(f"{folder}/mine")
    ...     again = load_gnn(f"{folder}/mine.safetensors")
    >>> bool((again.predict_proba(graphs) == gnn.predict_proba(graphs)).all())
    True
    """
    weights_path, config_path = _both_files(path)
    where = check_device(device)
    try:
        data = _bytes_of(weights_path)
        text = _embedded(data)
        tensors = _tensors(data)
        if text is not None:
            document = _checked_form(text, FORMAT_VERSION)
            right = document.weights_sha256 == _digest(tensors)
        else:
            document = _checked_form(_bytes_of(config_path), _BESIDE)
            right = document.weights_sha256 == sha256_of([data])
        if not right:
            raise ModelFileError(
                "The weights are not those that the settings were saved with: the file was "
                "changed or damaged. Save the network again."
            )
        return _estimator(document, tensors, where)
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {os.fspath(weights_path)!r}. {error}") from None


def _bytes_of(path: Path) -> bytes:
    try:
        return read_whole(path, _MOST_BYTES)
    except ValueError as error:
        raise ModelFileError(f"{error}.") from None


def _embedded(data: bytes) -> str | None:
    """Return the JSON in the metadata of a safetensors file; None if there is none."""
    length = int.from_bytes(data[:8], "little")
    try:
        header = strict_json(data[8 : 8 + min(length, len(data))])
    except ValueError as error:
        raise ModelFileError(f"This is not a valid safetensors file: {error}.") from None
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    text = metadata.get(_FORMAT) if isinstance(metadata, dict) else None
    return text if isinstance(text, str) else None


def _checked_form(text: str | bytes, expected_version: int) -> _Model:
    try:
        document = strict_json(text)
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise ModelFileError(f"This is not a saved network: it has no format {_FORMAT!r}.")
        version = document.get("version")
        if version != expected_version or isinstance(version, bool):
            raise ModelFileError(
                f"Networks of version {FORMAT_VERSION} can be read. Got version {version!r}; "
                "a newer gnn2logic may read it."
            )
        checked = msgspec.convert(document, _Model)
        if checked.digest != digest_of_document(document):
            raise ModelFileError(
                "Its digest does not fit its content: the file was changed or damaged. Save the "
                "network again."
            )
        return checked
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"This is not a valid saved network: {error}.") from None


def _estimator(
    document: _Model, tensors: Mapping[str, Tensor], device: torch.device
) -> GNNClassifier | GNNNodeClassifier:
    _check_contents(document)
    module = _module(document.network, tensors)
    estimator_type = GNNClassifier if document.network.pooling is not None else GNNNodeClassifier
    settings = msgspec.to_builtins(document.parameters)
    if isinstance(document.parameters.class_weight, list):
        settings["class_weight"] = dict(document.parameters.class_weight)
    estimator: Any = estimator_type(**settings)
    estimator.module_ = module.to(device)
    estimator.classes_ = np.array(document.classes)
    estimator.history_ = [
        Epoch(epoch.training, epoch.validation, epoch.seconds) for epoch in document.history
    ]
    estimator.best_epoch_ = document.best_epoch
    estimator.n_features_in_ = document.network.n_features
    names = document.feature_names
    estimator._feature_names = None if names is None else tuple(names)
    result: GNNClassifier | GNNNodeClassifier = estimator
    return result


def _check_contents(document: _Model) -> None:
    check_class_labels(list(document.classes))
    network = document.network
    if len(document.classes) != network.n_classes:
        raise ModelFileError(
            f"There must be one class for each of the {network.n_classes} outputs. "
            f"Got {len(document.classes)} classes."
        )
    names = document.feature_names
    if names is not None:
        try:
            check_names(names, what="Feature")
        except FeatureError as error:
            raise ModelFileError(str(error)) from None
        if len(names) != network.n_features:
            raise ModelFileError(
                f"There must be one name for each of the {network.n_features} features. "
                f"Got {len(names)} names."
            )
    if not -1 <= document.best_epoch < len(document.history):
        raise ModelFileError(
            f"best_epoch must be below the {len(document.history)} epochs. "
            f"Got {document.best_epoch}."
        )


def _tensors(data: bytes) -> dict[str, Tensor]:
    try:
        return safetensors.torch.load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelFileError(f"This is not a valid safetensors file: {error}.") from None


def _module(network: _Network, tensors: Mapping[str, Tensor]) -> GraphNetwork:
    sizes = (network.n_features, network.n_classes, network.hidden, network.n_layers)
    total = sum(value.numel() for value in tensors.values())
    possible = 0 <= network.dropout < 1 and network.typical_size >= 1
    # Every layer and channel has weights of its own: this bounds what is built to be compared.
    if min(sizes) < 1 or max(sizes) > total or network.n_layers > len(tensors) or not possible:
        raise ModelFileError("The sizes of the network do not fit its weights.")
    with torch.device("meta"):
        # Shapes without memory: a file may name any sizes.
        module = GraphNetwork(NetworkShape(**msgspec.structs.asdict(network)))
    expected = module.state_dict()
    for name in sorted(expected.keys() | tensors.keys()):
        if name not in tensors or name not in expected:
            problem = "missing" if name in expected else "not part of the network"
            raise ModelFileError(f"The weights {name!r} are {problem}.")
        value = tensors[name]
        if value.shape != expected[name].shape or value.dtype != expected[name].dtype:
            raise ModelFileError(
                f"The weights {name!r} must have shape {tuple(expected[name].shape)} and be "
                f"{expected[name].dtype}. Got {tuple(value.shape)}, {value.dtype}."
            )
        if not torch.isfinite(value).all():
            raise ModelFileError(f"The weights {name!r} must be finite.")
    module.load_state_dict(tensors, assign=True)
    return module.eval()
