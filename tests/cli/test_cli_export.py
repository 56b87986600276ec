"""``gnn2logic export``: models for other programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnn2logic as gl
from cli_runs import run, run_json, save_model
from oracle import PlainGraph

pytest.importorskip("duckdb", reason="needs duckdb, of the extra 'dev'")
pytest.importorskip("ladybug", reason="needs ladybug, of the extra 'dev'")

from query_engines import function_in, sqlite_rows


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "rule.idt.json")


def test_the_query_is_that_of_the_model(model: Path) -> None:
    query = run("export", model, "--to", "sql").stdout
    assert query.rstrip("\n") == gl.load(model).to_sql()
    many = PlainGraph(8, {"U0": [False] * 8, "U1": [True] * 8}, [])
    few = PlainGraph(2, {"U0": [False] * 2, "U1": [True] * 2}, [])
    rows = sqlite_rows(query, [many, few], {"U0": "BOOLEAN", "U1": "BOOLEAN"})
    assert rows == [(0, "true"), (1, "false")]


def test_programs_are_told_what_was_written(model: Path, tmp_path: Path) -> None:
    told = run_json("export", model, "--to", "sql")
    assert told == {"language": "sql", "text": gl.load(model).to_sql()}
    script = tmp_path / "rule.py"
    told = run_json("export", model, "--to", "python", "--out", script, "--quiet")
    assert told == {"language": "python", "file": str(script)}
    assert script.read_text(encoding="utf-8").rstrip("\n") == gl.load(model).to_python().rstrip(
        "\n"
    )


def test_names_are_those_of_the_database(model: Path) -> None:
    query = run(
        "export", model, "--to", "sql", "--name", "nodes=atoms", "--name", "undirected=true"
    ).stdout
    assert 'FROM "atoms" AS t' in query
    cypher = run("export", model, "--to", "cypher", "--name", "label=Atom").stdout
    assert cypher.startswith("MATCH (v0:`Atom`)")


def test_a_file_is_written(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "rule.py"
    result = run("export", model, "--to", "python", "--out", out)
    assert result.stdout == ""
    predict = function_in(out.read_text(encoding="utf-8"), "predict")
    assert predict([[]], [{"U1": True}]) == "false"


def test_other_forms(model: Path) -> None:
    formulas = json.loads(run("export", model, "--to", "json").stdout)
    loaded = gl.load(model)
    assert {name: gl.from_json(json.dumps(one)) for name, one in formulas.items()} == {
        str(label): loaded.formula(label) for label in loaded.classes_.tolist()
    }
    assert run("export", model, "--to", "dot").stdout.startswith("digraph")
    assert "tikzpicture" in run("export", model, "--to", "tikz").stdout


def test_scorecards_have_no_tree(tmp_path: Path) -> None:
    graphs = gl.random_graphs(40, sizes=5, random_state=0)
    y = gl.parse("1 U0 > 2").evaluate(graphs)
    path = tmp_path / "card.json"
    gl.ScorecardClassifier(max_lines=2, n_layers=0, random_state=0).fit(graphs, y).save(path)
    assert "score" in run("export", path, "--to", "sql").stdout
    result = run("export", path, "--to", "dot", code=3)
    assert "has no tree" in result.stderr


def test_scorecards_of_numbers_as_json(tmp_path: Path) -> None:
    graphs = gl.random_graphs(40, sizes=5, random_state=0)
    numbers = [2.0 * graph.column("U0").sum() for graph in graphs]
    path = tmp_path / "card.json"
    card = gl.ScorecardRegressor(max_lines=3, n_layers=0, random_state=0).fit(graphs, numbers)
    card.save(path)
    plain = json.loads(run("export", path, "--to", "json").stdout)
    scores = np.full(len(graphs), plain["base"])
    for line in plain["lines"]:
        truth = gl.from_json(json.dumps(line["formula"])).evaluate(graphs)
        scores += line["points"] * truth
    assert np.allclose(plain["intercept"] + plain["slope"] * scores, card.predict(graphs))
    assert "scorecard of numbers" in run("export", path, "--to", "smarts", code=3).stderr


def test_one_of_several_targets(tmp_path: Path, model: Path) -> None:
    graphs = gl.random_graphs(30, sizes=4, random_state=0)
    y = np.column_stack([gl.parse(text).evaluate(graphs) for text in ("1 U0 > 1", "1 U1 > 1")])
    path = tmp_path / "several.json"
    learner = gl.IDTClassifier(max_size=4, n_layers=0, random_state=0)
    gl.MultiTargetEstimator(learner).fit(graphs, y.astype(int)).save(path)
    loaded = gl.load(path)
    query = run("export", path, "--to", "sql", "--target", "target_1").stdout
    assert query.rstrip("\n") == loaded["target_1"].to_sql()
    assert "choose one with --target" in run("export", path, "--to", "sql", code=2).stderr
    assert "no target" in run("export", path, "--to", "sql", "--target", "x", code=2).stderr
    assert "has one" in run("export", model, "--to", "sql", "--target", "x", code=2).stderr


def test_molecules_as_patterns(tmp_path: Path, model: Path) -> None:
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")
    rule = gl.from_formulas({"yes": "1 oxygen > 1"}, otherwise="no", names=["oxygen"])
    atoms = gl.from_formulas(
        {"yes": "A oxygen > 1"}, otherwise="no", names=["oxygen"], level="node"
    )
    for name, each in (("rule", rule), ("atoms", atoms)):
        each.save(tmp_path / name)
    shown = run("export", tmp_path / "rule", "--to", "smarts").stdout
    assert shown.startswith("# no\n")
    assert "# yes\nc1: more than 1 atoms match [#8]\nrule: c1\n" in shown
    shown = run("export", tmp_path / "atoms", "--to", "smarts").stdout
    assert f"# yes\n{gl.chem.to_smarts(atoms.formula('yes'))}" in shown
    assert "U" in run("export", model, "--to", "smarts", code=2).stderr


def test_what_makes_no_sense_is_refused(model: Path) -> None:
    assert "--name is for" in run("export", model, "--to", "dot", "--name", "a=b", code=2).stderr
    assert "nodes, edges" in run("export", model, "--to", "sql", "--name", "a=b", code=2).stderr
