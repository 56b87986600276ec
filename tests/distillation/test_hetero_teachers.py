"""Networks on several types of nodes as teachers: built ones, whose rule is known."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_geometric")
from torch import Tensor, nn  # noqa: E402
from torch_geometric.data import Batch, HeteroData  # noqa: E402
from torch_geometric.nn import (  # noqa: E402
    HeteroConv,
    HGTConv,
    MessagePassing,
    SAGEConv,
    global_add_pool,
    to_hetero,
)

import gnn2logic as gl  # noqa: E402
from gnn2logic.exceptions import (  # noqa: E402
    HiddenInputWarning,
    ParameterError,
    TeacherError,
    UnsupportedInputError,
)

WRITES, BY = ("author", "writes", "paper"), ("paper", "by", "author")
NAMES = {"paper": ["open"], "author": ["old"]}
# An author is generous who writes more than one open paper.
GENEROUS = "author & A[writes] paper.open > 1"


def library(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    n_authors, n_papers = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    data = HeteroData()
    data["author"].x = torch.tensor(rng.random((n_authors, 1)) < 0.5).float()
    data["paper"].x = torch.tensor(rng.random((n_papers, 1)) < 0.5).float()
    written = torch.tensor(np.array(np.nonzero(rng.random((n_authors, n_papers)) < 0.4)))
    data[WRITES].edge_index = written
    data[BY].edge_index = written.flip(0)
    return data


LIBRARIES = [library(seed) for seed in range(60)]
BATCH = gl.as_batch(LIBRARIES, feature_names=NAMES)


def counting(width: int = 1) -> SAGEConv:
    """Return a layer that adds up the first number of all neighbours."""
    layer = SAGEConv((1, 1), width, aggr="sum", root_weight=False, bias=False)
    nn.init.ones_(layer.lin_l.weight)
    return layer


class Generous(nn.Module):
    """Whether some author is generous, or which of them are; made of a HeteroConv."""

    def __init__(self, level: str) -> None:
        super().__init__()
        self.conv = HeteroConv({BY: counting(), WRITES: counting()}, aggr="sum")
        self.level = level

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[Any, Tensor],
        batch_dict: dict[str, Tensor],
    ) -> Tensor:
        papers: Tensor = self.conv(x_dict, edge_index_dict)["author"]
        if self.level == "node":
            return papers - 1.5
        owners = batch_dict["author"]
        size = int(torch.cat(list(batch_dict.values())).max()) + 1
        some: Tensor = global_add_pool((papers - 1).relu(), owners, size=size) - 0.5
        return some


class OneType(nn.Module):
    """The same for graphs with one type of nodes, for ``to_hetero``."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = SAGEConv((1, 1), 1, aggr="sum", root_weight=False, bias=False)
        nn.init.ones_(self.conv.lin_l.weight)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        rows: Tensor = self.conv(x, edge_index) - 1.5
        return rows

    # The torch.fx of torch 2.2 cannot write down types that are texts, as they are in this file.
    forward.__annotations__.clear()


def made_hetero() -> nn.Module:
    network: nn.Module = to_hetero(OneType(), LIBRARIES[0].metadata(), aggr="sum")
    for parameter in network.parameters():
        nn.init.ones_(parameter)
    return network


def same(formula: gl.Formula, expected: str) -> bool:
    return bool((formula.evaluate(BATCH) == gl.parse(expected).evaluate(BATCH)).all())


ENCODER = gl.PredicateEncoder(feature_names=NAMES)
# Small rules are enough, and quick.
SHORT: dict[str, Any] = {"max_size": 10, "random_state": 0}


def test_a_network_of_graphs_is_distilled_explained_and_reported() -> None:
    teacher = gl.Teacher(Generous("graph"), outputs="logit", classes=["no", "yes"])
    truth = np.where(gl.parse(f"1({GENEROUS}) > 0").evaluate(BATCH), "yes", "no")
    assert (teacher.predict(LIBRARIES) == truth).all()
    answers = teacher.run(LIBRARIES)
    assert answers.layer_names == ("conv",)
    # Authors are first in every graph, and have the first column.
    (layer,) = answers.activations
    assert layer.shape == (BATCH.n_nodes, 2)
    is_author = BATCH.column("author")
    counts = BATCH.relations["writes"].astype(int) @ BATCH.column("paper.open").astype(int)
    columns = sorted(range(2), key=lambda column: bool(layer[~is_author, column].any()))
    assert (layer[is_author, columns[0]] == counts[is_author]).all()
    assert not layer[~is_author, columns[0]].any()
    rule = gl.distill(teacher, LIBRARIES, encoder=ENCODER, **SHORT)
    assert gl.fidelity(rule, teacher, LIBRARIES) == 1
    assert same(rule.formula("yes"), f"1({GENEROUS}) > 0")
    assert len(gl.disagreements(rule, teacher, LIBRARIES)) == 0
    why = gl.explain(rule, LIBRARIES[0], teacher=teacher)
    assert why.teacher is not None
    assert why.teacher.agrees
    page = gl.report(rule, LIBRARIES, teacher=teacher).to_markdown()
    assert "| Rule | 100%" in page
    card = gl.distill(
        teacher, LIBRARIES, into="scorecard", encoder=ENCODER, max_lines=4, random_state=0
    )
    assert gl.fidelity(card, teacher, LIBRARIES) > 0.9
    certificate = gl.certify(rule, teacher, LIBRARIES)
    assert certificate.n_disagreements == 0


