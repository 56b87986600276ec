"""A matrix of weights that is nearly all zeros: a channel of a formula has few parts."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

__all__ = ["SparseWeights"]


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
        kept = sorted((to, own, weight) for (own, to), weight in entries.items() if weight)
        counts = torch.bincount(
            torch.tensor([to for to, _, _ in kept], dtype=torch.long), minlength=n_targets
        )
        # The weights of one target stand together; the last number is where all of them end.
        starts = torch.cat([torch.zeros(1, dtype=torch.long), counts.cumsum(0)])
        self.register_buffer("source", torch.tensor([own for _, own, _ in kept], dtype=torch.long))
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
