"""What an explanation says, sentence by sentence; then as plain text, and as HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from gnn2logic.explanation.flips import Flip
from gnn2logic.explanation.parts import FormulaPart
from gnn2logic.explanation.path import Condition
from gnn2logic.explanation.phrases import (
    ConditionWords,
    capital,
    count_words,
    direction,
    label_text,
    percent,
    sentence,
)
from gnn2logic.explanation.score_explanations import ScoreExplanation
from gnn2logic.explanation.score_wording import line_words, score_notes
from gnn2logic.idt.target import Target
from gnn2logic.logic.evaluation import evaluate_each
from gnn2logic.logic.printing.english_words import Names, TradeNames
from gnn2logic.logic.printing.steps import LONGEST, LONGEST_LINE, ShortNames

if TYPE_CHECKING:
    from gnn2logic.explanation.explanations import Explanation

__all__ = [
    "FlipWords",
    "NodeWords",
    "Wording",
    "to_html",
    "to_text",
    "wording_of",
]

_SHOWN_NODES = 30
# Parts of formulas with a name and those that conditions count are always shown, others if there
# is room.
_SHOWN_PARTS = 8
_CAVEAT = (
    "A change of the graph may change several counts at once, and not every combination of counts "
    "belongs to a graph."
)


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
    heading: str
    nodes: tuple[NodeWords, ...]
    left_out: int
    flips: tuple[FlipWords, ...]
    last: str


def wording_of(
    explanation: Explanation | ScoreExplanation, vocabulary: Names | None = None
) -> Wording:
    """Return what to say about an explanation; the words are for predicates and relations."""
    parts = {part.formula: part for parts_of_one in explanation.parts for part in parts_of_one}
    changes = [change.formula for flip in explanation.flips for change in flip.changes]
    formulas = [reason.formula for reason in explanation.reasons]
    is_card = isinstance(explanation, ScoreExplanation)
    short_names = ShortNames.of(
        formulas,
        parts,
        also=changes,
        longest=LONGEST_LINE if is_card else LONGEST,
        vocabulary=vocabulary,
    )
    # Changes may name parts of formulas that are not on the path.
    elsewhere = [formula for formula in short_names.names if formula not in parts]
    for formula, nodes in evaluate_each(elsewhere, explanation.graph).items():
        parts[formula] = FormulaPart(formula, nodes)
    named = [parts[formula] for formula in short_names.names]
    others = [part for part in parts.values() if part.formula not in short_names.names]
    counted = {reason.inner for reason in explanation.reasons}
    others.sort(key=lambda part: part.formula not in counted)
    n_shown = max(_SHOWN_PARTS - len(named), sum(part.formula in counted for part in others))
    where = "" if explanation.node is None else f" of node {explanation.node}"
    what, label = str(explanation.answer), label_text(explanation.label)
    if isinstance(explanation, ScoreExplanation):
        if explanation.answer == "number":
            label = (explanation.target or Target()).rounded(explanation.label)
        notes = score_notes(explanation)
        said = [line_words(line, explanation, short_names) for line in explanation.reasons]
    else:
        notes = _path_notes(explanation)
        numbered = enumerate(explanation.conditions, start=1)
        said = [_condition(number, condition, short_names) for number, condition in numbered]
    if explanation.target is not None and explanation.target.name is not None:
        what = explanation.target.noun
    return Wording(
        answer=explanation.answer,
        label=label,
        title=f"Predicted {what}{where}: {label}",
        notes=(*notes, *_teacher_notes(explanation)),
        conditions=tuple(said),
        heading="Atoms" if isinstance(vocabulary, TradeNames) else "Nodes",
        nodes=tuple(_nodes(part, short_names) for part in [*named, *others[:n_shown]]),
        left_out=max(len(others) - n_shown, 0),
        flips=tuple(_flip(flip, short_names) for flip in explanation.flips),
        last=_last(explanation),
    )


def _path_notes(explanation: Explanation) -> list[str]:
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
    return notes


def _teacher_notes(explanation: Explanation | ScoreExplanation) -> list[str]:
    teacher = explanation.teacher
    if teacher is None:
        return []
    if explanation.answer == "number":
        target = explanation.target or Target()
        return [f"The teacher says {target.rounded(teacher.label)}."]
    what = "score" if isinstance(explanation, ScoreExplanation) else "rule"
    sure = "" if teacher.probability is None else f", {percent(teacher.probability)} sure"
    verdict = "agrees" if teacher.agrees else f"disagrees, so this explains the {what} alone"
    return [f"The teacher {verdict}: {label_text(teacher.label)}{sure}."]


def _condition(number: int, condition: Condition, short_names: ShortNames) -> ConditionWords:
    return ConditionWords(
        number,
        sentence(short_names.words(condition.formula)),
        short_names.logic(condition.formula),
        f"{count_words(condition)}; {condition.margin} {direction(condition)} would break it.",
    )


def _nodes(part: FormulaPart, short_names: ShortNames) -> NodeWords:
    return NodeWords(
        short_names.names.get(part.formula, ""),
        capital(short_names.nodes(part.formula)),
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
        f"{capital(short_names.words(change.formula))} (now {change.before})."
        for change in flip.changes
    )
    return FlipWords(label_text(flip.label), flip.total, changes)


def _last(explanation: Explanation | ScoreExplanation) -> str:
    if isinstance(explanation, ScoreExplanation):
        if explanation.answer == "number":
            return ""
        is_constant = not explanation.lines
    else:
        is_constant = not explanation.conditions
    if is_constant:
        return f"The model gives this {explanation.answer} to every {explanation.level}."
    if not explanation.flips:
        return f"No change of these counts gives another {explanation.answer}."
    return _CAVEAT


_WIDTH = 80


def to_text(wording: Wording) -> str:
    """Return what an explanation says in lines of at most 80 characters, where words allow it."""
    return "\n".join(line for paragraph in _paragraphs(wording) for line in paragraph)


def _paragraphs(wording: Wording) -> Iterator[Iterator[str]]:
    yield iter([wording.title])
    for note in wording.notes:
        yield _wrapped(note, "")
    if wording.conditions:
        yield iter(["", "Because"])
    for condition in wording.conditions:
        start = f"  {condition.number}. "
        yield _wrapped(condition.words, start)
        yield _wrapped(condition.formula, " " * len(start))
        yield _wrapped(condition.count, " " * len(start))
    if wording.nodes:
        yield iter(["", wording.heading])
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
        start = f"For {wording.answer} {flip.label}, by {flip.total}: "
        yield _wrapped(f"{start}{' '.join(flip.changes)}", "  - ")
    if wording.conditions and not wording.flips and wording.last:
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
            "<ol>"
            + "".join(
                f'<li value="{condition.number}">{escape(condition.words)}<br>'
                f"<code>{escape(condition.formula)}</code><br>{escape(condition.count)}</li>"
                for condition in wording.conditions
            )
            + "</ol>"
        )
    if wording.nodes:
        more = [f"and {wording.left_out} smaller parts"] if wording.left_out else []
        nodes = _list("ul", [*(_node_element(nodes) for nodes in wording.nodes), *more])
        elements.append(f"<details open><summary>{wording.heading}</summary>{nodes}</details>")
    if wording.flips:
        elements.append(f"<p>The smallest change of counts for another {wording.answer}</p>")
        elements.append(
            _list(
                "ul",
                (
                    f"For {wording.answer} <b>{escape(flip.label)}</b>, by {flip.total}: "
                    f"{escape(' '.join(flip.changes))}"
                    for flip in wording.flips
                ),
            )
        )
    if wording.last:
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
