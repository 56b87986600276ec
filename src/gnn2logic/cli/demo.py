"""``gnn2logic demo``: train a network on built-in graphs, distil it, print the rules, report.

The data are the BAMultiShapes of the paper: does a graph have exactly two of three shapes?
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import gnn2logic as gl
from gnn2logic.cli import let_threads_sleep
from gnn2logic.cli.options import JsonOption, QuietOption
from gnn2logic.cli.output import emit, emit_json, save_picture, talker, writing_to

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["EXAMPLES", "demo", "show"]

EXAMPLES = ("gnn2logic demo", "gnn2logic demo --out somewhere/else")

Say = Callable[[object], None]
_N_TEST = 200


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report and the pictures.")] = Path(
        "demo"
    ),
    epochs: Annotated[int, typer.Option(min=1, help="Epochs of the network at most.")] = 60,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Go the whole way on built-in graphs.

    A network is trained on BAMultiShapes and distilled; the rules are printed, in logic and in
    words; a report and pictures are written.
    """
    say = talker(quiet)
    results = show(
        out, epochs=epochs, emit=say if as_json else emit, say=say, verbose=int(not quiet)
    )
    if as_json:
        emit_json(results)


def show(out: Path, *, epochs: int, emit: Say, say: Say, verbose: int = 1) -> dict[str, Any]:
    """Run the demo, and return what came out as plain data.

    Parameters
    ----------
    out : path
        The folder for the report and the pictures; it is made if it is not there.
    epochs : int
        Epochs of the network at most.
    emit, say : function of one text
        Takes a result; says how things are going.
    verbose : int
        0 shows no progress of the training and the fit.
    """
    let_threads_sleep()
    import numpy as np

    with writing_to(out):
        out.mkdir(parents=True, exist_ok=True)
    data = gl.datasets.load("BAMultiShapes", random_state=0)
    emit(f"{data}\n")
    order = np.random.default_rng(0).permutation(len(data))
    train, test = data.take(order[_N_TEST:]), data.take(order[:_N_TEST])

    say("Training a graph isomorphism network ...")
    gnn = gl.models.GNNClassifier(
        "gin", hidden=64, max_epochs=epochs, verbose=verbose, random_state=0
    )
    gnn.fit(train.graphs, train.y)
    say("Distilling it ...\n")
    idt = gl.distill(gnn, train.graphs, random_state=0, verbose=verbose)

    emit(f"{idt}\n")
    smallest = min(range(len(test.class_names)), key=lambda label: idt.formula(label).size)
    words = gl.explanation.in_steps(idt.formula(smallest))
    emit(f"{test.class_names[smallest]}, in words:\n{_indented(words)}\n")
    _emit_shares_in_shapes(idt, test, emit)
    scores = {
        "rule_accuracy": float(idt.score(test.graphs, test.y)),
        "network_accuracy": float(gnn.score(test.graphs, test.y)),
        "majority": float(np.bincount(test.y).max() / len(test)),
        "fidelity": gl.fidelity(idt, gnn, test.graphs),
    }
    emit(f"On {len(test)} graphs that neither has seen:")
    emit(f"  the rule is right about       {scores['rule_accuracy']:.1%}")
    emit(f"  the network is right about    {scores['network_accuracy']:.1%}")
    emit(f"  the most common class is      {scores['majority']:.1%}")
    emit(f"  rule and network agree about  {scores['fidelity']:.1%}\n")

    model = out / "rule.idt.json"
    with writing_to(model):
        idt.save(model)
    emit(f"The rule is in {model}")
    page = out / "report.html"
    with writing_to(page):
        gl.report(idt, test, teacher=gnn).write_html(page)
    emit(f"The report is in {page}")
    pictures = _draw(idt, test, out)
    for picture in pictures:
        emit(f"A picture is in {picture}")
    return {
        "dataset": data.name,
        "formulas": {name: str(idt.formula(label)) for label, name in enumerate(data.class_names)},
        **scores,
        "files": [str(path) for path in (model, page, *pictures)],
    }


def _emit_shares_in_shapes(idt: gl.IDTPredictor, data: gl.datasets.Dataset, emit: Say) -> None:
    """Say how many of the nodes that the rule counts are in a shape, together and by count."""
    import numpy as np

    counts = _counted(idt, data.graphs)
    together = np.logical_or.reduce([np.zeros(data.graphs.n_nodes, dtype=bool), *counts.values()])
    if data.mask is None or not together.any():
        return
    emit(f"{data.mask[together].mean():.1%} of the nodes that the rule counts are in a shape,")
    emit(f"and {data.mask.mean():.1%} of all nodes are. By what is counted:")
    for formula, nodes in counts.items():
        if nodes.any():
            text = textwrap.shorten(str(formula), 70, placeholder=" ...")
            emit(f"  {data.mask[nodes].mean():6.1%} of {nodes.sum():5} nodes: {text}")
    emit("")


def _counted(
    idt: gl.IDTPredictor, graphs: gl.GraphBatch
) -> dict[gl.Formula, npt.NDArray[np.bool_]]:
    """Return the nodes that the decisions of the final tree count, by the formula they count.

    A count of all nodes (`true`) points at none of them, so it is left out.
    """
    from gnn2logic.idt.formulas import final_columns
    from gnn2logic.logic.syntax import TRUE

    return {
        formula: formula.evaluate(graphs, level="node")
        for formula in final_columns(idt.model_).values()
        if formula is not TRUE
    }


def _indented(text: str) -> str:
    """Return lines that fit into a terminal."""
    lines = []
    for line in text.splitlines():
        start = "  " if not line.startswith(" ") else "    "
        lines += textwrap.wrap(
            line.strip(), 92, initial_indent=start, subsequent_indent=f"{start}  "
        )
    return "\n".join(lines)


def _draw(idt: gl.IDTPredictor, data: gl.datasets.Dataset, out: Path) -> list[Path]:
    """Draw the rule, and why it says what it says about one graph of each class."""
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    paths = [out / "rule.png"]
    save_picture(gl.plot_idt(idt, class_names=data.class_names), paths[0])
    predicted = idt.predict(data.graphs)
    for label, name in enumerate(data.class_names):
        graph = data.graphs[int(np.argmax(predicted == label))]
        paths.append(out / f"{name.replace(' ', '_')}.png")
        why = gl.explain(idt, graph, class_names=data.class_names)
        save_picture(gl.plot_explanation(why), paths[-1])
    return paths
