"""Models and graphs that tests of reports share."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gnn2logic.graphs import GraphBatch, random_graphs
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.learning import IDTClassifier, IDTNodeClassifier
from gnn2logic.logic import parse
from gnn2logic.reporting import Report, report

os.environ["MPLBACKEND"] = "Agg"
for module in ("jinja2", "matplotlib", "networkx"):
    pytest.importorskip(module, reason="reports need the extra 'report'")

Labels = npt.NDArray[Any]


def graph_task() -> tuple[IDTClassifier, GraphBatch, Labels, Labels]:
    """Return a fitted model, graphs, true labels and those of a teacher; all three differ."""
    graphs = random_graphs(90, sizes=8, density=0.4, random_state=0)
    clean = parse("1(A U0 > 2) > 3").evaluate(graphs)
    random = np.random.default_rng(1)
    truth = np.where(random.random(90) < 0.1, ~clean, clean)
    teacher = np.where(random.random(90) < 0.1, ~clean, clean)
    names = np.array(["calm", "busy"])
    learned = names[truth.astype(int)][:60]
    idt = IDTClassifier(n_layers=1, algorithm="layers", width=4, random_state=0).fit(
        graphs[:60], learned
    )
    return idt, graphs, names[truth.astype(int)], names[teacher.astype(int)]


def graph_report(**options: Any) -> Report:
    idt, graphs, truth, teacher = graph_task()
    page: Report = report(idt, graphs, truth, teacher=teacher, title="Busy graphs", **options)
    return page


def node_task() -> tuple[IDTNodeClassifier, GraphBatch, Labels]:
    """Return a model that gives nodes one of three classes, graphs and labels."""
    graphs = random_graphs(12, sizes=9, density=0.3, random_state=2)
    many = parse("A U0 > 1").evaluate(graphs, level="node")
    near = parse("A(A U1 > 1) > 0").evaluate(graphs, level="node")
    labels = np.where(many, "hub", np.where(near, "near", "far"))
    return IDTNodeClassifier(n_layers=1, random_state=0).fit(graphs, labels), graphs, labels


# A rule with parts that are too long for one sentence.
LONG_RULE = "1(A(U0 & A(U1 | A U0 > 1) > 2 & A(A U0 = 0) > 0) > 1 & A(A U1 > 2 & !U1) < 3) > 2"


def long_report(**options: Any) -> tuple[Report, GraphBatch]:
    """Return a report about a rule whose long parts have names, and its graphs."""
    graphs = random_graphs(60, sizes=10, density=0.35, random_state=3)
    idt = from_formulas({"busy": LONG_RULE}, otherwise="calm", names=graphs.names)
    return report(idt, graphs, n_examples=2, **options), graphs
