"""Training that goes wrong, and what is shown while it runs."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from gnn2logic.exceptions import ParameterError, SingleClassWarning
from gnn2logic.models import GNNClassifier, GNNNodeClassifier, training
from gnn2logic.models.training import Epoch
from gnn_samples import labelled, quick

GRAPHS, LABELS = labelled(n_graphs=40)


@pytest.mark.parametrize("fraction", [0.0, 0.25])
@pytest.mark.parametrize("max_epochs", [1, 5])
def test_training_that_diverges_is_an_error(fraction: float, max_epochs: int) -> None:
    gnn = quick(lr=1e30, validation_fraction=fraction, max_epochs=max_epochs)
    with pytest.raises(ParameterError, match=r"must stay finite.*a smaller lr than 1e\+30"):
        gnn.fit(GRAPHS, LABELS)
    assert not hasattr(gnn, "module_")


def test_a_failed_fit_leaves_what_was_learned() -> None:
    gnn = quick().fit(GRAPHS, np.array(["no", "yes"])[LABELS])
    before = gnn.predict_proba(GRAPHS)
    with pytest.raises(ParameterError, match="must stay finite"):
        gnn.set_params(lr=1e30).fit(GRAPHS, np.arange(40) % 3)
    assert gnn.classes_.tolist() == ["no", "yes"]
    assert (gnn.predict_proba(GRAPHS) == before).all()


def test_the_best_weights_before_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A loss that is no number after the third epoch ends training, as patience would."""
    plain, calls = training._loss, 0

    def loss(network: torch.nn.Module, part: object, plan: object) -> float:
        nonlocal calls
        calls += 1
        return plain(network, part, plan) if calls <= 3 else float("nan")  # type: ignore[arg-type]

    expected = quick(max_epochs=3).fit(GRAPHS, LABELS)
    monkeypatch.setattr(training, "_loss", loss)
    gnn = quick(max_epochs=50).fit(GRAPHS, LABELS)
    assert len(gnn.history_) == 3
    assert gnn.best_epoch_ == expected.best_epoch_
    assert (gnn.predict_proba(GRAPHS) == expected.predict_proba(GRAPHS)).all()
    gnn.save(tmp_path / "net")


@pytest.mark.parametrize("weights", [{0: 0, 1: 0}, {0: 0.0, 1: float("nan")}])
def test_no_class_with_weight(weights: object) -> None:
    with pytest.raises(ParameterError, match="class_weight must hold finite numbers >= 0, not all"):
        quick(class_weight=weights).fit(GRAPHS, LABELS)
    nodes = GNNNodeClassifier(n_layers=1, hidden=4, max_epochs=1, class_weight=weights)
    with pytest.raises(ParameterError, match="class_weight must hold finite numbers"):
        nodes.fit(GRAPHS, GRAPHS.column("U0").astype(int))


def test_one_class_is_told_where_fit_was_called() -> None:
    with pytest.warns(SingleClassWarning) as caught:
        quick().fit(GRAPHS, np.zeros(40, dtype=int))
    assert [own.filename for own in caught] == [__file__]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: dict[int, str] = {}
    for verbose in (0, 1):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        gnn: GNNClassifier = quick(verbose=verbose, max_epochs=3).fit(GRAPHS, LABELS)
        shown[verbose] = terminal.getvalue()
    assert shown[0] == ""
    lines = shown[1].strip().split("\r")
    assert len(lines) == len(gnn.history_) == 3
    for number, (line, epoch) in enumerate(zip(lines, gnn.history_, strict=True)):
        assert isinstance(epoch, Epoch)
        assert line.startswith(f"train: loss {epoch.validation:.4f}, epoch {number + 1}/3, ")
    assert shown[1].endswith("\n")
