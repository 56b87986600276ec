"""Formulas of C2: immutable, interned nodes.

C2 is first-order logic with the two variables x and y, unary predicates, one edge predicate E
(or one for each edge relation), equality and the quantifiers "there are at least n". As with the
formulas of EMLC%, equal formulas are the same object; conjunctions and disjunctions are flat,
sorted and free of repeats; `true`, `false` and double negation vanish where they do nothing.
All other quantifiers are defined by ``exists>=n``, see `gnn2logic.logic.c2.build`.
"""

from __future__ import annotations

import hashlib
import re
import threading
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from weakref import WeakValueDictionary

from gnn2logic.logic.immutable import ImmutableFormula

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "OTHER",
    "And",
    "C2Formula",
    "Constant",
    "Edge",
    "Equal",
    "Exists",
    "Not",
    "Or",
    "Predicate",
    "Variable",
    "intern_node",
]

Variable = Literal["x", "y"]

OTHER: dict[Variable, Variable] = {"x": "y", "y": "x"}

SortKey = tuple[Any, ...]


class C2Formula(ImmutableFormula):
    """A formula of C2, first-order logic with two variables and counting quantifiers.

    Made by `parse_c2` or, from a formula of EMLC, by `to_c2`.

    Attributes
    ----------
    free_variables : tuple of str
        The variables that no quantifier binds: ``()`` for a sentence, else some of x and y.
    quantifier_depth : int
        The largest number of nested quantifiers.
    size : int
        The number of atoms, connectives and quantifiers written out as a tree. Derived quantifiers
        count as what they stand for.
    children : tuple of C2Formula

    Examples
    --------
    >>> from gnn2logic.logic.c2 import parse_c2
    >>> phi = parse_c2("exists>=2 y (E(x,y) & !exists=1 x (E(y,x) & U1(x)))")
    >>> phi.free_variables, phi.quantifier_depth, phi.size
    (('x',), 2, 14)
    >>> print(phi.to_unicode())
    ∃≥2 y (E(x,y) ∧ ¬∃=1 x (E(y,x) ∧ U1(x)))
    """

    __slots__ = (
        "children",
        "digest",
        "free_variables",
        "key",
        "quantifier_depth",
        "size",
    )

    children: tuple[C2Formula, ...]
    free_variables: tuple[Variable, ...]
    quantifier_depth: int
    size: int
    digest: bytes
    key: SortKey

    # Kinds come in this order among formulas of one depth and size.
    _rank: ClassVar[int]

    def __init__(self) -> None:
        raise TypeError(
            "C2 formulas are not constructed by class. Use parse_c2(text), to_c2(formula) or the "
            "operators & | ~."
        )

    def __and__(self, other: C2Formula) -> C2Formula:
        from gnn2logic.logic.c2.build import conjunction

        return conjunction((self, other)) if isinstance(other, C2Formula) else NotImplemented

    def __or__(self, other: C2Formula) -> C2Formula:
        from gnn2logic.logic.c2.build import disjunction

        return disjunction((self, other)) if isinstance(other, C2Formula) else NotImplemented

    def __invert__(self) -> C2Formula:
        from gnn2logic.logic.c2.build import negation

        return negation(self)

    def __lt__(self, other: C2Formula) -> bool:
        """Compare in a stable total order: what relates x and y first, then small formulas."""
        return self.key < other.key if isinstance(other, C2Formula) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        from gnn2logic.logic.c2.parsing import parse_c2

        # The text is as small as the formula in memory, and is read back as the same object.
        return parse_c2, (str(self),)

    def __str__(self) -> str:
        from gnn2logic.logic.c2.printing import to_text

        return to_text(self)

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def to_unicode(self) -> str:
        """Return the formula in mathematical Unicode; `parse_c2` reads it back."""
        from gnn2logic.logic.c2.printing import to_unicode

        return to_unicode(self)

    def to_latex(self) -> str:
        """Return the formula as LaTeX for math mode."""
        from gnn2logic.logic.c2.printing import to_latex

        return to_latex(self)

    def evaluate(
        self, graphs: object, *, level: Literal["graph", "node"] = "graph"
    ) -> npt.NDArray[np.bool_]:
        """Return the truth of the formula on simple undirected graphs, by way of `from_c2`.

        The free variable, if there is one, runs over the nodes. `level` is as in
        `gnn2logic.logic.evaluate`.

        >>> import numpy as np
        >>> from gnn2logic.graphs import GraphBatch
        >>> from gnn2logic.logic.c2 import parse_c2
        >>> triangle = GraphBatch(None, 1 - np.eye(3, dtype=int))
        >>> parse_c2("forall x exists=2 y E(x,y)").evaluate(triangle)
        array([ True])
        """
        from gnn2logic.logic.c2.to_emlc import evaluate_c2

        return evaluate_c2(self, graphs, level=level)


