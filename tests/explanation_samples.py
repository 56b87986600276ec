"""Graphs and models that tests of explanations share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

import oracle
from gnn2logic.graphs import GraphBatch, from_edges
from gnn2logic.idt.from_formulas import from_formulas
from strategies import NAMES, RELATIONS, formulas, plain_graphs, to_batch

STAR = [(0, 1), (0, 2), (0, 3), (4, 5)]


def star() -> GraphBatch:
    """Return a star around 0 with two marked rays, and an edge apart from it."""
    marked = [[0], [1], [1], [0], [1], [0]]
    return from_edges(STAR, 6, marked, names=["U0"]).symmetrize()


@dataclass(frozen=True)
class Case:
    """A model that says whether a random formula holds, a graph, and for node tasks a node."""

    model: Any
    plain: oracle.PlainGraph
    graph: GraphBatch
    node: int | None

    @property
    def row(self) -> int:
        return self.node or 0


@st.composite
def cases(draw: st.DrawFn, kind: str, level: Any) -> Case:
    """Draw a model and a graph of some kind; typed graphs have an edge."""
    plain = draw(plain_graphs(kind).filter(lambda own: kind != "typed" or bool(own.edges)))
    relations = RELATIONS if kind == "typed" else ()
    formula = draw(formulas(relations=relations, max_steps=6))
    model = from_formulas(
        {"yes": formula}, otherwise="no", names=NAMES, relations=relations, level=level
    )
    node = draw(st.integers(0, plain.n_nodes - 1)) if level == "node" else None
    return Case(model, plain, to_batch(plain), node)
