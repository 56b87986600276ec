r"""Texts that are safe to show: names come from files, and may hold anything.

A terminal obeys control characters, and characters that turn the direction of writing make a text
look like another one. What is shown has escapes such as ``\u001b`` in their place; names
themselves are never changed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

__all__ = ["did_you_mean", "one_line", "quote_name", "visible", "visible_json", "visible_texts"]

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: a question about the closest name, or nothing.

    Whether letters are large or small does not count: they are what is most often wrong.

    >>> did_you_mean("max_sise", ["max_size", "width"])
    " Did you mean 'max_size'?"
    >>> did_you_mean("mutag", ["MUTAG", "COX2"]), did_you_mean("height", ["width"])
    (" Did you mean 'MUTAG'?", '')
    """
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


def quote_name(name: str) -> str:
    r"""Return `name` in double quotes, as the text grammar reads it back.

    >>> print(quote_name('charge > 0.5'), quote_name('say "hi"'))
    "charge > 0.5" "say \"hi\""
    """
    return '"' + "".join(_ESCAPES.get(sign) or _escape(sign) for sign in name) + '"'


def one_line(text: str) -> str:
    r"""Return the text, in quotes and escaped if it has more than plain characters of one line.

    >>> print(one_line("plain"), one_line("two\nlines"), one_line("\x1b[31mred"))
    plain "two\nlines" "\u001b[31mred"
    """
    return text if text.isprintable() else quote_name(text)


def visible(text: str, keep: str = "\n\t") -> str:
    r"""Return a text of any length with escapes for all that is not seen, but for `keep`.

    >>> print(visible("a\u202eb"))
    a\u202eb
    """
    if text.isprintable():
        return text
    return "".join(sign if sign in keep else _escape(sign) for sign in text)


def visible_json(text: str) -> str:
    r"""Return JSON that reads back as the same, with escapes for all that is not seen.

    >>> print(visible_json('{"name": "a\u202eb"}'))
    {"name": "a\u202eb"}
    """
    if text.isprintable():
        return text
    return "".join(sign if _may_stay(sign) else _units(sign) for sign in text)


def visible_texts(plain: Any) -> Any:
    """Return plain data with all its texts made visible, keys as well."""
    if isinstance(plain, str):
        return visible(plain)
    if isinstance(plain, dict):
        return {visible_texts(key): visible_texts(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return type(plain)(visible_texts(value) for value in plain)
    return plain


def _escape(sign: str) -> str:
    if sign.isprintable():
        return sign
    return f"\\U{ord(sign):08x}" if ord(sign) > 0xFFFF else f"\\u{ord(sign):04x}"


def _may_stay(sign: str) -> bool:
    # Half a character has no form in JSON that all readers take: whoever encodes it decides.
    return sign == "\n" or sign.isprintable() or "\ud800" <= sign <= "\udfff"


def _units(sign: str) -> str:
    """Return a character as JSON writes it in ASCII: large ones are pairs."""
    units = sign.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))
