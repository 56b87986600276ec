"""The built documentation: links lead somewhere, and search works without a server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from browsers import headless_browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"<(?:a|img|link|script)\b[^>]*?\s(?:href|src)=(?:\"([^\"]*)\"|([^\s>]+))")
TARGET = re.compile(r"\s(?:id|name)=(?:\"([^\"]*)\"|([^\s>]+))")


def broken_links(site: Path) -> list[str]:
    """Return links of a folder of pages that lead nowhere; other sites are not asked."""
    targets: dict[Path, set[str]] = {}

    def names_in(page: Path) -> set[str]:
        if page not in targets:
            found = TARGET.findall(page.read_text(encoding="utf-8"))
            targets[page] = {unescape(quoted or bare) for quoted, bare in found}
        return targets[page]

    broken = []
    for page in sorted(site.rglob("*.html")):
        for quoted, bare in LINK.findall(page.read_text(encoding="utf-8")):
            link = urlsplit(unescape(quoted or bare))
            if link.scheme or link.netloc:
                continue
            # The page about pages that are not there is shown at any address.
            if page.name == "404.html":
                continue
            target = page.parent / unquote(link.path) if link.path else page
            is_there = target.is_file() or (target / "index.html").is_file()
            anchor = unquote(link.fragment)
            if is_there and anchor and target.suffix == ".html":
                is_there = anchor in names_in(target.resolve())
            if not is_there:
                broken.append(f"{page.relative_to(site)}: {unescape(quoted or bare)}")
    return broken


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href=b.html#there>2</a> <img src="no.png"> '
        '<a href="https://example.org/x">3</a> <a class="x" href="c%20d.html">4</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<h1 id="here">x</h1><a href="#">top</a>', encoding="utf-8")
    (tmp_path / "c d.html").write_text("", encoding="utf-8")
    assert broken_links(tmp_path) == ["a.html: b.html#there", "a.html: no.png"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocstrings", reason="needs the extra 'docs'")
    folder = tmp_path_factory.mktemp("site")
    # It is built once for all tests, and warnings are errors.
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        check=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from headless_browser()


def test_the_site_needs_no_network(site: Path) -> None:
    pages = sorted(path.relative_to(DOCS) for path in DOCS.rglob("*.md"))
    assert pages
    for page in pages:
        html = (site / page).with_suffix(".html").read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img)[^>]*\b(?:src|href)=\"?(https?://[^\" >]+)", html)
        assert loaded == [], page


def test_the_reference_is_in_the_site(site: Path) -> None:
    """It has docstrings, also of names that are imported when they are first used."""
    reference = (site / "api" / "models.html").read_text(encoding="utf-8")
    assert "Distil a trained network into rules, or into a scorecard." in reference
    # A function is not taken for the module of the same name that it lives in.
    modules = [path.name for path in (site / "api").iterdir() if "doc-module" in path.read_text()]
    assert modules == ["errors.html"]


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    assert broken_links(site) == []


def test_search_works_in_a_page_that_was_opened_from_a_file(site: Path, browser: Any) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    browser.set_window_size(1400, 900)
    browser.get((site / "how-to" / "nodes.html").as_uri())
    box = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    browser.execute_script("arguments[0].focus()", box)
    box.send_keys("glossary")
    found = WebDriverWait(browser, 60).until(
        lambda driver: driver.find_elements(By.CSS_SELECTOR, ".md-search-result__link")
    )
    assert found[0].get_attribute("href").partition("?")[0] == (site / "glossary.html").as_uri()
