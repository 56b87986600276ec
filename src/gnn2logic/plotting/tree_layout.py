"""Where the nodes of a tree go: as narrow as can be without anything overlapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Placed", "place_nodes"]

# How far the two children of a node are apart at least: the words on their edges need room.
_SIBLINGS = 58.0


@dataclass(frozen=True)
class Placed:
    """The middle of every node, and where each row of nodes begins and ends."""

    x: list[float]
    depth: list[int]
    row_tops: list[float]
    row_bottoms: list[float]


def place_nodes(
    children: Sequence[tuple[int, int] | None],
    sizes: Sequence[tuple[float, float]],
    *,
    gap: float,
    level: float,
) -> Placed:
    """Return the places of nodes of different sizes; the root is at x = 0.

    Children come after their parent in all sequences.

    Two subtrees stand as close as their outlines allow, and a node stands in the middle above its
    children (the idea of Reingold and Tilford's tidy trees).

    >>> placed = place_nodes([(1, 2), None, None], [(10, 10)] * 3, gap=90, level=20)
    >>> placed.x, placed.row_tops
    ([0.0, -50.0, 50.0], [0.0, 30.0])
    """
    offset: dict[int, float] = {}
    outlines: dict[int, list[tuple[float, float]]] = {}
    for node in reversed(range(len(children))):
        half = sizes[node][0] / 2
        below = children[node]
        outlines[node] = [(-half, half)]
        if below is not None:
            left, right = (outlines.pop(child) for child in below)
            apart = max(a[1] - b[0] + gap for a, b in zip(left, right, strict=False))
            shift = max(apart, _SIBLINGS) / 2
            offset[below[0]], offset[below[1]] = -shift, shift
            outlines[node] += _joined(left, right, shift)
    x = [0.0] * len(children)
    depth = [0] * len(children)
    for node, below in enumerate(children):
        for child in below or ():
            x[child] = x[node] + offset[child]
            depth[child] = depth[node] + 1
    tops, bottoms = [], []
    y = 0.0
    for row in range(max(depth) + 1):
        height = max(size[1] for size, own in zip(sizes, depth, strict=True) if own == row)
        tops.append(y)
        bottoms.append(y + height)
        y += height + level
    return Placed(x, depth, tops, bottoms)


def _joined(
    left: list[tuple[float, float]], right: list[tuple[float, float]], shift: float
) -> list[tuple[float, float]]:
    """Return the outline of two subtrees, moved apart."""
    joined = []
    for row in range(max(len(left), len(right))):
        ends = []
        if row < len(left):
            ends += [left[row][0] - shift, left[row][1] - shift]
        if row < len(right):
            ends += [right[row][0] + shift, right[row][1] + shift]
        joined.append((min(ends), max(ends)))
    return joined