@pytest.mark.parametrize("made_by", ["HeteroConv", "to_hetero"])
def test_a_network_of_nodes_of_one_type(made_by: str) -> None:
    network = Generous("node") if made_by == "HeteroConv" else made_hetero()
    teacher = gl.Teacher(network, node_type="author", outputs="logit")
    truth = gl.parse(GENEROUS).evaluate(BATCH, level="node")
    is_author = BATCH.column("author")
    asked = teacher.asked_nodes(LIBRARIES)
    assert asked is not None
    assert np.array_equal(asked, is_author)
    assert (teacher.predict(LIBRARIES)[is_author] == truth[is_author]).all()
    assert teacher.run(LIBRARIES).layer_names == ("conv",)
    rule = gl.distill(teacher, LIBRARIES, encoder=ENCODER, **SHORT)
    assert isinstance(rule, gl.IDTNodeClassifier)
    assert gl.fidelity(rule, teacher, LIBRARIES) == 1
    assert np.array_equal(rule.predict(LIBRARIES)[is_author], truth[is_author].astype(int))
    # A report is about authors alone, with and without a mask.
    for mask in (None, is_author):
        page = gl.report(rule, LIBRARIES, teacher=teacher, mask=mask).to_markdown()
        assert f"measured on {is_author.sum()} nodes" in page
    node = int(np.flatnonzero(truth)[0])
    graph = int(BATCH.graph_index[node])
    first = int(BATCH.ptr[graph])
    why = gl.explain(rule, LIBRARIES[graph], node=node - first, teacher=teacher)
    assert why.label == 1
    assert why.teacher is not None
    assert why.teacher.agrees
    assert gl.disagreements(rule, teacher, LIBRARIES).n_compared == BATCH.n_nodes


def test_layers_of_to_hetero_have_a_block_for_each_type_of_edges() -> None:
    (layer,) = gl.Teacher(made_hetero(), node_type="author", outputs="logit").activations(LIBRARIES)
    opened, old = BATCH.column("paper.open"), BATCH.column("author.old")
    counts = [
        BATCH.relations[name].astype(int) @ column.astype(int)
        for name, column in (("writes", opened), ("by", old))
    ]
    # The module of `writes` sends messages to papers, and that of `by` to authors.
    is_author = BATCH.column("author")
    assert (layer.sum(axis=1) == np.where(is_author, counts[0], counts[1])).all()
    assert layer.shape == (BATCH.n_nodes, 2)


def test_attention_over_types() -> None:
    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = HGTConv(1, 4, LIBRARIES[0].metadata(), heads=2)
            self.head = nn.Linear(4, 2)

        def forward(self, data: Any) -> dict[str, Tensor]:
            after = self.conv(data.x_dict, data.edge_index_dict)
            return {name: self.head(rows) for name, rows in after.items()}

    torch.manual_seed(0)
    teacher = gl.Teacher(Network(), node_type="paper")
    answers = teacher.run(LIBRARIES)
    assert answers.activations[0].shape == (BATCH.n_nodes, 8)
    with torch.no_grad():
        expected = torch.cat([teacher.module(data)["paper"] for data in LIBRARIES]).numpy()
    assert np.allclose(answers.scores[BATCH.column("paper")], expected, atol=1e-5)


def test_numbers_of_nodes_of_one_type() -> None:
    teacher = gl.Teacher(Generous("node"), node_type="author", outputs="logit")
    model = gl.distill(teacher, LIBRARIES, task="regression", encoder=ENCODER, **SHORT)
    assert gl.fidelity(model, teacher, LIBRARIES) > 0.9
    page = gl.report(model, LIBRARIES, teacher=teacher).to_markdown()
    assert str(int(BATCH.column("author").sum())) in page


def test_a_mini_batch_of_any_size_says_the_same() -> None:
    whole = gl.Teacher(Generous("node"), node_type="author", outputs="logit")
    small = gl.Teacher(Generous("node"), node_type="author", outputs="logit", batch_size=7)
    one, other = whole.run(LIBRARIES), small.run(Batch.from_data_list(LIBRARIES))
    assert (one.scores == other.scores).all()
    assert (one.activations[0] == other.activations[0]).all()