class Constant(C2Formula):
    """`true` or `false`."""

    __slots__ = ("value",)
    value: bool
    _rank = 0


class Equal(C2Formula):
    """``x = y``."""

    __slots__ = ()
    _rank = 1


class Edge(C2Formula):
    """``E(source, target)``, for one relation or (None) for all edges."""

    __slots__ = ("relation", "source", "target")
    source: Variable
    target: Variable
    relation: str | None
    _rank = 2


class Predicate(C2Formula):
    """A named property of the node that a variable stands for."""

    __slots__ = ("name", "variable")
    name: str
    variable: Variable
    _rank = 3


class Not(C2Formula):
    """A negation."""

    __slots__ = ()
    _rank = 4

    @property
    def child(self) -> C2Formula:
        """The negated formula."""
        return self.children[0]


class Exists(C2Formula):
    """``exists>=count variable body``, with a count of at least 1."""

    __slots__ = ("count", "variable")
    count: int
    variable: Variable
    _rank = 5

    @property
    def body(self) -> C2Formula:
        """The formula that `count` nodes must satisfy."""
        return self.children[0]


class And(C2Formula):
    """A conjunction of two or more formulas."""

    __slots__ = ()
    _rank = 6


class Or(C2Formula):
    """A disjunction of two or more formulas."""

    __slots__ = ()
    _rank = 7


# Interning -----------------------------------------------------------------------------------

_table: WeakValueDictionary[tuple[Any, ...], C2Formula] = WeakValueDictionary()
_table_lock = threading.Lock()


def intern_node(
    kind: type[C2Formula],
    children: tuple[C2Formula, ...] = (),
    *,
    free: tuple[Variable, ...],
    **fields: Any,
) -> C2Formula:
    """Return the one node with these parts, making it if there is none yet."""
    identity = (kind, tuple(fields.values()), children)
    with _table_lock:
        node = _table.get(identity)
        if node is None:
            node = object.__new__(kind)
            write = object.__setattr__
            for name, value in fields.items():
                write(node, name, value)
            content = repr((kind.__name__, tuple(fields.values())))
            digest = hashlib.blake2b(content.encode(), digest_size=16)
            for child in children:
                digest.update(child.digest)
            depth = max((child.quantifier_depth for child in children), default=0)
            operators = len(children) - 1 if kind in (And, Or) else 1
            write(node, "children", children)
            write(node, "free_variables", free)
            write(node, "quantifier_depth", depth + 1 if kind is Exists else depth)
            write(node, "size", sum(child.size for child in children) + operators)
            write(node, "digest", digest.digest())
            write(node, "key", _sort_key(node))
            _table[identity] = node
        return node


def _natural(name: str) -> str:
    """Return a key that sorts U2 before U10."""
    return re.sub(r"[0-9]+", lambda digits: digits[0].zfill(12), name)


_NAMES, _COUNT = slice(4, 6), 7  # where a key has its names and its count


def _sort_key(node: C2Formula) -> SortKey:
    """Return a flat key; a negated formula sorts right after the formula itself.

    What relates x and y comes first, so that guards such as E(x,y) open a conjunction.
    """
    if isinstance(node, Not):
        return (*node.child.key[:-1], 1)
    name, variables, count = "", "", 0
    if isinstance(node, Predicate):
        name, variables = node.name, node.variable
    elif isinstance(node, Edge):
        name, variables = node.relation or "", node.source + node.target
    elif isinstance(node, Exists):
        variables, count = node.variable, node.count
    elif node.children:
        # "One of one, or two of two, or ...": alternatives sort by the numbers they are about.
        count = max(child.key[_COUNT] for child in node.children)
    names = (_natural(name), name)
    if node.children:
        names = node.children[-1].key[_NAMES]
    return (
        len(node.free_variables) < 2,
        node.quantifier_depth,
        node.size,
        node._rank,
        *names,
        variables,
        count,
        node.digest,
        0,
    )
