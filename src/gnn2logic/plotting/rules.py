"""The table of rules as a picture: size against accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_fitted, check_whole, some_of
from gnn2logic.exceptions import ParameterError, UnsupportedInputError
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.rules import Rule, RuleTable
from gnn2logic.plotting.axes import needs_matplotlib, new_axes
from gnn2logic.plotting.legend import formula_text
from gnn2logic.plotting.sheet import font_family, text_width
from gnn2logic.plotting.words import BLUE, QUIET, VERMILLION
from gnn2logic.scorecards.predictor import ScorecardPredictor

__all__ = ["plot_rules"]

_LABEL = 8.0
_LONGEST = 46
# Where a rule may stand from its point: below or above it, to the right or to the left.
_SHIFTS = ((9.0, -10.0), (9.0, 0.0), (9.0, 12.0), (-9.0, 12.0), (-9.0, -12.0))


def plot_rules(
    rules: object,
    fidelity: Sequence[float] | npt.ArrayLike | Mapping[int, float] | None = None,
    *,
    max_leaves: int | None = 24,
    n_labels: int = 4,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the trade-off between the size of rules and how often they are right.

    Every point is one row of `rules_`; the chosen one is marked. The smallest rules are
    written next to their points.

    Parameters
    ----------
    rules : RuleTable, or a fitted model
        ``idt.rules_`` (as a model has it, for its training data) or ``idt.rules(graphs, y)``.
    fidelity : sequence of float, or mapping of rule index to float, optional
        How often each rule says what the teacher says, for all rules in the order of the table,
        or for some by their index.
    max_leaves : int, optional
        Rules with more leaves are left out, but for the chosen one: their formulas take a while
        to read. None draws all.
    n_labels : int
        How many rules are written out at most; none where they would overlap.
    title : str, optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.plotting import plot_rules
    >>> graphs = gl.random_graphs(200, random_state=0)
    >>> y = gl.parse("1 U1 > 6").evaluate(graphs)
    >>> model = gl.IDTClassifier(n_layers=0, relative=False, random_state=0).fit(graphs, y)
    >>> ax = plot_rules(model)
    >>> ax.get_xlabel()
    'size of the formulas'
    >>> import matplotlib.pyplot as plt
    >>> plt.close(ax.figure)
    """
    needs_matplotlib("plot_rules", ax)
    table = _table(rules)
    limit = None if max_leaves is None else check_whole("max_leaves", max_leaves, least=1)
    written = check_whole("n_labels", n_labels, least=0)
    agreement = _fidelities(fidelity, table)
    shown = [rule for rule in table if limit is None or rule.n_leaves <= limit or rule.chosen]
    sizes = np.array([rule.size for rule in shown], dtype=float)
    accuracies = np.array([rule.accuracy for rule in shown])
    labels = [_rule_text(rule, table) for rule in shown[:written]]
    is_new = ax is None
    if is_new:
        ax = new_axes((6.4, 4.0))
    measure = "accuracy" if table.chosen.mae is None else "R2"
    ax.plot(sizes, accuracies, "o-", color=BLUE, ms=5, lw=1.3, label=measure)
    curves = [np.column_stack([sizes, accuracies])]
    known = [number for number, rule in enumerate(shown) if rule.index in agreement]
    if known:
        values = [agreement[shown[number].index] for number in known]
        curves.append(np.column_stack([sizes[known], values]))
        ax.plot(sizes[known], values, "s--", color=VERMILLION, ms=5, lw=1.3, label="fidelity")
    chosen = next(number for number, rule in enumerate(shown) if rule.chosen)
    # As the style has it: white on dark paper.
    ink = ax.xaxis.label.get_color()
    ax.axvline(sizes[chosen], color=QUIET, lw=0.8, ls=(0, (2, 3)), zorder=0)
    ax.plot(
        sizes[chosen],
        accuracies[chosen],
        "o",
        ms=12,
        mfc="none",
        mec=ink,
        mew=1.8,
        label=f"chosen: {accuracies[chosen]:.3f}, size {int(sizes[chosen])}",
    )
    ax.set_ylabel(f"{measure} and fidelity" if known else measure)
    _finish(ax, sizes, title)
    if is_new:
        # The rules are written where there is room, so the axes must have their final size.
        ax.figure.draw_without_rendering()
    _write_rules(ax, curves, labels)
    return ax


def _table(rules: object) -> RuleTable:
    if isinstance(rules, RuleTable):
        return rules
    if isinstance(rules, IDTPredictor):
        check_fitted(rules, "model_")
        return rules.rules_
    raise UnsupportedInputError(
        "rules must be a RuleTable (idt.rules_ or idt.rules(graphs, y)) or a fitted IDT. "
        f"Got {type(rules).__name__} instead."
        + (" Use plot_card_path for scorecards." if isinstance(rules, ScorecardPredictor) else "")
    )


