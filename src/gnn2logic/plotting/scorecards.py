"""A scorecard as people know them from clinics: a table with points, and what scores mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnn2logic._text import visible
from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.explanation.phrases import percent
from gnn2logic.idt.export.view import one_line
from gnn2logic.plotting.axes import needs_matplotlib, new_axes
from gnn2logic.plotting.sheet import LINE_HEIGHT, Sheet, Stroke, TextBox, Word, text_width
from gnn2logic.plotting.words import BLUE, FAINT, INK, QUIET, VERMILLION, tint, wrapped
from gnn2logic.scorecards import CardPath, ScorecardPredictor
from gnn2logic.scorecards.tables import CardTable, ScoreMeaning, letters_for

__all__ = ["plot_card_path", "plot_scorecard"]

# Points of the page: letters, the column of words, columns of points, and bars.
_SIZE = 9.0
_SMALL = 8.0
_LINE = _SIZE * LINE_HEIGHT
_PADDING = 5.0
_NUMBER = 20.0
_WORDS = 330.0
_BARS = 120.0
_CELL = 42.0
# Letters are a little wider where a picture has few pixels.
_SPARE = 0.94
_CHARACTERS = 110
_CLASS_CHARACTERS = 8


def plot_scorecard(
    model: object,
    *,
    class_names: Sequence[object] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a scorecard as a table: lines with their points as bars, and what a score means.

    Parameters
    ----------
    model : fitted ScorecardClassifier, ScorecardRegressor, ScorecardPredictor or the like
    class_names : sequence, optional
        Other names for the classes of the model, in their order.
    title : str, optional
        By default what the card is for, and how many lines it has.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_scorecard
    >>> graphs = gl.random_graphs(300, sizes=8, random_state=0)
    >>> y = gl.parse("1 U0 > 4 | 1 U1 > 5").evaluate(graphs)
    >>> model = gl.ScorecardClassifier(n_layers=0, random_state=0).fit(graphs, y)
    >>> ax = plot_scorecard(model, class_names=["few", "many"])
    >>> ax.get_title()
    'Scorecard for graphs, 2 lines'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_scorecard", ax)
    table = _fitted(model).table(class_names)
    sheet = Sheet()
    heads = _heads(table)
    bottom = _draw_lines(sheet, table, heads)
    if heads is None:
        bottom = _draw_names(sheet, table, bottom)
    bottom = _draw_groups(sheet, table, bottom)
    bottom = _draw_verdict(sheet, table, bottom)
    _draw_meanings(sheet, table, bottom)
    return sheet.draw(ax, table.title if title is None else title)


def _fitted(model: Any) -> ScorecardPredictor:
    if not isinstance(model, ScorecardPredictor) and hasattr(model, "scorecard_"):
        # A distiller; its room needs torch, which a picture does not.
        model = model.scorecard_
    if not isinstance(model, ScorecardPredictor):
        raise UnsupportedInputError(
            f"model must be a fitted scorecard. Got {type(model).__name__} instead."
        )
    return model


def _width(table: CardTable) -> float:
    return _BARS if len(table.columns) == 1 else _CELL * len(table.columns)


def _heads(table: CardTable) -> list[list[str]] | None:
    """Return the lines of text above the columns; None where names are too long for that."""
    names = [visible(name) for name in table.columns]
    if len(names) == 1:
        return [wrapped(names[0], _CHARACTERS // 5, 2)]
    heads = [wrapped(name, _CLASS_CHARACTERS) for name in names]
    whole = all(len(word) <= _CLASS_CHARACTERS for name in names for word in name.split())
    widest = max(text_width(line, _SMALL) for head in heads for line in head)
    # Bold letters are wider.
    fit = whole and max(map(len, heads)) <= 2 and widest <= 0.85 * _CELL
    return heads if fit else None


def _draw_names(sheet: Sheet, table: CardTable, top: float) -> float:
    """Draw which class the letter above a column is; return where that ends."""
    top += 4
    for letter, name in zip(letters_for(table.columns), table.columns, strict=True):
        sheet.words.append(Word(0, top + _LINE / 2, letter, _SMALL, QUIET, bold=True))
        for line in _fitting(visible(name), _SPARE * (_WORDS + _width(table))):
            sheet.words.append(Word(_NUMBER, top + _LINE / 2, line, _SIZE))
            top += _LINE
    return top


def _draw_lines(sheet: Sheet, table: CardTable, heads: list[list[str]] | None) -> float:
    """Draw heads and lines; return where they end."""
    right = _NUMBER + _WORDS
    if heads is None:
        heads = [[letter] for letter in letters_for(table.columns)]
    top = _LINE * max(map(len, heads)) + _PADDING
    for number, head in enumerate(heads):
        middle = right + _width(table) * (number + 0.5) / len(heads)
        for line_number, text in enumerate(head):
            y = top - _PADDING - _LINE * (len(head) - line_number - 0.5)
            sheet.words.append(Word(middle, y, text, _SMALL, QUIET, bold=True, centred=True))
    sheet.strokes.append(Stroke(((0, top), (right + _width(table), top)), INK, 1.2))
    largest = max((abs(n) for row in table.rows for n in row.points), default=1)
    largest = max(largest, *(abs(n) for n in table.base), 1)
    rows: list[tuple[str, str, tuple[int, ...]]] = []
    if any(table.base):
        rows.append(("", "all", table.base))
    seen = 0
    for row in table.rows:
        rows.append(("" if row.line == seen else f"{row.line}.", row.words, row.points))
        seen = row.line
    for mark, words, points in rows or [("", "no lines: the score is always the same", ())]:
        lines = _fitting(visible(words))
        height = _LINE * len(lines) + 2 * _PADDING
        sheet.words.append(Word(0, top + _PADDING + _LINE / 2, mark, _SIZE, QUIET))
        for line_number, text in enumerate(lines):
            y = top + _PADDING + _LINE * (line_number + 0.5)
            sheet.words.append(Word(_NUMBER, y, text, _SIZE))
        _draw_points(sheet, points, largest, top, height, len(table.columns))
        top += height
        sheet.strokes.append(Stroke(((0, top), (right + _width(table), top)), FAINT, 0.7))
    return top


def _fitting(text: str, room: float = _SPARE * _WORDS) -> list[str]:
    """Return a text in lines that are measured to fit, by default into the column of words."""
    characters = _CHARACTERS
    while True:
        lines = wrapped(text, characters)
        if characters < 20 or max(text_width(line, _SIZE) for line in lines) <= room:
            return lines
        characters -= 3


def _draw_points(
    sheet: Sheet, points: Sequence[int], largest: int, top: float, height: float, n_columns: int
) -> None:
    right, middle = _NUMBER + _WORDS, top + height / 2
    if n_columns == 1 and points:
        # Bars grow to both sides of a line; the number stands at the end of its bar.
        zero, reach = right + _BARS / 2, _BARS / 2 - 22
        length = reach * points[0] / largest
        colour = BLUE if points[0] > 0 else VERMILLION
        sheet.boxes.append(
            TextBox(
                zero + min(length, 0),
                middle - 5,
                abs(length),
                10,
                tint(colour, 0.75),
                name="points",
            )
        )
        sheet.strokes.append(Stroke(((zero, top), (zero, top + height)), QUIET, 0.8))
        end = zero + length + (12 if points[0] > 0 else -12)
        sheet.words.append(Word(end, middle, f"{points[0]:+d}", _SIZE, bold=True, centred=True))
        return
    for number, point in enumerate(points):
        left = right + _CELL * number
        if point:
            shade = tint(BLUE if point > 0 else VERMILLION, 0.15 + 0.45 * abs(point) / largest)
            box = TextBox(left + 1, top + 1, _CELL - 2, height - 2, shade, name="points")
            sheet.boxes.append(box)
        text = f"{point:+d}" if point else "·"
        at = left + _CELL / 2
        sheet.words.append(Word(at, middle, text, _SIZE, bold=bool(point), centred=True))


def _draw_groups(sheet: Sheet, table: CardTable, top: float) -> float:
    """Draw what the names in the lines mean; return where that ends."""
    room = _SPARE * (_WORDS + _width(table))
    for group in table.groups:
        top += 4
        sheet.words.append(Word(0, top + _LINE / 2, f"({group.name})", _SIZE, QUIET))
        for line in _fitting(visible(group.words), room):
            sheet.words.append(Word(_NUMBER, top + _LINE / 2, line, _SIZE))
            top += _LINE
    return top


def _draw_verdict(sheet: Sheet, table: CardTable, top: float) -> float:
    is_class = bool(table.meanings) or len(table.columns) > 1
    verdict = visible(table.verdict)
    text = f"The score is the sum of all points: {'it is ' if is_class else ''}{verdict}."
    lines = _fitting(text, _SPARE * (_NUMBER + _WORDS + _width(table)))
    for line_number, line in enumerate(lines):
        sheet.words.append(Word(0, top + 8 + _LINE * (line_number + 0.5), line, _SIZE))
    return top + 8 + _LINE * len(lines)


def _draw_meanings(sheet: Sheet, table: CardTable, top: float) -> None:
    """Draw the table from scores to probabilities."""
    if not table.meanings:
        return
    name = table.columns[0].removeprefix("points for ")
    left = max(text_width(text, _SIZE) for text in ("score", visible(name))) + 10
    cell = (_NUMBER + _WORDS + _width(table) - left) / len(table.meanings)
    top += 10
    for row, text in enumerate(("score", visible(name))):
        sheet.words.append(Word(0, top + 9 + 18 * row, text, _SIZE, QUIET))
    for number, meaning in enumerate(table.meanings):
        x = left + cell * number
        shade = tint(BLUE if meaning.value > 0.5 else VERMILLION, abs(meaning.value - 0.5) * 1.1)
        sheet.boxes.append(TextBox(x + 1, top + 18, cell - 2, 18, shade, name="meaning"))
        score = _short(meaning)
        sheet.words.append(Word(x + cell / 2, top + 9, score, _SMALL, QUIET, centred=True))
        chance = percent(meaning.value)
        sheet.words.append(Word(x + cell / 2, top + 27, chance, _SMALL, bold=True, centred=True))


def _short(meaning: ScoreMeaning) -> str:
    if meaning.low is None:
        return f"≤ {meaning.high}"
    return f"≥ {meaning.low}" if meaning.high is None else str(meaning).replace(" to ", "…")


def plot_card_path(
    model: object,
    fidelity: Sequence[float] | None = None,
    *,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw what more lines bring: lines against accuracy on training and held-out data.

    Parameters
    ----------
    model : CardPath, or a fitted scorecard
    fidelity : sequence of float, optional
        How often each card of the path says what the teacher says, in the order of the path.
    title : str, optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_card_path
    >>> graphs = gl.random_graphs(300, sizes=8, random_state=0)
    >>> y = gl.parse("1 U0 > 4 | 1 U1 > 5").evaluate(graphs)
    >>> model = gl.ScorecardClassifier(n_layers=0, random_state=0).fit(graphs, y)
    >>> ax = plot_card_path(model)
    >>> ax.get_xlabel()
    'lines'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_card_path", ax)
    path = model if isinstance(model, CardPath) else _fitted(model).path_
    measure = "R²" if path[0].card.answer == "number" else "accuracy"
    lines = [row.n_lines for row in path]
    if fidelity is not None and np.shape(fidelity) != (len(path),):
        raise UnsupportedInputError(
            f"fidelity must have one number for each of the {len(path)} cards. "
            f"Got shape {np.shape(fidelity)} instead."
        )
    if ax is None:
        ax = new_axes((6.4, 3.6))
    ax.plot(lines, [row.train for row in path], "-", color=QUIET, lw=1.2, label="training data")
    held_out = [(row.n_lines, row.held_out) for row in path if row.held_out is not None]
    if held_out:
        x, y = zip(*held_out, strict=True)
        ax.plot(x, y, "o-", color=BLUE, ms=4, lw=1.5, label="held-out data")
    if fidelity is not None:
        ax.plot(lines, fidelity, "s--", color=VERMILLION, ms=4, lw=1.2, label="fidelity")
    chosen = path[path.chosen]
    at = chosen.train if chosen.held_out is None else chosen.held_out
    ink = ax.xaxis.label.get_color()
    ax.axvline(chosen.n_lines, color=QUIET, lw=0.8, ls=(0, (2, 3)), zorder=0)
    ax.plot(
        [chosen.n_lines],
        [at],
        "o",
        ms=12,
        mfc="none",
        mec=ink,
        mew=1.8,
        label=f"chosen: {at:.3f}, {chosen.n_lines} lines",
    )
    ax.set_xlabel("lines")
    ax.set_ylabel(measure)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="y", color=QUIET, alpha=0.2, lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        fontsize=9,
        frameon=False,
        borderaxespad=0.2,
    )
    if title is not None:
        ax.set_title(one_line(title), fontsize=11, pad=38, parse_math=False, usetex=False)
    return ax
