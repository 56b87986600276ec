"""What an explanation says, sentence by sentence; then as plain text, and as HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING

from gnn2logic._text import one_line
from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.parts import FormulaPart, ShortNames
from gnn2logic.explanation.path import Condition
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.printing.english_words import Names
from gnn2logic.logic.syntax import TRUE

if TYPE_CHECKING:
    from gnn2logic.explanation.explanations import Explanation

__all__ = [
    "ConditionWords",
    "FlipWords",
    "NodeWords",
    "Wording",
    "count_words",
    "to_html",
    "to_text",
    "wording_of",
]

_SHOWN_NODES = 30
# Parts of formulas with a name and those that conditions count are always shown, others if there
# is room.
_SHOWN_PARTS = 8
_CAVEAT = (
    "This is about the counts that the final tree compares. A change of the graph may change "
    "several of them at once, and not every combination of counts belongs to a graph."
)


@dataclass(frozen=True)
class ConditionWords:
    """A condition: in words, in logic, and what was counted."""

    words: str
    formula: str
    count: str


@dataclass(frozen=True)
class NodeWords:
    """A part of a formula: its name if it has one, in words, in logic, and its nodes."""

    name: str
    words: str
    formula: str
    nodes: str


@dataclass(frozen=True)
class FlipWords:
    """Another class: how far it is, and which counts would be others."""

    label: str
    total: int
    changes: tuple[str, ...]


@dataclass(frozen=True)
class Wording:
    """Everything that is said, in order."""

    answer: str
    label: str
    title: str
    notes: tuple[str, ...]
    conditions: tuple[ConditionWords, ...]
    nodes: tuple[NodeWords, ...]
    left_out: int
    flips: tuple[FlipWords, ...]
    last: str


def wording_of(explanation: Explanation, vocabulary: Names | None = None) -> Wording:
    """Return what to say about an explanation; the words are for predicates and relations."""
    parts = {part.formula: part for parts_of_one in explanation.parts for part in parts_of_one}
    changes = [change.formula for flip in explanation.flips for change in flip.changes]
    formulas = [condition.formula for condition in explanation.conditions]
    short_names = ShortNames.of([*formulas, *changes], parts, vocabulary=vocabulary)
    # Changes may name parts of formulas that are not on the path.
    elsewhere = [formula for formula in short_names.names if formula not in parts]
    for formula, nodes in evaluate_each(elsewhere, explanation.graph).items():
        parts[formula] = FormulaPart(formula, nodes)
    named = [parts[formula] for formula in short_names.names]
    others = [part for part in parts.values() if part.formula not in short_names.names]
    counted = {condition.inner for condition in explanation.conditions}
    others.sort(key=lambda part: part.formula not in counted)
    n_shown = max(_SHOWN_PARTS - len(named), sum(part.formula in counted for part in others))
    where = "" if explanation.node is None else f" of node {explanation.node}"
    target = explanation.target
    name = explanation.answer if target is None or target.name is None else one_line(target.name)
    return Wording(
        answer=explanation.answer,
        label=label_text(explanation.label),
        title=f"Predicted {name}{where}: {label_text(explanation.label)}",
        notes=tuple(_notes(explanation)),
        conditions=tuple(
            _condition(condition, short_names) for condition in explanation.conditions
        ),
        nodes=tuple(_nodes(part, short_names) for part in [*named, *others[:n_shown]]),
        left_out=max(len(others) - n_shown, 0),
        flips=tuple(_flip(flip, short_names) for flip in explanation.flips),
        last=_last(explanation),
    )


def _notes(explanation: Explanation) -> list[str]:
    notes = []
    if explanation.target is not None:
        # What is said is the middle of what the training data had, and none of it has to have it.
        if explanation.support is not None and explanation.conditions:
            share = percent(explanation.support)
            notes.append(f"{share} of the training {explanation.level}s are on this path.")
    elif explanation.support is not None and explanation.conditions:
        notes.append(
            f"{percent(explanation.share)} of the training {explanation.level}s on this path are "
            f"of this class; {percent(explanation.support)} of all are on it."
        )
    elif explanation.support is not None:
        notes.append(
            f"{percent(explanation.share)} of the training {explanation.level}s are of this class."
        )
    teacher = explanation.teacher
    if teacher is not None:
        sure = "" if teacher.probability is None else f", {percent(teacher.probability)} sure"
        verdict = "agrees" if teacher.agrees else "disagrees, so this explains the rule alone"
        notes.append(f"The teacher {verdict}: {label_text(teacher.label)}{sure}.")
    return notes


def _condition(condition: Condition, short_names: ShortNames) -> ConditionWords:
    return ConditionWords(
        sentence(short_names.words(condition.formula)),
        short_names.logic(condition.formula),
        f"{count_words(condition)}; {condition.margin} {_direction(condition)} would break it.",
    )


def count_words(condition: Condition) -> str:
    """Return how many nodes a condition counts, of how many.

    A share is also given as the largest count that is not more than it.
    """
    count, size, threshold = condition.count, condition.size, condition.threshold
    if condition.inner is TRUE:
        return f"{count} counted"
    if not isinstance(threshold, Fraction):
        return f"{count} of {size} counted"
    share = f"{percent(count / size)}; " if size else ""
    return f"{count} of {size} counted ({share}{threshold} of {size} is {_amount(threshold, size)})"


def _amount(share: Fraction, size: int) -> str:
    exact = share * size
    return str(exact) if exact.denominator == 1 else f"{float(exact):.4g}"


def _direction(condition: Condition) -> str:
    return "fewer" if condition.met else "more"


def _nodes(part: FormulaPart, short_names: ShortNames) -> NodeWords:
    return NodeWords(
        short_names.names.get(part.formula, ""),
        _capital(short_names.nodes(part.formula)),
        short_names.logic(part.formula),
        _node_list(part),
    )


def _node_list(part: FormulaPart) -> str:
    """Return the numbers of nodes, cut if there are many."""
    numbers = part.nodes.nonzero()[0].tolist()
    if not numbers:
        return "none"
    if len(numbers) == len(part.nodes) > 1:
        return f"all {len(numbers)}"
    shown = ", ".join(map(str, numbers[:_SHOWN_NODES]))
    return shown if len(numbers) <= _SHOWN_NODES else f"{shown}, ... ({len(numbers)} in all)"


def _flip(flip: Flip, short_names: ShortNames) -> FlipWords:
    changes = tuple(
        f"{_capital(short_names.words(change.formula))} (now {change.before})."
        for change in flip.changes
    )
    return FlipWords(label_text(flip.label), flip.total, changes)


def _last(explanation: Explanation) -> str:
    if not explanation.conditions:
        return f"The model gives this {explanation.answer} to every {explanation.level}."
    if explanation.flips:
        return _CAVEAT
    return f"No change of these counts gives another {explanation.answer}."


def label_text(label: object) -> str:
    """Return a class in one line."""
    return one_line(str(label))


def percent(share: float) -> str:
    """Return a share in per cent; 0% and 100% mean exactly that.

    >>> percent(0.456), percent(0.9999), percent(0.0001), percent(1.0)
    ('46%', '>99%', '<1%', '100%')
    """
    number = round(share * 100)
    if number >= 100 and share < 1:
        return ">99%"
    return "<1%" if number <= 0 < share else f"{number}%"


def sentence(text: str) -> str:
    """Return English with a capital and a full stop."""
    return f"{_capital(text)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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
        yield iter(["", f"The smallest change of counts for another {wording.answer}"])
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
        nodes = _list("ul", [*(_node_element(nodes) for nodes in wording.nodes), *more])
        elements.append(f"<details open><summary>Nodes</summary>{nodes}</details>")
    if wording.flips:
        elements.append(f"<p>The smallest change of counts for another {wording.answer}</p>")
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


def _node_element(nodes: NodeWords) -> str:
    name = f"<b>({escape(nodes.name)})</b> " if nodes.name else ""
    return (
        f"{name}{escape(nodes.words)}: {escape(nodes.nodes)}<br>"
        f"<code>{escape(nodes.formula)}</code>"
    )


def _list(tag: str, items: Iterable[str]) -> str:
    return f"<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"
