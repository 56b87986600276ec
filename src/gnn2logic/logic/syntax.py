"""Formulas of EMLC%: immutable, interned nodes.

Equal formulas are the same object, so equality and hashing cost nothing however large or shared a
formula is. Conjunctions and disjunctions are flat, sorted and free of repeats; `true`, `false` and
double negation vanish where they do nothing. Everything else is kept as written: folding and
minimising is the work of `gnn2logic.logic.simplification`.

What one does with a formula (print, evaluate, translate, ...) lives in modules of its own; the
methods here only forward to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, overload

from gnn2logic._validation import check_name
from gnn2logic.exceptions import FormulaError
from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.nodes import (
    InternedFormula,
    SortKey,
    flat_operands,
    intern_node,
    natural,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from gnn2logic.logic.c2.syntax import C2Formula
    from gnn2logic.logic.export import CypherNames, SqlTables
    from gnn2logic.logic.printing.english_words import Names

__all__ = [
    "FALSE",
    "TRUE",
    "And",
    "Constant",
    "Formula",
    "Modal",
    "Not",
    "Or",
    "Predicate",
    "Threshold",
    "conjunction",
    "disjunction",
    "modal",
    "negation",
    "predicate",
]

Threshold = int | Fraction
"""A whole number n >= 0 compares a count, a fraction 0 < p < 1 compares a share."""

# No graph needs more, and Python prints no more than 4300 digits.
_MAX_BITS = 4000

# Labels only make the order pleasant; beyond this length digests decide.
_LABEL_LENGTH = 80
_LABEL = 4  # where a key has its label


class Formula(InternedFormula):
    """A formula of EMLC%, true or false at every node of a graph.

    Formulas are made by `parse`, by `predicate` and the operators ``& | ~``, and by comparing what
    a modal parameter counts: ``A(predicate("U0")) > 6``.

    Attributes
    ----------
    size : int
        The number of predicates, constants, connectives and modal parameters written out as a tree.
    modal_depth : int
        The largest number of nested modal parameters.
    children : tuple of Formula

    Examples
    --------
    >>> from gnn2logic.logic import A, parse, predicate
    >>> phi = (A(predicate("U0")) > 6) & ~predicate("U1")
    >>> print(phi)
    !U1 & A U0 > 6
    >>> phi is parse("A U0 > 6 & !U1")
    True
    >>> phi.size, phi.modal_depth
    (5, 1)
    """

    __slots__ = ()

    children: tuple[Formula, ...]

    def __init__(self) -> None:
        raise TypeError(
            "Formulas are not constructed by class. Use parse(text), predicate(name), the "
            "operators & | ~, or a comparison such as A(phi) > 3."
        )

    @property
    def modal_depth(self) -> int:
        """The largest number of nested modal parameters."""
        return self.depth

    def __and__(self, other: Formula) -> Formula:
        return conjunction((self, other)) if isinstance(other, Formula) else NotImplemented

    def __or__(self, other: Formula) -> Formula:
        return disjunction((self, other)) if isinstance(other, Formula) else NotImplemented

    def __invert__(self) -> Formula:
        return negation(self)

    def __lt__(self, other: Formula) -> bool:
        """Compare in a stable total order: shallow and small formulas first."""
        return self.key < other.key if isinstance(other, Formula) else NotImplemented

    def _sort_key(self) -> SortKey:
        # A negated formula sorts right after the formula itself, and comparisons of one count sort
        # by threshold, so that bounds of one interval stand together.
        if isinstance(self, Not):
            return (*self.child.key[:-1], 1)
        seen, content, ratio, threshold = (0, "", ""), self.digest, False, Fraction(0)
        if isinstance(self, Modal):
            seen, content = self.modality.sort_key(), self.child.digest
            ratio, threshold = self.is_ratio, Fraction(self.threshold)
        if isinstance(self, Predicate):
            label = f"{natural(self.name)}\0{self.name}"
        else:
            label = "\1".join(child.key[_LABEL] for child in self.children)[:_LABEL_LENGTH]
        rank = (self.depth, self.size, self._rank)
        return (*rank, seen, label, content, ratio, threshold, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        from gnn2logic.logic.documents import formula_from_document, formula_to_document

        return formula_from_document, (formula_to_document(self),)

    def __str__(self) -> str:
        from gnn2logic.logic.printing import to_text

        return to_text(self)

    def _repr_latex_(self) -> str:
        return f"${self.to_latex()}$"

    def _repr_html_(self) -> str:
        from gnn2logic.logic.printing import to_html

        return to_html(self)

    def to_unicode(self) -> str:
        """Return the formula in mathematical Unicode; `parse` reads it back."""
        from gnn2logic.logic.printing import to_unicode

        return to_unicode(self)

    def to_latex(self) -> str:
        """Return the formula as LaTeX for math mode."""
        from gnn2logic.logic.printing import to_latex

        return to_latex(self)

    def to_english(self, names: Names | None = None) -> str:
        """Return the formula as an English sentence.

        Parameters
        ----------
        names : mapping of str to str or (str, str), optional
            Words for predicates and relations: what follows "is", such as "aromatic", or a noun
            for one node and for several, such as ("carbon atom", "carbon atoms").
        """
        from gnn2logic.logic.printing import to_english

        return to_english(self, names=names)

    def to_c2(self) -> C2Formula:
        """Return the equivalent formula of C2, with two variables."""
        from gnn2logic.logic.c2 import to_c2

        return to_c2(self)

    def to_json(self) -> str:
        """Return the formula as a JSON document; `gnn2logic.logic.from_json` reads it back."""
        from gnn2logic.logic.documents import to_json

        return to_json(self)

    def to_sql(
        self, *, level: Literal["graph", "node"] = "graph", tables: SqlTables | None = None
    ) -> str:
        """Return the formula as an SQL query: see `gnn2logic.logic.export.to_sql`."""
        from gnn2logic.logic.export import to_sql

        return to_sql(self, level=level, tables=tables)

    def to_cypher(
        self, *, level: Literal["graph", "node"] = "graph", names: CypherNames | None = None
    ) -> str:
        """Return the formula as a Cypher query: see `gnn2logic.logic.export.to_cypher`."""
        from gnn2logic.logic.export import to_cypher

        return to_cypher(self, level=level, names=names)

    def to_python(
        self, *, level: Literal["graph", "node"] = "graph", name: str | None = None
    ) -> str:
        """Return the source of a Python function: see `gnn2logic.logic.export.to_python`."""
        from gnn2logic.logic.export import to_python

        return to_python(self, level=level, name=name)

    def evaluate(
        self, graphs: object, *, level: Literal["graph", "node"] = "graph"
    ) -> npt.NDArray[np.bool_]:
        """Return the truth of the formula on graphs: see `gnn2logic.logic.evaluate`."""
        from gnn2logic.logic.evaluation import evaluate

        return evaluate(self, graphs, level=level)

    def simplify(self, *, simple: bool = False, graphs: object = None) -> Formula:
        """Return an equivalent formula that is not larger: see `gnn2logic.logic.simplification`."""
        from gnn2logic.logic.simplification import simplify

        return simplify(self, simple=simple, graphs=graphs)


class Constant(Formula):
    """`true` or `false`."""

    __slots__ = ("value",)
    value: bool
    _symbol = "Constant"
    _rank = 0


class Predicate(Formula):
    """A named property of nodes, U_j in the paper."""

    __slots__ = ("name",)
    name: str
    _symbol = "Predicate"
    _rank = 1


class Not(Formula):
    """A negation."""

    __slots__ = ()
    _symbol = "Not"
    _rank = 2

    @property
    def child(self) -> Formula:
        """The negated formula."""
        return self.children[0]


class Modal(Formula):
    """``S phi > t``: more than t of the nodes in eps_S(v) satisfy phi."""

    __slots__ = ("modality", "threshold")
    modality: Modality
    threshold: Threshold
    _symbol = "Modal"
    _rank = 3
    _deepens = True

    @property
    def child(self) -> Formula:
        """The formula that is counted."""
        return self.children[0]

    @property
    def is_ratio(self) -> bool:
        """Whether the threshold is a share of eps_S(v) rather than a number of nodes."""
        return isinstance(self.threshold, Fraction)


class And(Formula):
    """A conjunction of two or more formulas."""

    __slots__ = ()
    _symbol = "And"
    _rank = 4


class Or(Formula):
    """A disjunction of two or more formulas."""

    __slots__ = ()
    _symbol = "Or"
    _rank = 5


# Constructors --------------------------------------------------------------------------------


def _interned(
    node_type: type[Formula], text: str, children: tuple[Formula, ...] = (), **fields: Any
) -> Formula:
    node: Formula = intern_node(node_type, f"{node_type._symbol}\0{text}", children, **fields)
    return node


TRUE = _interned(Constant, "true", value=True)
FALSE = _interned(Constant, "false", value=False)


def predicate(name: str) -> Formula:
    """Return the formula that is true where the predicate `name` is.

    >>> print(predicate("atom=7"), predicate("charge > 0.5"))
    atom=7 "charge > 0.5"
    """
    name = check_name(name, what="Predicate")
    return _interned(Predicate, name, name=name)


def negation(formula: Formula) -> Formula:
    """Return the negation; negating twice gives the formula itself."""
    if isinstance(formula, Not):
        return formula.child
    if isinstance(formula, Constant):
        return FALSE if formula.value else TRUE
    return _interned(Not, "", (formula,))


def conjunction(formulas: Iterable[Formula]) -> Formula:
    """Return the conjunction; of nothing it is `true`."""
    return _connective(And, formulas, neutral=TRUE, absorbing=FALSE)


def disjunction(formulas: Iterable[Formula]) -> Formula:
    """Return the disjunction; of nothing it is `false`."""
    return _connective(Or, formulas, neutral=FALSE, absorbing=TRUE)


def _connective(
    node_type: type[Formula], formulas: Iterable[Formula], *, neutral: Formula, absorbing: Formula
) -> Formula:
    operands = flat_operands(node_type, formulas, neutral=neutral, absorbing=absorbing)
    return operands[0] if len(operands) == 1 else _interned(node_type, "", operands)


@overload
def modal(modality: Modality, formula: Formula, threshold: int) -> Formula: ...
@overload
def modal(modality: Modality, formula: Formula, threshold: Fraction) -> Formula: ...
def modal(modality: Modality, formula: Formula, threshold: Threshold) -> Formula:
    """Return ``S phi > t`` for a whole number t >= 0 or a fraction 0 < t < 1.

    Other comparisons, and thresholds outside of these ranges, are sugar: see `gnn2logic.logic.A`.
    """
    largest = threshold.denominator if isinstance(threshold, Fraction) else threshold
    if largest.bit_length() > _MAX_BITS:
        raise FormulaError("A threshold must have less than about 1200 digits.")
    if isinstance(threshold, Fraction):
        if not 0 < threshold < 1:
            raise FormulaError(f"A ratio must be between 0 and 1, both excluded. Got {threshold}.")
        label = f"{modality} > {threshold}"
    else:
        if isinstance(threshold, bool) or threshold < 0:
            raise FormulaError(f"A count threshold must be a whole number >= 0. Got {threshold!r}.")
        threshold = int(threshold)
        label = f"{modality} > {threshold}"
    return _interned(Modal, label, (formula,), modality=modality, threshold=threshold)
