from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from gnn2logic import (
    ALL,
    A,
    IDTClassifier,
    IDTNodeClassifier,
    Modality,
    parse,
    predicate,
    random_graphs,
)
from gnn2logic.exceptions import LabelError, ParameterError, UnsupportedInputError
from gnn2logic.graphs import Direction, Edges
from gnn2logic.graphs.modality import quote_name
from gnn2logic.idt.export import export_dot, export_text, export_tikz, tree_to_text
from gnn2logic.idt.model import IDT, InputPredicate, Layer, LeafSet, TrueColumn
from gnn2logic.idt.pruning import prune
from gnn2logic.idt.tree import Split, Tree
from gnn2logic.logic import TRUE

FORMATS = [export_text, export_dot, export_tikz]
ODD_NAMES = [
    'say "hi"',
    "a\\",
    "\\l\\N",
    "$x$",
    "{",
    "}}",
    "<b>",
    "two\nlines",
    "&amp;",
    "50%",
    "é#",
]


def chain(splits: list[Split], n_classes: int, *, to_true: bool = False) -> Tree:
    """Return a tree with one long path; every inner node has one leaf."""
    count = len(splits)
    deep = [*range(1, count), 2 * count]
    leaves = list(range(count, 2 * count))
    end = (-1,) * (count + 1)
    low, high = (leaves, deep) if to_true else (deep, leaves)
    values = np.zeros((2 * count + 1, n_classes))
    if n_classes:
        values[np.arange(2 * count + 1), np.arange(2 * count + 1) % n_classes] = 1
    return Tree(
        (*splits, *(None,) * (count + 1)),
        (*low, *end),
        (*high, *end),
        values,
        np.ones(2 * count + 1),
    )


def model_with(name: str, relation: str | None = None) -> IDT:
    """Two layers; the names are in splits of both and in the legend."""
    near = Modality.from_set("A", Edges(Direction.IN, relation))
    everything = Modality.from_set("1")
    inner = chain([Split(0, near, 1), Split(0, near, Fraction(1, 3))], 0)
    upper = chain([Split(2, near, 1)], 0, to_true=True)
    columns = (InputPredicate(name), TrueColumn(), LeafSet(0, 0, (1,)), LeafSet(1, 0, (1,)))
    final = chain([Split(3, everything, 2), Split(0, everything, 4), Split(1, everything, 9)], 2)
    return IDT(columns, (Layer((inner,)), Layer((upper,))), final, "graph")


# DOT ------------------------------------------------------------------------------------------

DOT_TOKEN = re.compile(
    r'\s+|(?P<word>digraph|subgraph|graph|node)\b|(?P<id>"(?:[^"\\]|\\.)*")|(?P<mark>->|[{}\[\]=;,])'
)


def dot_tokens(text: str) -> list[str]:
    """Split strictly: anything but our words, quoted ids and punctuation is an error."""
    tokens, at = [], 0
    while at < len(text):
        match = DOT_TOKEN.match(text, at)
        assert match is not None, text[at : at + 40]
        at = match.end()
        if match.lastgroup is not None:
            tokens.append(match[0])
    return tokens


class DotReader:
    """Reads the part of the DOT grammar that is written here, and nothing else."""

    def __init__(self, text: str) -> None:
        self.tokens = dot_tokens(text)
        self.labels: dict[str, str] = {}
        self.edges: list[tuple[str, str, dict[str, str]]] = []
        self.clusters: list[str] = []
        self._expect("digraph")
        self._id()
        self._body()
        assert not self.tokens

    def _expect(self, token: str) -> None:
        assert self.tokens.pop(0) == token

    def _id(self) -> str:
        token = self.tokens.pop(0)
        assert token.startswith('"'), token
        # What Graphviz shows: escapes undone, then entities. \l ends a line of a label.
        plain = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "l" else m[1], token[1:-1])
        assert "\n" not in token
        return plain.replace("&amp;", "&")

    def _attributes(self) -> dict[str, str]:
        found = {}
        self._expect("[")
        while True:
            key = self._id()
            self._expect("=")
            found[key] = self._id()
            mark = self.tokens.pop(0)
            if mark == "]":
                return found
            assert mark == ","

    def _body(self) -> None:
        depth = 1
        self._expect("{")
        while depth:
            token = self.tokens[0]
            if token == "}":
                self.tokens.pop(0)
                depth -= 1
            elif token == "subgraph":
                self.tokens.pop(0)
                self.clusters.append(self._id())
                self._expect("{")
                depth += 1
            elif token in ("graph", "node"):
                self.tokens.pop(0)
                self._attributes()
                self._expect(";")
            else:
                name = self._id()
                if self.tokens[0] == "->":
                    self.tokens.pop(0)
                    self.edges.append((name, self._id(), self._attributes()))
                else:
                    self.labels[name] = self._attributes()["label"]
                self._expect(";")


