"""One page about several targets, in plain data and in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnn2logic as gl
from browsers import headless_browser
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.reporting import TargetReports

GRAPHS = gl.random_graphs(60, sizes=6, random_state=0)
TRUTHS = {"many": "1 U1 > 3", "<b>": "1 U0 > 2"}
Y = np.column_stack([gl.parse(text).evaluate(GRAPHS) for text in TRUTHS.values()]).astype(float)
Y[:10, 1] = np.nan


@pytest.fixture(scope="module")
def page() -> TargetReports:
    rules = gl.IDTClassifier(n_layers=0, random_state=0)
    model = gl.MultiTargetEstimator(rules, targets=list(TRUTHS), missing="skip").fit(GRAPHS, Y)
    reports = gl.report(model, GRAPHS, Y, teacher=np.nan_to_num(Y), n_examples=1, title="Two")
    assert isinstance(reports, TargetReports)
    return reports


def test_every_target_is_measured_where_its_label_is_known(page: TargetReports) -> None:
    heads, rows = page.scores()
    assert heads[:3] == ["Target", "Graphs", "Accuracy"]
    assert [row[:3] for row in rows] == [["many", "60", "100%"], ["<b>", "50", "100%"]]
    document = json.loads(page.to_json())
    assert list(document["targets"]) == list(TRUTHS)
    assert document["targets"]["<b>"]["scores"][0]["n_rows"] == 50
    # Graphs are called by their numbers among all of them.
    names = [example["name"] for example in page["<b>"].to_dict()["examples"]]
    assert names
    assert not set(names) & {f"Graph {number}" for number in range(10)}
    text = page.to_markdown()
    assert text.count("# Two: ") == 2
    assert text.startswith("# Two\n\n| Target | Graphs | Accuracy |")
    assert "| \\<b\\> | 50 | 100% |" in text
    with pytest.raises(ParameterError, match="no target 'few'"):
        page["few"]


def test_answers_of_a_teacher_must_fit() -> None:
    rules = gl.IDTClassifier(n_layers=0, random_state=0)
    model = gl.MultiTargetEstimator(rules, missing="skip").fit(GRAPHS, Y)
    with pytest.raises(LabelError, match=r"shape \(60, 2\). Got shape \(60,\)"):
        gl.report(model, GRAPHS, Y, teacher=Y[:, 0])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from headless_browser()


def test_a_target_is_picked_in_a_browser(browser: Any, page: TargetReports, tmp_path: Path) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select, WebDriverWait

    path = tmp_path / "two.html"
    page.write_html(path)
    browser.get(path.as_uri())
    wanted: list[str] = []

    def is_shown(_: Any) -> bool:
        browser.switch_to.default_content()
        browser.switch_to.frame("page")
        found = browser.find_elements(By.TAG_NAME, "h1")
        # The script inside has drawn a picture.
        drawn = browser.find_elements(By.CSS_SELECTOR, "#stage-picture circle, #stage-picture g")
        return bool(found and drawn) and found[0].text == f"Two: {wanted[-1]}"

    for name in TRUTHS:
        wanted.append(name)
        browser.switch_to.default_content()
        Select(browser.find_element(By.ID, "target")).select_by_visible_text(name)
        WebDriverWait(browser, 10).until(is_shown)
    assert not browser.get_log("browser")
