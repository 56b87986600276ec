"""Progress: what is shown where, and when, by a clock that tests set."""

from __future__ import annotations

import io
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gnn2logic._progress import Progress, say
from gnn2logic.graphs import random_graphs
from gnn2logic.learning import IDTClassifier
from gnn2logic.logic import parse


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def run(stream: io.StringIO, verbose: int | None, seconds: float, steps: int = 8) -> list[str]:
    """Take some steps of `seconds` each, and return the lines that were shown."""
    clock = Clock()
    with Progress("fit", steps, verbose=verbose, stream=stream, clock=clock) as progress:
        for _ in range(steps):
            clock.now += seconds
            progress.step("layer")
    return [line.strip() for line in stream.getvalue().replace("\r", "\n").splitlines() if line]


def test_a_terminal_shows_every_step_in_one_line() -> None:
    terminal = Terminal()
    lines = run(terminal, 1, 0.1)
    assert lines[0] == "fit: layer 1/8, 0.1 s"
    assert lines[-1] == "fit: layer 8/8, 0.8 s"
    assert len(lines) == 8
    assert terminal.getvalue().count("\n") == 1


def test_a_log_has_a_line_every_few_seconds_and_the_last() -> None:
    assert run(io.StringIO(), 1, 2.0) == [
        "fit: layer 3/8, 6.0 s, 0:00:10 left",
        "fit: layer 6/8, 12.0 s, 0:00:04 left",
        "fit: layer 8/8, 16.0 s",
    ]
    assert run(io.StringIO(), 1, 0.01) == ["fit: layer 8/8, 0.1 s"]


def test_long_work_is_shown_on_a_terminal_without_being_asked_for() -> None:
    lines = run(Terminal(), None, 1.0)
    assert lines[0] == "fit: layer 5/8, 5.0 s, 0:00:03 left"
    assert lines[-1] == "fit: layer 8/8, 8.0 s"
    assert run(Terminal(), None, 0.1) == []
    assert run(io.StringIO(), None, 10.0) == []


def test_zero_is_quiet_everywhere() -> None:
    assert run(Terminal(), 0, 10.0) == run(io.StringIO(), 0, 10.0) == []


def test_waiting_is_explained_where_somebody_waits() -> None:
    terminal, log = Terminal(), io.StringIO()
    say("it compiles", terminal)
    say("it compiles", log)
    assert terminal.getvalue().strip() == "it compiles"
    assert terminal.getvalue().endswith("\n")
    assert log.getvalue() == ""


def test_unasked_lines_come_from_the_main_thread_alone() -> None:
    """Fits side by side would write over each other."""
    shown: list[list[str]] = []
    thread = threading.Thread(target=lambda: shown.append(run(Terminal(), None, 10.0)))
    thread.start()
    thread.join()
    assert shown == [[]]


def test_the_line_is_left_when_something_fails() -> None:
    terminal = Terminal()

    def fail() -> None:
        with Progress("fit", 3, verbose=1, stream=terminal) as progress:
            progress.step("layer")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert terminal.getvalue().endswith("\n")


class Notebook:
    """What IPython offers to programs that run in a notebook."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
        self.shown: list[dict[str, str]] = []
        self.n_bars = 0
        package: Any = ModuleType("IPython")
        display: Any = ModuleType("IPython.display")
        package.get_ipython = lambda: SimpleNamespace(kernel=kernel)
        display.display = self._display
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def _display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        self.n_bars += 1
        self.shown.append(data)
        return SimpleNamespace(update=self._update)

    def _update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data)


def test_a_notebook_has_one_bar_that_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    notebook = Notebook(monkeypatch, kernel=object())
    clock = Clock()
    with Progress("fit <it>", 3, verbose=1, clock=clock) as progress:
        for _ in range(3):
            clock.now += 1.0
            progress.step("layer")
    assert notebook.n_bars == 1
    assert [own["text/plain"] for own in notebook.shown] == [
        f"fit <it>: layer {n}/3, {n}.0 s" for n in (1, 2, 3)
    ]
    assert notebook.shown[-1]["text/html"] == (
        '<progress value="3" max="3"></progress> fit &lt;it&gt;: layer 3/3, 3.0 s'
    )
    assert log.getvalue() == ""


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    notebook = Notebook(monkeypatch, kernel=None)
    with Progress("fit", 1, verbose=1) as progress:
        progress.step("layer")
    assert notebook.shown == []
    assert log.getvalue().startswith("fit: layer 1/1, ")


def test_a_fit_says_something_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = random_graphs(30, sizes=5, random_state=0)
    y = [number % 2 for number in range(30)]
    for verbose, n_lines in ((1, 1), (0, 0), (None, 0)):
        log = io.StringIO()
        monkeypatch.setattr(sys, "stderr", log)
        IDTClassifier(1, algorithm="layers", verbose=verbose, random_state=0).fit(graphs, y)
        assert log.getvalue().count("fit: layer 2/2") == n_lines


def test_a_search_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = random_graphs(60, sizes=5, random_state=0)
    y = parse("1 U0 > 2").evaluate(graphs)
    for verbose in (1, 0, None):
        log = io.StringIO()
        monkeypatch.setattr(sys, "stderr", log)
        IDTClassifier(n_layers=0, verbose=verbose, random_state=0).fit(graphs, y)
        assert log.getvalue().startswith("search: ") == (verbose == 1)
        assert ("fold 5 of 5, 100% explained by 1 U0 > 2" in log.getvalue()) == (verbose == 1)


def test_without_stderr_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress("fit", 1, verbose=1) as progress:
        progress.step("layer")
