"""The iterated decision trees of the paper, built by hand, with the corrections of its slips."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic import GraphBatch, Modality, parse, random_graphs
from gnn2logic.idt.export import export_dot, export_text, export_tikz
from gnn2logic.idt.formulas import class_formula, column_formulas, leaf_classes
from gnn2logic.idt.model import IDT, Column, InputPredicate, Layer, LeafSet, TrueColumn
from gnn2logic.idt.predict import column_values, final_leaves
from gnn2logic.idt.pruning import prune
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic import TRUE
from gnn2logic.logic.syntax import Threshold

# A decision with what is on its False and on its True side; a leaf is its class, or None.
Nested = tuple[Split, "Nested", "Nested"] | int | None


def split(modality: str, column: int, threshold: Threshold) -> Split:
    return Split(column, Modality.from_set(modality), threshold)


def tree(nested: Nested, n_classes: int = 0) -> Tree:
    """Return a tree written as nested tuples; each leaf has the weight 1, all in its class."""
    splits: list[Split | None] = []
    children: list[list[int]] = []
    values: list[list[float]] = []
    stack: list[tuple[Nested, int, int]] = [(nested, -1, 0)]
    while stack:
        part, parent, side = stack.pop()
        number = len(splits)
        if parent >= 0:
            children[parent][side] = number
        children.append([-1, -1])
        if isinstance(part, tuple):
            splits.append(part[0])
            values.append([0.0] * n_classes)
            stack.extend([(part[2], number, 1), (part[1], number, 0)])
        else:
            splits.append(None)
            values.append([float(label == part) for label in range(n_classes)])
    totals = np.array(values, dtype=float).reshape(len(splits), n_classes)
    weights = np.array([float(split is None) for split in splits])
    for number in reversed(range(len(splits))):
        for child in children[number]:
            if child >= 0:
                totals[number] += totals[child]
                weights[number] += weights[child]
    return Tree(
        tuple(splits),
        tuple(low for low, _ in children),
        tuple(high for _, high in children),
        totals,
        weights,
    )


U0, U1 = InputPredicate("U0"), InputPredicate("U1")
CONSTANT = tree(0, n_classes=2)
EXAMPLE_TREE = tree((split("A", 1, 0), None, (split("A", 1, 1), None, None)))
EXAMPLE_SETS = (
    LeafSet(0, 0, (0,)),
    LeafSet(0, 0, (2,)),
    LeafSet(0, 0, (0, 2)),
    LeafSet(0, 0, (1,)),
)


def example_layer() -> IDT:
    return IDT((U0, U1, *EXAMPLE_SETS), (Layer((EXAMPLE_TREE,)),), CONSTANT, "node")


def two_layers() -> IDT:
    """The example of two layers; its second layer is the final tree of a node classifier."""
    final = tree((split("A", 4, 1), 0, 1), n_classes=2)
    return IDT((U0, U1, *EXAMPLE_SETS), (Layer((EXAMPLE_TREE,)),), final, "node")


def aids() -> IDT:
    """The first layer has no split, so its only leaf set is true."""
    columns = (InputPredicate("atom=C"), LeafSet(0, 0, (0,)))
    final = tree((split("1", 1, 12), 1, 0), n_classes=2)
    return IDT(columns, (Layer((tree(None),)),), final, "graph")


def shapes(*, idle_parts: bool = False) -> IDT:
    """Two trees; the paper writes M_0^1 for the leaf set of the second, M_1^0 by its definition."""
    low = tree((split("A", 0, 2), (split("A", 0, 1), None, None), None))
    middle = tree(
        (split("A", 0, 3), (split("A", 0, 2), None, None), (split("A", 0, 11), None, None))
    )
    columns: tuple[Column, ...] = (U0, LeafSet(0, 0, (0,)), LeafSet(0, 1, (1, 2)))
    layers: tuple[Layer, ...] = (Layer((low, middle)),)
    if idle_parts:
        unused = tree((split("I", 1, 0), None, (split("A", 3, Fraction(1, 2)), None, None)))
        columns += (TrueColumn(), LeafSet(0, 1, (0,)), LeafSet(1, 0, (1,)))
        layers += (Layer((unused,)),)
    final = tree(
        (split("1", 2, Fraction(39, 125)), 1, (split("1", 1, 14), 1, 0)),
        n_classes=2,
    )
    return IDT(columns, layers, final, "graph")


def predict(model: IDT, batch: GraphBatch) -> npt.NDArray[np.int64]:
    return np.asarray(np.array(leaf_classes(model.final))[final_leaves(model, batch)])


def far_graphs(seed: int) -> GraphBatch:
    """Graphs of 1 to 60 nodes with degrees from 0 to 15 and more, all nodes U0."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 60, size=120)
    density = np.minimum(1, rng.uniform(0, 6, size=120) / sizes)
    density[::4] = rng.random(30)
    return random_graphs(
        120, sizes=sizes, density=density, probability=[1.0, 0.5], random_state=rng
    )