@pytest.mark.parametrize("name", [*ODD_NAMES, "plain", "atom=N"])
def test_dot_is_read_back_with_any_name(name: str) -> None:
    model = model_with(name, relation=name)
    dot = DotReader(export_dot(model, class_names=[name, "other"], pruned=False))
    split = model.layers[0].trees[0].splits[0]
    assert split is not None
    assert parse(dot.labels["0.0.0"]) is split.formula([predicate(name)])
    assert f"Class {name if name.isprintable() else quote_name(name)}" in dot.labels.values()
    # Each leaf set has one line in the note.
    assert dot.labels["legend"].count("\n") == 2
    assert dot.clusters == ["cluster 0", "cluster 1", "cluster 2"]
    for source, target, _ in dot.edges:
        assert {source, target} <= set(dot.labels)


def test_dot_edges_are_those_of_the_trees() -> None:
    dot = DotReader(export_dot(model_with("U0"), pruned=False))
    shown = [(source, target) for source, target, look in dot.edges if "label" in look]
    hidden = [(source, target) for source, target, look in dot.edges if look.get("style")]
    assert len(shown) == 2 * (2 + 1 + 3)
    # False is drawn first, so it comes to stand on the left.
    assert [look["label"] for *_, look in dot.edges if "label" in look] == ["False", "True"] * 6
    assert hidden == [("0.0.3", "1.0.0"), ("1.0.1", "2.0.0")]


# TikZ -----------------------------------------------------------------------------------------


def latex_lines(picture: str) -> list[str]:
    """Return what TeX sees: no comments. An unescaped percent sign anywhere else is an error."""
    lines = [line for line in picture.split("\n") if not line.startswith("%")]
    for line in lines:
        assert re.search(r"(?<!\\)%", line) is None
        assert re.search(r"(?<!\\)[#&]", line) is None
    return lines


def check_latex(picture: str) -> None:
    """Braces and dollars are balanced on every line, and every statement ends."""
    lines = latex_lines(picture)
    assert lines[0] == r"\begin{tikzpicture}"
    assert lines[-1] == r"\end{tikzpicture}"
    names = set()
    for line in lines[1:-1]:
        depth, math = 0, False
        for token in re.findall(r"\\.|[{}$_^]", line):
            depth += {"{": 1, "}": -1}.get(token, 0)
            math ^= token == "$"
            assert depth >= 0
            assert math or token not in "_^"
        assert depth == 0
        assert not math
        if line.startswith(r"\if"):
            assert line.endswith(r"\fi")
            continue
        assert line.startswith((r"\node", r"\draw"))
        assert line.endswith(";")
        names.update(re.findall(r"^\\node(?:\[draw\])? \((\w+)\) at ", line))
    for line in lines:
        edge = re.fullmatch(r"\\draw \((\w+)\) -- node\[.*\] \{\\tiny \w+\} \((\w+)\);", line)
        if edge is not None:
            assert set(edge.groups()) <= names


def coordinates(picture: str) -> dict[str, tuple[float, float]]:
    found = re.findall(r"\((t\w+)\) at \((-?[0-9.]+)mm,(-?[0-9.]+)mm\)", picture)
    return {name: (float(x), float(y)) for name, x, y in found}


@pytest.mark.parametrize("name", [*ODD_NAMES, "plain"])
def test_tikz_is_well_formed_with_any_name(name: str) -> None:
    check_latex(
        export_tikz(model_with(name, relation=name), class_names=[name, "b_c"], pruned=False)
    )
    check_latex(export_tikz(model_with(name, relation=name), class_names=[name, "b_c"]))


