"""What atoms are called in sentences about molecules, and how many of them there are."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gnn2logic.logic.bounds import Bounds
from gnn2logic.logic.printing.english_nouns import share_in_words
from gnn2logic.logic.printing.molecule_names import element_name, everyday_name
from gnn2logic.logic.syntax import Threshold

__all__ = [
    "ADJECTIVES",
    "ATOM",
    "Noun",
    "counted",
    "element_of",
    "number_in_words",
    "share_of",
    "with_article",
]

ADJECTIVES = {
    "aromatic": "aromatic",
    "sp": "sp",
    "sp2": "sp2",
    "sp3": "sp3",
    "uncharged": "uncharged",
    "chiral=R": "R-configured",
    "chiral=S": "S-configured",
}
_ELEMENTS = {"metal": "metal", "other element": "other-element"}
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Noun(NamedTuple):
    """What atoms are called, one and several, and what more is said about one and several."""

    one: str
    many: str
    more: tuple[str, ...] = ()
    is_list: bool = False

    def text(self, *, plural: bool) -> str:
        """Return one or several of them, in brackets where two or more things are said."""
        whole = self.bare(plural=plural)
        return f"({whole})" if self.is_list or len(self.more) > 1 else whole

    def bare(self, *, plural: bool) -> str:
        """Return the same without brackets."""
        return " ".join([self.many if plural else self.one, " and ".join(self.more)]).strip()

    @property
    def verb(self) -> str:
        """What several atoms are or have, as the end of a sentence."""
        if self.many == "atoms" and len(self.more) == 1:
            (said,) = self.more
            first, _, rest = said.partition(" ")
            if first == "with":
                return f"have {rest}"
            is_told = first in ("in", "other", "bonded", "aromatically")
            if is_told or first.endswith("-bonded") or said.startswith("not in "):
                return f"are {said}"
        return f"are {self.text(plural=True)}"

    @property
    def with_article(self) -> str:
        """One of them, as a sentence names it first."""
        return with_article(self.text(plural=False))


ATOM = Noun("atom", "atoms")


def element_of(name: str) -> str | None:
    """Return the element that a predicate is about, or None."""
    known = everyday_name(name)
    return _ELEMENTS.get(known) or element_name(known)


def counted(bounds: Bounds, noun: Noun, *, some: bool = False) -> str:
    """Return "at least two ...", "at most one ...", "no ..."; with `some` also "a ..."."""
    lower, upper = bounds.lower, bounds.upper
    exactly = bounds.exactly
    if exactly is not None and exactly > 0:
        amount = f"{'not ' if bounds.excluded else ''}exactly {number_in_words(exactly)}"
        count = exactly
    elif bounds.excluded:
        count = _whole(upper) + 1
        few = f"at most {number_in_words(_whole(lower))}" if lower else "no"
        amount = f"{few} or at least {number_in_words(count)}"
    elif upper is None:
        count = _whole(lower) + 1
        if some and count == 1:
            return noun.with_article
        amount = f"at least {number_in_words(count)}"
    elif lower is None:
        count = _whole(upper)
        if count == 0:
            return f"no {noun.text(plural=False)}"
        amount = f"at most {number_in_words(count)}"
    else:
        count = _whole(upper)
        fewest = _whole(lower) + 1
        amount = f"{number_in_words(fewest)} or {number_in_words(count)}"
        if count > fewest + 1:
            amount = f"between {number_in_words(fewest)} and {number_in_words(count)}"
    return f"{amount} {noun.text(plural=count != 1)}"


def _whole(threshold: Threshold | None) -> int:
    assert isinstance(threshold, int)
    return threshold


def share_of(bounds: Bounds) -> str:
    """Return "more than half", "at most a third", or both ends of an interval."""
    shares = [("more than", bounds.lower), ("at most", bounds.upper)]
    if bounds.excluded:
        shares = [("at most", bounds.lower), ("more than", bounds.upper)]
    return (" or " if bounds.excluded else " and ").join(
        f"{word} {share_in_words(share)}" for word, share in shares if isinstance(share, Fraction)
    )


def number_in_words(count: int) -> str:
    """Return "two" for 2; large numbers in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


# Said letter by letter, these begin with a vowel.
_SPELLED = ("sp ", "sp2 ", "sp3 ", "R-", "S-")


def with_article(text: str) -> str:
    """Return a noun behind "a" or "an"."""
    first = text.lstrip("(")
    has_vowel = first[:1].lower() in "aeio" or first.startswith(("unch", *_SPELLED))
    return f"{'an' if has_vowel else 'a'} {text}"