def test_what_is_wrong_is_said() -> None:
    nodes = Generous("node")
    with pytest.raises(TeacherError, match="node_type='author'"):
        gl.Teacher(nodes).predict(LIBRARIES[:20])
    with pytest.raises(TeacherError, match=r"nodes of .*author.*node_type=\.\.\."):
        gl.Teacher(made_hetero()).predict(LIBRARIES)
    with pytest.raises(ParameterError, match=r"one of the types of the nodes: .*author.*'book'"):
        gl.Teacher(nodes, node_type="book").predict(LIBRARIES)
    with pytest.raises(ParameterError, match="node_type is for HeteroData"):
        gl.Teacher(nodes, node_type="author", outputs="logit").predict(
            gl.random_graphs(2, random_state=0)
        )
    with pytest.raises(ParameterError, match="level with node_type"):
        gl.Teacher(nodes, node_type="author", level="graph")
    with pytest.raises(UnsupportedInputError, match="one type of nodes here"):
        gl.find_disagreements(
            gl.distill(gl.Teacher(Generous("graph"), outputs="logit"), LIBRARIES, **SHORT),
            gl.Teacher(Generous("graph"), outputs="logit"),
            LIBRARIES,
        )
    lacking = copy.copy(LIBRARIES[1])
    del lacking["author"].x
    lacking["author"].num_nodes = 3
    with pytest.raises(Exception, match="same attributes"):
        gl.Teacher(nodes, node_type="author", outputs="logit").predict([LIBRARIES[0], lacking])


def test_what_the_network_reads_besides_is_told() -> None:
    class Weighted(Generous):
        def forward(self, data: Any) -> Tensor:  # type: ignore[override]
            rows: Tensor = super().forward(data.x_dict, data.edge_index_dict, data.batch_dict)
            older: Tensor = rows + data["author"].age[:, None]
            return older

    aged = []
    for number, data in enumerate(LIBRARIES[:30]):
        other = copy.copy(data)
        other["author"].age = torch.arange(other["author"].num_nodes).float() + number
        aged.append(other)
    with pytest.warns(HiddenInputWarning, match=r"author\.age"):
        gl.Teacher(Weighted("node"), node_type="author", outputs="logit").check(aged)


class Liked(MessagePassing):  # type: ignore[misc]
    """Counts the edges to users with more than three stars."""

    def __init__(self) -> None:
        super().__init__(aggr="sum")

    def forward(self, x: Any, edge_index: Any, edge_attr: Any) -> Any:
        liked = (edge_attr > 3).float()[:, None]
        return self.propagate(edge_index, x=x, liked=liked, size=(len(x[0]), len(x[1])))

    def message(self, x_j: Any, liked: Any) -> Any:
        return liked * x_j


class Shops(nn.Module):
    """Whether a user likes more than two items, twice."""

    def __init__(self, n_outputs: int) -> None:
        super().__init__()
        self.conv = HeteroConv({("item", "of", "user"): Liked()})
        self.n_outputs = n_outputs

    def forward(
        self, x_dict: Any, edge_index_dict: Any, edge_attr_dict: Any, batch_dict: Any
    ) -> Any:
        users = self.conv(x_dict, edge_index_dict, edge_attr_dict=edge_attr_dict)["user"]
        told = global_add_pool((users - 2).relu(), batch_dict["user"]) - 0.5
        return told.repeat(1, self.n_outputs)


def shop(seed: int) -> HeteroData:
    rng = torch.Generator().manual_seed(seed)
    data = HeteroData()
    data["user"].x, data["item"].x = torch.ones(4, 1), torch.ones(5, 1)
    edges = (torch.rand(5, 4, generator=rng) < 0.6).nonzero().T
    data["item", "of", "user"].edge_index = edges
    stars = torch.randint(1, 6, (edges.shape[1],), generator=rng)
    data["item", "of", "user"].edge_attr = stars.float()
    return data


@pytest.mark.filterwarnings("ignore:There exist node types:UserWarning")
def test_attributes_of_typed_edges_are_read_by_rules_of_a_network() -> None:
    shops = [shop(seed) for seed in range(100)]
    teacher = gl.Teacher(Shops(1), outputs="logit", classes=["no", "yes"])
    with pytest.warns(HiddenInputWarning, match=r"item\.of\.user\.edge_attr"):
        teacher.check(shops)
    encoder = gl.PredicateEncoder(
        edge_features="edge_attr", feature_types={"of.edge_attr": "continuous"}
    )
    settings: dict[str, Any] = {"n_layers": 1, "encoder": encoder, "random_state": 0}
    rule = gl.distill(teacher, shops[:80], **settings)
    assert str(rule.formula("yes")) == '1(A["of.edge_attr > 3"]^T true > 2) > 0'
    assert gl.fidelity(rule, teacher, shops[80:]) == 1
    both = gl.distill(Shops(2), shops[:80], targets=["a", "b"], **settings)
    assert both["b"].formula(1) == rule.formula("yes")
