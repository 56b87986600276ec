"""Long formulas in steps: short names for their long or repeated parts, defined one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from gnn2logic.graphs.modality import Modality
from gnn2logic.logic.bounds import as_bounds, group_bounds
from gnn2logic.logic.printing.english import is_about_graph, nodes_in_english, to_english
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.printing.infix import Style, write_infix
from gnn2logic.logic.printing.text import ASCII
from gnn2logic.logic.syntax import And, Formula, Modal, Not, Or
from gnn2logic.logic.walk import subformulas

__all__ = ["LONGEST", "LONGEST_LINE", "SHORT", "ShortNames", "in_steps"]

# Descriptions of nodes that are longer than this get a name; shorter ones if they are repeated.
LONGEST = 90
# Lines of a scorecard are many, and each is read with its points: few names, but for repetitions.
LONGEST_LINE = 150
_LONGEST_REPEATED = {2: 65}
_LONGEST_OFTEN = 50
SHORT = 160
"""Sentences about rules that are not longer than this are read at once."""
# Nobody follows neighbours of neighbours of neighbours without a name on the way.
_DEEPEST = 2
_NO_STEP = (Modality.from_set("1"), Modality.from_set("I"))
# A sentence has at most so many parts.
_LARGEST = 1000


@dataclass(frozen=True)
class ShortNames:
    """The names of some parts of formulas, and texts that use them.

    Parameters
    ----------
    names : mapping of Formula to str
    vocabulary : mapping of str to str or (str, str), optional
        Words for predicates and relations, as ``formula.to_english`` takes them.
    """

    names: Mapping[Formula, str]
    vocabulary: Names | None = None

    @classmethod
    def of(
        cls,
        formulas: Iterable[Formula],
        order: Iterable[Formula] = (),
        *,
        also: Iterable[Formula] = (),
        short: int = 0,
        longest: int = LONGEST,
        vocabulary: Names | None = None,
    ) -> ShortNames:
        """Return names for the long parts of some formulas; those in `order` come first.

        Names serve the formulas in `also` too, but what only these repeat is not repeated.
        Sentences of at most `short` characters need no names, nor do descriptions of at most
        `longest` characters that are said once, unless they reach to neighbours of neighbours of
        neighbours.

        >>> from gnn2logic.logic import parse
        >>> inner = parse("A(I+A(A(atom=N) > 2/3) > 0 & I+A(A(atom=O) > 2/3) > 0) > 1")
        >>> list(ShortNames.of([parse("1 U0 > 1")]).names)
        []
        >>> [str(part) for part in ShortNames.of([parse(f"1({inner}) > 1")]).names]
        ['I+A(A(atom=N) > 2/3) > 0 & I+A(A(atom=O) > 2/3) > 0']
        """
        told = [formula for formula in formulas if not _is_short(formula, short, vocabulary)]
        wanted = [*told, *also]
        nodes = subformulas(*wanted)
        single = _single_bounds(nodes)
        counted = {node.child for node in nodes if isinstance(node, Modal)}
        around = {node.child for node in nodes if isinstance(node, Modal) and _steps(node)}
        combined = {
            child for node in nodes if not isinstance(node, Modal) for child in node.children
        }
        whole = _sentences(wanted)
        uses = _uses(told)
        long: dict[Formula, str] = {}
        depths: dict[Formula, int] = {}
        for node in nodes:
            depths[node] = _depth(node, depths)
            often = uses.get(node, 1)
            # A comparison that stands in a conjunction is read with its other bound.
            is_bounds = as_bounds(node) is not None
            combines = isinstance(node, And | Or) and not is_bounds and node not in whole
            once = combines or (node in counted and node not in combined)
            again = node in counted and often > 1 and node in single and node not in whole
            if not once and not again:
                continue
            limit = _LONGEST_REPEATED.get(often, _LONGEST_OFTEN) if often > 1 else longest
            is_deep = node in around and depths[node] >= _DEEPEST
            if is_deep or len(cls(long, vocabulary).meaning(node)) > limit:
                long[node] = ""
                depths[node] = 0
        ranked = dict.fromkeys([*order, *_as_read(wanted)])
        named = (formula for formula in ranked if formula in long)
        letters = {formula: _letters(number) for number, formula in enumerate(named)}
        return cls(letters, vocabulary)

    def fit(self, formula: Formula) -> bool:
        """Return whether the names are enough to write a formula, which may be another one."""
        sizes: dict[Formula, int] = {}
        names = self.names.keys() - {formula}
        for node in subformulas(formula, stop=names):
            children = () if node in names else node.children
            sizes[node] = 1 + sum(sizes[child] for child in children)
        return sizes[formula] <= _LARGEST

    def words(self, formula: Formula) -> str:
        """Return a formula as an English sentence."""
        return to_english(formula, self.names, self.vocabulary)

    def nodes(self, formula: Formula) -> str:
        """Return what the nodes are that satisfy a formula."""
        return nodes_in_english(formula, self.names, self.vocabulary)

    def meaning(self, formula: Formula) -> str:
        """Return what a name stands for: nodes, or what is so in the whole graph."""
        return self.words(formula) if is_about_graph(formula) else self.nodes(formula)

    def logic(self, formula: Formula, style: Style = ASCII) -> str:
        """Return a formula in logic; a formula that has a name is written out."""
        names = {named: f"({name})" for named, name in self.names.items() if named is not formula}
        return write_infix(formula, names, style)

    def lines(self) -> list[str]:
        """Return what every name means, one line for each."""
        return [f"  ({name}) {self.meaning(named)}" for named, name in self.names.items()]


def in_steps(formula: Formula, names: Names | None = None) -> str:
    """Return a formula in words, where its long parts have names and lines of their own.

    Parameters
    ----------
    formula : Formula
    names : mapping of str to str or (str, str), optional
        Words for predicates and relations, as ``formula.to_english`` takes them.

    Returns
    -------
    str
        The sentence of ``formula.to_english()`` if that is short. Otherwise long descriptions of
        nodes are called (a), (b) and so on, and follow line by line.

    Examples
    --------
    >>> from gnn2logic.explanation import in_steps
    >>> from gnn2logic.logic import parse
    >>> print(in_steps(parse("1(A true > 3) > 1/2")))
    more than half of the nodes have more than 3 neighbours
    >>> print(in_steps(parse("1(A(A(A U0 > 3) > 1) > 2) > 4")))
    more than 4 nodes have more than 2 neighbours in group (a)
      (a) nodes that have more than 1 neighbour with more than 3 neighbours that are U0
    >>> nested = parse("1(A(red & A(red | A blue > 1) > 2 & A(A blue = 0) > 0) > 1) > 10")
    >>> print(in_steps(nested))  # doctest: +ELLIPSIS
    more than 10 nodes have more than 1 neighbour in group (a)
      (a) nodes that are red, and have at least one neighbour with no neighbours that are blue, ...
    """
    short_names = ShortNames.of([formula], short=SHORT, vocabulary=names)
    return "\n".join([short_names.words(formula), *short_names.lines()])


def _is_short(formula: Formula, limit: int, vocabulary: Names | None) -> bool:
    is_small = formula.size <= min(limit, _LARGEST) and not _is_deep(formula)
    return is_small and len(to_english(formula, {}, vocabulary)) <= limit


def _steps(node: Formula) -> int:
    """Return how many steps from node to node a formula takes before it says something."""
    return int(isinstance(node, Modal) and node.modality not in _NO_STEP)


def _depth(node: Formula, depths: Mapping[Formula, int]) -> int:
    return _steps(node) + max((depths[child] for child in node.children), default=0)


def _is_deep(formula: Formula) -> bool:
    depths: dict[Formula, int] = {}
    for node in subformulas(formula):
        depths[node] = _depth(node, depths)
    return depths[formula] > _DEEPEST


def _sentences(formulas: Iterable[Formula]) -> set[Formula]:
    """Return some formulas and what they combine, as deep as a sentence may reach."""
    combined: set[Formula] = set()
    stack = list(formulas)
    while stack:
        node = stack.pop()
        if node not in combined and not isinstance(node, Modal) and node.size <= _LARGEST:
            combined.add(node)
            stack.extend(node.children)
    return combined


def _uses(formulas: Sequence[Formula]) -> dict[Formula, int]:
    """Return how many formulas, or parts of them, say something of each formula; at least."""
    parents: dict[Formula, set[object]] = {}
    for node in subformulas(*formulas):
        for child in node.children:
            # Two bounds of one count are read as one.
            parents.setdefault(child, set()).add(node.modality if isinstance(node, Modal) else node)
    uses = {child: len(seen) for child, seen in parents.items()}
    among: Counter[Formula] = Counter()
    for formula in formulas:
        among.update(subformulas(formula))
    return {child: max(count, among[child]) for child, count in uses.items()}


def _single_bounds(nodes: Iterable[Formula]) -> set[Formula]:
    """Return what no conjunction reads together with another bound of the same count."""
    single = set(nodes)
    for node in nodes:
        if isinstance(node, And | Or):
            is_bounds = as_bounds(node) is not None
            read: list[object] = []
            if not is_bounds:
                both = isinstance(node, And)
                read = [*(group_bounds(node.children) if both else node.children)]
            together = set(node.children) - set(read)
            # A bound from above is a bound from below, denied.
            single -= together | {part.child for part in together if isinstance(part, Not)}
    return single


def _as_read(formulas: Iterable[Formula]) -> Iterator[Formula]:
    """Yield every part of some formulas once, what is made of others first, from left to right."""
    seen: set[Formula] = set()
    stack = list(formulas)[::-1]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(reversed(node.children))


def _letters(number: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    text = ""
    number += 1
    while number:
        number, last = divmod(number - 1, 26)
        text = ascii_lowercase[last] + text
    return text
