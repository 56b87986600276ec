"""Reports in a real browser: what lights up, what is filtered, what the keyboard does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsers import headless_browser
from gnn2logic.graphs import from_edges
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.logic import parse
from gnn2logic.reporting import report
from report_samples import graph_report, graph_task, long_report, node_task

# What is lit in the large picture, as node numbers.
LIT = "return [...document.querySelectorAll('#stage-picture .on')].map(n => +n.dataset.node)"
# How far down the large picture begins.
TOP = "return document.getElementById('stage-title').getBoundingClientRect().top"
# A phone widens its window for what does not fit; others get a bar to scroll with.
FITS = (
    "const e = document.documentElement;"
    "return e.scrollWidth <= e.clientWidth && innerWidth <= arguments[0]"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from headless_browser()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    graph_report(n_examples=4, n_disagreements=4).write_html(folder / "graphs.html")
    idt, graphs, labels = node_task()
    report(idt, graphs, labels, n_examples=2).write_html(folder / "nodes.html")
    return folder


def look(browser: Any, path: Path, *, width: int = 1200, scheme: str = "light") -> None:
    """Open a page in a window of some width."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.get(path.as_uri())


def quiet(browser: Any) -> bool:
    """Return whether the page had nothing to say on the console since it was last asked."""
    return not browser.get_log("browser")


def press(browser: Any, where: str, *keys: str) -> None:
    from selenium.webdriver.common.by import By

    browser.find_element(By.CSS_SELECTOR, where).send_keys(*keys)


