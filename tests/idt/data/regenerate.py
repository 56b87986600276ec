"""How the model files of this folder were made.

    python tests/idt/data/regenerate.py models      # only before a format version is released
    python tests/idt/data/regenerate.py expected    # formulas and predictions of the files as read

The files ``*-v1.idt.json`` were written by the first format version. They must be readable for
ever, so they are not written again once the version is out: a new version adds files of its own.
``expected-v1.json`` holds graphs and what the models say about them. It may be made again when
formulas are printed or simplified in a better way; the predictions in it must never change.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gnn2logic import GraphBatch, IDTClassifier, IDTNodeClassifier, PredicateEncoder, load
from gnn2logic.logic import parse

HERE = Path(__file__).parent
GRAPH_MODEL = HERE / "graph-v1.idt.json"
NODE_MODEL = HERE / "node-v1.idt.json"
EXPECTED = HERE / "expected-v1.json"

FEATURES = ("atom", 'charge "q" > \\alpha', "größe <b>")
CLASSES = ("aktiv ✓", 'not "active"', "unknown > 0")
RELATIONS = ("single", "d o u b l e")


def graph_inputs(seed: int, count: int) -> list[tuple[Any, Any]]:
    """Directed graphs with a category, a continuous number and a truth value at each node."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n_nodes = int(rng.integers(2, 8))
        adjacency = (rng.random((n_nodes, n_nodes)) < 0.4).astype(int)
        np.fill_diagonal(adjacency, 0)
        columns = (
            rng.choice([6, 7, 8], size=n_nodes),
            rng.random(n_nodes).round(2),
            rng.integers(0, 2, size=n_nodes),
        )
        found.append((adjacency, np.column_stack(columns)))
    return found


def node_inputs(seed: int, count: int) -> list[dict[str, Any]]:
    """Typed graphs as plain data: sizes, edges by relation, and where the predicate holds."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        n_nodes = int(rng.integers(2, 8))
        kind = rng.integers(0, 4, size=(n_nodes, n_nodes))
        edges = {name: (kind == place).astype(int).tolist() for place, name in enumerate(RELATIONS)}
        found.append({"edges": edges, "P": rng.integers(0, 2, size=n_nodes).tolist()})
    return found


def node_batch(graphs: list[dict[str, Any]]) -> GraphBatch:
    """The batch of `node_inputs`."""
    return GraphBatch.concat(
        [
            GraphBatch(
                np.array(graph["P"])[:, None],
                {name: np.array(matrix) for name, matrix in graph["edges"].items()},
                names=["P"],
            )
            for graph in graphs
        ]
    )


def write_models() -> None:
    """Learn rules with some noise, so that there are several prunings to choose from."""
    rng = np.random.default_rng(0)
    train = graph_inputs(0, 300)
    encoder = PredicateEncoder(feature_names=FEATURES, n_thresholds=2)
    batch = encoder.fit_transform(train)
    near = parse('1(A^T "größe <b>" > 1) > 1/4').evaluate(batch)
    truth = np.where(near, 1, 2 * parse("1 (atom=7) > 1/3").evaluate(batch))
    noise = rng.random(len(truth)) < 0.1
    truth[noise] = rng.integers(0, 3, size=int(noise.sum()))
    graph_model = IDTClassifier(
        2,
        algorithm="layers",
        width=2,
        modalities=["I", "A", "A^T", "I+(A|A^T)"],
        min_samples_leaf=10,
        encoder=encoder,
        class_weight={CLASSES[0]: 2.0},
        random_state=0,
    )
    graph_model.fit(train, np.array(CLASSES)[truth]).save(GRAPH_MODEL)

    nodes = node_batch(node_inputs(1, 150))
    label = parse('A["d o u b l e"]^T(P & A[single] true > 1) > 1/3').evaluate(nodes, level="node")
    node_model = IDTNodeClassifier(
        1, algorithm="layers", width=8, max_depth=3, random_state=0, ccp_alpha=0.002
    )
    node_model.fit(nodes, np.where(label, 1, -1)).prune().save(NODE_MODEL)


def write_expected() -> None:
    """Write down what the model files say about some fresh graphs."""
    pairs, typed = graph_inputs(100, 24), node_inputs(101, 6)
    graph_model, node_model = load(GRAPH_MODEL), load(NODE_MODEL)
    document = {
        "graph": {
            "inputs": [[a.tolist(), x.tolist()] for a, x in pairs],
            "predictions": graph_model.predict(pairs).tolist(),
            "formulas": [[own, str(graph_model.formula(own))] for own in graph_model.classes_],
        },
        "node": {
            "inputs": typed,
            "predictions": node_model.predict(node_batch(typed)).tolist(),
            "formulas": [
                [own, str(node_model.formula(own))] for own in node_model.classes_.tolist()
            ],
        },
    }
    lines = json.dumps(document, ensure_ascii=False, indent=None)
    EXPECTED.write_text(lines.replace('"predictions"', '\n"predictions"') + "\n", encoding="utf-8")


if __name__ == "__main__":
    what = sys.argv[1:]
    if what == ["models"]:
        write_models()
    elif what == ["expected"]:
        write_expected()
    else:
        sys.exit(__doc__)
