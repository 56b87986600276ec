"""What networks of formulas are made of: edges as modal parameters see them, and sparse weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag
from torch_geometric.utils import coalesce

from gnn2logic._validation import some_of
from gnn2logic.exceptions import FeatureError, GraphError, UnsupportedInputError
from gnn2logic.graphs.modality import Direction, Edges, Modality

__all__ = ["ModalEdges", "SparseWeights", "check_batch", "check_relations"]

WeightedEdges = tuple[Tensor, Tensor]


class ModalEdges:
    """The edges that messages run along, for every modal parameter, derived once per forward pass.

    Parameters
    ----------
    edge_index : Tensor of shape (2, n_edges)
        Edges from row 0 to row 1; repeated columns are multi-edges.
    batch : Tensor of shape (n_nodes,)
        The graph of every node.
    edge_type : Tensor, optional
        The number of the relation of every edge, or one column of 0 and 1 for each relation.
    relations : sequence of str, optional
        The names of the relations; by default they are the numbers themselves.
    """

    def __init__(
        self,
        edge_index: Tensor,
        batch: Tensor,
        edge_type: Tensor | None = None,
        relations: Sequence[str] | None = None,
    ) -> None:
        _check_edges(edge_index, batch)
        self.batch = batch
        self.n_nodes = len(batch)
        self._edge_index = edge_index
        self._edge_type = edge_type
        self._relations = relations
        self._known: dict[tuple[Edges, bool], WeightedEdges] = {}

    def messages(self, modality: Modality) -> WeightedEdges:
        """Return the edges from w to v, and how often w counts for v.

        These are the neighbours that the parameter adds (``A``, ``I+A``) or takes away (``1-A``,
        ``1-I-A``). Complements are complements of sets, so there every neighbour counts once. The
        node itself is left out where the parameter speaks of it in its own right.
        """
        index, counts = self._oriented(modality.edges, as_set=modality.others)
        if modality.itself == modality.neighbours:
            other = index[0] != index[1]
            index, counts = index[:, other], counts[other]
        return index, counts

    def _oriented(self, edges: Edges, *, as_set: bool) -> WeightedEdges:
        if (edges, as_set) not in self._known:
            outgoing = self._edge_index.flip(0)  # v looks along v -> w, so w sends to v
            if edges.relation is not None:
                outgoing = outgoing[:, self._in_relation(edges.relation)]
            self._known[edges, as_set] = self._directed(outgoing, edges.direction, as_set)
        return self._known[edges, as_set]

    def _directed(self, outgoing: Tensor, direction: Direction, as_set: bool) -> WeightedEdges:
        if direction is Direction.IN:
            outgoing = outgoing.flip(0)
        counts = outgoing.new_ones(outgoing.shape[1])
        if direction is Direction.EITHER:
            # The union of two multisets: a neighbour on both sides counts as on the larger one.
            index, counts = self._merged(outgoing, counts, "add")
            both = torch.cat([index, index.flip(0)], dim=1)
            outgoing, counts = self._merged(both, counts.repeat(2), "max")
        elif as_set:
            outgoing, counts = self._merged(outgoing, counts, "add")
        return outgoing, torch.ones_like(counts) if as_set else counts

    def _merged(self, index: Tensor, counts: Tensor, reduce: str) -> WeightedEdges:
        merged: WeightedEdges = coalesce(index, counts, num_nodes=self.n_nodes, reduce=reduce)
        return merged

    def _in_relation(self, relation: str) -> Tensor:
        """Return which edges belong to a relation."""
        edge_type, n_edges = self._edge_type, self._edge_index.shape[1]
        if edge_type is None:
            if n_edges == 0:
                return torch.zeros(0, dtype=torch.bool, device=self.batch.device)
            raise GraphError(
                f"edge_type must be given, because the formula speaks of the relation "
                f"{relation!r}. Got None instead."
            )
        if edge_type.ndim not in (1, 2) or edge_type.shape[0] != n_edges:
            raise GraphError(
                f"edge_type must have one entry for each of the {n_edges} edges. "
                f"Got shape {tuple(edge_type.shape)} instead."
            )
        number = self._number(relation)
        if edge_type.ndim == 1:
            return edge_type == number
        if number >= edge_type.shape[1]:
            raise GraphError(
                f"edge_type must have a column for each relation. Got {edge_type.shape[1]} columns "
                f"and no column {number} for {relation!r}."
            )
        column = edge_type[:, number]
        if not ((column == 0) | (column == 1)).all():
            raise GraphError("edge_type must hold 0 and 1 when it has a column for each relation.")
        return column != 0

    def _number(self, relation: str) -> int:
        if self._relations is None:
            return int(relation)
        return self._relations.index(relation)


def check_batch(batch: Tensor, n_nodes: int) -> None:
    """Refuse a vector that does not say which graph each node is in."""
    if not isinstance(batch, Tensor) or batch.shape != (n_nodes,) or not _is_whole(batch):
        got = (
            f"shape {tuple(batch.shape)}, dtype {batch.dtype}"
            if isinstance(batch, Tensor)
            else type(batch).__name__
        )
        raise GraphError(
            f"batch must have one graph number for each of the {n_nodes} nodes. Got {got} instead."
        )
    if int(batch.min()) < 0:
        raise GraphError(f"batch must hold numbers from 0 on. Got {int(batch.min())}.")


def _is_whole(values: Tensor) -> bool:
    return not (values.is_floating_point() or values.is_complex() or values.dtype == torch.bool)


def _check_edges(edge_index: Tensor, batch: Tensor) -> None:
    if not isinstance(edge_index, Tensor):
        raise UnsupportedInputError(
            f"edge_index must be a tensor. Got {type(edge_index).__name__} instead; without edges "
            "it is torch.zeros(2, 0, dtype=torch.long)."
        )
    if edge_index.ndim != 2 or edge_index.shape[0] != 2 or not _is_whole(edge_index):
        raise GraphError(
            "edge_index must be a tensor of whole numbers with two rows, sources and targets. "
            f"Got shape {tuple(edge_index.shape)}, dtype {edge_index.dtype} instead."
        )
    if not edge_index.numel():
        return
    lowest, highest = int(edge_index.min()), int(edge_index.max())
    if lowest < 0 or highest >= len(batch):
        raise GraphError(
            f"edge_index must hold node numbers from 0 to {len(batch) - 1}. "
            f"Got {lowest if lowest < 0 else highest}."
        )
    if (batch[edge_index[0]] != batch[edge_index[1]]).any():
        raise GraphError("Both ends of an edge must be in one graph. Got an edge between two.")


def check_relations(used: Sequence[str], relations: Sequence[str] | None) -> None:
    """Refuse relations of a formula that no value of ``edge_type`` can stand for."""
    for relation in used:
        if relations is None and not (relation.isascii() and relation.isdigit()):
            raise FeatureError(
                f"The formula speaks of the relation {relation!r}, which is not a number of "
                "edge_type. Give the names in the order of their numbers: relations=[...]."
            )
        if relations is not None and relation not in relations:
            raise FeatureError(
                f"The formula speaks of the relation {relation!r}, which is not among relations: "
                f"{some_of(tuple(relations))}."
            )


class SparseWeights(nn.Module):
    """Weights from channels to channels, of which those that are not 0 are kept.

    Parameters
    ----------
    entries : mapping from (source, target) to weight
    n_targets : int
    """

    source: Tensor
    starts: Tensor

    def __init__(self, entries: Mapping[tuple[int, int], int], n_targets: int) -> None:
        super().__init__()
        kept = sorted((to, source, weight) for (source, to), weight in entries.items() if weight)
        counts = torch.bincount(
            torch.tensor([to for to, _, _ in kept], dtype=torch.long), minlength=n_targets
        )
        # The weights of one target stand together; the last number is where all of them end.
        starts = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
        self.register_buffer(
            "source", torch.tensor([source for _, source, _ in kept], dtype=torch.long)
        )
        self.register_buffer("starts", starts)
        values = torch.tensor([weight for *_, weight in kept], dtype=torch.get_default_dtype())
        self.values = nn.Parameter(values, requires_grad=False)

    def forward(self, h: Tensor) -> Tensor:
        """Return the weighted sums of the rows of `h`, one for each target."""
        if not len(self.values):
            return h.new_zeros(len(self.starts) - 1, h.shape[1])
        return embedding_bag(
            self.source,
            h,
            self.starts,
            mode="sum",
            per_sample_weights=self.values,
            include_last_offset=True,
        )
