"""Draw the pictures of the documentation.

The picture about AIDS is drawn where GNN2LOGIC_DATA names a folder with the data set.

python docs/make_images.py [folder]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import gnn2logic as gl

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "paper"))

import aids as aids_rule
import multi_shapes as shapes_rule
import recovered_formulas

# The node v, its three neighbours, and three nodes further away.
EDGES = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (3, 5), (4, 6)]
POSITIONS = [(0, 0), (-1, 0.7), (1, 0.7), (0.2, -1), (-2, 0.2), (1.6, -0.6), (-1.6, -1)]
RED = [2, 3, 4, 6]


def modal_parameters() -> Any:
    """Draw one panel for each modal parameter; filled nodes are seen from v."""
    graph = gl.from_edges(EDGES, 7).symmetrize()
    texts = ["I", "A", "I+A", "1", "1-I", "1-A", "1-I-A"]
    words = [
        "itself",
        "its neighbours",
        "itself and its neighbours",
        "all nodes",
        "all others",
        "all but its neighbours",
        "all that are neither",
    ]
    figure, axes = plt.subplots(2, 4, figsize=(10, 3.8))
    for ax, text, word in zip(axes.flat, texts, words, strict=False):
        seen = seen_from(graph, text)
        title = f"{text}:  {word}"
        labels = ["v", *[""] * 6]
        gl.plot_graph(
            graph, seen, title=title, positions=POSITIONS, labels=labels, legend=False, ax=ax
        )
    axes.flat[-1].axis("off")
    return figure


def seen_from(graph: gl.GraphBatch, parameter: str) -> np.ndarray:
    """Return which nodes node 0 sees: those whose marking it can count."""
    marked = [graph.with_predicates(np.arange(7)[:, None] == node, ["here"]) for node in range(7)]
    sees = gl.parse(f"{parameter} here > 0")
    return np.array([sees.evaluate(graph, level="node")[0] for graph in marked])


def nested_formula() -> Any:
    """Draw where the parts of a formula are true."""
    red = np.isin(np.arange(7), RED)[:, None]
    graph = gl.from_edges(EDGES, 7, red, names=["red"]).symmetrize()
    labels = ["red" if number in RED else "" for number in range(7)]
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
    for ax, text in zip(axes, ("red", "A red > 1", "A(A red > 1) > 1/2"), strict=True):
        gl.plot_graph(
            graph, gl.parse(text), positions=POSITIONS, labels=labels, legend=False, ax=ax
        )
    return figure


def idt() -> Any:
    """Draw the model of a nested formula."""
    model = gl.from_formulas({"yes": "1(A(A red > 1) > 1/2) > 1"}, otherwise="no")
    return gl.plot_idt(model).figure


def explanation() -> Any:
    """Draw why a small molecule is active."""
    atoms = ["C", "N", "O", "C", "C", "N", "O", "O", "C"]
    features = np.array([[atom == kind for kind in "CNO"] for atom in atoms])
    edges = [(0, 1), (1, 2), (0, 3), (3, 4), (4, 5), (5, 6), (5, 7), (3, 8)]
    names = [f"atom={kind}" for kind in "CNO"]
    graph = gl.from_edges(edges, len(atoms), features, names=names).symmetrize()
    formula = "1(atom=N & A(atom=O) > 0) > 1"
    model = gl.from_formulas({"active": formula}, otherwise="not active", names=names)
    drawn = gl.plot_explanation(gl.explain(model, graph))
    return np.ravel(drawn)[0].figure


def scorecard() -> Any:
    """Draw the scorecard of the page about rules and scores."""
    graphs = gl.random_graphs(1000, sizes=12, density=0.25, random_state=0)
    texts = ("1 U0 > 6", "1 U1 > 6", "1(A true > 4) > 2")
    first, second, third = (gl.parse(text).evaluate(graphs) for text in texts)
    noise = np.random.default_rng(0).normal(size=1000)
    sick = 2 * first + second - 2.0 * third + 0.7 * noise > 0.5
    model = gl.ScorecardClassifier(max_lines=5, n_layers=1, random_state=0)
    model.fit(graphs[:700], np.where(sick, "sick", "well")[:700])
    return gl.plot_scorecard(model).figure


def psi_0() -> Any:
    """Draw what was learned from graphs that psi_0 labelled."""
    return recovered_formulas.picture("psi_0")


def psi_1() -> Any:
    """Draw what was learned from graphs that psi_1 labelled."""
    return recovered_formulas.picture("psi_1")


def multi_shapes() -> Any:
    """Draw what was learned about shapes on one tree."""
    return shapes_rule.picture()


def aids() -> Any:
    """Draw what was learned about molecules."""
    return aids_rule.picture()


def acids() -> Any:
    """Draw the rule of the README: what makes an acid, in two molecules."""
    from rdkit import Chem

    texts = {"aspirin: acid": "CC(=O)Oc1ccccc1C(=O)O", "paracetamol: no acid": "CC(=O)Nc1ccc(O)cc1"}
    graphs = gl.chem.from_smiles(list(texts.values())).graphs
    counted = gl.parse("A[double](hydrogens=0) > 0 & A[single](hydrogens=1 & oxygen) > 0")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for ax, graph, (title, text) in zip(axes, graphs, texts.items(), strict=True):
        # The rule speaks of an OH, so oxygen atoms show their hydrogen.
        atoms = Chem.MolFromSmiles(text).GetAtoms()
        labels = [
            f"{a.GetSymbol()}{'H' if a.GetAtomicNum() == 8 and a.GetTotalNumHs() else ''}"
            for a in atoms
        ]
        gl.plot_graph(graph, counted, title=title, labels=labels, legend=False, ax=ax)
    figure.suptitle(
        "It is an acid if an atom has a double bond to an atom without hydrogen\n"
        "and a single bond to an OH.",
        y=1.08,
    )
    return figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [modal_parameters, nested_formula, idt, explanation, scorecard, acids]
    pictures += [psi_0, psi_1, multi_shapes]
    if "GNN2LOGIC_DATA" in os.environ:
        pictures.append(aids)
    for draw in pictures:
        figure = draw()
        figure.savefig(folder / f"{draw.__name__}.png", dpi=100, bbox_inches="tight")
        plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images")
