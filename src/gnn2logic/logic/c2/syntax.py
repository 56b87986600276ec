"""Formulas of C2: immutable, interned nodes.

C2 is first-order logic with the two variables x and y, unary predicates, one edge predicate E
(or one for each edge relation), equality and the quantifiers "there are at least n". As with the
formulas of EMLC%, equal formulas are the same object; conjunctions and disjunctions are flat,
sorted and free of repeats; `true`, `false` and double negation vanish where they do nothing.
All other quantifiers are defined by ``exists>=n``, see `gnn2logic.logic.c2.build`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from gnn2logic.logic.nodes import InternedFormula, SortKey, natural

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "OTHER",
    "C2And",
    "C2Constant",
    "C2Formula",
    "C2Not",
    "C2Or",
    "C2Predicate",
    "Edge",
    "Equal",
    "Exists",
    "Variable",
]

Variable = Literal["x", "y"]

OTHER: dict[Variable, Variable] = {"x": "y", "y": "x"}

_NAMES, _COUNT = slice(4, 6), 7  # where a key has its names and its count


class C2Formula(InternedFormula):
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

    __slots__ = ("free_variables",)

    children: tuple[C2Formula, ...]
    free_variables: tuple[Variable, ...]

    def __init__(self) -> None:
        raise TypeError(
            "C2 formulas are not constructed by class. Use parse_c2(text), to_c2(formula) or the "
            "operators & | ~."
        )

    @property
    def quantifier_depth(self) -> int:
        """The largest number of nested quantifiers."""
        return self.depth

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

    def _sort_key(self) -> SortKey:
        # A negated formula sorts right after the formula itself, and what relates x and y comes
        # first, so that guards such as E(x,y) open a conjunction.
        if isinstance(self, C2Not):
            return (*self.child.key[:-1], 1)
        name, variables, count = "", "", 0
        if isinstance(self, C2Predicate):
            name, variables = self.name, self.variable
        elif isinstance(self, Edge):
            name, variables = self.relation or "", self.source + self.target
        elif isinstance(self, Exists):
            variables, count = self.variable, self.count
        elif self.children:
            # "One of one, or two of two, or ...": alternatives sort by the numbers they are about.
            count = max(child.key[_COUNT] for child in self.children)
        names = (natural(name), name)
        if self.children:
            names = self.children[-1].key[_NAMES]
        is_unary = len(self.free_variables) < 2
        rank = (is_unary, self.depth, self.size, self._rank)
        return (*rank, *names, variables, count, self.digest, 0)

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


class C2Constant(C2Formula):
    """`true` or `false`."""

    __slots__ = ("value",)
    value: bool
    _symbol = "Constant"
    _rank = 0


class Equal(C2Formula):
    """``x = y``."""

    __slots__ = ()
    _symbol = "Equal"
    _rank = 1


class Edge(C2Formula):
    """``E(source, target)``, for one relation or (None) for all edges."""

    __slots__ = ("relation", "source", "target")
    source: Variable
    target: Variable
    relation: str | None
    _symbol = "Edge"
    _rank = 2


class C2Predicate(C2Formula):
    """A named property of the node that a variable stands for."""

    __slots__ = ("name", "variable")
    name: str
    variable: Variable
    _symbol = "Predicate"
    _rank = 3


class C2Not(C2Formula):
    """A negation."""

    __slots__ = ()
    _symbol = "Not"
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
    _symbol = "Exists"
    _rank = 5
    _deepens = True

    @property
    def body(self) -> C2Formula:
        """The formula that `count` nodes must satisfy."""
        return self.children[0]


class C2And(C2Formula):
    """A conjunction of two or more formulas."""

    __slots__ = ()
    _symbol = "And"
    _rank = 6


class C2Or(C2Formula):
    """A disjunction of two or more formulas."""

    __slots__ = ()
    _symbol = "Or"
    _rank = 7