def _fidelities(fidelity: Any, table: RuleTable) -> dict[int, float]:
    """Return fidelity by the index of the rule."""
    if fidelity is None:
        return {}
    indices = [rule.index for rule in table]
    if isinstance(fidelity, Mapping):
        unknown = [index for index in fidelity if index not in indices]
        if unknown:
            raise ParameterError(
                f"fidelity must be for rules of the table, {some_of(sorted(indices))}. "
                f"Got {unknown[0]!r} instead."
            )
        by_index = {int(index): float(value) for index, value in fidelity.items()}
    else:
        values = np.asarray(fidelity, dtype=float)
        if values.shape != (len(table),):
            raise ParameterError(
                f"fidelity must have one number for each of the {len(table)} rules. "
                f"Got shape {values.shape} instead."
            )
        by_index = dict(zip(indices, values.tolist(), strict=True))
    for index, value in by_index.items():
        if table.chosen.mae is not None and not -np.inf < value <= 1:
            raise ParameterError(
                f"fidelity is R2 for numbers, and must be at most 1. Got {value} for rule {index}."
            )
        if table.chosen.mae is None and not 0 <= value <= 1:
            raise ParameterError(f"fidelity must be between 0 and 1. Got {value} for rule {index}.")
    return by_index


def _rule_text(rule: Rule, table: RuleTable) -> str:
    """Return the shortest formula of a class that the rule predicts."""
    predicted = [label for label, share in rule.support.items() if share] or list(rule.formulas)
    label = min(predicted, key=lambda name: (rule.formulas[name].size, rule.formulas[name].key))
    formula = rule.formulas[label]
    text = f"{table.name_of(label)}: {formula_text(formula)}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _finish(ax: Any, sizes: npt.NDArray[np.float64], title: str | None) -> None:
    ax.set_xlabel("size of the formulas")
    if sizes.max() > 40:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        # Sizes differ by orders of magnitude, and the small ones matter.
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(axis="y", color=QUIET, alpha=0.2, lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.06, y=0.12)
    # Above the axes, where it covers nothing.
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3,
        fontsize=8,
        frameon=False,
        borderaxespad=0.2,
    )
    if title is not None:
        ax.set_title(title, fontsize=11, pad=24, parse_math=False, usetex=False)


def _write_rules(ax: Any, curves: Sequence[npt.NDArray[np.float64]], labels: Sequence[str]) -> None:
    """Write rules next to their points, where there is room."""
    # Room is looked for in pixels, with the axes as they are now.
    points = [ax.transData.transform(curve) for curve in curves]
    per_point = ax.figure.dpi / 72
    inside = ax.get_window_extent()
    taken = [_around(x, y, 3 * per_point) for curve in points for x, y in _along(curve)]
    for text, (x, y), at in zip(labels, points[0], curves[0], strict=False):
        for shift in _SHIFTS:
            box = _text_box(text, x, y, shift, per_point)
            # Letters are a little wider where a picture has few pixels.
            slack = 0.06 * (box[2] - box[0])
            fits = box[0] - slack >= inside.x0 and box[2] <= inside.x1 and box[1] >= inside.y0
            if not fits or any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            ax.annotate(
                text,
                at,
                xytext=shift,
                textcoords="offset points",
                fontsize=_LABEL,
                color=ax.xaxis.label.get_color(),
                ha="left" if shift[0] > 0 else "right",
                va="center",
                parse_math=False,
                usetex=False,
                fontfamily=font_family(),
                arrowprops={
                    "arrowstyle": "-",
                    "color": QUIET,
                    "lw": 0.6,
                    "shrinkA": 0,
                    "shrinkB": 4,
                    "relpos": (0.0 if shift[0] > 0 else 1.0, 0.5),
                },
            )
            break


def _text_box(
    text: str, x: float, y: float, shift: tuple[float, float], per_point: float
) -> tuple[float, float, float, float]:
    width = text_width(text, _LABEL) * per_point
    left = x + shift[0] * per_point - (0.0 if shift[0] > 0 else width)
    middle = y + shift[1] * per_point
    return left, middle - _LABEL * 0.7 * per_point, left + width, middle + _LABEL * 0.7 * per_point


def _along(curve: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points on the line through the points of a curve, close to each other."""
    steps = np.linspace(0, len(curve) - 1, 40 * (len(curve) - 1) + 1)
    numbers = np.arange(len(curve))
    return np.column_stack([np.interp(steps, numbers, curve[:, axis]) for axis in (0, 1)])


def _around(x: float, y: float, reach: float) -> tuple[float, float, float, float]:
    return x - reach, y - reach, x + reach, y + reach


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
