"""``gnn2logic formula``: what a model says, in the notation that you like."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnn2logic._text import did_you_mean, visible
from gnn2logic.cli.options import JsonOption, TargetOption
from gnn2logic.cli.output import emit, emit_json, fitting
from gnn2logic.exceptions import FormulaError, ParameterError, TranslationError

if TYPE_CHECKING:
    from gnn2logic.logic import Formula
    from gnn2logic.logic.printing.english_words import Names

__all__ = ["EXAMPLES", "formula", "parsed"]

_MOST_CHARACTERS = 10**8

EXAMPLES = (
    "gnn2logic formula shapes.idt.json",
    "gnn2logic formula shapes.idt.json --class 'two shapes' --as latex",
    "gnn2logic formula '1(A U0 > 3) > 1/2' --as english",
    "gnn2logic formula 'A U0 > 1/2' --as c2 --max-size 4",
    "gnn2logic formula shapes.idt.json --class 'two shapes' | gnn2logic check - BAMultiShapes",
)


class Notation(StrEnum):
    """How a formula is written."""

    TEXT = "text"
    UNICODE = "unicode"
    LATEX = "latex"
    C2 = "c2"
    ENGLISH = "english"
    JSON = "json"


def formula(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL|FORMULA",
            help="A model that distill wrote, or a formula; - reads a formula from stdin.",
            show_default=False,
        ),
    ],
    label: Annotated[
        str | None,
        typer.Option("--class", metavar="LABEL", help="Only the formula of this class."),
    ] = None,
    notation: Annotated[
        Notation, typer.Option("--as", help="How to write it; text can be read back.")
    ] = Notation.TEXT,
    max_size: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="For c2: write shares for sets of at most so many nodes.",
            show_default=False,
        ),
    ] = None,
    simplify: Annotated[
        bool, typer.Option("--simplify", help="Write an equivalent formula that is shorter.")
    ] = False,
    target: TargetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what a model says, as formulas.

    Each is true exactly for the graphs that the model puts into its class, or gives its number.

    With --class there is the formula alone, for other programs; else one for each class. In
    English, long parts have a name such as (a), which is explained on a line of its own.
    """
    if max_size is not None and notation is not Notation.C2:
        raise ParameterError("--max-size is for --as c2.")
    wanted, words = _formulas(model, label, target)
    if simplify:
        wanted = {name: one.simplify() for name, one in wanted.items()}
    if as_json or notation is Notation.JSON:
        _emit_as_json(wanted, one=len(wanted) == 1 and (label is not None or None in wanted))
        return
    write, more = _writer(notation, wanted.values(), max_size, words)
    lines = [
        write(one) if name is None or label is not None else f"{name}: {write(one)}"
        for name, one in wanted.items()
    ]
    for line in [*lines, *more]:
        # Sentences are for people; other notations are copied.
        emit(fitting(visible(line), sys.stdout) if notation is Notation.ENGLISH else line)


def parsed(text: str) -> Formula:
    """Return the formula that an argument holds; ``-`` reads it from stdin."""
    from gnn2logic.logic import parse

    if text == "-":
        text = sys.stdin.read(_MOST_CHARACTERS + 1)
        if len(text) > _MOST_CHARACTERS:
            raise ParameterError(
                f"A formula from stdin must have at most {_MOST_CHARACTERS:,} characters. Got more."
            )
    return parse(text)


def _writer(
    notation: Notation, formulas: Iterable[Formula], max_size: int | None, words: Names | None
) -> tuple[Callable[[Formula], str], list[str]]:
    """Return how formulas are written, and the lines that follow them."""
    if notation is Notation.ENGLISH:
        from gnn2logic.logic.printing.steps import SHORT, ShortNames

        short_names = ShortNames.of(formulas, short=SHORT, vocabulary=words)
        return short_names.words, short_names.lines()
    if notation is Notation.C2:
        return lambda one: _in_c2(one, max_size), []
    plain: dict[Notation, Callable[[Formula], str]] = {
        Notation.TEXT: str,
        Notation.UNICODE: lambda one: one.to_unicode(),
        Notation.LATEX: lambda one: one.to_latex(),
    }
    return plain[notation], []


def _in_c2(formula: Formula, max_size: int | None) -> str:
    from gnn2logic.logic import to_c2

    try:
        return str(to_c2(formula, max_size=max_size))
    except TranslationError as error:
        raise type(error)(str(error).replace("max_size=D", "--max-size D")) from error


def _formulas(
    source: str, label: str | None, target: str | None
) -> tuple[dict[str | None, Formula], Names | None]:
    """Return formulas by class, a formula that was given has none; and words if they need some."""
    if Path(source).suffix == ".json" or _is_file(source):
        from gnn2logic.cli.subjects import load_formulas
        from gnn2logic.logic.printing.molecules import molecule_names

        idt = load_formulas(source, target)
        formulas: dict[str | None, Formula] = {
            str(name): idt.formula(name)
            for name in idt.classes_.tolist()
            if label in (None, str(name))
        }
        if label is not None and not formulas:
            known = [str(name) for name in idt.classes_.tolist()]
            raise ParameterError(
                f"--class must be one of {', '.join(known)}. "
                f"Got {label!r} instead.{did_you_mean(label, known)}"
            )
        return formulas, molecule_names(idt.encoder_.names_)
    for option, given in (("--class", label), ("--target", target)):
        if given is not None:
            raise ParameterError(f"{option} is for models, and there is no model {source!r}.")
    try:
        return {None: parsed(source)}, None
    except FormulaError as error:
        raise type(error)(f"{source!r} is no file and no formula. {error}") from error


def _is_file(source: str) -> bool:
    try:
        return Path(source).is_file()
    except (OSError, ValueError):
        # A long formula is no name of a file.
        return False


def _emit_as_json(formulas: dict[str | None, Formula], *, one: bool) -> None:
    plain = {name: json.loads(one.to_json()) for name, one in formulas.items()}
    emit_json(next(iter(plain.values())) if one else plain)