def choose(browser: Any, where: str, value: str) -> None:
    script = (
        "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
        "e.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    browser.execute_script(script, where, value)


def shown(browser: Any) -> list[str]:
    script = "return [...document.querySelectorAll('.card:not([hidden])')].map(c => c.id)"
    return [str(own) for own in browser.execute_script(script)]


@pytest.mark.parametrize("level", ["graph", "node"])
def test_choosing_a_formula_lights_up_its_nodes(browser: Any, pages: Path, level: str) -> None:
    if level == "graph":
        graphs = graph_task()[1]
        document = graph_report(n_examples=4, n_disagreements=4).to_dict()
    else:
        idt, graphs, labels = node_task()
        document = report(idt, graphs, labels, n_examples=2).to_dict()
    look(browser, pages / f"{level}s.html")
    for place, example in enumerate(document["examples"][:4]):
        browser.execute_script(f"document.getElementById('card-{place}').click()")
        for number, own in enumerate(document["formulas"]):
            radio = f"input[name=formula][value='{number}']"
            browser.execute_script("document.querySelector(arguments[0]).click()", radio)
            truth = parse(own["text"]).evaluate(graphs[example["graph"]], level="node")
            expected = np.flatnonzero(truth).tolist()
            assert browser.execute_script(LIT) == expected
            thumb = LIT.replace("#stage-picture", f"#card-{place}")
            assert browser.execute_script(thumb) == expected
            line = browser.execute_script("return document.getElementById('truth-line').innerText")
            if len(expected) == len(truth):
                assert line == f"True at all {len(truth)} nodes."
            else:
                assert line.startswith(f"True at {len(expected)} of {len(truth)} nodes")
    browser.execute_script("document.querySelector('input[name=formula][value=\"-1\"]').click()")
    assert browser.execute_script(LIT) == []
    if level == "node":
        ring = "return document.querySelector('#stage-picture .ring').parentNode.dataset.node"
        assert int(browser.execute_script(ring)) == document["examples"][3]["node"]
    assert quiet(browser)


def test_filters_and_search(browser: Any, pages: Path) -> None:
    examples = graph_report(n_examples=4, n_disagreements=4).to_dict()["examples"]
    look(browser, pages / "graphs.html")

    def those(wanted: Any) -> list[str]:
        return [f"card-{n}" for n, example in enumerate(examples) if wanted(example)]

    assert shown(browser) == those(lambda own: True)
    choose(browser, "#filter-true", "busy")
    assert shown(browser) == those(lambda own: own["true"] == "busy")
    choose(browser, "#filter-predicted", "calm")
    assert shown(browser) == those(lambda o: o["true"] == "busy" and o["predicted"] == "calm")
    browser.execute_script("document.querySelector('.filters [type=reset]').click()")
    choose(browser, "#filter-status", "differ")
    differing = those(lambda own: own["differs"])
    assert shown(browser) == differing
    assert 0 < len(differing) < len(examples)
    text = browser.execute_script("return document.getElementById('shown-count').innerText")
    assert text == f"{len(differing)} of {len(examples)} examples"
    choose(browser, "#filter-status", "wrong")
    assert shown(browser) == those(lambda own: own["true"] != own["predicted"])
    choose(browser, "#filter-status", "")
    choose(browser, "#filter-teacher", "busy")
    assert shown(browser) == those(lambda own: own["teacher"] == "busy")
    choose(browser, "#filter-teacher", "")
    name = examples[2]["name"]
    choose(browser, "#search", name.upper())
    assert shown(browser) == those(lambda own: name in own["name"])
    title = "return document.getElementById('stage-title').innerText"
    assert browser.execute_script(title) == name
    choose(browser, "#search", "no such graph")
    assert shown(browser) == []
    hidden = "return document.getElementById('none-shown').hidden"
    assert not browser.execute_script(hidden)
    choose(browser, "#search", "")
    choose(browser, "#formula-search", "neighbours")
    labels = "return document.querySelectorAll('#formula-list label:not([hidden])').length"
    some = browser.execute_script(labels)
    choose(browser, "#formula-search", "")
    assert 0 < some < browser.execute_script(labels)
    assert quiet(browser)


def test_everything_can_be_reached_by_keys(browser: Any, pages: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    look(browser, pages / "graphs.html")
    chosen = "return document.querySelector('.card[aria-selected=true]').id"
    assert browser.execute_script(chosen) == "card-0"
    press(browser, "#cards", Keys.ARROW_RIGHT)
    assert browser.execute_script(chosen) == "card-1"
    press(browser, "#cards", Keys.END)
    assert browser.execute_script(chosen) == shown(browser)[-1]
    press(browser, "#cards", Keys.HOME, Keys.ARROW_DOWN)
    below = browser.execute_script(chosen)
    same_column = (
        f"return document.getElementById('{below}').offsetLeft"
        " === document.getElementById('card-0').offsetLeft"
    )
    assert below != "card-0"
    assert browser.execute_script(same_column)
    # Radio buttons: arrows choose, and the pictures follow.
    radio = "return document.querySelector('input[name=formula]:checked').value"
    assert browser.execute_script(radio) == "0"
    press(browser, "input[name=formula]:checked", Keys.ARROW_DOWN)
    assert browser.execute_script(radio) == "1"
    press(browser, "#stage-picture", Keys.ARROW_RIGHT)
    line = "return document.getElementById('node-line').innerText"
    assert browser.execute_script(line).startswith("Node 0: ")
    press(browser, "#stage-picture", Keys.ARROW_LEFT)
    assert browser.execute_script(line).startswith("Node 7: ")
    # Tab walks through the page and what has the focus can be seen.
    look(browser, pages / "graphs.html")
    visited: list[str] = []
    for _ in range(80):
        press(browser, ":focus" if visited else "body", Keys.TAB)
        here = browser.execute_script(
            "const e = document.activeElement; const s = getComputedStyle(e);"
            "const l = e.closest('label');"
            "const o = e.name === 'formula' ? getComputedStyle(l).outlineStyle : s.outlineStyle;"
            "return [e.id || e.name || e.className || e.tagName, o]"
        )
        visited.append(here[0])
        assert here[1] != "none", here
        if here[0] == "cards":
            break
    order = ["formula-search", "formula", "stage-picture", "search", "filter-true", "cards"]
    assert [name for name in visited if name in order] == order
    assert quiet(browser)


def test_decisions_choose_their_formula(browser: Any, pages: Path) -> None:
    look(browser, pages / "graphs.html")
    stories = "return [...document.querySelectorAll('.story:not([hidden])')].map(s => s.id)"
    assert browser.execute_script(stories) == ["story-0"]
    button = "document.querySelector('#story-0 .formula-button')"
    browser.execute_script(f"{button}.click()")
    pressed = browser.execute_script(f"return {button}.getAttribute('aria-pressed')")
    # The first formula is what the root counts, so it was chosen before and now is not.
    assert pressed == "false"
    browser.execute_script(f"{button}.click()")
    assert browser.execute_script(f"return {button}.getAttribute('aria-pressed')") == "true"
    number = browser.execute_script(f"return {button}.dataset.formula")
    radio = "return document.querySelector('input[name=formula]:checked').value"
    assert browser.execute_script(radio) == number


@pytest.mark.parametrize("page", ["graphs", "nodes"])
@pytest.mark.parametrize("width", [320, 375, 768, 1200])
def test_no_page_is_wider_than_its_window(browser: Any, pages: Path, page: str, width: int) -> None:
    look(browser, pages / f"{page}.html", width=width)
    assert browser.execute_script(FITS, width)
    browser.execute_script("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert browser.execute_script(FITS, width)
    assert quiet(browser)


CONTRAST = """
const number = (c) => (c.match(/[0-9.]+/g) || []).map(Number);
const light = (c) => { const [r, g, b] = number(c).map(v => v / 255)
  .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const back = (e) => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor;
  if (!/rgba\\(.*, 0(\\.[0-9]+)?\\)|\\/|transparent/.test(c)) return c; }
  return 'rgb(255, 255, 255)'; };
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let worst = [99, ''];
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || e.closest('svg, script, noscript, option')) continue;
  if (!e.offsetParent) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(back(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 200)];
}
return worst;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_in_light_and_dark(browser: Any, pages: Path, scheme: str) -> None:
    look(browser, pages / "graphs.html", scheme=scheme)
    ratio, where = browser.execute_script(CONTRAST)
    assert ratio >= 4.5, where
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(part) for part in paper.strip("rgb()").split(","))
    assert brightness < 150 if scheme == "dark" else brightness > 600


def test_on_paper_there_are_pictures_and_no_controls(browser: Any, pages: Path) -> None:
    look(browser, pages / "graphs.html", scheme="dark")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = "return document.querySelector(arguments[0]).offsetParent !== null"
    for control in (".filters", ".formulas", "nav", "#stage-picture ~ p"):
        assert not browser.execute_script(visible, control)
    for content in ("#card-0 .thumb", ".rule", ".trade", ".picture", "#lit-line"):
        assert browser.execute_script(visible, content)
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"


def test_hostile_names_and_directed_typed_graphs_are_drawn(browser: Any, tmp_path: Path) -> None:
    name = "</script><img src=x onerror=\"document.title='hacked'\">"
    relation = "<b>in</b>"
    idt = from_formulas(
        {name: parse("1(A^T true > 0) > 0")}, otherwise="no", names=[name], relations=[relation]
    )
    graphs = from_edges(
        [(0, 1), (1, 0), (1, 2), (2, 2)],
        3,
        [[1], [0], [1]],
        names=[name],
        relations=[relation] * 4,
    )
    page = tmp_path / "hostile.html"
    report(idt, graphs, [name], title=name, graph_names=[name]).write_html(page)
    look(browser, page)
    assert browser.title == name
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0
    assert browser.execute_script(LIT) == [0, 1, 2]
    tips = "return document.querySelectorAll('#stage-picture .tip').length"
    assert browser.execute_script(tips) == 3
    loops = "return document.querySelectorAll('#stage-picture circle.edge').length"
    assert browser.execute_script(loops) == 1
    text = browser.execute_script("return document.getElementById('stage-title').textContent")
    assert text == name
    assert quiet(browser)


def test_groups_of_nodes_are_shown_by_their_names(browser: Any, tmp_path: Path) -> None:
    found, graphs = long_report()
    found.write_html(tmp_path / "long.html")
    document = found.to_dict()
    assert len(document["groups"]) > 1
    look(browser, tmp_path / "long.html")
    graph = graphs[document["examples"][0]["graph"]]
    for group in document["groups"]:
        name = f"({group['name']})"
        script = (
            "const [own] = [...document.querySelectorAll('.groups button')]"
            ".filter(b => b.textContent === arguments[0]); own.click();"
        )
        browser.execute_script(script, name)
        truth = parse(document["formulas"][group["formula"]]["text"]).evaluate(graph, level="node")
        assert browser.execute_script(LIT) == np.flatnonzero(truth).tolist()
        words = browser.execute_script("return document.getElementById('words-line').innerText")
        assert words.startswith(f"{name} means: the node ")
        # The picture is in sight.
        assert wait_until(lambda: 0 <= browser.execute_script(TOP) < 900)
    assert quiet(browser)


def wait_until(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()
