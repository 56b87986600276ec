"""Asking about every small graph, one of each isomorphism class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from torch_geometric.data import Data

from gnn2logic.certification.answers import ModelPair
from gnn2logic.certification.certificates import Certificate
from gnn2logic.distillation.mutation import Candidate, Material
from gnn2logic.exceptions import EquivalenceError, UnsupportedInputError
from gnn2logic.logic.equivalence.enumeration import ColouredGraphs, coloured_graphs
from gnn2logic.logic.equivalence.orbits import Representatives, bit_matrix
from gnn2logic.logic.equivalence.result import Deadline, OutOfTimeError
from gnn2logic.logic.equivalence.space import GraphSpace, count_nodes, enumerable_nodes

__all__ = ["agreed_sizes", "certify_all_graphs", "sorts_in_words"]

_AT_ONCE = 2048


@dataclass(frozen=True)
class _NodeTypes(GraphSpace):
    """All graphs whose nodes have one of some sorts of features."""

    n_types: int = 1

    @property
    def n_colours(self) -> int:
        """The number of sorts."""
        return self.n_types


def certify_all_graphs(
    pair: ModelPair,
    graphs: list[Data],
    *,
    max_nodes: int,
    graph_class: str,
    time_limit: float | None,
    max_graphs: int,
    of_data: bool,
) -> Certificate:
    """Return whether two agree on all graphs of up to so many nodes.

    The given graphs have all sorts of nodes that are tried: of data, or all that there can be.
    """
    material = Material.of(graphs)
    if len(material.edge_types) > 1:
        raise UnsupportedInputError(
            "The exhaustive grade is for edges of one sort. The given graphs have "
            f"{len(material.edge_types)} sorts of edge attributes."
        )
    space = _space_of(material, graph_class)
    reachable, n_graphs = enumerable_nodes(space, max_nodes, max_graphs)
    if reachable < max_nodes:
        raise EquivalenceError(
            f"There are {n_graphs:,} {space.describe(reachable + 1)} of "
            f"{sorts_in_words(space.n_types)}; "
            f"max_graphs allows {max_graphs:,}. Set max_nodes to at most {reachable} instead of "
            f"{max_nodes}."
        )
    deadline = Deadline(time_limit)
    proven, finished = 0, False
    try:
        for n_nodes in range(1, max_nodes + 1):
            _run_size(pair, material, space, n_nodes, deadline)
            if pair.n_disagreements:
                break
            proven = n_nodes
        finished = True
    except OutOfTimeError:
        pass
    return _certificate(pair, space, proven, max_nodes, finished, of_data=of_data)


def agreed_sizes(
    pair: ModelPair,
    graphs: list[Data],
    *,
    max_nodes: int,
    graph_class: str,
    max_graphs: int,
    deadline: Deadline,
) -> Iterator[int]:
    """Run two on all graphs of each size, while these are few; yield the sizes on which they agree.

    Where they differ, the pair has graphs that show it.
    """
    material = Material.of(graphs)
    if len(material.edge_types) != 1:
        return
    space = _space_of(material, graph_class)
    reachable, _ = enumerable_nodes(space, max_nodes, max_graphs)
    for n_nodes in range(1, reachable + 1):
        _run_size(pair, material, space, n_nodes, deadline)
        if pair.n_disagreements:
            return
        yield n_nodes


def _space_of(material: Material, graph_class: str) -> _NodeTypes:
    # Without any edge in the data there is no attribute to copy, and none is needed.
    relations: tuple[str | None, ...] = (None,) if len(material.edge_types) else ()
    return _NodeTypes(graph_class, relations, (), len(material.node_types))


def _run_size(
    pair: ModelPair, material: Material, space: _NodeTypes, n_nodes: int, deadline: Deadline
) -> None:
    """Run two on all graphs of a size, or until a level of them shows a difference."""
    for level in coloured_graphs(space, n_nodes, Representatives(space, deadline)):
        for some in level:
            _ask(pair, material, space, some, deadline)
        # All graphs of the level with the first difference: smallest ones are together.
        if pair.n_disagreements:
            return


def _ask(
    pair: ModelPair,
    material: Material,
    space: GraphSpace,
    graphs: ColouredGraphs,
    deadline: Deadline,
) -> None:
    n_nodes = graphs.colours.shape[1]
    slots = space.slots(n_nodes)
    taken = bit_matrix(graphs.edges, len(slots)).astype(bool)
    ends: npt.NDArray[np.int64] = np.array(
        [(slot.source, slot.target) for slot in slots], dtype=np.int64
    ).reshape(-1, 2)
    for start in range(0, len(taken), _AT_ONCE):
        deadline.check()
        block = []
        for row in range(start, min(start + _AT_ONCE, len(taken))):
            pairs = ends[taken[row]]
            if space.symmetric:
                other = pairs[pairs[:, 0] != pairs[:, 1]]
                pairs = np.concatenate([pairs, other[:, ::-1]])
            nodes = material.node_types[graphs.colours[row]]
            edges = np.repeat(material.edge_types[:1], len(pairs))
            block.append(material.data(Candidate(0, nodes, pairs.T.copy(), edges)))
        pair.ask(block)


def sorts_in_words(count: int) -> str:
    """Return ``one sort of nodes``, ``2 sorts of nodes``, ..."""
    return "one sort of nodes" if count == 1 else f"{count} sorts of nodes"


def _certificate(
    pair: ModelPair,
    space: _NodeTypes,
    proven: int,
    max_nodes: int,
    finished: bool,
    *,
    of_data: bool,
) -> Certificate:
    n, k = pair.n_compared, pair.n_disagreements
    sorts = sorts_in_words(space.n_types)
    of_sorts = f", of the {sorts} in the data" if of_data else ""
    if not of_data and space.n_types > 1:
        of_sorts = f", of all {sorts} that there can be"
    source = f"{space.describe(max_nodes)}{of_sorts}"
    where = f"all {space.describe(proven)}{of_sorts}" if proven else ""
    if k:
        first = pair.counterexamples[0]
        statement = (
            f"Rule and network differ on a graph with {count_nodes(first.graph.n_nodes)}: the rule "
            f"says {first.model}, the network {first.teacher}."
        )
        if proven:
            statement += f" They agree on {where}."
    elif finished:
        statement = (
            f"Rule and network agree on {where}: all {n:,} of them, up to isomorphism, were run. "
            f"This says nothing about larger graphs{', or nodes of other sorts' * of_data}."
        )
    else:
        statement = f"Undecided: time ran out after {n:,} graphs without a difference."
        if proven:
            statement += f" Rule and network agree on {where}."
    return Certificate(
        grade="exhaustive",
        holds=False if k else True if finished else None,
        statement=statement,
        n_compared=n,
        n_disagreements=k,
        agreement=1.0 if finished and not k else 0.0,
        confidence=None,
        source=source,
        max_nodes=proven,
        counterexamples=pair.counterexamples,
    )