@pytest.fixture
def running_example() -> GraphBatch:
    return GraphBatch(
        [[0, 1], [1, 0], [0, 0], [1, 1]],
        [[0, 1, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 0]],
    )


def test_the_example_layer_extends_the_matrix(running_example: GraphBatch) -> None:
    model = example_layer()
    values = column_values(model, running_example, range(6))
    assert np.column_stack([values[column] for column in range(6)]).astype(int).tolist() == [
        [0, 1, 1, 0, 1, 0],
        [1, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0, 1],
        [1, 1, 1, 0, 1, 0],
    ]


def test_formulas_of_the_example_layer_simplify() -> None:
    formulas = column_formulas(example_layer(), range(6))
    assert [str(formulas[column]) for column in range(2, 6)] == [
        "A U1 = 0",
        "A U1 > 1",
        "A U1 != 1",
        "A U1 = 1",
    ]
    assert formulas[4] is parse("!(A U1 = 1)")


def test_two_layers(running_example: GraphBatch) -> None:
    model = two_layers()
    assert predict(model, running_example).tolist() == [0, 1, 1, 0]
    assert class_formula(model, 1) is parse("A(!(A U1 = 1)) > 1")
    smaller = prune(model)
    # Only M_2 is in use, and both splits of its tree are needed for it.
    assert smaller.columns == (U1, LeafSet(0, 0, (0, 2)))
    assert smaller.layers[0].trees[0].n_leaves == 3
    assert predict(smaller, running_example).tolist() == [0, 1, 1, 0]


def test_aids_is_the_number_of_nodes() -> None:
    model = aids()
    assert column_formulas(model, [1])[1] is TRUE
    assert class_formula(model, 0) is parse("1 true > 12")
    assert class_formula(model, 1) is parse("1 true <= 12")
    sizes = [1, 11, 12, 13, 40]
    batch = random_graphs(5, sizes=sizes, names=("atom=C",), random_state=0)
    assert predict(model, batch).tolist() == [1, 1, 1, 0, 0]
    smaller = prune(model)
    assert smaller.columns == (LeafSet(0, 0, (0,)),)
    assert predict(smaller, batch).tolist() == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("idle_parts", [False, True])
def test_shapes_are_shares_of_degrees(idle_parts: bool) -> None:
    model = shapes(idle_parts=idle_parts)
    formulas = column_formulas(model, [1, 2])
    assert formulas[1] is parse("A U0 < 2")
    assert formulas[2] is parse("(A U0 > 2) & (A U0 < 12)")
    paper = parse("1(3 <= A U0 <= 11) > 39/125 & 1(A U0 < 2) > 14")
    assert class_formula(model, 0) is paper
    assert class_formula(prune(model), 0) is paper


def degree_graph(degrees: dict[int, int]) -> GraphBatch:
    """Return one graph of disjoint complete graphs: `count` nodes of every given degree."""
    blocks = []
    for degree, count in degrees.items():
        assert count % (degree + 1) == 0
        blocks += [np.ones((degree + 1, degree + 1)) - np.eye(degree + 1)] * (count // (degree + 1))
    size = sum(map(len, blocks))
    adjacency, at = np.zeros((size, size)), 0
    for block in blocks:
        adjacency[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return GraphBatch(np.ones((size, 1)), adjacency)


@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        ({0: 15, 3: 8}, 0),
        ({0: 14, 3: 8}, 1),
        ({0: 13, 1: 2, 11: 12}, 0),
        ({0: 15, 2: 12}, 1),
        ({0: 15, 12: 13}, 1),
        # 39 of 125 nodes are not more than 31.2 %; 40 of 126 are.
        ({0: 86, 12: 0, 2: 0, 11: 12, 8: 27}, 1),
        ({0: 86, 11: 12, 3: 28}, 0),
    ],
)
def test_shapes_at_the_thresholds(degrees: dict[int, int], expected: int) -> None:
    batch = degree_graph({degree: count for degree, count in degrees.items() if count})
    for model in (shapes(), shapes(idle_parts=True), prune(shapes(idle_parts=True))):
        assert predict(model, batch).tolist() == [expected]


