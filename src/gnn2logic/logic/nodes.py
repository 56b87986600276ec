"""What formulas of every logic have in common: interned nodes, and the walk over them.

Equal formulas are one object, so equality and hashing cost nothing however large or shared a
formula is. EMLC% (`gnn2logic.logic.syntax`) and C2 (`gnn2logic.logic.c2.syntax`) say what nodes
there are and in which order they stand.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, Self, TypeVar
from weakref import WeakValueDictionary

__all__ = ["InternedFormula", "SortKey", "flat_operands", "intern_node", "natural", "post_order"]

SortKey = tuple[Any, ...]

_SHOWN = 200


class InternedFormula:
    """A formula of some logic: it never changes, so a copy of it is itself."""

    __slots__ = ("__weakref__", "_hash", "children", "depth", "digest", "key", "size")

    children: tuple[Self, ...]
    size: int
    depth: int
    digest: bytes
    key: SortKey
    _hash: int

    # What digests know a class by. They settle the order of formulas, so it stays for ever.
    _symbol: ClassVar[str]
    # Classes come in this order among formulas of one depth and size.
    _rank: ClassVar[int]
    # Whether nodes of this class look at other nodes of the graph.
    _deepens: ClassVar[bool] = False

    def _sort_key(self) -> SortKey:
        """Return a flat key; it never recurses, so shared formulas cost nothing."""
        raise NotImplementedError

    def __lt__(self, other: Self) -> bool:
        return NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Formulas are immutable; {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Formulas are immutable; {name!r} cannot be deleted.")

    def __bool__(self) -> bool:
        raise TypeError(
            "A formula has no truth value of its own; evaluate it on graphs. "
            "Combine formulas with & | ~, not with and, or, not, and write a < A(phi) < b as "
            "(a < A(phi)) & (A(phi) < b)."
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        text = str(self)
        shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        for ancestor in type(self).__mro__:
            if ancestor.__base__ is InternedFormula:
                return f"<{ancestor.__name__} {shown}>"
        return f"<{shown}>"


AnyFormula = TypeVar("AnyFormula", bound=InternedFormula)
Item = TypeVar("Item", bound=Hashable)

_table: WeakValueDictionary[tuple[Any, ...], InternedFormula] = WeakValueDictionary()
_table_lock = threading.Lock()


def intern_node(
    node_type: type[AnyFormula],
    content: str,
    children: tuple[AnyFormula, ...] = (),
    **fields: Any,
) -> Any:
    """Return the one node with these children and fields, making it if there is none yet.

    `content` is all that tells it from other nodes with the same children. Whoever calls gets the
    type that the class says; a checker could not know it.
    """
    identity = (node_type, content, children)
    with _table_lock:
        node = _table.get(identity)
        if node is None:
            node = object.__new__(node_type)
            digest = hashlib.blake2b(content.encode(), digest_size=16)
            for child in children:
                digest.update(child.digest)
            write = object.__setattr__
            # A connective of n formulas stands n - 1 times in the text, all else once.
            symbols = max(len(children) - 1, 1)
            depth = max((child.depth for child in children), default=0)
            write(node, "children", children)
            write(node, "size", sum(child.size for child in children) + symbols)
            write(node, "depth", depth + node_type._deepens)
            write(node, "digest", digest.digest())
            write(node, "_hash", int.from_bytes(node.digest[:8], "big", signed=True))
            for name, value in fields.items():
                write(node, name, value)
            write(node, "key", node._sort_key())
            _table[identity] = node
        return node


def flat_operands(
    connective: type[AnyFormula],
    formulas: Iterable[AnyFormula],
    *,
    neutral: AnyFormula,
    absorbing: AnyFormula,
) -> tuple[AnyFormula, ...]:
    """Return what a conjunction or disjunction is made of: flat, sorted, each once.

    A single formula stands for the whole: the neutral one if there is nothing else, the absorbing
    one wherever it is.
    """
    operands: dict[AnyFormula, None] = {}
    for formula in formulas:
        operands.update(
            dict.fromkeys(formula.children if type(formula) is connective else (formula,))
        )
    operands.pop(neutral, None)
    if absorbing in operands:
        return (absorbing,)
    return tuple(sorted(operands)) or (neutral,)


def natural(name: str) -> str:
    """Return a key that sorts U2 before U10."""
    return re.sub(r"[0-9]+", lambda digits: digits[0].zfill(12), name)


def post_order(roots: Iterable[Item], below: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Return all that is reached from the roots, each once, behind what is below it.

    It does not recurse: formulas may be thousands of layers deep.
    """
    done: dict[Item, None] = {}
    stack: list[tuple[Item, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        item, below_done = stack.pop()
        if below_done:
            done[item] = None
        elif item not in done:
            stack.append((item, True))
            stack.extend((other, False) for other in reversed(list(below(item))))
    return list(done)
