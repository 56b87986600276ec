"""The demo: train a network on built-in graphs, distil it, print the rules, write a report.

The data are the BAMultiShapes of the paper: does a graph have exactly two of three shapes?
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import gnn2logic as gl
from gnn2logic.cli import let_threads_sleep
from gnn2logic.cli.files import save_picture, writing_to

__all__ = ["show"]

Say = Callable[[object], None]

_N_TEST = 200


def show(out: Path, *, epochs: int, emit: Say, say: Say) -> None:
    """Run the demo.

    Parameters
    ----------
    out : path
        The folder for the report and the pictures; it is made if it is not there.
    epochs : int
        Epochs of the network at most.
    emit, say : function of one text
        Takes a result; says how things are going.
    """
    let_threads_sleep()
    with writing_to(out):
        out.mkdir(parents=True, exist_ok=True)
    data = gl.datasets.load("BAMultiShapes", random_state=0)
    emit(f"{data}\n")
    order = np.random.default_rng(0).permutation(len(data))
    train, test = data.take(order[_N_TEST:]), data.take(order[:_N_TEST])

    say("Training a graph isomorphism network ...")
    gnn = gl.models.GNNClassifier("gin", hidden=64, max_epochs=epochs, verbose=1, random_state=0)
    gnn.fit(train.graphs, train.y)
    say("Distilling it ...\n")
    idt = gl.distill(gnn, train.graphs, random_state=0)

    emit(f"{idt}\n")
    for label, name in enumerate(test.class_names):
        emit(f"{name}, in words:\n  {idt.formula(label).english()}\n")
    majority = np.bincount(test.y).max() / len(test)
    emit(f"On {len(test)} graphs that neither has seen:")
    emit(f"  the rule is right about       {idt.score(test.graphs, test.y):.1%}")
    emit(f"  the network is right about    {gnn.score(test.graphs, test.y):.1%}")
    emit(f"  the most common class is      {majority:.1%}")
    emit(f"  rule and network agree about  {gl.fidelity(idt, gnn, test.graphs):.1%}\n")

    page = out / "report.html"
    with writing_to(page):
        gl.report(idt, test, teacher=gnn).write_html(page)
    emit(f"The report is in {page}")
    for picture in _draw(idt, test, out):
        emit(f"A picture is in {picture}")


def _draw(idt: gl.IDTPredictor, data: gl.datasets.Dataset, out: Path) -> list[Path]:
    """Draw the rule, and why it says what it says about one graph of each class."""
    import matplotlib

    matplotlib.use("Agg")
    paths = [out / "rule.png"]
    save_picture(gl.plot_idt(idt, classes=data.class_names), paths[0])
    predicted = idt.predict(data.graphs)
    for label, name in enumerate(data.class_names):
        graph = data.graphs[int(np.argmax(predicted == label))]
        paths.append(out / f"{name.replace(' ', '_')}.png")
        why = gl.explain(idt, graph, classes=data.class_names)
        save_picture(gl.plot_explanation(why), paths[-1])
    return paths
