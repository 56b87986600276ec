"""Names with control characters: shown with escapes, and exact wherever they are kept."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnn2logic as gl
from cli_runs import run
from gnn2logic._text import one_line, quote_name, visible, visible_json, visible_texts
from gnn2logic.cli.app import exit_code_of
from gnn2logic.exceptions import DataSetError
from gnn2logic.logic.syntax import modal

# Colours, a bell, the 8-bit form of an escape, and marks that turn the direction of writing.
NASTY = "\x1b[31mred\x07\x9b2J\u202egnp.exe\u2066\u200e"
_UNSEEN = ("Cc", "Cf")
FEATURE, CLASS, OTHER = f"f{NASTY}", f"c{NASTY}", f"o{NASTY}"


def unseen(text: str) -> set[str]:
    """Return the characters of a text that are not seen but do something."""
    return {sign for sign in text if sign not in "\n\t" and unicodedata.category(sign) in _UNSEEN}


def rule() -> gl.Formula:
    return modal(gl.Modality.from_set("1"), gl.predicate(FEATURE), 1)


def model() -> gl.IDTPredictor:
    return gl.from_formulas({CLASS: rule()}, otherwise=OTHER, names=[FEATURE])


def graph() -> gl.GraphBatch:
    return gl.from_edges([(0, 1), (1, 2)], 3, [[1], [0], [1]], names=[FEATURE]).symmetrize()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_is_shown_is_seen(text: str) -> None:
    assert not unseen(visible(text))
    assert one_line(text).isprintable()
    assert visible(text, keep="").isprintable()
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text
    assert not unseen(visible_json(json.dumps(text, ensure_ascii=False)))
    if text:
        assert gl.parse(quote_name(text)) is gl.predicate(text)


def test_plain_texts_stay_as_they_are() -> None:
    for text in ("", "U0", "größer als 1", "原子=7", 'say "hi"'):
        assert visible(text) == one_line(text) == text
    assert visible("two\nlines\tand a tab") == "two\nlines\tand a tab"
    assert visible_texts({"a\x07": ["b\x1b", 1, None, ("c",)]}) == {
        "a\\u0007": ["b\\u001b", 1, None, ("c",)]
    }


def test_models_and_what_they_say() -> None:
    idt = model()
    labels = np.array([CLASS, OTHER] * 5)
    graphs = gl.random_graphs(10, sizes=4, random_state=0)
    learned = gl.IDTClassifier(n_layers=0, random_state=0).fit(graphs, labels)
    data = gl.datasets.Dataset(
        name=NASTY, graphs=graph(), y=np.array([0]), class_names=(CLASS, OTHER)
    )
    why = gl.explain(idt, graph())
    for text in (
        *(str(own) for own in (rule(), idt, idt.rules_, learned, learned.rules_, data, why)),
        *(repr(own) for own in (rule(), idt, idt.rules_, learned, data, why, graph())),
        *(own._repr_html_() for own in (rule(), idt, idt.rules_, why)),
    ):
        assert not unseen(text)
    assert "\\u001b[31mred" in str(idt)


def test_names_are_kept_exactly(tmp_path: Path) -> None:
    assert gl.parse(str(rule())) is rule()
    assert gl.parse(rule().to_unicode()) is rule()
    path = tmp_path / "model.idt.json"
    model().save(path)
    found = gl.load(path)
    assert set(found.classes_.tolist()) == {CLASS, OTHER}
    assert found.formula(CLASS) is rule()


def test_reports() -> None:
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    pytest.importorskip("matplotlib", reason="needs the extra 'plot'")
    found = gl.report(model(), graph(), title=f"title {NASTY}")
    for text in (found.to_html(), found.to_markdown(), found.to_json()):
        assert not unseen(text)
    # Programs read the names as they are.
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["title"] == f"title {NASTY}"


def test_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "model.idt.json"
    model().save(path)
    for arguments in (
        ("formula", path),
        ("formula", path, "--as", "english"),
        ("formula", path, "--as", "unicode"),
        ("formula", path, "--json"),
    ):
        printed = run(*arguments).stdout
        assert not unseen(printed)
    plain = json.loads(run("formula", path, "--as", "json").stdout)
    assert set(plain) == {CLASS, OTHER}
    refused = run("formula", path, "--class", "no such class", code=2)
    assert "\\u001b" in refused.stderr
    assert not unseen(refused.stderr)


@pytest.mark.filterwarnings("default")
def test_errors_and_warnings_of_commands(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        warnings.warn(f"careful {NASTY}", UserWarning, stacklevel=1)
        raise DataSetError(f"broken {NASTY}")

    assert exit_code_of(command) == 3
    shown = capsys.readouterr().err
    assert re.search(r"^warning: careful \\u001b", shown, flags=re.MULTILINE)
    assert re.search(r"^error: broken \\u001b", shown, flags=re.MULTILINE)
    assert not unseen(shown)
