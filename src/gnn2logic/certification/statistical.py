"""A bound on the share of graphs on which two agree, from a sample of them."""

from __future__ import annotations

import math

import numpy as np
from torch_geometric.data import Data

from gnn2logic._validation import check_choice
from gnn2logic.certification.answers import ModelPair
from gnn2logic.certification.bounds import agreement_bound, check_confidence
from gnn2logic.certification.certificates import Certificate
from gnn2logic.distillation.mutation import Material

__all__ = ["SOURCES", "certify_by_sample"]

SOURCES = {
    "given": "graphs like those that were given",
    "mutated": "the given graphs after one to five random changes",
    "random": "random graphs with the sizes, features and numbers of edges of the given ones",
}
_AT_ONCE = 512
_MOST_CHANGES = 5


def certify_by_sample(
    pair: ModelPair,
    graphs: list[Data],
    *,
    source: str,
    n_graphs: int,
    confidence: float,
    rng: np.random.Generator,
) -> Certificate:
    """Return a bound on the agreement on graphs from a source."""
    check_choice("source", source, tuple(SOURCES))
    check_confidence(confidence)
    if source == "given":
        for start in range(0, len(graphs), _AT_ONCE):
            block = graphs[start : start + _AT_ONCE]
            pair.ask(block, range(start, start + len(block)))
    else:
        _draw(pair, graphs, source, n_graphs, rng)
    n, k = pair.n_compared, pair.n_disagreements
    bound = agreement_bound(n - k, n, confidence)
    whom = (
        "Rule and network agree"
        if pair.level == "graph"
        else ("Rule and network agree at all nodes")
    )
    asked = "1 graph" if n == 1 else f"{n} graphs"
    differ = "differ once" if k == 1 else f"differ {k} times" if k else "never differ"
    # Rounded down: a bound must not promise more than was shown.
    percent = math.floor(10_000 * bound) / 100
    statement = (
        f"{whom} on at least {percent:.2f} % of {SOURCES[source]}, {100 * confidence:g} % "
        f"sure: on {asked} drawn from these they {differ}. This is a bound for graphs from this "
        "source, and says nothing about others."
    )
    return Certificate(
        grade="statistical",
        holds=False if k else None,
        statement=statement,
        n_compared=n,
        n_disagreements=k,
        agreement=bound,
        confidence=confidence,
        source=SOURCES[source],
        max_nodes=None,
        counterexamples=pair.counterexamples,
    )


def _draw(
    pair: ModelPair, graphs: list[Data], source: str, n_graphs: int, rng: np.random.Generator
) -> None:
    material = Material.of(graphs)
    while pair.n_compared < n_graphs:
        count = min(_AT_ONCE, n_graphs - pair.n_compared)
        drawn, origins = [], []
        for number in rng.integers(len(graphs), size=count).tolist():
            if source == "random":
                candidate = material.shuffled(number, rng)
            else:
                candidate = material.candidate(number)
                for _ in range(int(rng.integers(1, _MOST_CHANGES + 1))):
                    candidate = material.mutate(candidate, rng)
            drawn.append(material.data(candidate))
            origins.append(number)
        pair.ask(drawn, origins)
