"""The standard translation: formulas of EMLC as formulas of C2."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from fractions import Fraction

from gnn2logic._validation import check_whole
from gnn2logic.exceptions import BeyondC2Warning, TranslationError
from gnn2logic.graphs.modality import Direction, Edges, Modality
from gnn2logic.graphs.structure_names import structure_in_use
from gnn2logic.logic import syntax as emlc
from gnn2logic.logic.c2.build import (
    FALSE,
    TRUE,
    at_least,
    check_variable,
    conjunction,
    counting,
    disjunction,
    edge,
    equal,
    negation,
    predicate,
)
from gnn2logic.logic.c2.syntax import OTHER, C2Formula, Variable
from gnn2logic.logic.nodes import post_order
from gnn2logic.logic.walk import predicate_names, relation_names

__all__ = ["describe_type", "quoted", "to_c2"]

_At = tuple[emlc.Formula, Variable]


def to_c2(
    formula: emlc.Formula,
    *,
    variable: Variable = "x",
    max_size: int | None = None,
    multi_edges: bool = False,
) -> C2Formula:
    """Return the formula of C2 that is true at the same nodes.

    ``S phi > n`` becomes "there are at least n+1 nodes y in eps_S(x) with phi".

    Parameters
    ----------
    formula : Formula
    variable : {"x", "y"}
        The variable that stands for the node where the formula is evaluated.
    max_size : int, optional
        A ratio such as ``A phi > 1/2`` is not first-order. With a bound D it becomes a
        disjunction over all sizes 1..D of eps_S, right on every graph where ``|eps_S| <= D`` for
        all ratios in the formula (for ``A``: no degree above D; for ``1``: at most D nodes), and
        false at nodes with more.
    multi_edges : bool
        Whether the formula is meant for graphs with parallel edges. On these ``A`` and ``I+A``
        count edges, which C2 cannot say: thresholds above 0 are refused then.

    Raises
    ------
    TranslationError
        For a ratio without `max_size`, and for counts of parallel edges.

    Warns
    -----
    BeyondC2Warning
        Where the formula speaks of the structure of graphs (``ring=6``, ``A[bridge]``): C2 cannot
        say what that means, so it stays a predicate or relation of this name.

    Examples
    --------
    >>> from gnn2logic.logic import parse
    >>> print(to_c2(parse("A(!(A U1 = 1)) > 1")))
    exists>=2 y (E(x,y) & !exists=1 x (E(y,x) & U1(x)))
    >>> print(to_c2(parse("A U0 > 1/2"), max_size=2))
    exists=1 y E(x,y) & exists y (E(x,y) & U0(y)) | exists=2 y E(x,y) & exists>=2 y (E(x,y) & U0(y))
    """
    if not isinstance(formula, emlc.Formula):
        raise TypeError(
            f"to_c2 translates a Formula of EMLC. Got {describe_type(formula)} instead."
        )
    if max_size is not None:
        check_whole("max_size", max_size, least=1, error=TranslationError)
    in_use = structure_in_use(predicate_names(formula), relation_names(formula))
    if in_use:
        warnings.warn(
            f"The structure of graphs ({', '.join(in_use)}) is not said in C2: it stands there as "
            "predicates and relations of these names.",
            BeyondC2Warning,
            stacklevel=2,
        )
    translation = _ToC2(None if max_size is None else int(max_size), multi_edges)
    return translation.run(formula, check_variable(variable))


def quoted(formula: emlc.Formula | C2Formula) -> str:
    """Return the text of a formula for an error message, cut where it gets long."""
    text = " ".join(str(formula).split())
    return f"'{text}'" if len(text) <= 160 else f"'{text[:157]}...'"


def describe_type(given: object) -> str:
    """Return what something is, for an error message: both logics have a class C2Predicate."""
    if isinstance(given, emlc.Formula):
        return "a Formula of EMLC"
    return "a C2Formula" if isinstance(given, C2Formula) else type(given).__name__


class _ToC2:
    def __init__(self, max_size: int | None, multi_edges: bool) -> None:
        self.max_size = max_size
        self.multi_edges = multi_edges
        self.done: dict[_At, C2Formula] = {}

    def run(self, formula: emlc.Formula, variable: Variable) -> C2Formula:
        for at in post_order([(formula, variable)], lambda at: self.needed_first(*at)):
            self.done[at] = self.translate(*at)
        return self.done[formula, variable]

    def needed_first(self, node: emlc.Formula, variable: Variable) -> Iterator[_At]:
        """Yield what `translate` needs first: subformulas, each at one of the variables."""
        moves = isinstance(node, emlc.Modal) and not _stays(node.modality)
        at = OTHER[variable] if moves else variable
        return ((child, at) for child in reversed(node.children))

    def translate(self, node: emlc.Formula, variable: Variable) -> C2Formula:
        if isinstance(node, emlc.Constant):
            return TRUE if node.value else FALSE
        if isinstance(node, emlc.Predicate):
            return predicate(node.name, variable)
        operands = [self.done[needed] for needed in self.needed_first(node, variable)]
        if isinstance(node, emlc.Not):
            return negation(operands[0])
        if isinstance(node, emlc.And):
            return conjunction(operands)
        if isinstance(node, emlc.Or):
            return disjunction(operands)
        assert isinstance(node, emlc.Modal)
        return self.modal(node, variable, operands[0])

    def modal(self, node: emlc.Modal, variable: Variable, counted: C2Formula) -> C2Formula:
        modality, threshold = node.modality, node.threshold
        if _stays(modality):
            # eps_I(v) has one element and eps_0(v) none, so no more than one can satisfy phi.
            return counted if modality.itself and threshold < 1 else FALSE
        if counted is FALSE:
            return FALSE
        if counted is TRUE and isinstance(threshold, Fraction):
            threshold = 0  # all of a set are more than any share of it, unless it is empty
        bound = OTHER[variable]
        guard = _guard(modality, variable, bound)
        if self.multi_edges and modality.neighbours and not modality.others and threshold != 0:
            raise TranslationError(
                f"{quoted(node)} cannot be written in C2 for graphs with parallel edges: "
                f"{modality} counts edges there, and C2 counts nodes. Merge parallel edges "
                "(GraphBatch.merge_multi_edges) and translate with multi_edges=False."
            )
        body = conjunction((guard, counted))
        if isinstance(threshold, Fraction):
            return self.ratio(node, threshold, bound, guard, body)
        return at_least(threshold + 1, bound, body)

    def ratio(
        self,
        node: emlc.Modal,
        share: Fraction,
        bound: Variable,
        guard: C2Formula,
        body: C2Formula,
    ) -> C2Formula:
        if self.max_size is None:
            raise TranslationError(
                f"{quoted(node)} compares a share, which is not first-order: no formula of C2 "
                "says it on graphs of every size. Give max_size=D to write it for sets of at most "
                f"D nodes (here the sets eps_S of {node.modality}); the result is then right on "
                "graphs where no such set is larger."
            )
        return disjunction(
            conjunction(
                (
                    counting("=", size, bound, guard),
                    at_least(math.floor(share * size) + 1, bound, body),
                )
            )
            for size in range(1, self.max_size + 1)
        )


def _stays(modality: Modality) -> bool:
    """Return whether the parameter is ``I`` or ``0``, which look at no other node."""
    return not modality.neighbours and not modality.others


def _guard(modality: Modality, here: Variable, there: Variable) -> C2Formula:
    """Return rho_S: that `there` is in eps_S of `here`."""
    same = equal(here, there)
    itself, neighbours, others = modality.itself, modality.neighbours, modality.others
    if neighbours and others:
        return TRUE if itself else negation(same)
    near = _adjacent(modality.edges, here, there)
    if neighbours:
        return disjunction((same, near)) if itself else near
    return negation(near) if itself else conjunction((negation(same), negation(near)))


def _adjacent(edges: Edges, here: Variable, there: Variable) -> C2Formula:
    outgoing = edge(here, there, edges.relation)
    incoming = edge(there, here, edges.relation)
    if edges.direction is Direction.OUT:
        return outgoing
    return incoming if edges.direction is Direction.IN else disjunction((outgoing, incoming))
