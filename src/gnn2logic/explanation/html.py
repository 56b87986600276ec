"""An explanation as a piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from gnn2logic.explanation.wording import NodeWords, Wording

__all__ = ["to_html"]


def to_html(wording: Wording) -> str:
    """Return what an explanation says as HTML; all that comes from users is escaped."""
    parts = [f"<p><b>{escape(wording.title)}</b></p>"]
    parts += [f"<p>{escape(note)}</p>" for note in wording.notes]
    if wording.conditions:
        parts.append("<p>Because</p>")
        parts.append(
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
        parts.append(f"<details open><summary>Nodes</summary>{nodes}</details>")
    if wording.flips:
        parts.append("<p>The smallest change of counts for another class</p>")
        parts.append(
            _list(
                "ul",
                (
                    f"<b>{escape(flip.label)}</b>, by {flip.total}: "
                    f"{escape(' '.join(flip.changes))}"
                    for flip in wording.flips
                ),
            )
        )
    parts.append(f"<p><small>{escape(wording.last)}</small></p>")
    return f"<div>{''.join(parts)}</div>"


def _nodes(nodes: NodeWords) -> str:
    name = f"<b>({escape(nodes.name)})</b> " if nodes.name else ""
    return (
        f"{name}{escape(nodes.words)}: {escape(nodes.nodes)}<br>"
        f"<code>{escape(nodes.formula)}</code>"
    )


def _list(kind: str, items: Iterable[str]) -> str:
    return f"<{kind}>{''.join(f'<li>{item}</li>' for item in items)}</{kind}>"
