"""Motifs planted into Barabasi-Albert graphs: BAMultiShapes and BA-2Motifs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import (
    RandomState,
    check_choice,
    check_share,
    check_whole,
    generator_from,
)
from gnn2logic.datasets.barabasi_albert import (
    attachment_edges,
    check_attachment,
    undirected,
)
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.graphs.batch import GraphBatch

__all__ = ["MOTIFS", "ba_2motifs", "ba_multi_shapes"]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Motif:
    """A small graph: its number of nodes and its edges, each once."""

    n_nodes: int
    edges: tuple[tuple[int, int], ...]


MOTIFS = {
    # A square 0 1 3 2 with a roof 4 on its side 2 3.
    "house": Motif(5, ((0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (3, 4))),
    # Three by three, numbered by rows.
    "grid": Motif(
        9,
        tuple((node, node + 1) for node in range(9) if node % 3 < 2)
        + tuple((node, node + 3) for node in range(6)),
    ),
    # A hub 0 and a rim of five.
    "wheel": Motif(
        6,
        tuple((0, node) for node in range(1, 6))
        + tuple((node, node % 5 + 1) for node in range(1, 6)),
    ),
    "cycle": Motif(5, tuple((node, (node + 1) % 5) for node in range(5))),
}

_PAIRS = (("wheel", "grid"), ("wheel", "house"), ("house", "grid"))
_OTHERS = ((), ("wheel",), ("house",), ("grid",), ("house", "grid", "wheel"))
# How often the original generator draws each of the other graphs: six of ten are bare.
_ORIGINAL_CHANCES = (0.6, 0.1, 0.1, 0.1, 0.1)


def ba_multi_shapes(
    n_graphs: int = 1000,
    *,
    variant: Literal["text", "original"] = "text",
    n_nodes: int = 40,
    attachment: int = 1,
    balance: float = 0.5,
    random_state: RandomState = 0,
) -> Dataset:
    """Return BAMultiShapes: Barabasi-Albert graphs with a wheel, a house or a grid, or several.

    Class 0 are the graphs with exactly two shapes, class 1 those with zero, one or three, as in
    the paper and in the labels that the original generator writes. (The page of PyG's data set
    numbers the classes the other way round.) The wheel has a hub and five more nodes, the house
    five nodes, the grid three by three. Each graph has 40 nodes in all, so their number tells
    nothing; a bare graph is one Barabasi-Albert graph of 40 nodes. Every new shape is joined by
    one edge from a random node of it. Each node has the predicate U0. The nodes of the
    Barabasi-Albert graph come first, then the shapes; the graphs are in random order.

    Parameters
    ----------
    n_graphs : int
    variant : {"text", "original"}
        What the two descriptions disagree about:

        ``"text"``, after the text of the paper: in class 1, bare graphs, each single shape, and
        all three shapes are equally frequent (one fifth each), and every shape hangs on the
        Barabasi-Albert graph itself.

        ``"original"``, after the generator of Azzolin et al.: in class 1, six of ten graphs are
        bare and the others are one of ten each, and a shape hangs on any node that is already
        there, so it may hang on another shape.

        In both, the three pairs of class 0 are equally frequent.
    n_nodes : int
        The number of nodes of every graph, shapes included.
    attachment : int
        The number m of edges that a new node of the Barabasi-Albert graph brings.
    balance : float
        The share of class 0. The number of graphs of each class is exact, not random.
    random_state : int, Generator or None

    Returns
    -------
    Dataset
        ``motifs`` has the nodes of each house, grid and wheel.

    Examples
    --------
    >>> data = ba_multi_shapes(100)
    >>> print(data)
    BAMultiShapes 100 graphs
    nodes         4000, 40.00 per graph
    edges         4490, 44.90 per graph
    features      1: U0
    classes       2: two shapes 50, zero one or three shapes 50
    motifs        3: wheel, house, grid
    >>> int(data.motifs["wheel"].sum()) % 6
    0
    """
    check_choice("variant", variant, ("text", "original"))
    rng = generator_from(random_state)
    y = _classes(check_whole("n_graphs", n_graphs, least=1), balance, rng)
    chances = _ORIGINAL_CHANCES if variant == "original" else None
    plan_numbers = np.where(
        y == 0,
        rng.integers(0, len(_PAIRS), size=len(y)),
        len(_PAIRS) + rng.choice(len(_OTHERS), size=len(y), p=chances),
    )
    graphs, motifs = _planted(
        plan_numbers, (*_PAIRS, *_OTHERS), n_nodes, attachment, rng, on_base=variant == "text"
    )
    return Dataset(
        name="BAMultiShapes",
        graphs=graphs,
        y=y,
        class_names=("two shapes", "zero one or three shapes"),
        description=(
            f"{len(y)} Barabasi-Albert graphs (m={attachment}) of {n_nodes} nodes with planted "
            f"wheels, houses and grids, variant {variant!r}; {int((y == 0).sum())} have exactly "
            "two shapes (class 0)."
        ),
        motifs={name: motifs[name] for name in ("wheel", "house", "grid")},
    )


def ba_2motifs(
    n_graphs: int = 1000,
    *,
    n_nodes: int = 25,
    attachment: int = 1,
    balance: float = 0.5,
    random_state: RandomState = 0,
) -> Dataset:
    """Return BA-2Motifs: Barabasi-Albert graphs with a house (class 0) or a cycle (class 1).

    By default a Barabasi-Albert graph of 20 nodes, to which a motif of five nodes is joined by
    one edge between random nodes, as in the data of Luo et al. (PGExplainer). Each node has the
    predicate U0. The motif comes last in every graph; the graphs are in random order.

    Parameters
    ----------
    n_graphs : int
    n_nodes : int
        The number of nodes of every graph, motif included.
    attachment : int
        The number m of edges that a new node of the Barabasi-Albert graph brings.
    balance : float
        The share of class 0. The number of graphs of each class is exact, not random.
    random_state : int, Generator or None

    Returns
    -------
    Dataset
        ``motifs`` has the nodes of each house and cycle.

    Examples
    --------
    >>> data = ba_2motifs(100)
    >>> data.n_edges, data.class_names
    (2550, ('house', 'cycle'))
    """
    rng = generator_from(random_state)
    y = _classes(check_whole("n_graphs", n_graphs, least=1), balance, rng)
    plans = (("house",), ("cycle",))
    graphs, motifs = _planted(y, plans, n_nodes, attachment, rng, on_base=True)
    return Dataset(
        name="BA-2Motifs",
        graphs=graphs,
        y=y,
        class_names=("house", "cycle"),
        description=(
            f"{len(y)} Barabasi-Albert graphs (m={attachment}) of {n_nodes} nodes with a planted "
            "house (class 0) or five-cycle (class 1)."
        ),
        motifs=motifs,
    )


def _classes(n_graphs: int, balance: float, rng: np.random.Generator) -> IntArray:
    """Return the classes of all graphs in random order, with an exact share of class 0."""
    share = check_share("balance", balance, or_none=True)
    y = np.ones(n_graphs, dtype=np.int64)
    y[: round(n_graphs * share)] = 0
    return rng.permutation(y)


def _planted(
    plan_numbers: IntArray,
    plans: Sequence[tuple[str, ...]],
    n_nodes: int,
    attachment: int,
    rng: np.random.Generator,
    *,
    on_base: bool,
) -> tuple[GraphBatch, dict[str, npt.NDArray[np.bool_]]]:
    """Return graphs of equal size, and where motifs are: graph g has ``plans[plan_numbers[g]]``.

    Graphs of one plan differ only in random node numbers, so each plan is drawn in one go.
    """
    planted = sorted({motif for plan in plans for motif in plan})
    largest = max(sum(MOTIFS[motif].n_nodes for motif in plan) for plan in plans)
    n_nodes = check_whole("n_nodes", n_nodes, least=largest + 2)
    m = check_attachment(attachment, n_nodes - largest)
    masks = {motif: np.zeros((len(plan_numbers), n_nodes), dtype=bool) for motif in planted}
    blocks = []
    for number, plan in enumerate(plans):
        members = np.flatnonzero(plan_numbers == number)
        free = n_nodes - sum(MOTIFS[motif].n_nodes for motif in plan)
        edge_blocks = [attachment_edges(len(members), free, m, rng)]
        start = free
        for motif in plan:
            shape = MOTIFS[motif]
            inner = np.array(shape.edges, dtype=np.int64) + start
            edge_blocks.append(np.broadcast_to(inner, (len(members), *inner.shape)))
            old = rng.integers(0, free if on_base else start, size=len(members))
            new = rng.integers(start, start + shape.n_nodes, size=len(members))
            edge_blocks.append(np.stack([old, new], axis=1)[:, None])
            masks[motif][members, start : start + shape.n_nodes] = True
            start += shape.n_nodes
        edges = np.concatenate(edge_blocks, axis=1) + (members * n_nodes)[:, None, None]
        blocks.append(edges.reshape(-1, 2))
    first, second = np.concatenate(blocks).T
    total = len(plan_numbers) * n_nodes
    graphs = GraphBatch(
        np.ones((total, 1), dtype=bool),
        undirected(first, second, total),
        ptr=np.arange(len(plan_numbers) + 1) * n_nodes,
        names=("U0",),
    )
    return graphs, {motif: mask.reshape(-1) for motif, mask in masks.items()}
