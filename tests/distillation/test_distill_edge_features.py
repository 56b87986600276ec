"""Networks that read numbers on edges: the rule has them too, as relations by thresholds."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import NNConv, global_max_pool

import gnn2logic as gl
from gnn2logic.exceptions import HiddenInputWarning, TranslationError
from gnn2logic.explanation.pyg import IDTExplainer


class LongEdges(nn.Module):
    """Says yes where a node has more than two incoming edges longer than 1.5."""

    def __init__(self) -> None:
        super().__init__()
        steep = nn.Linear(2, 1)
        self.conv = NNConv(1, 1, nn.Sequential(steep, nn.Sigmoid()), root_weight=False, bias=False)
        # Now, because the layer draws new weights when it is made.
        with torch.no_grad():
            steep.weight.copy_(torch.tensor([[1e4, 0.0]]))
            steep.bias.fill_(-1.5e4)

    def forward(self, x: Any, edge_index: Any, edge_attr: Any, batch: Any = None) -> Any:
        counts = self.conv(x, edge_index, edge_attr)
        return global_max_pool(counts, batch) - 2.5


def molecules(count: int, seed: int) -> list[Data]:
    generator = torch.Generator().manual_seed(seed)
    graphs = []
    for _ in range(count):
        ends = (torch.rand(7, 7, generator=generator) < 0.3).nonzero().T
        attr = 1 + torch.rand(ends.shape[1], 2, generator=generator)
        graphs.append(Data(x=torch.ones(7, 1), edge_index=ends, edge_attr=attr))
    return graphs


def slow_answer(data: Data) -> bool:
    counts = [0] * 7
    for target, row in zip(data.edge_index[1].tolist(), data.edge_attr.tolist(), strict=True):
        counts[target] += row[0] > 1.5
    return max(counts) > 2


def teacher() -> gl.Teacher:
    return gl.Teacher(LongEdges(), outputs="logit")


NAMES = {"edge_attr": ["distance", "angle"]}


@pytest.fixture(scope="module")
def model() -> Any:
    encoder = gl.PredicateEncoder(edge_features=NAMES, n_thresholds=1)
    with warnings.catch_warnings():
        # What the encoder reads is not hidden.
        warnings.simplefilter("error", HiddenInputWarning)
        return gl.distill(
            teacher(), molecules(200, 0), encoder=encoder, n_layers=1, max_size=8, random_state=0
        )


def test_the_rule_of_a_network_that_reads_edge_attributes(model: Any) -> None:
    assert str(model.formula(1)) == '1(A["distance > 1.5"]^T true > 2) > 0'
    fresh = molecules(80, 1)
    expected = [slow_answer(data) for data in fresh]
    assert True in expected
    assert False in expected
    assert model.predict(fresh).tolist() == expected
    assert gl.fidelity(model, teacher(), fresh) == 1


def test_without_the_option_the_teacher_is_said_to_read_more() -> None:
    with pytest.warns(HiddenInputWarning, match=r"'edge_attr'.*edge_features=\.\.\."):
        teacher().check(molecules(20, 0))


def test_of_parallel_edges_the_explainer_marks_the_long_ones(model: Any) -> None:
    # Three nodes point to node 3, each by a long and a short edge.
    ends = torch.tensor([[0, 0, 1, 1, 2, 2], [3] * 6])
    attr = torch.tensor([[1.9, 1.5], [1.1, 1.5]] * 3)
    explainer = Explainer(
        LongEdges(),
        IDTExplainer(model),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config={
            "mode": "binary_classification",
            "task_level": "graph",
            "return_type": "raw",
        },
    )
    explanation = explainer(torch.ones(7, 1), ends, edge_attr=attr)
    assert explanation.label == 1
    assert explanation.agrees
    assert (explanation.edge_mask > 0).tolist() == [True, False] * 3


def test_a_query_cannot_read_the_number(model: Any) -> None:
    with pytest.raises(TranslationError, match="'distance > 1.5' follows from a number on edges"):
        model.to_sql()
    assert "distance > 1.5" in model.formula(1).to_sql()


def test_scorecards_read_them_too() -> None:
    graphs = molecules(120, 2)
    encoder = gl.PredicateEncoder(edge_features=NAMES, n_thresholds=1)
    labels = np.array([slow_answer(data) for data in graphs])
    card = gl.ScorecardClassifier(n_layers=1, max_lines=1, encoder=encoder, random_state=0)
    card.fit(graphs, labels)
    assert "distance > 1.5" in str(card)
    assert card.score(graphs, labels) > 0.95
