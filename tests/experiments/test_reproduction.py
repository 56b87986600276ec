"""Whole runs, very small: rows, resuming, verifying, and the command line killed half way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from gnn2logic.cli.app import app
from gnn2logic.datasets import load
from gnn2logic.exceptions import DataSetError, ParameterError
from gnn2logic.experiments import reproduce, reproduction, verify
from gnn2logic.experiments.catalogue import DATASETS, PAPER_MODELS, choose, model_named
from gnn2logic.experiments.folds import fold_of
from gnn2logic.experiments.idts import learn_idt
from gnn2logic.experiments.networks import train_network
from gnn2logic.experiments.plans import RunSettings, plan_for
from gnn2logic.experiments.rows import Row, RowFile

SMOKE = RunSettings(folds=2, smoke=True)
MODELS = ["GCN", "IDT(GCN)", "IDT(GCN+True)", "IDT(True)"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that was never disturbed."""
    folder = tmp_path_factory.mktemp("finished")
    reproduce(folder, datasets=["psi_0"], models=MODELS, smoke=True, command="gnn2logic ...")
    return folder


def tables_of(folder: Path) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in (folder / "tables").iterdir()}
    # Times are all that may differ.
    del found["times.md"]
    return found


def test_rows_are_complete_and_correct(finished: Path) -> None:
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    assert [(row.model, row.fold) for row in rows] == [(m, f) for m in MODELS for f in (0, 1)]
    for row in rows:
        truth = fold_of("psi_0", row.fold, SMOKE).test.y
        assert row.accuracy == np.mean(np.array(row.predictions) == truth)
        assert row.settings == SMOKE.digest("psi_0")
        assert (row.size is None) == (row.model == "GCN")
        assert row.seconds.tune > 0 or row.model == "GCN"
        assert row.versions["gnn2logic"]


def test_the_guide_of_one_fold_is_trained_once(finished: Path) -> None:
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    for fold in (0, 1):
        guided = [r for r in rows if r.fold == fold and r.model in ("IDT(GCN)", "IDT(GCN+True)")]
        assert guided[0].evidence == guided[1].evidence != ""


