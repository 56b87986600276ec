"""Names of what the structure of graphs says about nodes and edges, and the words for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gnn2logic._validation import some_of
from gnn2logic.exceptions import ParameterError

__all__ = [
    "FAMILIES",
    "RELATIONS",
    "Families",
    "check_families",
    "predicate_words",
    "relation_words",
    "structure_in_use",
    "structure_predicates",
    "structure_relations",
]

# What `structure=...` takes: one word, several, or True for all of them.
Families = str | Sequence[str] | bool

RING_SIZES = range(3, 9)
TRIANGLE_COUNTS = (0, 1, 3, 7)
CORE_NUMBERS = (1, 2, 3, 4, 5)
CLIQUE_SIZES = (4, 5)
DEGREES = range(5)
LARGE_DEGREES = (4, 9)

_PREDICATES: dict[str, tuple[str, ...]] = {
    "edges": (),
    "rings": tuple(f"ring={size}" for size in RING_SIZES),
    "triangles": tuple(f"triangles > {count}" for count in TRIANGLE_COUNTS),
    "cores": tuple(f"core > {number}" for number in CORE_NUMBERS),
    "cliques": tuple(f"clique={size}" for size in CLIQUE_SIZES),
    "degrees": (
        *(f"degree={number}" for number in DEGREES),
        *(f"degree > {number}" for number in LARGE_DEGREES),
    ),
}

FAMILIES: tuple[str, ...] = tuple(_PREDICATES)
"""The families of predicates and relations, in the order in which they are added."""

RELATIONS = ("ring", "bridge")
"""The relations of the family ``"edges"``: edges on a cycle, and all others."""


def check_families(families: object) -> tuple[str, ...]:
    """Return the families that are meant, in our order.

    >>> check_families("rings"), check_families(["rings", "edges"]), check_families(None)
    (('rings',), ('edges', 'rings'), ())
    """
    if families is None or families is False:
        return ()
    if families is True or (isinstance(families, str) and families == "all"):
        return FAMILIES
    given = [families] if isinstance(families, str) else families
    if not isinstance(given, Sequence) or not all(isinstance(word, str) for word in given):
        raise ParameterError(
            f"structure must be True, one of {some_of(FAMILIES)}, or a list of these. "
            f"Got {families!r} instead."
        )
    for word in given:
        if word not in FAMILIES:
            raise ParameterError(
                f"structure must be made of the words {some_of(FAMILIES)}, or be True for all. "
                f"Got {word!r} instead."
            )
    return tuple(word for word in FAMILIES if word in given)


def structure_predicates(families: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the predicates of some families.

    >>> structure_predicates(["rings"])
    ('ring=3', 'ring=4', 'ring=5', 'ring=6', 'ring=7', 'ring=8')
    """
    return tuple(name for word in families for name in _PREDICATES[word])


def structure_relations(families: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the relations of some families."""
    return RELATIONS if "edges" in families else ()


_WORDS = (
    (r"ring=(\d+)", "in a ring of {}"),
    (r"clique=(\d+)", "in a clique of {}"),
    (r"degree=(\d+)", "of degree {}"),
    (r"degree > (\d+)", "of degree above {}"),
    (r"triangles > (\d+)", "on more than {} triangles"),
)
_KNOWN = frozenset(structure_predicates(FAMILIES))


def predicate_words(name: str) -> str | None:
    """Return what a node is, as in "is in a ring of 6"; None for names that are not ours.

    >>> predicate_words("ring=6"), predicate_words("core > 2"), predicate_words("U0")
    ('in a ring of 6', 'in the 3-core', None)
    """
    if name not in _KNOWN:
        return None
    if name == "triangles > 0":
        return "on a triangle"
    if name == "triangles > 1":
        return "on more than one triangle"
    core = re.fullmatch(r"core > (\d+)", name)
    if core:
        return f"in the {int(core[1]) + 1}-core"
    for pattern, words in _WORDS:
        match = re.fullmatch(pattern, name)
        if match:
            return words.format(match[1])
    raise AssertionError(name)


def relation_words(name: str) -> str | None:
    """Return along what an edge leads, as in "along a ring"; None for names that are not ours."""
    return {"ring": "an edge of a ring", "bridge": "a bridge"}.get(name)


def structure_in_use(names: Iterable[str], relations: Iterable[str]) -> tuple[str, ...]:
    """Return which of some predicates and relations are those of the structure, as formulas say it.

    >>> structure_in_use(["U0", "ring=6"], ["double", "bridge"])
    ('ring=6', 'A[bridge]')
    """
    predicates = (name for name in names if name in _KNOWN)
    return (*predicates, *(f"A[{name}]" for name in relations if name in RELATIONS))
