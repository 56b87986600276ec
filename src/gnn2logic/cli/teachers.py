"""Networks as commands name them: trained here, read from a file, or made by the user's code."""

from __future__ import annotations

import copy
import errno
import inspect
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gnn2logic import datasets
from gnn2logic.cli.data import Chosen, class_names_for, with_class_names
from gnn2logic.cli.options import settings_from
from gnn2logic.exceptions import ParameterError

__all__ = ["find_teacher", "named_teacher", "train_network"]


def train_network(
    chosen: Chosen, settings: dict[str, Any], more: Iterable[str] | None, *, quiet: bool
) -> Any:
    """Return a network that was trained on the names of the classes."""
    from gnn2logic.models import GNNClassifier

    known = [*inspect.signature(GNNClassifier).parameters]
    settings = settings | settings_from("--gnn", more, [key for key in known if key != "verbose"])
    network = GNNClassifier(verbose=int(not quiet), **settings)
    # Whether somebody looked on is no part of the network.
    return network.fit(chosen.network_graphs, chosen.labels).set_params(verbose=0)


def find_teacher(text: str | None, data: datasets.Dataset) -> Any:
    """Return the network of ``--teacher``, with the class names of the data, if there is one."""
    if text is None:
        return None
    network = named_teacher(text)
    if data.numbers is not None:
        # What it returns is a number, and no class that has a name.
        return network
    return with_class_names(network, data) if _is_file(text) else _named(network, data)


def _is_file(text: str) -> bool:
    return Path(text).suffix in (".safetensors", ".json") or Path(text).is_file()


def named_teacher(text: str) -> Any:
    """Return the network of ``--teacher`` as it is."""
    module, colon, factory = text.rpartition(":")
    if _is_file(text):
        if not Path(text).is_file():
            raise FileNotFoundError(errno.ENOENT, "there is no such network", text)
        from gnn2logic.models import load_gnn

        return load_gnn(text)
    if not (colon and module and factory):
        raise ParameterError(
            "--teacher must be a file NAME.safetensors, or package.module:factory. "
            f"Got {text!r} instead."
        )
    from gnn2logic.distillation.user_functions import UserFunction

    return UserFunction(text, "a function without parameters that returns a network").call()


def _named(made: Any, data: datasets.Dataset) -> Any:
    from gnn2logic.distillation import as_teacher

    if hasattr(made, "classes_"):
        return with_class_names(made, data)
    teacher = copy.copy(as_teacher(made))
    if teacher.level != "node":
        # Without names the outputs are numbered as the classes of the data set are.
        labels = range(data.n_classes) if teacher.classes is None else teacher.classes.tolist()
        teacher.classes = np.array(class_names_for(labels, data))
    return teacher
