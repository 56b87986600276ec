"""Networks whose output is a quantity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import r2_score
from torch import nn
from torch_geometric.nn import SimpleConv, global_add_pool

import gnn2logic as gl
from gnn2logic.exceptions import ParameterError, TeacherError

GRAPHS = gl.random_graphs(200, sizes=9, density=0.4, random_state=0)


class Quantity(nn.Module):
    """``2 + 3 * [more than 4 nodes are U0]``, with exact weights."""

    def __init__(self, level: str = "graph") -> None:
        super().__init__()
        self.level = level
        self.conv = SimpleConv()

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        x = x.float() + 0 * self.conv(x.float(), edge_index)
        if self.level == "node":
            return 2.0 + 3.0 * x[:, :1]
        count = global_add_pool(x[:, :1], batch)
        return 2.0 + 3.0 * torch.clamp(count - 4, 0, 1)


def test_a_quantity_is_distilled_and_compared_by_r2() -> None:
    teacher = gl.Teacher(Quantity())
    rule = gl.distill(teacher, GRAPHS, task="regression", n_layers=0, unit="eV", random_state=0)
    assert isinstance(rule, gl.IDTRegressor)
    assert str(rule.formula(5.0)) == "1 U0 > 4"
    numbers = teacher.numbers(GRAPHS)[0]
    assert gl.fidelity(rule, teacher, GRAPHS) == 1.0
    assert gl.fidelity(rule, Quantity(), GRAPHS) == 1.0
    noisy = numbers + np.arange(200) / 100
    assert gl.fidelity(rule, noisy, GRAPHS) == pytest.approx(r2_score(noisy, rule.predict(GRAPHS)))


def test_nodes_and_masks() -> None:
    mask = np.arange(GRAPHS.n_nodes) % 3 > 0
    rule = gl.distill(
        gl.Teacher(Quantity("node")), GRAPHS, task="regression", mask=mask, n_layers=0
    )
    assert isinstance(rule, gl.IDTNodeRegressor)
    assert str(rule.formula(5.0)) == "U0"


def test_a_kept_loss_says_that_it_is_a_quantity() -> None:
    network = Quantity()
    network.criterion = nn.MSELoss()
    assert isinstance(gl.distill(network, GRAPHS, n_layers=0), gl.IDTRegressor)
    with pytest.raises(TeacherError, match="task='regression'"):
        gl.distill(network, GRAPHS, task="classes", n_layers=0)


def test_what_is_said_where_it_is_not_plain() -> None:
    with pytest.raises(TeacherError, match="For a quantity say distill\\(..., task='regression'"):
        gl.distill(Quantity(), GRAPHS)


class TwoNumbers(Quantity):
    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        one = super().forward(x, edge_index, batch)
        return torch.cat([one, one], dim=1)


class Infinite(Quantity):
    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        return super().forward(x, edge_index, batch) / 0


def test_bad_inputs() -> None:
    for network, message in (
        (TwoNumbers(), "one number for each graph. Got 2"),
        (Infinite(), "finite numbers. Got inf for graph 0"),
    ):
        with pytest.raises(TeacherError, match=message):
            gl.distill(network, GRAPHS, task="regression")
    with pytest.raises(ParameterError, match="leave y out and say task="):
        gl.distill(Quantity(), GRAPHS, np.zeros(200), task="regression")
    # Labels that can be no classes are numbers, whatever was said about the task.
    for numbers in (np.full(200, 0.5), [[0.5]] * 200, torch.full((200,), 0.5)):
        with pytest.raises(ParameterError, match="leave y out and say task='regression'"):
            gl.distill(Quantity(), GRAPHS, numbers)
    with pytest.raises(ParameterError, match="mask is for teachers that give nodes a number"):
        gl.distill(Quantity(), GRAPHS, mask=np.ones(GRAPHS.n_nodes, bool), task="regression")
    with pytest.raises(ParameterError, match="variant and counterexamples are about classes"):
        gl.distill(Quantity(), GRAPHS, variant="gnn", task="regression")
    with pytest.raises(ParameterError, match="task must be one of"):
        gl.distill(Quantity(), GRAPHS, task="links")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="'width' is not a parameter"):
        gl.distill(Quantity(), GRAPHS, task="regression", width=3)
    rule = gl.distill(Quantity(), GRAPHS, task="regression", n_layers=0)
    with pytest.raises(ParameterError, match="average is about classes"):
        gl.fidelity(rule, Quantity(), GRAPHS, average="macro")
