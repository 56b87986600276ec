"""The results in the repository: tables are those of the rows, rows are those of the settings."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gnn2logic.experiments.catalogue import DATASETS
from gnn2logic.experiments.comparison.pages import write_comparison
from gnn2logic.experiments.comparison.record import read_comparison
from gnn2logic.experiments.comparison.settings import read_settings
from gnn2logic.experiments.plans import RunSettings
from gnn2logic.experiments.results import write_results
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow, Row, RowFile
from gnn2logic.experiments.runner import ROWS_NAME

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
READABLE = RESULTS / "readable"


def test_tables_are_made_from_the_rows(tmp_path: Path) -> None:
    rows, broken = RowFile(RESULTS / ROWS_NAME, Row).read()
    assert broken == 0
    record = json.loads((RESULTS / "run.json").read_bytes())
    write_results(tmp_path, rows, record)
    check_files(tmp_path, RESULTS)


def check_files(made_in: Path, kept_in: Path) -> None:
    """Check that a folder of results has the files that were made of its rows, and no others."""
    made = {path.relative_to(made_in) for path in made_in.rglob("*") if path.is_file()}
    kept = {path.relative_to(kept_in) for path in kept_in.rglob("*") if path.is_file()}
    # A comparison is a folder of its own.
    kept = {path for path in kept if path.parts[0] != READABLE.name}
    assert made == kept - {Path(ROWS_NAME)}
    for path in sorted(made):
        if path.suffix in (".md", ".csv", ".tex"):
            assert (made_in / path).read_bytes() == (kept_in / path).read_bytes(), path


def test_tables_of_the_comparison_are_made_from_its_rows(tmp_path: Path) -> None:
    rows, broken = RowFile[AnyRow](READABLE / ROWS_NAME, ComparedRow, NumberRow).read()
    assert broken == 0
    record = json.loads((READABLE / "run.json").read_bytes())
    comparison = read_comparison(READABLE)
    # Settings that were changed since then would make other rows.
    assert comparison.settings == read_settings()
    write_comparison(tmp_path, rows, comparison, record)
    check_files(tmp_path, READABLE)


@pytest.mark.parametrize("dataset", DATASETS)
def test_rows_are_complete_and_made_with_the_settings_that_are_here(dataset: str) -> None:
    record = json.loads((RESULTS / "run.json").read_bytes())
    run = RunSettings(folds=record["folds"], seed=record["seed"])
    rows = [row for row in RowFile(RESULTS / ROWS_NAME, Row).read()[0] if row.dataset == dataset]
    assert {row.settings for row in rows} == {run.digest(dataset)}
    models = {row.model for row in rows}
    assert len(models) == 15
    assert len(rows) == len({row.key for row in rows}) == record["folds"] * len(models)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def test_the_readme_shows_the_figures_of_the_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = (READABLE / "tables" / "readable.md").read_text(encoding="utf-8").strip().splitlines()
    for row in map(cells, rows[2:]):
        data, with_network, model, accuracy, symbols, _, distilled, fidelity, *_ = row
        name, network = data.partition(" (")[0], with_network.partition(" ")[2]
        sort = "scorecard" if model.startswith("scorecard") else "rule"
        shapes = ", with shapes" if model.endswith("+structure") else ""
        size = symbols.partition(" in ")[2] or f"{symbols} symbols"
        # In percent, as the accuracies beside it.
        agreed = f"{100 * float(fidelity.split()[0]):.1f}"
        shown = [name, network, sort + shapes, accuracy, size, distilled, agreed]
        assert f"| {' | '.join(shown)} |" in text


@pytest.mark.parametrize("table", ["tables/accuracy.md", "readable/tables/readable.md"])
def test_the_page_of_results_shows_the_tables(table: str) -> None:
    assert (RESULTS / table).is_file()
    assert f'"results/{table}"' in (ROOT / "docs/results.md").read_text(encoding="utf-8")


def test_nothing_tells_where_it_was_made() -> None:
    for path in RESULTS.rglob("*.*"):
        if path.suffix in (".md", ".json", ".jsonl"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"/(tmp|home|work|root|Users)/", text), path
