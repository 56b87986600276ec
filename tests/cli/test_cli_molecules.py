"""Molecules in a CSV file, as commands read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_runs import run, run_json
from molecule_samples import SMILES

pytest.importorskip("rdkit")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rings.csv"
    rows = [f"{text},{'ring' if '1' in text else 'chain'}" for text in SMILES]
    path.write_text("\n".join(["smiles,kind", *rows, "not a molecule,chain", ""]))
    return path


COLUMNS = ["--smiles", "smiles", "--label", "kind"]


# Commands say warnings on stderr; tests make them errors otherwise.
@pytest.mark.filterwarnings("always:.*left out:UserWarning")
def test_a_rule_from_a_table(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "rings.idt.json"
    learned = run("distill", table, "--out", model, "--variant", "true", *COLUMNS)
    assert "warning: 1 rows of" in learned.stderr
    assert "row 40 ('not a molecule')" in learned.stderr
    measured = run_json("evaluate", model, table, "--part", "all", *COLUMNS)
    rule = measured["scores"][0]
    assert rule["n_rows"] == len(SMILES)
    assert rule["auroc"] > 0.9


def test_columns_must_be_named(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.idt.json"
    refused = run("distill", table, "--out", out, "--variant", "true", "--smiles", "smiles", code=3)
    assert "with --label COLUMN" in refused.stderr
