"""Molecules in a CSV file, as commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnn2logic as gl
from cli_runs import run, run_json
from gnn2logic.graphs.writing import edge_rows
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
    measured = run_json("evaluate", model, table, "--split", "all", *COLUMNS)
    rule = measured["scores"][0]
    assert rule["n_rows"] == len(SMILES)
    assert rule["auroc"] > 0.9


def test_columns_must_be_named(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.idt.json"
    refused = run("distill", table, "--out", out, "--variant", "true", "--smiles", "smiles", code=3)
    assert "with --label COLUMN" in refused.stderr


@pytest.mark.parametrize("into", ["idt", "scorecard"])
def test_numbers_of_a_table(into: str, tmp_path: Path) -> None:
    table, model = tmp_path / "sizes.csv", tmp_path / "sizes.json"
    rows = [f"{text},{1.5 if '1' in text else -0.5}" for text in SMILES]
    table.write_text("\n".join(["smiles,log size", *rows, ""]))
    columns = ["--smiles", "smiles", "--label", "log size"]
    small = ["--idt", "n_layers=0"] if into == "idt" else ["--card", "max_lines=2"]
    learned = run_json(
        *("distill", table, "--out", model, "--variant", "true", "--task", "regression"),
        *("--into", into, *small, *columns),
    )
    assert learned["scores"][0]["rule_r2"] > 0.7
    measured = run_json("evaluate", model, table, "--split", "all", *columns)
    assert measured["target"] == {"name": "log size", "unit": None}
    assert measured["scores"][0]["r2"] > 0.7
    assert measured["scores"][1]["who"] == "baseline"
    assert "MAE" in run("evaluate", model, table, "--split", "all", *columns).stdout
    said = run("explain", model, table, "0", *columns).stdout
    assert said.startswith("Graph 0 of sizes, whose log size is ")
    assert "true_number" in run_json("explain", model, table, "0", *columns)
    page = tmp_path / "sizes.md"
    run("report", model, table, "--out", page, "--examples", "1", *columns)
    assert "log size" in page.read_text()


def test_what_numbers_need_is_told(table: Path, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "model.json", "--task", "regression"]
    refused = run("distill", table, *out, *COLUMNS, code=2)
    assert "trains no network" in refused.stderr
    refused = run("distill", table, *out, "--variant", "true", *COLUMNS, code=3)
    assert "must hold numbers" in refused.stderr
    refused = run("distill", "psi_1", *out, "--variant", "true", code=2)
    assert "must be a CSV file" in refused.stderr


def test_one_of_several_targets_is_chosen(tmp_path: Path) -> None:
    table, model = tmp_path / "two.csv", tmp_path / "two.json"
    y = [[int("1" in text), int("N" in text)] for text in SMILES]
    rows = [f"{text},{ring},{amine}" for text, (ring, amine) in zip(SMILES, y, strict=True)]
    table.write_text("\n".join(["smiles,ring,amine", *rows, ""]))
    graphs = gl.chem.from_smiles(SMILES).graphs
    rules = gl.IDTClassifier(n_layers=0, max_time=5, random_state=0)
    both = gl.MultiTargetEstimator(rules, targets=["ring", "amine"]).fit(graphs, y)
    both.save(model)
    chosen = ["--target", "amine"]
    columns = ["--smiles", "smiles", "--label", "amine"]
    data: list[object] = [model, table, "--split", "all", *columns]
    scores = run_json("evaluate", *data, *chosen)["scores"]
    assert scores[0]["accuracy"] == both["amine"].score(graphs, [amine for _, amine in y])
    assert run("formula", model, "--class", "1", *chosen).stdout.strip() == str(
        both["amine"].formula(1)
    )
    assert run("explain", model, table, "0", *columns, *chosen).stdout.startswith("Graph 0 of two")
    page, picture = tmp_path / "two.md", tmp_path / "two.svg"
    run("report", *data, *chosen, "--out", page)
    assert "two" in page.read_text()
    run("plot", model, *chosen, "--out", picture)
    assert picture.stat().st_size > 1000
    commands: list[list[object]] = [
        ["evaluate", *data],
        ["formula", model],
        ["export", model, "--to", "sql"],
    ]
    for command in commands:
        refused = run(*command, code=2)
        assert "has models of ring, amine; choose one with --target" in refused.stderr
    wrong = run("formula", model, "--target", "amin", code=2)
    assert "Did you mean 'amine'" in wrong.stderr
    assert "--target is for models" in run("formula", "1 U0 > 2", *chosen, code=2).stderr


def numbered_folder(folder: Path) -> Path:
    """Return 60 graphs in TU format with two numbers each: the second is that of a rule."""
    graphs = gl.random_graphs(60, sizes=6, random_state=0)
    y = 1.5 + gl.parse("1 U0 > 3").evaluate(graphs)
    sources, targets, _ = edge_rows(graphs)
    folder.mkdir()
    for name, rows in {
        "A": np.stack([sources, targets], axis=1) + 1,
        "graph_indicator": graphs.graph_index[:, None] + 1,
        "node_labels": graphs.predicates[:, :1].astype(int),
        "graph_attributes": np.stack([-y, y], axis=1),
    }.items():
        np.savetxt(folder / f"SIZES_{name}.txt", rows, fmt="%g", delimiter=", ")
    return folder


def test_numbers_of_a_folder(tmp_path: Path) -> None:
    folder, model = numbered_folder(tmp_path / "SIZES"), tmp_path / "sizes.json"
    numbers = ["--variant", "true", "--task", "regression", "--idt", "n_layers=0"]
    column = ["--data", "target=1"]
    learned = run_json("distill", folder, "--out", model, *numbers, *column)
    assert [row["rule_r2"] for row in learned["scores"]] == [1.0, 1.0]
    assert run_json("evaluate", model, folder, *column)["scores"][0]["mae"] == 0
    refused = run("distill", folder, "--out", model, *numbers, code=2)
    assert "which of the 2 columns of SIZES_graph_attributes.txt" in " ".join(
        refused.stderr.split()
    )
    refused = run("distill", folder, "--out", model, "--variant", "true", code=3)
    assert "--task regression" in refused.stderr
    store = tmp_path / "shards"
    gl.write_shards(store, gl.random_graphs(20, random_state=0), [0, 1] * 10)
    refused = run("distill", store, "--out", model, *numbers, code=2)
    assert "IDTRegressor().fit(gnn2logic.open_shards(folder)" in " ".join(refused.stderr.split())


def two_targets(folder: Path) -> tuple[Path, list[str]]:
    """Return a table whose second label has gaps, and the options that name its columns."""
    table = folder / "two.csv"
    rows = [
        f"{text},{'ring' if '1' in text else 'chain'},{'' if n % 4 == 0 else int('N' in text)}"
        for n, text in enumerate(SMILES)
    ]
    table.write_text("\n".join(["smiles,shape,amine", *rows, ""]))
    return table, ["--smiles", "smiles", "--label", "shape", "--label", "amine"]


@pytest.mark.parametrize("into", ["idt", "scorecard"])
def test_several_targets_are_learned_at_once(into: str, tmp_path: Path) -> None:
    table, columns = two_targets(tmp_path)
    model, alone = tmp_path / "two.json", tmp_path / "alone.json"
    option = "--idt" if into == "idt" else "--card"
    small = [option, "n_layers=0", option, "max_time=2" if into == "idt" else "max_lines=1"]
    how = ["--variant", "true", "--into", into, *small]
    told = run("distill", table, "--out", model, *how, *columns)
    assert "Learning 2 targets from " in told.stderr
    assert "target  split  graphs" in told.stdout
    loaded = gl.load(model)
    assert loaded.target_names_ == ("shape", "amine")
    assert [each.tolist() for each in loaded.classes_] == [["chain", "ring"], ["0", "1"]]
    # Each target is what a command for it alone learns, and is tested on the same molecules.
    only = ["--smiles", "smiles", "--label", "amine"]
    scores = run_json("distill", table, "--out", alone, *how, *only)["scores"]
    assert str(gl.load(alone)) == str(loaded["amine"])
    both = run_json("distill", table, "--out", model, *how, *columns)["targets"]
    assert [{**row, "target": "amine"} for row in scores] == both["amine"]["scores"]
    measured = run_json("evaluate", model, table, "--split", "test", "--target", "amine", *only)
    assert measured["scores"][0]["accuracy"] == scores[1]["rule_accuracy"]
    said = run("explain", model, table, "0", "--target", "amine", *only).stdout
    assert said.startswith("Graph 0 of two")


def test_several_numbers_are_learned_at_once(tmp_path: Path) -> None:
    table, model = tmp_path / "sizes.csv", tmp_path / "sizes.json"
    rows = [f"{text},{1.5 * ('1' in text)},{text.count('N') + 0.5}" for text in SMILES]
    table.write_text("\n".join(["smiles,a,b", *rows, ""]))
    columns = ["--smiles", "smiles", "--label", "a", "--label", "b"]
    run(
        *("distill", table, "--out", model, "--variant", "true", "--task", "regression", *columns),
        *("--into", "scorecard", "--card", "max_lines=1", "--card", "loss=absolute"),
        *("--card", "n_layers=0"),
    )
    loaded = gl.load(model)
    assert [loaded[name].target.name for name in loaded] == ["a", "b"]
    page = tmp_path / "b.md"
    only = ["--smiles", "smiles", "--label", "b"]
    run("report", model, table, "--target", "b", "--out", page, "--examples", "1", *only)
    assert "MAE" in page.read_text()


def test_what_several_targets_need_is_told(tmp_path: Path) -> None:
    table, columns = two_targets(tmp_path)
    out = ["--out", tmp_path / "two.json"]
    smiles = ["--smiles", "smiles"]
    labels = ["--variant", "true"]
    mixed = "must be of one sort: learn classes and numbers with a command each"
    table.with_name("mixed.csv").write_text(
        "\n".join(["smiles,a,b", *(f"{t},{n / 7},x" for n, t in enumerate(SMILES)), ""])
    )
    for command, code, message in (
        ([table, *columns], 2, "say --variant true"),
        ([table, *labels, *columns, "--label", "shape"], 2, "Got 'shape' twice"),
        ([table, *labels, *columns[2:]], 3, "with --smiles COLUMN"),
        ([table, *labels, *columns, "--label", "smiles"], 2, "another column than smiles"),
        ([table, *labels, *columns, "--label", "nothing"], 3, "nothing"),
        ([table, *labels, *columns, "--checkpoint", tmp_path / "c"], 2, "checkpoint must be None"),
        (["psi_1", *labels, *columns], 2, "for CSV files of molecules"),
        (["mixed", *labels, *smiles, "--label", "a", "--label", "b"], 3, mixed),
        (
            ["mixed", *labels, *smiles, "--label", "a", "--label", "b", "--task", "regression"],
            3,
            mixed,
        ),
    ):
        named = [tmp_path / "mixed.csv" if word == "mixed" else word for word in command]
        assert message in " ".join(run("distill", *named, *out, code=code).stderr.split())


def test_every_number_of_a_rule_has_its_formula(tmp_path: Path) -> None:
    graphs = gl.random_graphs(60, sizes=6, random_state=0)
    y = 1.5 + gl.parse("1 U0 > 3").evaluate(graphs)
    settings: dict[str, Any] = {"n_layers": 0, "max_time": 5, "random_state": 0}
    path = tmp_path / "rule.json"
    gl.IDTRegressor(**settings).fit(graphs, y).save(path)
    assert run("formula", path).stdout == "1.5: 1 U0 < 4\n2.5: 1 U0 > 3\n"
    assert run("formula", path, "--class", "2.5").stdout == "1 U0 > 3\n"
    gl.ScorecardRegressor(**settings).fit(graphs, y).save(path)
    assert "must tell classes" in run("formula", path, code=2).stderr
