"""Releases: the address of the project is written in one place, and only into a copy."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A name that is reserved for examples and can never be anybody's.
ADDRESS = "https://host.example/owner/gnn2logic"
FILES = ["README.md", "pyproject.toml", "CITATION.cff", "mkdocs.yml", "CHANGELOG.md"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy whose version and changelog are ready."""
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    package = tmp_path / "src" / "gnn2logic"
    package.mkdir(parents=True)
    (package / "_version.py").write_text('__version__ = "3.2.1"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("## 3.2.1 (2030-01-31)\n", encoding="utf-8")
    return tmp_path


def release(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(ROOT / "tools" / "release.py"), *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def links_of(markdown: str) -> list[str]:
    """Return where the links lead that are no code and do not stay on the page."""
    outside = "".join(markdown.split("```")[::2])
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", outside))
    return [target for target in targets if not target.startswith("#")]


def test_all_that_needs_the_address_gets_it(copy: Path) -> None:
    done = release(ADDRESS + "/", copy)
    assert (done.returncode, done.stderr) == (0, "")
    readme = text(copy / "README.md")
    links = links_of(readme)
    assert links
    assert all(link.startswith("https://") for link in links)
    picture = "Aspirin and paracetamol: the rule finds the acid group of aspirin"
    assert f"![{picture}]({ADDRESS}/raw/v3.2.1/docs/" in readme
    # Code stays as it is, though a formula may look like a link.
    code = text(ROOT / "README.md").split("```")[1::2]
    assert any("](" in block for block in code)
    assert readme.split("```")[1::2] == code
    assert f"[BSD-3-Clause]({ADDRESS}/blob/v3.2.1/LICENSE)" in readme
    project = tomllib.loads(text(copy / "pyproject.toml"))["project"]
    assert project["urls"]["Source"] == ADDRESS
    assert project["urls"]["Changelog"] == f"{ADDRESS}/blob/v3.2.1/CHANGELOG.md"
    assert f'version: "3.2.1"\nrepository-code: "{ADDRESS}"\n' in text(copy / "CITATION.cff")
    assert f"\nrepo_url: {ADDRESS}\n" in text(copy / "mkdocs.yml")


def test_links_in_the_readme_lead_to_files() -> None:
    targets = links_of(text(ROOT / "README.md"))
    relative = [target for target in targets if "://" not in target]
    assert relative
    files = [target.partition("#")[0] for target in relative]
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_sources_themselves_have_no_address() -> None:
    assert "urls" not in tomllib.loads(text(ROOT / "pyproject.toml"))["project"]
    assert "repository-code" not in text(ROOT / "CITATION.cff")
    assert "repo_url" not in text(ROOT / "mkdocs.yml")


@pytest.mark.parametrize(
    "address", ["", "gnn2logic", "http://host.example/a/b", "https://host.example", "https://a b/c"]
)
def test_addresses_that_are_none_are_refused(copy: Path, address: str) -> None:
    before = [text(copy / name) for name in FILES]
    done = release(address, copy)
    assert done.returncode == 2
    assert "must look like https://host/owner/project" in done.stderr
    assert [text(copy / name) for name in FILES] == before


def test_what_is_not_ready_is_refused(copy: Path) -> None:
    before = text(copy / "README.md")
    (copy / "CHANGELOG.md").write_text("## 3.2.1 (not released yet)\n", encoding="utf-8")
    assert "must have the heading '## 3.2.1 (YYYY-MM-DD)'" in release(ADDRESS, copy).stderr
    version = copy / "src" / "gnn2logic" / "_version.py"
    version.write_text('__version__ = "3.2.1.dev0"\n', encoding="utf-8")
    assert "must be like 0.1.0 before a release. It is 3.2.1.dev0" in release(ADDRESS, copy).stderr
    (copy / ".git").mkdir()
    assert "must be a copy made for the release" in release(ADDRESS, copy).stderr
    assert text(copy / "README.md") == before
