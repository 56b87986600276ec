"""Label random graphs with the paper's psi_2, print it in every notation, and draw it.

python examples/demo.py [--out demo]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

from gnn2logic import A, GraphBatch, parse, plot_graph, predicate, random_graphs, to_c2
from gnn2logic.exceptions import TranslationError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"))
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    # The paper's synthetic data: 13 nodes, each edge with probability 1/2, U0 always true.
    graphs = random_graphs(1000, sizes=13, density=0.5, probability=[1.0, 0.5], random_state=0)
    psi_2 = parse("1(A(A U0 > 6) > 50%) > 0.5")
    labels = psi_2.evaluate(graphs)
    print(f"{graphs.n_graphs} random graphs, of which {labels.sum()} satisfy psi_2:\n")
    for notation, text in {
        "text": str(psi_2),
        "Unicode": psi_2.unicode(),
        "LaTeX": psi_2.latex(),
        "English": psi_2.english(),
        "JSON": psi_2.json()[:90] + " ...",
    }.items():
        print(f"  {notation:8} {text}")
    try:
        psi_2.c2()
    except TranslationError as error:
        print(f"  {'C2':8} {str(error).split('.')[0]}.")
    print(f"  {'':8} Its innermost part is {to_c2(A(predicate('U0')) > 6)}")

    picture = out / "psi_2.png"
    draw(graphs, labels, picture)
    print(f"\nThe picture is in {picture}")


def draw(graphs: GraphBatch, labels: npt.NDArray[np.bool_], path: Path) -> None:
    """Draw one graph with and one without the property, with the nodes that decide."""
    inner, middle = parse("A U0 > 6"), parse("A(A U0 > 6) > 1/2")
    figure, axes = plt.subplots(2, 2, figsize=(8, 8.4), layout="constrained")
    for row, value in zip(axes, (True, False), strict=True):
        graph = graphs[int(np.flatnonzero(labels == value)[0])]
        for ax, formula in zip(row, (inner, middle), strict=True):
            share = formula.evaluate(graph, level="node").sum()
            plot_graph(graph, formula, title=f"{formula}\n{share} of 13 nodes", legend=False, ax=ax)
        row[1].annotate(
            "psi_2 is true" if value else "psi_2 is false",
            xy=(0.5, -0.02), xycoords="axes fraction", ha="center", fontsize=11, weight="bold",
        )  # fmt: skip
    figure.suptitle("psi_2: " + str(parse("1(A(A U0 > 6) > 1/2) > 1/2")))
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
