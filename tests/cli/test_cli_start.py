"""What newcomers meet: a script to begin with, names that are nearly right, JSON everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import gnn2logic as gl
from cli_runs import FEW, RULE, run, run_json, save_model
from gnn2logic import datasets
from gnn2logic.cli.app import COMMANDS


def test_the_script_for_own_data_runs_as_it_is(tmp_path: Path) -> None:
    pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    script = tmp_path / "toxic.py"
    assert run_json("init", script, "--quiet") == {"file": str(script)}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", script.name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "python toxic.py" in script.read_text(encoding="utf-8")
    # Comments of the script say what made the classes; this is what comes back.
    rules = gl.load(tmp_path / "my_rules.idt.json")
    assert isinstance(rules, gl.IDTPredictor)
    assert gl.equivalent(rules.formula("lively"), gl.parse("1(red & A large > 0) > 2"))
    assert "lively: more than 2 nodes are red, and have at least one neighbour" in done.stdout
    assert "rules and network agree about" in done.stdout
    assert (tmp_path / "my_rules.html").stat().st_size > 10_000


def test_the_script_replaces_nothing_unasked(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("precious", encoding="utf-8")
    assert "there already" in run("init", script, code=2).stderr
    assert script.read_text(encoding="utf-8") == "precious"
    assert "parts 1 and 2" in run("init", script, "--overwrite").stderr
    assert script.read_text(encoding="utf-8").startswith('"""Turn a network of mine')
    assert ".py" in run("init", tmp_path / "mine.txt", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (["distill", "MUTAGG"], "There is no data set 'MUTAGG'. Did you mean 'MUTAG'?"),
        (["distil", "psi_0"], "Did you mean 'distill'?"),
        (["distill", "psi_0", "--out", "r.json", "--idt", "max_sise=3"], "Did you mean 'max_size'"),
        (["distill", "psi_0", "--out", "r.json", "--gnn", "droput=0"], "Did you mean 'dropout'?"),
        (["check", "1 U0 > 0", "PSI_0"], "Did you mean 'psi_0'?"),
        (["check", "1 U0 > 0", "psi_0", "--data", "ngraphs=9"], "Did you mean 'n_graphs'?"),
        (["check", "1 symbl > 0", "FOLDER"], "Did you mean 'symbol'?"),
        (["check", "1(A[singel] true > 0) > 0", "FOLDER"], "Did you mean 'single'?"),
        (["formula", "MODEL", "--class", "True"], "Did you mean 'true'?"),
    ],
)
def test_names_that_are_nearly_right(
    arguments: list[str], question: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    graphs = gl.GraphBatch([[True], [False]], {"single": [[0, 1], [1, 0]]}, names=["symbol"])
    gl.write_shards("FOLDER", graphs)
    save_model(Path("MODEL"))
    stderr = run(*arguments, code=3 if {"PSI_0", "MUTAGG"} & set(arguments) else 2).stderr
    assert question in stderr
    assert stderr.count("Did you mean") == 1


def test_names_that_are_far_off_are_not_guessed_at() -> None:
    stderr = run("distill", "psi_0", "--out", "r.json", "--idt", "colour=3", code=2).stderr
    assert "Did you mean" not in stderr
    # A known key without a value is asked for its value.
    stderr = run("distill", "psi_0", "--out", "r.json", "--idt", "width", code=2).stderr
    assert "KEY=VALUE" in stderr
    assert "Did you mean" not in stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_writes_json(command: str) -> None:
    # What export writes is in the language that it is asked for, and JSON is one.
    option = "--to" if command == "export" else "--json"
    assert option in run(command, "--help").stdout


def test_what_commands_write_into_files_is_told_as_json(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra 'plot'")
    pytest.importorskip("jinja2", reason="needs the extra 'report'")
    model = save_model(tmp_path / "m.idt.json")
    out = tmp_path / "m.svg"
    plain = run_json("plot", model, "--out", out, "--what", "tree", "--quiet")
    assert plain == {"what": "tree", "dataset": None, "file": str(out)}
    page = tmp_path / "m.md"
    plain = run_json("report", model, "psi_0", *FEW, "--split", "all", "--out", page, "--quiet")
    assert plain == {"dataset": "psi_0", "graphs": 60, "file": str(page)}
    assert RULE in page.read_text(encoding="utf-8")


# A network that is trained for a moment may say the same of all graphs.
@pytest.mark.filterwarnings("ignore:All labels are")
def test_the_demo_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")
    monkeypatch.setattr(datasets, "load", partial(datasets.load, n_graphs=300))
    result = run("demo", "--epochs", 3, "--json", "--out", tmp_path)
    plain = json.loads(result.stdout)
    assert "Training" in result.stderr
    loaded = gl.load(tmp_path / "rule.idt.json")
    assert isinstance(loaded, gl.IDTPredictor)
    names = datasets.load("BAMultiShapes").class_names
    expected = {name: str(loaded.formula(label)) for label, name in enumerate(names)}
    assert plain["formulas"] == expected
    assert 0 <= plain["fidelity"] <= 1
    assert all(Path(file).is_file() for file in plain["files"])
