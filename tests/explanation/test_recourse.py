"""`recourse`: smallest changes against brute force, all types of graphs, and what is claimed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gnn2logic as gl
from gnn2logic.exceptions import GraphError, LabelError, ParameterError, UnsupportedInputError

NAMES = ["U0", "U1"]
RULES = [
    "1 U0 > 2",
    "1(A U0 > 1) > 0",
    "1(U1 & A(U0 & A U1 > 0) > 0) > 0",
    "1(A true > 1) > 0.5",
    "1 true > 4",
    "1(U0 & U1) > 1",
    "1(A true > 2 & U0) > 0",
]


# The rows of the nodes, and the pairs with an edge.
State = tuple[tuple[tuple[bool, ...], ...], frozenset[tuple[int, int]]]


# A slow oracle ----------------------------------------------------------------------------------
# A graph is its rows and its set of pairs; all that one edit can do is written down once more.


def _one_edit(state: State) -> Iterator[State]:
    rows, pairs = state
    size = len(rows)
    for node in range(size):
        for at in range(len(rows[node])):
            row = (*rows[node][:at], not rows[node][at], *rows[node][at + 1 :])
            yield (*rows[:node], row, *rows[node + 1 :]), pairs
    for pair in combinations(range(size), 2):
        yield rows, pairs ^ {pair}
    if size > 1:
        for node in range(size):
            moved = {v: v - (v > node) for v in range(size)}
            kept = {(moved[v], moved[w]) for v, w in pairs if node not in (v, w)}
            yield (*rows[:node], *rows[node + 1 :]), frozenset(kept)


def _new_nodes(state: State, given_rows: Sequence[tuple[bool, ...]]) -> Iterator[State]:
    rows, pairs = state
    for row in sorted(set(given_rows)):
        yield (*rows, row), pairs
        for node in range(len(rows)):
            yield (*rows, row), pairs | {(node, len(rows))}


def _as_graph(state: State) -> gl.GraphBatch:
    rows, pairs = state
    matrix = np.zeros((len(rows), len(rows)), dtype=int)
    for v, w in pairs:
        matrix[v, w] = matrix[w, v] = 1
    return gl.GraphBatch(np.array(rows, dtype=int), matrix, names=NAMES)


def _fewest_edits(graph: gl.GraphBatch, differs: Callable[[Any], Any], most: int) -> int | None:
    """Return how many edits are needed, by trying all sets of them; None if more than `most`."""
    rows = tuple(tuple(row) for row in graph.predicates.tolist())
    pairs = frozenset((v, w) for v, w in zip(*graph.adjacency.nonzero(), strict=True) if v < w)
    states = {(rows, frozenset((int(v), int(w)) for v, w in pairs))}
    for count in range(1, most + 1):
        states = {
            after for state in states for after in (*_one_edit(state), *_new_nodes(state, rows))
        }
        ordered = sorted(states, key=repr)
        batch = gl.GraphBatch.concat([_as_graph(state) for state in ordered])
        if differs(batch).any():
            return count
    return None


def _is_other(model: Any, before: Any, batch: gl.GraphBatch) -> Any:
    return model.predict(batch) != before


@pytest.mark.parametrize("text", RULES)
def test_no_smaller_change_exists_by_brute_force(text: str) -> None:
    rule = gl.from_formulas({"yes": text}, otherwise="no", names=NAMES)
    graphs = gl.random_graphs(6, sizes=[2, 3, 3, 4, 4, 4], density=0.5, names=NAMES, random_state=3)
    for graph in graphs:
        before = rule.predict(graph)[0]
        fewest = _fewest_edits(graph, partial(_is_other, rule, before), 2)
        change = gl.recourse(rule, graph, max_edits=2, one_hot=[])
        assert (len(change.edits) or None) == fewest
        assert change.tried_all == (fewest or 2)
        if change:
            assert change.smallest
            assert change.before == before
            assert rule.predict(change.graph).tolist() == [change.after] != [before]


def test_the_teacher_has_to_change_as_well() -> None:
    rule = gl.from_formulas({1: "1(A U0 > 0) > 0"}, otherwise=0, names=NAMES)
    teacher = gl.from_formulas({1: "1(A U1 > 0) > 0"}, otherwise=0, names=NAMES)
    lengths = []
    for graph in gl.random_graphs(
        6, sizes=[2, 3, 3, 4, 4, 4], density=0.4, names=NAMES, random_state=1
    ):
        ours, theirs = rule.predict(graph)[0], teacher.predict(graph)[0]

        def differs(batch: Any, ours: Any = ours, theirs: Any = theirs) -> Any:
            return (rule.predict(batch) != ours) & (teacher.predict(batch) != theirs)

        change = gl.recourse(rule, graph, teacher, max_edits=2, one_hot=[])
        assert (len(change.edits) or None) == _fewest_edits(graph, differs, 2)
        if change:
            lengths.append(len(change.edits))
            assert rule.predict(change.graph)[0] == change.after != ours
            assert teacher.predict(change.graph)[0] == change.teacher_after != theirs
            assert "the network" in str(change)
    assert 2 in lengths


def test_scorecards_against_brute_force() -> None:
    graphs = gl.random_graphs(120, sizes=np.arange(120) % 4 + 3, names=NAMES, random_state=0)
    y = gl.parse("1 U0 > 1 & 1 U1 > 1").evaluate(graphs).astype(int)
    card = gl.ScorecardClassifier(max_lines=2, n_layers=0, random_state=0).fit(graphs, y)
    needed = set()
    for graph in gl.random_graphs(6, sizes=[2, 3, 3, 4, 4, 4], names=NAMES, random_state=5):
        before = card.predict(graph)[0]
        fewest = _fewest_edits(graph, partial(_is_other, card, before), 2)
        change = gl.recourse(card, graph, max_edits=2, one_hot=[])
        assert (len(change.edits) or None) == fewest
        needed.add(fewest)
    assert needed >= {1, 2}


def test_where_not_all_is_tried_a_change_is_found_and_no_more_is_claimed() -> None:
    rule = gl.from_formulas({1: "1 U0 > 5"}, otherwise=0, names=NAMES)
    graph = gl.random_graphs(1, sizes=12, names=NAMES, random_state=0)
    graph = graph.with_predicates(np.arange(24).reshape(12, 2) % 7 == 0, NAMES)
    assert graph.column("U0").sum() == 2
    change = gl.recourse(rule, graph, max_edits=4, max_graphs=2000)
    assert len(change.edits) == 4
    assert change.tried_all == 1
    assert not change.smallest
    assert change.n_graphs <= 2000
    assert "a smaller change may exist" in str(change)
    assert rule.predict(change.graph).tolist() == [1]
    few = gl.recourse(rule, graph, max_edits=4, max_graphs=10)
    assert not few
    assert few.tried_all == 0
    assert few.n_graphs == 10
    assert "Not even all single edits" in str(few)


def test_scorecards_search_on_by_their_points() -> None:
    graphs = gl.random_graphs(200, sizes=12, names=NAMES, random_state=0)
    y = gl.parse("1 U0 > 6").evaluate(graphs).astype(int)
    card = gl.ScorecardClassifier(max_lines=2, n_layers=0, random_state=0).fit(graphs, y)
    graph = graphs[int(np.argmin([g.column("U0").sum() for g in graphs]))]
    change = gl.recourse(card, graph, max_edits=8, max_graphs=8000)
    assert change
    assert card.predict(change.graph)[0] != card.predict(graph)[0]


def test_the_same_question_has_the_same_answer() -> None:
    rule = gl.from_formulas({1: "1(A U0 > 2) > 2"}, otherwise=0, names=NAMES)
    graph = gl.random_graphs(1, sizes=9, names=NAMES, random_state=2)
    one, two = (gl.recourse(rule, graph, max_graphs=3000) for _ in range(2))
    assert str(one) == str(two)
    assert one.edits == two.edits
    assert one.others == two.others
    assert one.graph == two.graph


# Types of graphs --------------------------------------------------------------------------------


def _colours(*colours: str) -> Any:
    graph = nx.Graph()
    for name, colour in zip("abcdef", colours, strict=False):
        graph.add_node(name, colour=colour, weight=0.5 * len(graph))
    nx.add_path(graph, list(graph.nodes), kind="road")
    return graph


def test_networkx_graphs_keep_their_names_and_categories() -> None:
    graphs = [_colours(*text) for text in ("rgb", "rrg", "bbb", "rrr", "grb", "bgg", "brb", "gg")]
    y = [
        int(sum(c == "r" for c in nx.get_node_attributes(g, "colour").values()) > 1) for g in graphs
    ]
    rule = gl.IDTClassifier(n_layers=0, random_state=0)
    rule = rule.fit(graphs * 4, y * 4)
    change = gl.recourse(rule, graphs[0], allowed=["predicates"])
    assert [edit.text for edit in change.edits] == ["change colour of node 'b' from g to r"]
    assert change.graph.nodes["b"]["colour"] == "r"
    assert change.graph.edges["a", "b"] == {"kind": "road"}
    assert graphs[0].nodes["b"]["colour"] == "g"
    assert rule.predict([change.graph])[0] == change.after == 1
    grown = gl.recourse(rule, graphs[0], allowed=["nodes"])
    assert grown.graph.number_of_nodes() == 4
    assert rule.predict([grown.graph])[0] == 1


def test_numbers_go_beyond_a_threshold() -> None:
    graphs = [_colours(*"rg") for _ in range(20)]
    for number, graph in enumerate(graphs):
        for node in graph:
            graph.nodes[node]["weight"] = number / 10 + (node == "b")
    rule = gl.IDTClassifier(n_layers=0, random_state=0).fit(graphs, np.arange(20) > 9)
    change = gl.recourse(rule, graphs[0], allowed=["predicates"])
    assert change
    assert all(edit.text.startswith("change weight of node") for edit in change.edits)
    assert rule.predict([change.graph])[0] != rule.predict([graphs[0]])[0]


def test_pyg_data_keeps_one_hot_columns_and_edge_attributes() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    def molecule(*atoms: int) -> Any:
        size = len(atoms)
        ends = torch.tensor([[v, v + 1] for v in range(size - 1)]).T
        return Data(
            x=torch.eye(3)[list(atoms)],
            edge_index=torch.cat([ends, ends.flip(0)], dim=1),
            edge_attr=torch.ones(2 * size - 2, 1),
            pos=torch.rand(size, 2),
            y=torch.tensor([0]),
        )

    data = molecule(0, 1, 1, 2)
    rule = gl.from_formulas({1: "1(U2 & A U0 > 0) > 0"}, otherwise=0, names=["U0", "U1", "U2"])
    change = gl.recourse(rule, data, allowed=["predicates"])
    assert [edit.text for edit in change.edits] == ["change node 1 from U1 to U2"]
    assert (change.graph.x.sum(dim=1) == 1).all()
    assert change.graph.pos.equal(data.pos)
    assert "y" not in change.graph
    assert data.x[1].tolist() == [0, 1, 0]
    joined = gl.recourse(rule, data, allowed=["edges"])
    assert joined.graph.edge_attr.shape == (8, 1)
    assert joined.graph.is_undirected()
    assert rule.predict([joined.graph]).tolist() == [1]
    network = gl.to_gnn(gl.parse("1(U2 & A U0 > 0) > 0"), names=["U0", "U1", "U2"])
    both = gl.recourse(rule, data, network)
    assert (both.teacher_before, both.teacher_after) == (0, 1)


def test_directed_and_typed_edges() -> None:
    graph = gl.from_edges([(0, 1), (1, 2)], 3, relations=["likes", "owns"])
    rule = gl.from_formulas(
        {1: "1(A[likes] true > 1) > 0"}, otherwise=0, names=[], relations=["likes", "owns"]
    )
    change = gl.recourse(rule, graph, allowed=["edges"])
    assert [edit.text for edit in change.edits] == ["add an edge (likes) from node 0 to node 2"]
    assert change.graph.relations["likes"].toarray().tolist() == [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
    assert not change.graph.is_symmetric


def test_matrices() -> None:
    rule = gl.from_formulas({1: "1(A true > 1) > 2"}, otherwise=0, names=[])
    change = gl.recourse(rule, np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    assert [edit.text for edit in change.edits] == ["add an edge between nodes 0 and 2"]
    assert change.graph.n_edges == 6


def test_nodes_are_asked_about_and_stay() -> None:
    rule = gl.from_formulas({1: "A U0 > 1"}, otherwise=0, names=NAMES, level="node")
    graph = gl.from_edges([(0, 1), (1, 2)], 3, [[1, 0], [0, 0], [0, 0]], names=NAMES).symmetrize()
    change = gl.recourse(rule, graph, node=1)
    assert len(change.edits) == 1
    assert rule.predict(change.graph)[1] == 1
    away = gl.recourse(rule, change.graph, node=1, allowed=["nodes"])
    assert away.edits[0].text.startswith("remove node")
    assert not any(edit.text.startswith("remove node 1 ") for edit in away.edits)
    assert away.after == 0
    with pytest.raises(ParameterError, match="node must be a number from 0 to 2"):
        gl.recourse(rule, graph)


def test_predicates_of_the_structure_follow_from_the_edges() -> None:
    graphs = gl.random_graphs(60, sizes=5, names=["U0"], random_state=0)
    y = gl.parse('1 "triangles > 0" > 0').evaluate(gl.structure(graphs, ["triangles"])).astype(int)
    rule = gl.IDTClassifier(
        encoder=gl.PredicateEncoder(structure=["triangles"]), random_state=0
    ).fit(graphs, y)
    graph = gl.from_edges([(0, 1), (1, 2), (2, 3)], 4, np.zeros((4, 1)), names=["U0"]).symmetrize()
    change = gl.recourse(rule, graph)
    assert rule.predict(change.graph)[0] == change.after != change.before
    shaped = gl.structure(graphs[0], ["triangles"])
    read = gl.from_formulas({1: '1 "triangles > 0" > 0'}, otherwise=0, names=shaped.names)
    with pytest.raises(UnsupportedInputError, match="follow from the edges"):
        gl.recourse(read, shaped)


def test_molecules_stay_molecules() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    graphs = gl.chem.from_smiles(["c1ccccc1[N+](=O)[O-]", "CCO"]).graphs
    rule = gl.from_formulas(
        {"yes": "1(aromatic & A nitrogen > 0) > 0"},
        otherwise="no",
        names=graphs.names,
        relations=graphs.relation_names,
    )
    change = gl.recourse(rule, graphs[0])
    assert change.chemistry
    assert len(change.edits) == 1
    assert rule.predict(change.graph).tolist() == ["no"]
    mol = gl.chem.to_mol(change.graph)
    chem.SanitizeMol(mol)
    assert gl.chem.from_mols([mol]).graphs == change.graph
    added = gl.recourse(rule, graphs[0], allowed=["edges"])
    assert all("bond" in edit.text for edit in added.edits)
    assert len(chem.GetMolFrags(gl.chem.to_mol(added.graph))) == 1


# What is said, and what is refused --------------------------------------------------------------


def test_nothing_found_is_said() -> None:
    rule = gl.from_formulas({1: "1 U0 > 8"}, otherwise=0, names=NAMES)
    graph = gl.from_edges([(0, 1)], 2, [[0, 1], [1, 1]], names=NAMES).symmetrize()
    change = gl.recourse(rule, graph, max_edits=2)
    assert not change
    assert change.graph is None
    assert change.tried_all == 2
    assert str(change).startswith("No change was found after which the rule says something else")
    assert repr(change) == "<Recourse: none found, from 0>"


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_edits": 0}, ParameterError, "max_edits"),
        ({"allowed": "edges"}, ParameterError, "allowed must name some of"),
        ({"allowed": ["bonds"]}, ParameterError, "allowed must name some of"),
        ({"one_hot": ["U0", "U1"]}, ParameterError, "list of groups"),
        ({"one_hot": [["U0", "U9"]]}, gl.exceptions.FeatureError, "U9"),
        ({"node": 0}, ParameterError, "node is for models"),
        ({"max_graphs": 0}, ParameterError, "max_graphs"),
    ],
)
def test_bad_options_are_refused(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    rule = gl.from_formulas({1: "1 U0 > 1"}, otherwise=0, names=NAMES)
    graph = gl.random_graphs(1, sizes=3, names=NAMES, random_state=0)
    with pytest.raises(error, match=words):
        gl.recourse(rule, graph, **options)


def test_other_models_and_graphs_are_refused() -> None:
    rule = gl.from_formulas({1: "1 U0 > 1"}, otherwise=0, names=NAMES)
    graphs = gl.random_graphs(30, sizes=4, names=NAMES, random_state=0)
    with pytest.raises(GraphError, match="One graph"):
        gl.recourse(rule, graphs)
    with pytest.raises(UnsupportedInputError, match="model must be a fitted rule"):
        gl.recourse("1 U0 > 1", graphs[0])
    numbers = gl.IDTRegressor(0, random_state=0).fit(graphs, graphs.sizes + np.arange(30.0))
    with pytest.raises(UnsupportedInputError, match="predicts numbers"):
        gl.recourse(numbers, graphs[0])
    named = gl.from_formulas({"yes": "1 U0 > 1"}, otherwise="no", names=NAMES)
    with pytest.raises(LabelError, match="names of classes"):
        gl.recourse(rule, graphs[0], named)
