"""The notebooks of the documentation run from top to bottom, and their pages show all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_geometric", reason="one notebook trains a network (extra 'torch')")
pytest.importorskip("rdkit", reason="one notebook is about molecules (extra 'chem')")
nbclient = pytest.importorskip("nbclient", reason="notebooks need nbclient (extra 'dev')")
nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat (extra 'dev')")
pytest.importorskip("ipykernel", reason="notebooks need a kernel (extra 'dev')")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import site_pages  # noqa: E402

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def results(notebook: Any) -> list[list[str]]:
    """Return the sorts of results of every cell with code: texts, pictures, HTML."""
    return [
        [
            sort
            for output in cell.outputs
            if output.get("name") != "stderr"
            for sort in sorted(output.get("data", {"text": None}))
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Pictures of notebooks are in the notebook; the tests have set another way of drawing.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(path, as_version=4)
    kept = results(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources=resources
    )
    client.execute()
    # Figures differ a little from machine to machine; that there is a result does not.
    assert results(notebook) == kept
    assert any("text/html" in cell for cell in kept)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pages_show_all_of_a_notebook(path: Path) -> None:
    page = site_pages.notebook_page(path)
    notebook = nbformat.read(path, as_version=4)
    assert all(cell.source in page for cell in notebook.cells)
    assert page.count("```python") == sum(cell.cell_type == "code" for cell in notebook.cells)
    assert page.count('<div class="result">') == sum(
        "text/html" in cell for cell in results(notebook)
    )
