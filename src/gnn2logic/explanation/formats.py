"""An explanation as plain text, and as a piece of HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from html import escape

from gnn2logic.explanation.wording import NodeWords, Wording

__all__ = ["to_html", "to_text"]

_WIDTH = 96


def to_text(wording: Wording) -> str:
    """Return what an explanation says in lines of at most 96 characters, where words allow it."""
    return "\n".join(line for paragraph in _paragraphs(wording) for line in paragraph)


def _paragraphs(wording: Wording) -> Iterator[Iterator[str]]:
    yield iter([wording.title])
    for note in wording.notes:
        yield _wrapped(note, "")
    if wording.conditions:
        yield iter(["", "Because"])
    for number, condition in enumerate(wording.conditions, start=1):
        start = f"  {number}. "
        yield _wrapped(condition.words, start)
        yield _wrapped(condition.formula, " " * len(start))
        yield _wrapped(condition.count, " " * len(start))
    if wording.nodes:
        yield iter(["", "Nodes"])
    for nodes in wording.nodes:
        start = f"  ({nodes.name}) " if nodes.name else "  - "
        yield _wrapped(f"{nodes.words}: {nodes.nodes}", start)
        if nodes.name:
            yield _wrapped(nodes.formula, " " * len(start))
    if wording.left_out:
        yield iter([f"  and of {wording.left_out} smaller parts, see to_dict()"])
    if wording.flips:
        yield iter(["", "The smallest change of counts for another class"])
    for flip in wording.flips:
        yield _wrapped(f"{flip.label}, by {flip.total}: {' '.join(flip.changes)}", "  - ")
    if wording.conditions and not wording.flips:
        yield iter([""])
    yield _wrapped(wording.last, "  " if wording.flips else "")


def _wrapped(text: str, start: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def to_html(wording: Wording) -> str:
    """Return what an explanation says as HTML; all that comes from users is escaped."""
    elements = [f"<p><b>{escape(wording.title)}</b></p>"]
    elements += [f"<p>{escape(note)}</p>" for note in wording.notes]
    if wording.conditions:
        elements.append("<p>Because</p>")
        elements.append(
            _list(
                "ol",
                (
                    f"{escape(condition.words)}<br><code>{escape(condition.formula)}</code><br>"
                    f"{escape(condition.count)}"
                    for condition in wording.conditions
                ),
            )
        )
    if wording.nodes:
        more = [f"and {wording.left_out} smaller parts"] if wording.left_out else []
        nodes = _list("ul", [*(_nodes(nodes) for nodes in wording.nodes), *more])
        elements.append(f"<details open><summary>Nodes</summary>{nodes}</details>")
    if wording.flips:
        elements.append("<p>The smallest change of counts for another class</p>")
        elements.append(
            _list(
                "ul",
                (
                    f"<b>{escape(flip.label)}</b>, by {flip.total}: "
                    f"{escape(' '.join(flip.changes))}"
                    for flip in wording.flips
                ),
            )
        )
    elements.append(f"<p><small>{escape(wording.last)}</small></p>")
    return f"<div>{''.join(elements)}</div>"


def _nodes(nodes: NodeWords) -> str:
    name = f"<b>({escape(nodes.name)})</b> " if nodes.name else ""
    return (
        f"{name}{escape(nodes.words)}: {escape(nodes.nodes)}<br>"
        f"<code>{escape(nodes.formula)}</code>"
    )


def _list(tag: str, items: Iterable[str]) -> str:
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"