def test_files_of_a_run(finished: Path) -> None:
    names = {str(path.relative_to(finished)) for path in finished.rglob("*") if path.is_file()}
    for name in ("accuracy", "macro_f1", "fidelity_gcn", "size", "depth"):
        assert {f"tables/{name}.{ending}" for ending in ("md", "tex", "csv")} <= names
    assert {"rows.jsonl", "rows.csv", "run.json", "README.md", "tables/times.md"} <= names
    assert (finished / "plots" / "psi_0.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (finished / "plots" / "psi_0.svg").read_bytes()
    record = msgspec.json.decode((finished / "run.json").read_bytes())
    assert record["versions"]["torch"]
    assert record["settings"] == {"psi_0": SMOKE.digest("psi_0")}
    assert os.uname().nodename not in (finished / "run.json").read_text()


def test_tuning_never_sees_the_test_fold() -> None:
    """Networks only need the test part to answer for it, trees do not need it at all."""
    fold = fold_of("psi_0", 0, SMOKE)
    plan = plan_for("psi_0", SMOKE)
    network = train_network("GCN", fold, plan, SMOKE)
    other_test = replace(fold, test=fold.test.take(np.array([0])))
    again = train_network("GCN", other_test, plan, SMOKE)
    assert all(
        np.array_equal(a, b) for a, b in zip(network.activations, again.activations, strict=True)
    )
    nothing: Any = None
    blind = replace(fold, test=nothing)
    model = model_named("IDT(GCN)")
    learned, blindly = (learn_idt(model, each, network, plan, SMOKE) for each in (fold, blind))
    assert learned.tuned == blindly.tuned
    assert learned.model.model_.columns == blindly.model.model_.columns
    assert learned.model.formula(1) is blindly.model.formula(1)


def test_a_finished_run_is_not_run_again(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (finished / "rows.jsonl").read_bytes()
    monkeypatch.setattr(reproduction, "score_fold", None)
    reproduce(finished, datasets=["psi_0"], models=MODELS, smoke=True)
    assert (finished / "rows.jsonl").read_bytes() == before


def test_a_row_cut_short_is_made_anew(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (finished / "rows.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(lines[:-20])
    reproduce(tmp_path, datasets=["psi_0"], models=MODELS, smoke=True)
    assert "1 lines were cut short" in capsys.readouterr().err
    assert tables_of(tmp_path) == tables_of(finished)


def test_folds_that_run_side_by_side_give_the_same(finished: Path, tmp_path: Path) -> None:
    reproduce(tmp_path, datasets=["psi_0"], models=MODELS, smoke=True, n_jobs=2)
    assert tables_of(tmp_path) == tables_of(finished)


def test_rows_of_other_settings_are_refused(finished: Path) -> None:
    with pytest.raises(ParameterError, match="made with the same settings"):
        reproduce(finished, datasets=["psi_0"], models=MODELS, smoke=True, random_state=1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"datasets": ["MUTAG"]}, "Each data set must be one of AIDS"),
        ({"models": ["SVM"]}, "Each model must be one of GCN"),
        ({"folds": 1}, "folds must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        (
            {"random_state": 2**32},
            "random_state must be a whole number from 0 to 4294967295. Got 4294967296",
        ),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        reproduce(tmp_path, **wrong)


def test_what_cannot_run_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "score_fold", None)
    least = np.bincount(load("psi_1").y).min()
    with pytest.raises(ParameterError, match=f"from 2 to {least}, the size .* class of psi_1"):
        reproduce(tmp_path, datasets=["psi_0", "psi_1"], folds=300)
    monkeypatch.setenv("GNN2LOGIC_DATA", str(tmp_path))
    (tmp_path / "BZR").mkdir()
    with pytest.raises(DataSetError, match="BZR_graph_indicator.txt: the file is missing"):
        reproduce(tmp_path, datasets=["BZR", "psi_0"], random_state=99)
    assert not (tmp_path / "rows.jsonl").exists()


FOREIGN: list[tuple[dict[str, Any], str]] = [
    ({"model": "SVM"}, "there is no such model"),
    ({"fold": 2}, "there are folds 0 to 1"),
    ({"fold": -1}, "there are folds 0 to 1"),
    ({"dataset": "MUTAG"}, "the data sets are AIDS"),
    ({"settings": "0" * 16}, "it was made with other folds"),
]


@pytest.mark.parametrize(("change", "problem"), FOREIGN)
def test_rows_that_cannot_be_are_refused(
    finished: Path, tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    RowFile(tmp_path / "rows.jsonl", Row).write([msgspec.structs.replace(rows[0], **change)])
    (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
    with pytest.raises(ParameterError, match=problem):
        reproduce(tmp_path, datasets=["psi_0"], models=MODELS, smoke=True)
    with pytest.raises(DataSetError, match=problem):
        verify(tmp_path)


def test_verify_makes_at_least_one_row(finished: Path) -> None:
    with pytest.raises(ParameterError, match="n_rows must be a whole number >= 1"):
        verify(finished, n_rows=0)


def test_verify_finds_the_same_and_what_was_changed(finished: Path, tmp_path: Path) -> None:
    assert [check.ok for check in verify(finished, n_rows=2, random_state=0)] == [True, True]
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    forged = [msgspec.structs.replace(row, size=99) for row in rows if row.model == "IDT(True)"]
    RowFile(tmp_path / "rows.jsonl", Row).write(forged[:1])
    (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
    (check,) = verify(tmp_path)
    assert not check.ok
    assert "different although" in check.finding


def test_verify_allows_for_networks_of_other_machines(finished: Path, tmp_path: Path) -> None:
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    for shift, ok in ((0.05, True), (0.4, False)):
        row = msgspec.structs.replace(rows[0], evidence="other", accuracy=rows[0].accuracy + shift)
        RowFile(tmp_path / "rows.jsonl", Row).write([row])
        (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
        (check,) = verify(tmp_path)
        assert check.ok == ok
        assert "came out differently" in check.finding


def test_verify_needs_results(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match=r"must hold rows\.jsonl"):
        verify(tmp_path)


def test_names_are_found_in_any_case_and_kept_in_order() -> None:
    names = [model.name for model in PAPER_MODELS]
    assert choose("model", ["idt(true)", "gcn"], names) == ("GCN", "IDT(True)")
    assert choose("data set", None, DATASETS) == DATASETS


# The command line ------------------------------------------------------------------------------

PROGRAM = [sys.executable, "-c", "from gnn2logic.cli import main; main()", "reproduce"]
OPTIONS = ["--smoke", "--datasets", "psi_0", "--models", ",".join(MODELS)]


def stopped_after(folder: Path, n_rows: int, how: signal.Signals) -> tuple[int, str]:
    """Start the command, stop it when there are so many rows; return its code and messages."""
    process = subprocess.Popen(
        [*PROGRAM, *OPTIONS, "--out", str(folder)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    file = folder / "rows.jsonl"
    patience = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < patience:
        if file.exists() and file.read_bytes().count(b"\n") >= n_rows:
            process.send_signal(how)
            break
        time.sleep(0.01)
    _, messages = process.communicate(timeout=120)
    return process.returncode, messages


def test_killed_and_resumed_gives_the_same_tables(finished: Path, tmp_path: Path) -> None:
    code, messages = stopped_after(tmp_path, 1, signal.SIGINT)
    assert code == 130
    assert messages.splitlines()[-1].startswith("Stopped. Rows are kept")
    code, _ = stopped_after(tmp_path, 3, signal.SIGKILL)
    assert code == -signal.SIGKILL
    rows, _ = RowFile(tmp_path / "rows.jsonl", Row).read()
    assert 3 <= len(rows) < 8
    assert not (tmp_path / "tables").exists()
    reproduce(tmp_path, datasets=["psi_0"], models=MODELS, smoke=True)
    assert tables_of(tmp_path) == tables_of(finished)


def test_verify_on_the_command_line(finished: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "--verify", str(finished)])
    assert result.exit_code == 0
    assert result.stdout.count("ok: ") == 3
    assert "the same bit for bit" in result.stdout


def test_rows_and_checks_as_json(finished: Path) -> None:
    line = ["reproduce", "--datasets", "psi_0", "--models", ",".join(MODELS), "--smoke", "--json"]
    result = CliRunner().invoke(app, [*line, "--out", str(finished)])
    assert result.exit_code == 0
    rows, _ = RowFile(finished / "rows.jsonl", Row).read()
    assert [row["accuracy"] for row in json.loads(result.stdout)] == [row.accuracy for row in rows]
    result = CliRunner().invoke(app, ["reproduce", "--verify", str(finished), "--json"])
    checks = json.loads(result.stdout)
    assert [check["ok"] for check in checks] == [True, True, True]
    assert {check["dataset"] for check in checks} == {"psi_0"}


def test_help_waits_for_nothing() -> None:
    code = (
        "import sys\nfrom gnn2logic.cli.app import app\n"
        "app(['reproduce', '--help'], standalone_mode=False)\n"
        "assert not {'torch', 'sklearn', 'numba', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--ablation" in done.stdout


def test_bad_usage_is_code_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "--models", "SVM", "--out", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: Each model must be one of GCN, GIN")
