"""Pictures of scorecards, read from their artists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from gnn2logic import (
    ScorecardClassifier,
    explain,
    parse,
    plot_card_path,
    plot_explanation,
    plot_scorecard,
    random_graphs,
)
from gnn2logic.exceptions import UnsupportedInputError
from gnn2logic.scorecards.tables import table_to_text
from plot_checks import assert_apart

GRAPHS = random_graphs(300, sizes=9, density=0.3, random_state=0)
TRUTH = parse("1 U0 > 4").evaluate(GRAPHS) | parse("1 U1 > 6").evaluate(GRAPHS)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> ScorecardClassifier:
    return ScorecardClassifier(max_lines=4, n_layers=0, random_state=0).fit(GRAPHS, TRUTH)


def texts(ax: object) -> list[str]:
    return [artist.get_text() for artist in ax.findobj(plt.Text)]  # type: ignore[attr-defined]


def test_the_table_has_every_line_with_its_points(model: ScorecardClassifier) -> None:
    ax = plot_scorecard(model, class_names=["few", "many"])
    shown = " ".join(texts(ax))
    table = model.table(["few", "many"])
    bars = [patch for patch in ax.patches if patch.get_gid() == "points"]
    rows = [row.points[0] for row in table.rows] + [n for n in table.base if n]
    assert len(bars) == len(rows)
    for points in rows:
        assert f"{points:+d}" in shown
    cells = [patch for patch in ax.patches if patch.get_gid() == "meaning"]
    assert len(cells) == len(table.meanings)
    assert "many from a score of" in shown
    assert ax.get_title() == table.title


@pytest.mark.parametrize("dpi", [60, 70, 100])
def test_long_lines_keep_off_their_points(
    model: ScorecardClassifier, monkeypatch: pytest.MonkeyPatch, dpi: int
) -> None:
    words = (
        "more than 17 nodes have label 7, or have more than two thirds of their neighbours with "
        "more than 1 of themselves and their neighbours with label 6"
    )
    rows = tuple(replace(row, words=words, points=(-3,)) for row in model.table().rows)
    table = replace(model.table(), rows=rows)
    monkeypatch.setattr(type(model), "table", lambda *_: table)
    ax = plot_scorecard(model)
    ax.figure.set_dpi(dpi)
    ax.figure.canvas.draw()
    extents = [text.get_window_extent() for text in ax.texts if text.get_text().strip()]
    assert_apart(extents, slack=3.0)


def test_many_classes_have_a_column_each() -> None:
    labels = np.array(["a", "b", "c"])[TRUTH.astype(int) + parse("1 U1 > 7").evaluate(GRAPHS)]
    model = ScorecardClassifier(max_lines=3, n_layers=0, random_state=0).fit(GRAPHS, labels)
    ax = plot_scorecard(model.pick(n_lines=2), title="Three")
    shown = texts(ax)
    assert {"a", "b", "c"} <= set(shown)
    assert ax.get_title() == "Three"
    assert plot_scorecard(model.pick(n_lines=0)) is not None
    # Names that are too long for their columns stand below, each with the letter of its column.
    long = [f"customers of the {place} regions" for place in ("northern", "southern", "other")]
    ax = plot_scorecard(model, class_names=long)
    ax.figure.canvas.draw()
    assert {"A", "B", "C", *long} <= set(texts(ax))
    extents = [text.get_window_extent() for text in ax.texts if text.get_text().strip()]
    assert_apart(extents, slack=3.0)
    printed = table_to_text(model.table(long))
    assert max(map(len, printed.splitlines())) <= 80
    assert "  B: customers of the southern regions" in printed


def test_the_path_marks_the_chosen_card(model: ScorecardClassifier) -> None:
    ax = plot_card_path(model, [0.5] * len(model.path_))
    labels = [line.get_label() for line in ax.get_lines()]
    assert {"training data", "held-out data", "fidelity"} <= set(labels)
    chosen = model.path_[model.path_.chosen]
    marked = next(line for line in ax.get_lines() if line.get_label().startswith("chosen"))
    assert list(marked.get_xdata()) == [chosen.n_lines]
    assert list(marked.get_ydata()) == [chosen.held_out]
    with pytest.raises(UnsupportedInputError, match="one number for each of the"):
        plot_card_path(model, [0.5])
    with pytest.raises(UnsupportedInputError, match="fitted scorecard. Got int"):
        plot_scorecard(3)


def test_an_explanation_has_a_picture_for_each_line_with_points(model: ScorecardClassifier) -> None:
    told: Any = explain(model, GRAPHS[int(np.flatnonzero(TRUTH)[0])])
    ax = plot_explanation(told)
    assert len(ax.child_axes) == len(told.reasons) > 0
    for panel, line in zip(ax.child_axes, told.reasons, strict=True):
        assert f": {line.points[0]:+d} point" in panel.get_title()
    assert f"score {told.scores[0]}" in ax.get_title()
