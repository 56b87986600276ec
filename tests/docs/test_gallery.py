"""Pages that are made of scripts: they print and draw what the pages show."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gallery  # noqa: E402
import site_pages  # noqa: E402

pytest.importorskip("torch_geometric", reason="one page of the gallery asks a network")
pytest.importorskip("matplotlib", reason="the gallery draws (extra 'plot')")

SCRIPTS = gallery.scripts()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_gallery_prints_and_draws_what_it_shows(script: Path, tmp_path: Path) -> None:
    assert gallery.run_script(script, tmp_path) == script.with_suffix(".txt").read_text("utf-8")
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 2000
    assert script.with_suffix(".png").stat().st_size > 2000


def test_the_gallery_has_a_page_and_a_place_for_every_script() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    index = site_pages.gallery_index(SCRIPTS)
    assert len(SCRIPTS) >= 10
    for script in SCRIPTS:
        page = site_pages.gallery_page(script)
        title = next(line[2:] for line in page.splitlines() if line.startswith("# "))
        assert f"- {title}: gallery/{script.stem}.md" in menu
        assert f'href="{script.stem}.html"' in index
        assert "import gnn2logic as gl" in page
        assert '"""' not in page.split("```python")[0]


def test_no_script_hides_a_module_of_python() -> None:
    """Python looks beside a script first: numbers.py there would break numpy for all of them."""
    assert not {script.stem for script in SCRIPTS} & sys.stdlib_module_names
