"""Modal parameters: which nodes w a node v looks at.

A modal parameter S is a union of three relations between v and w: I (the same node), A (a
neighbour) and N (neither). The eight unions are the paper's ``0, 1, I, A, 1-I, 1-A, I+A, 1-I-A``.
What counts as a neighbour is said by `Edges`: a direction and, for typed edges, a relation.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from gnn2logic._text import quote_name
from gnn2logic._validation import check_name

__all__ = ["ALL_SETS", "OUT_EDGES", "Direction", "Edges", "Modality", "quote_name"]

# Inside the brackets of A[...] any run of these characters needs no quotes.
_BARE_RELATION = re.compile(r"[A-Za-z0-9_.=:+-]+\Z", re.ASCII)


class Direction(enum.Enum):
    """The direction in which edges are followed."""

    OUT = "out"
    IN = "in"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges that make neighbours: a direction and the relation (None: all edges).

    >>> str(Edges()), str(Edges(Direction.IN, "double"))
    ('A', 'A[double]^T')
    """

    direction: Direction = Direction.OUT
    relation: str | None = None

    def __post_init__(self) -> None:
        if self.relation is not None:
            object.__setattr__(self, "relation", check_name(self.relation, what="Relation"))

    def to_text(self, transposed: str = "^T") -> str:
        """Return ``A``, ``A^T``, ``A[r]|A[r]^T``, with another mark for ``^T`` if given."""
        out = "A"
        if self.relation is not None:
            bare = _BARE_RELATION.match(self.relation)
            out += f"[{self.relation if bare else quote_name(self.relation)}]"
        if self.direction is Direction.OUT:
            return out
        back = f"{out}{transposed}"
        return back if self.direction is Direction.IN else f"{out}|{back}"

    def __str__(self) -> str:
        return self.to_text()


OUT_EDGES = Edges()


@dataclass(frozen=True, slots=True)
class Modality:
    """A modal parameter S, the interpretation eps_S(v) of the paper.

    Parameters
    ----------
    itself, neighbours, others : bool
        Whether eps_S(v) contains v, the neighbours of v, and the nodes that are neither.
    edges : Edges
        What a neighbour is. Where it makes no difference (``0``, ``1``, ``I``, ``1-I``) it is
        forgotten, so that equal parameters compare equal.

    Examples
    --------
    >>> str(Modality(True, True, False))
    'I+A'
    >>> Modality(True, False, False, Edges(Direction.IN)) == Modality(True, False, False)
    True
    """

    itself: bool
    neighbours: bool
    others: bool
    edges: Edges = OUT_EDGES

    def __post_init__(self) -> None:
        if self.neighbours == self.others:
            object.__setattr__(self, "edges", OUT_EDGES)

    def __hash__(self) -> int:
        # Parameters are looked up all the time, and the hash of an enumeration is slow.
        return hash((self.itself, self.neighbours, self.others, self.edges.relation))

    @property
    def uses_edges(self) -> bool:
        """Whether the parameter depends on the edges of the graph."""
        return self.neighbours != self.others

    @property
    def is_global(self) -> bool:
        """Whether the parameter looks beyond the node and its neighbours."""
        return self.others

    @property
    def set_name(self) -> str:
        """The paper's name with a plain ``A``, whatever the edges are."""
        return _SET_NAMES[self.itself, self.neighbours, self.others]

    @classmethod
    def from_set(cls, name: str, edges: Edges = OUT_EDGES) -> Modality:
        """Return the parameter with the paper's name, such as ``"1-I-A"``.

        >>> str(Modality.from_set("1-I-A", Edges(Direction.IN)))
        '1-I-A^T'
        """
        return cls(*_SETS_BY_NAME[name], edges)

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, transposed: str = "^T") -> str:
        """Return the parameter as text, with another mark for ``^T`` if given."""
        name = self.set_name
        if not self.uses_edges:
            return name
        edges = self.edges.to_text(transposed)
        if self.edges.direction is Direction.EITHER and name != "A":
            edges = f"({edges})"
        return name.replace("A", edges)

    def sort_key(self) -> tuple[int, str, str]:
        """Return a key that orders parameters: local ones first, then global ones."""
        edges = self.edges
        return (
            ALL_SETS.index(self.set_name),
            edges.relation or "",
            edges.direction.value if self.uses_edges else "",
        )


# In the order in which people meet them: what is near first.
_SETS_BY_NAME: dict[str, tuple[bool, bool, bool]] = {
    "0": (False, False, False),
    "I": (True, False, False),
    "A": (False, True, False),
    "I+A": (True, True, False),
    "1": (True, True, True),
    "1-I": (False, True, True),
    "1-A": (True, False, True),
    "1-I-A": (False, False, True),
}
_SET_NAMES = {flags: name for name, flags in _SETS_BY_NAME.items()}
ALL_SETS: tuple[str, ...] = tuple(_SETS_BY_NAME)
