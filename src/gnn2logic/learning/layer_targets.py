"""What the trees of a layer are fitted to: which targets, and how they become whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnn2logic.learning.shard.shards import Shards
from gnn2logic.learning.shard.state import ShardState
from gnn2logic.learning.targets import Quantiser, TargetBounds, fixed_point, projection

__all__ = ["quantiser_of"]

BoolArray = npt.NDArray[np.bool_]
_WRAP = 2**64


def quantiser_of(
    shards: Shards,
    layer: int,
    prints: dict[int, list[int]],
    *,
    total_weight: int,
    n_directions: int | None,
    two_classes: bool,
) -> Quantiser:
    """Return how the targets of a layer become whole numbers.

    Parameters
    ----------
    prints : dict
        The numbers of the known columns by their fingerprint; column 0 is true everywhere.
    n_directions : int or None
        Wider targets are projected onto so many principal directions for the split search; None
        keeps all targets, the exact criterion.
    two_classes : bool
        Whether the targets are the two classes of graphs.
    """
    bounds = shards.ask(ShardState.bounds, layer)
    channels = ~_repeated(shards, layer, bounds, prints)
    if not channels.any():
        channels[:] = True
    lowest, highest = bounds.lowest[channels], bounds.highest[channels]
    projected = n_directions is not None and len(lowest) > n_directions
    scale = fixed_point(lowest, highest, total_weight, square=projected)
    if not projected:
        return Quantiser(channels, scale, has_opposites=two_classes)
    assert n_directions is not None
    first, second = shards.ask(ShardState.moments, layer, Quantiser(channels, scale))
    return Quantiser(channels, scale, projection(first, second, total_weight, n_directions))


def _repeated(
    shards: Shards, layer: int, bounds: TargetBounds, prints: dict[int, list[int]]
) -> BoolArray:
    """Return which targets only repeat a column, or its negation.

    Networks that pass features on have such channels. A tree that predicts them makes no new
    column, and they would be the easiest to predict.
    """
    others, where_high = shards.ask(ShardState.two_valued, layer, bounds)
    true = next(print_ for print_, columns in prints.items() if 0 in columns)
    pairs: list[tuple[int, int]] = []
    signs: list[bool] = []
    for channel in np.flatnonzero((others == 0) & (bounds.lowest < bounds.highest)).tolist():
        high = int(where_high[channel])
        for print_, negated in ((high, False), ((true - high) % _WRAP, True)):
            for column in prints.get(print_, []):
                pairs.append((channel, column))
                signs.append(negated)
    repeated = np.zeros(len(others), dtype=bool)
    if pairs:
        counts = shards.ask(ShardState.target_differences, layer, bounds, pairs, signs)
        for (channel, _), count in zip(pairs, counts.tolist(), strict=True):
            repeated[channel] |= count == 0
    return repeated