def test_pruning_removes_idle_parts() -> None:
    smaller = prune(shapes(idle_parts=True))
    assert len(smaller.layers) == 1
    assert smaller.columns == (U0, LeafSet(0, 0, (0,)), LeafSet(0, 1, (1, 2)))
    # A U0 > 2 only told two leaves apart that M_0^0 treats alike, but it comes first on the path.
    assert [own.n_leaves for own in smaller.layers[0].trees] == [3, 4]


def test_pruning_trusts_leaves_alone() -> None:
    """Leaves below a contradiction count for the nodes above them, but nothing reaches them."""
    dead: Nested = (split("1", 0, 3), 1, (split("1", 0, 4), 1, 1))
    at_most_one: Nested = (split("1", 0, 0), 0, (split("1", 0, 2), 0, dead))
    model = IDT((U0,), (), tree((split("1", 0, 1), at_most_one, 1), n_classes=2), "graph")
    assert model.final.values[1].tolist() == [2, 3]
    batch = random_graphs(4, sizes=range(1, 5), probability=1.0, random_state=0)
    assert predict(model, batch).tolist() == [0, 1, 1, 1]
    smaller = prune(model)
    assert smaller.final.n_leaves == 2
    assert predict(smaller, batch).tolist() == [0, 1, 1, 1]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_models_prunings_and_formulas_agree(seed: int) -> None:
    batch = far_graphs(seed)
    for model in (shapes(), shapes(idle_parts=True), two_layers(), example_layer()):
        expected = predict(model, batch)
        assert np.array_equal(predict(prune(model), batch), expected)
        for label in (0, 1):
            found = class_formula(model, label).evaluate(batch, level=model.level)
            assert np.array_equal(found, expected == label)


def test_both_classes_occur_on_the_far_graphs() -> None:
    classes = np.concatenate([predict(shapes(), far_graphs(seed)) for seed in range(10)])
    assert set(classes.tolist()) == {0, 1}


def test_aids_in_all_formats() -> None:
    assert export_text(aids(), class_names=["i", "a"]).split("\n") == [
        "Layer 0, tree 0",
        "  [M_0^0]",
        "",
        "Layer 1, final tree",
        "  1 chi_0^0 > 12",
        "  |- False: [Class a]",
        "  `- True: [Class i]",
        "",
        "where",
        "  chi_0^0 is true",
    ]
    dot = export_dot(aids())
    assert '"0.0.0" ["label"="M_0^0", "shape"="box"];' in dot
    assert '"1.0.0" ["label"="1 chi_0^0 > 12"];' in dot
    tikz = export_tikz(aids())
    assert r"% \chi_{0}^{0} \Leftrightarrow \top" in tikz
    assert r"{$1\,\chi_{0}^{0} > 12$};" in tikz
    # As in the figure: the line between the only node of layer 0 and the root of layer 1.
    assert r"\node[draw] (t0x0n0) at (0mm,0mm) {$M_{0}^{0}$};" in tikz
    assert r"\node (t1x0n0) at (0mm,-10mm)" in tikz
    assert tikz.count(r"\draw[dashed]") == 1


@pytest.mark.parametrize("idle_parts", [False, True])
def test_shapes_in_all_formats(idle_parts: bool) -> None:
    model = shapes(idle_parts=idle_parts)
    assert export_text(model).split("\n") == [
        "Layer 0, tree 0",
        "  A U0 > 2",
        "  |- False: A U0 > 1",
        "  |  |- False: [M_0^0]",
        "  |  `- True: []",
        "  `- True: []",
        "",
        "Layer 0, tree 1",
        "  A U0 > 3",
        "  |- False: A U0 > 2",
        "  |  |- False: []",
        "  |  `- True: [M_1^0]",
        "  `- True: A U0 > 11",
        "     |- False: [M_1^0]",
        "     `- True: []",
        "",
        "Layer 1, final tree",
        "  1 chi_1^0 > 39/125",
        "  |- False: [Class 1]",
        "  `- True: 1 chi_0^0 > 14",
        "     |- False: [Class 1]",
        "     `- True: [Class 0]",
        "",
        "where",
        "  chi_0^0 is A U0 < 2",
        "  chi_1^0 is 3 <= A U0 <= 11",
    ]
    assert '"1.0.0" -> "1.0.1" ["label"="False"];' in export_dot(model)
    tikz = export_tikz(model)
    assert r"% \chi_{1}^{0} \Leftrightarrow 3 \leq A\,U_{0} \leq 11" in tikz
    assert r"{$1\,\chi_{1}^{0} > \tfrac{39}{125}$};" in tikz
    assert r"\phantom{$M_{0}^{0}$}" in tikz