def test_tikz_of_layers_with_lines_between() -> None:
    picture = export_tikz(model_with("U0"), pruned=False)
    assert picture.count(r"\draw[dashed]") == 2
    for layer in range(3):
        assert picture.count(rf"\footnotesize Layer {layer}") == 1
    heights = [float(y) for y in re.findall(r"dashed\] \(\S+mm,(\S+)mm\)", picture)]
    places = coordinates(picture)
    for layer, (lower, upper) in enumerate([(heights[0], 1), heights[::-1], (-1000, heights[1])]):
        own = [y for name, (_, y) in places.items() if name.startswith(f"t{layer}x")]
        assert own
        assert all(lower < y < upper for y in own)


def test_tikz_puts_false_left_and_nothing_on_top_of_each_other() -> None:
    model = model_with("a rather long name")
    picture = export_tikz(model, pruned=False)
    places = coordinates(picture)
    edges = re.findall(r"\((\w+)\) -- node\[above (\w+)\] .* \((\w+)\);", picture)
    assert len(edges) == 2 * (2 + 1 + 3)
    for start, side, end in edges:
        assert (places[end][0] < places[start][0]) == (side == "left")
        assert places[end][1] < places[start][1]
    labels = DotReader(export_dot(model, pruned=False)).labels
    for layer in range(3):
        longest = max(len(text) for name, text in labels.items() if name.startswith(f"{layer}."))
        rows: dict[float, list[float]] = {}
        for name, (x, y) in places.items():
            if name.startswith(f"t{layer}x"):
                rows.setdefault(y, []).append(x)
        gaps = [right - left for row in rows.values() for left, right in pairwise(sorted(row))]
        # A character of the usual size is less than two millimetres wide.
        assert min(gaps) > 2 * longest


def test_tikz_fits_into_what_tex_can_measure() -> None:
    split = Split(0, Modality.from_set("1"), 3)
    final = chain([split] * 1500, 2)
    model = IDT((InputPredicate("x" * 100),), (), final, "graph")
    places = coordinates(export_tikz(model, pruned=False))
    assert len(places) == 3001
    assert max(abs(length) for place in places.values() for length in place) < 5000


# Text -----------------------------------------------------------------------------------------


def test_text_of_layers() -> None:
    assert export_text(model_with("U0"), class_names=["no", "yes"], pruned=False).split("\n") == [
        "Layer 0, tree 0",
        "  A^T U0 > 1",
        "  |- False: A^T U0 > 1/3",
        "  |  |- False: []",
        "  |  `- True: [M_0^0]",
        "  `- True: []",
        "",
        "Layer 1, tree 0",
        "  A^T chi_0^0 > 1",
        "  |- False: []",
        "  `- True: [M_0^1]",
        "",
        "Layer 2, final tree",
        "  1 chi_0^1 > 2",
        "  |- False: 1 U0 > 4",
        "  |  |- False: 1 true > 9",
        "  |  |  |- False: [Class no]",
        "  |  |  `- True: [Class yes]",
        "  |  `- True: [Class no]",
        "  `- True: [Class yes]",
        "",
        "where",
        "  chi_0^0 is A^T U0 < 2 & A^T U0 > 1/3",
        "  chi_0^1 is A^T(A^T U0 < 2 & A^T U0 > 1/3) > 1",
    ]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_text_has_one_line_per_node_with_any_name(name: str) -> None:
    plain = export_text(model_with("U0"), class_names=["no", "yes"]).count("\n")
    assert (
        export_text(model_with(name, relation=name), class_names=[name, "yes"]).count("\n") == plain
    )


def test_a_name_like_ours_is_told_apart() -> None:
    text = export_text(model_with("chi_0^0"), pruned=False)
    assert 'A^T "chi_0^0" > 1' in text
    assert "A^T chi_0^0 > 1" in text


def test_one_tree() -> None:
    tree = model_with("U0").final
    columns = {3: parse("A U0 > 1 & U1"), 0: predicate("U0"), 1: TRUE}
    assert tree_to_text(tree, columns, ["a", "b", "c\nd", "e"]).split("\n") == [
        "1(U1 & A U0 > 1) > 2",
        "|- False: 1 U0 > 4",
        "|  |- False: 1 true > 9",
        "|  |  |- False: [a]",
        "|  |  `- True: [b]",
        '|  `- True: ["c\\nd"]',
        "`- True: [e]",
    ]
    with pytest.raises(ParameterError, match="each of the 4 leaves. Got 1 instead"):
        tree_to_text(tree, columns, ["a"])


