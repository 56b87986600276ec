"""What a network does that an IDT cannot follow is warned of."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GCNConv, global_mean_pool

from distill_networks import MixedUp, data, graphs, seeded, zoo
from gnn2logic import GraphBatch, PredicateEncoder
from gnn2logic.distillation import Teacher, as_teacher, distill
from gnn2logic.exceptions import BatchDependenceWarning, HiddenInputWarning, TeacherWarning
from gnn2logic.models import GNNClassifier


def test_batch_mates() -> None:
    with pytest.warns(BatchDependenceWarning, match="depends on the other graphs"):
        Teacher(seeded(MixedUp)).check(graphs())
    Teacher(seeded(lambda: MixedUp(fixed=True))).check(graphs())
    with pytest.warns(BatchDependenceWarning):
        distill(
            seeded(MixedUp),
            graphs(),
            np.arange(12) % 2,
            algorithm="layers",
            width=1,
            random_state=0,
        )
    # One graph has no company.
    Teacher(seeded(MixedUp)).check(graphs()[0])


def test_batch_mates_of_nodes() -> None:
    class Centred(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - x.mean(dim=0)

    with pytest.warns(BatchDependenceWarning):
        Teacher(Centred(), level="node").check(graphs())


def test_the_zoo_and_our_own_networks_behave() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", TeacherWarning)
        for name in ("GCN", "GIN", "GraphSAGE", "GAT", "PNA"):
            Teacher(zoo(name)).check(graphs(30))
        for conv in ("gcn", "gin", "sage", "gat"):
            gnn = GNNClassifier(conv, 2, hidden=8, max_epochs=1, random_state=0)
            as_teacher(gnn.fit(graphs(20), np.arange(20) % 2)).check(graphs(30))


def test_a_random_teacher() -> None:
    def forward(module: nn.Module, batch: Any) -> Any:
        x = nn.functional.dropout(batch.x + 1)
        return module(x, batch.edge_index, batch.batch)

    with pytest.warns(TeacherWarning, match="The teacher is random"):
        Teacher(zoo("GCN"), forward=forward).check(graphs())


class Weighted(nn.Module):
    def __init__(self, attribute: str) -> None:
        super().__init__()
        self.conv = GCNConv(2, 2)
        self.attribute = attribute

    def forward(self, data: Any) -> Any:
        values = data[self.attribute].float()
        weights = values if values.dim() == 1 else values @ torch.arange(1.0, 1 + values.shape[1])
        return global_mean_pool(self.conv(data.x, data.edge_index, weights), data.batch)


def weighted_data() -> list[Any]:
    generator = torch.Generator().manual_seed(0)
    own = data()
    for item in own:
        item.edge_weight = torch.rand(item.num_edges, generator=generator)
        item.edge_type = torch.randint(0, 2, (item.num_edges,), generator=generator)
        item.edge_attr = torch.eye(2)[item.edge_type]
        item.y = torch.zeros(1)
        item.train_mask = torch.rand(item.num_nodes, generator=generator) < 0.5
    return own


def test_edge_data_that_the_idt_cannot_see() -> None:
    own = weighted_data()
    with pytest.warns(HiddenInputWarning, match="The teacher reads 'edge_weight' of the graphs"):
        Teacher(seeded(lambda: Weighted("edge_weight"))).check(own)
    by_attribute = Teacher(seeded(lambda: Weighted("edge_attr")))
    with pytest.warns(HiddenInputWarning, match="'edge_attr'.*PredicateEncoder"):
        by_attribute.check(own, edge_types=False)
    # What follows from the types that are read is not hidden; what else there is, is.
    by_attribute.check(own)
    for item in own:
        item.finer = item.edge_type * 2 + torch.arange(item.num_edges) % 2
    with pytest.warns(HiddenInputWarning, match="'finer'"):
        Teacher(seeded(lambda: Weighted("finer"))).check(own)
    # Relations that the IDT reads are not hidden.
    Teacher(seeded(lambda: Weighted("edge_type"))).check(own)
    by_attribute.check(own, edge_types="edge_attr")
    with pytest.warns(HiddenInputWarning, match="'edge_type'"):
        Teacher(seeded(lambda: Weighted("edge_type"))).check(own, edge_types=False)
    # A network that does not look at them may have them in the data.
    Teacher(zoo("GIN")).check(own)


def test_distill_knows_what_its_encoder_reads() -> None:
    own, labels = weighted_data(), np.arange(12) % 2
    teacher = Teacher(seeded(lambda: Weighted("edge_attr")))
    distill(
        teacher,
        own,
        labels,
        algorithm="layers",
        width=1,
        encoder=PredicateEncoder(edge_types="edge_attr"),
    )
    encoder = PredicateEncoder(edge_types=False)
    with pytest.warns(HiddenInputWarning):
        distill(teacher, own, labels, algorithm="layers", width=1, encoder=encoder)


def test_typed_batches_are_seen(recwarn: pytest.WarningsRecorder) -> None:
    graph = graphs()
    half = graph.adjacency.copy()
    half.data = np.arange(half.nnz) % 2
    half.eliminate_zeros()
    typed = GraphBatch(graph.predicates, graph.adjacency, ptr=graph.ptr, relations={"r": half})
    Teacher(seeded(lambda: Weighted("edge_relations"))).check(typed)
    assert not recwarn.list


# What belongs to whole graphs, and other attributes ------------------------------------------


class Reads(nn.Module):
    """A network that adds an attribute of nodes or graphs to its scores."""

    def __init__(self, attribute: str, factor: float = 1.0) -> None:
        super().__init__()
        self.conv = GCNConv(2, 2)
        self.attribute = attribute
        self.factor = factor

    def forward(self, data: Any) -> Any:
        scores = global_mean_pool(self.conv(data.x, data.edge_index), data.batch)
        own = data[self.attribute].float()
        if len(own) == data.num_nodes:
            own = global_mean_pool(own.reshape(data.num_nodes, -1), data.batch)
        own = own.reshape(data.num_graphs, -1).sum(dim=1, keepdim=True)
        return torch.cat([scores[:, :1] + self.factor * own, scores[:, 1:]], dim=1)


def attributed_data(count: int = 12) -> list[Any]:
    generator = torch.Generator().manual_seed(0)
    own = data(count)
    for number, item in enumerate(own):
        item.y = torch.tensor([number % 2])
        item.u = torch.rand(1, 3, generator=generator)
        item.flat = torch.rand(11, generator=generator)
        item.temperature = float(number)
        item.pos = torch.rand(item.num_nodes, 3, generator=generator)
    return own


@pytest.mark.parametrize("attribute", ["y", "u", "flat", "temperature", "pos"])
def test_attributes_of_nodes_and_graphs_that_the_idt_cannot_see(attribute: str) -> None:
    with pytest.warns(HiddenInputWarning, match=f"The teacher reads '{attribute}' of the graphs"):
        Teacher(seeded(lambda: Reads(attribute))).check(attributed_data())
    # It is there but does not matter.
    Teacher(seeded(lambda: Reads(attribute, factor=0.0))).check(attributed_data())


@pytest.mark.parametrize("count", [2, 3])
def test_few_graphs_are_enough_to_notice(count: int) -> None:
    with pytest.warns(HiddenInputWarning, match="'y'"):
        Teacher(seeded(lambda: Reads("y"))).check(attributed_data(count))


# Large numbers must not hide anything ---------------------------------------------------------


class Beside(nn.Module):
    """Another network with scores beside its own, or with something added to all of them."""

    def __init__(self, network: nn.Module, *, masked: float | None = None, shift: float = 0.0):
        super().__init__()
        self.network = network
        self.masked = masked
        self.shift = shift

    def forward(self, batch: Any) -> Any:
        if isinstance(self.network, MixedUp):
            scores = self.network(batch.x, batch.edge_index, batch.batch)
        else:
            scores = self.network(batch)
        if self.masked is not None:
            never = torch.full((len(scores), 1), self.masked)
            scores = torch.cat([scores, never], dim=1)
        return scores + self.shift


ODD_SCORES: list[dict[str, Any]] = [
    {"masked": -torch.inf},
    {"masked": -1e9},
    {"shift": 1e4},
    {"shift": -1e4},
    {"masked": -1e9, "shift": 50.0},
]


@pytest.mark.parametrize("odd", ODD_SCORES)
def test_masked_and_shifted_scores_hide_nothing(odd: dict[str, Any]) -> None:
    with pytest.warns(BatchDependenceWarning):
        Teacher(Beside(seeded(MixedUp), **odd)).check(graphs())
    with pytest.warns(HiddenInputWarning, match="'u'"):
        Teacher(Beside(seeded(lambda: Reads("u")), **odd)).check(attributed_data())


@pytest.mark.parametrize("odd", ODD_SCORES)
def test_masked_and_shifted_scores_of_good_networks(odd: dict[str, Any]) -> None:
    Teacher(Beside(seeded(lambda: MixedUp(fixed=True)), **odd)).check(graphs(40))


def test_the_last_place_of_large_scores_is_rounding() -> None:
    class Rounded(nn.Module):
        def forward(self, batch: Any) -> Any:
            scores = 1e5 + global_mean_pool(batch.x, batch.batch)
            if batch.num_graphs > 1:
                scores[:, 0] = torch.nextafter(scores[:, 0], torch.tensor(torch.inf))
            return scores

    Teacher(Rounded()).check(graphs())


def test_a_mask_that_depends_on_the_company() -> None:
    class Sometimes(nn.Module):
        def forward(self, batch: Any) -> Any:
            scores = global_mean_pool(batch.x, batch.batch)
            return scores.masked_fill(torch.tensor([False, len(scores) > 1]), -torch.inf)

    with pytest.warns(BatchDependenceWarning):
        Teacher(Sometimes()).check(graphs())


def test_one_logit() -> None:
    class Logit(nn.Module):
        def __init__(self, weight: float) -> None:
            super().__init__()
            self.weight = weight

        def forward(self, batch: Any) -> Any:
            own = global_mean_pool(batch.x, batch.batch)[:, 0] - 0.5
            return own + self.weight * batch.x.mean()

    Teacher(Logit(0.0)).check(graphs())
    with pytest.warns(BatchDependenceWarning):
        Teacher(Logit(1.0)).check(graphs())


def test_warnings_point_to_the_caller() -> None:
    teacher = Teacher(seeded(MixedUp))
    with pytest.warns(BatchDependenceWarning) as caught:
        teacher.check(graphs())
    assert [own.filename for own in caught] == [__file__]
    with pytest.warns(BatchDependenceWarning) as caught:
        distill(teacher, graphs(), np.arange(12) % 2, algorithm="layers", width=1, random_state=0)
    assert [own.filename for own in caught] == [__file__]