def test_one_tree_with_a_large_shared_formula_keeps_to_its_lines() -> None:
    formula = parse("A U0 > 1 | U1 & A U1 > 2")
    for _ in range(8):
        formula = (A(formula) > 1) & predicate("U0") | (A(formula) > 2) & predicate("U1")
    assert "\n" in str(formula)
    tree = chain([Split(0, Modality.from_set("1"), 1)], 0)
    lines = tree_to_text(tree, [formula]).split("\n")
    assert len(lines) == 3
    assert parse(lines[0]) is (ALL(formula) > 1)


# All formats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("export", FORMATS)
def test_pruned_by_default(export: Any) -> None:
    split = Split(0, Modality.from_set("1"), 3)
    unused = Layer((chain([Split(0, Modality.from_set("A"), 77)], 0),))
    model = IDT((InputPredicate("U0"), LeafSet(0, 0, (0,))), (unused,), chain([split], 2), "graph")
    assert "77" in export(model, pruned=False)
    assert "77" not in export(model)
    assert export(model) == export(prune(model), pruned=False)


@pytest.mark.parametrize("export", FORMATS)
def test_very_deep_trees_need_no_recursion(export: Any) -> None:
    splits = [Split(0, Modality.from_set("1"), number) for number in range(3000)]
    model = IDT((InputPredicate("U0"),), (), chain(splits, 2), "graph")
    assert "> 2999" in export(model, pruned=False)


@pytest.mark.parametrize("export", FORMATS)
def test_constant_model(export: Any) -> None:
    model = IDT((), (), chain([], 1), "graph")
    assert "Class only" in export(model, class_names=["only"])


@pytest.mark.parametrize("export", FORMATS)
def test_bad_input(export: Any) -> None:
    model = model_with("U0")
    with pytest.raises(LabelError, match="each of the 2 classes of the model. Got 3 instead"):
        export(model, class_names=["a", "b", "c"])
    with pytest.raises(UnsupportedInputError, match="fitted IDTClassifier.* Got str instead"):
        export("model")
    with pytest.raises(NotFittedError):
        export(IDTClassifier())


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), pruned=st.booleans(), n_classes=st.integers(2, 3))
def test_learned_models(seed: int, pruned: bool, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    names = tuple(rng.permutation(ODD_NAMES)[:2].tolist())
    graphs = random_graphs(60, sizes=8, names=names, directed=True, random_state=seed)
    labels = np.array(["x_1", "y\\", 'z"'])[rng.integers(0, n_classes, size=60)]
    model = IDTClassifier(
        2, algorithm="layers", width=2, min_samples_leaf=4, ccp_alpha=0.0, random_state=seed
    )
    model.fit(graphs, labels)
    idt = prune(model.model_) if pruned else model.model_
    trees = [*(tree for layer in idt.layers for tree in layer.trees), idt.final]
    text, dot, picture = (export(model, pruned=pruned) for export in FORMATS)
    assert text == export_text(model.model_, class_names=model.classes_.tolist(), pruned=pruned)
    n_nodes = sum(tree.n_nodes for tree in trees)
    assert sum(label != "" for label in text.split("\n")) >= n_nodes
    read = DotReader(dot)
    assert len(set(read.labels) - {"legend"}) == n_nodes
    check_latex(picture)
    assert len(coordinates(picture)) == n_nodes
    # Every leaf set is explained by its own formula.
    assert text.count(" is ") >= idt.n_leaf_sets


def test_legend_holds_the_formulas_that_parse() -> None:
    graphs = random_graphs(80, random_state=0)
    labels = parse("1(A U0 > 3) > 5").evaluate(graphs)
    model = IDTClassifier(1, algorithm="layers", width=3, random_state=0).fit(graphs, labels)
    legend = export_text(model).split("where\n")[1].split("\n")
    assert legend
    for line in legend:
        name, _, formula = line.strip().partition(" is ")
        assert re.fullmatch(r"chi_\d+\^0", name)
        assert parse(formula).modal_depth <= 1


@pytest.mark.parametrize("export", FORMATS)
def test_node_models(export: Any) -> None:
    graphs = random_graphs(5, sizes=20, random_state=0)
    labels = parse("A U0 > 3").evaluate(graphs, level="node")
    model = IDTNodeClassifier(1, algorithm="layers", width=2, random_state=0).fit(graphs, labels)
    assert "Class True" in export(model)
    assert "Class yes" in export(model, class_names=["no", "yes"])
