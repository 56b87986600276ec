"""Comparisons on other data, very small: rows, resuming, verifying, tables."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from cli_runs import run
from compared_runs import FEW, rows_of, write_folds, write_quick
from gnn2logic.certification import agreement_bound
from gnn2logic.exceptions import (
    DataSetError,
    Gnn2LogicError,
    InterruptedSearchWarning,
    ParameterError,
)
from gnn2logic.experiments import compare, runner, verify
from gnn2logic.experiments.comparison import experiment as experiments
from gnn2logic.experiments.comparison.names import ALL_MODELS
from gnn2logic.experiments.comparison.record import read_comparison
from gnn2logic.experiments.comparison.summaries import best_readable, summaries
from gnn2logic.experiments.rows import ComparedRow, RowFile
from gnn2logic.learning import IDTClassifier

MODELS = ["GIN", "layers(GIN)", "search(GIN+True)", "search(True)", "Counts tree"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_quick(tmp_path_factory.mktemp("settings"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, quick: Path) -> Path:
    """Return the folder of a comparison that was never disturbed."""
    folder = tmp_path_factory.mktemp("compared")
    compare(folder, ["psi_0"], options=FEW, models=MODELS, settings=quick, folds=2, seeds=2)
    return folder


def test_rows_are_complete_and_correct(finished: Path) -> None:
    rows = rows_of(finished)
    expected = [(name, fold, repeat) for name in MODELS for fold in (0, 1) for repeat in (0, 1)]
    order = list(ALL_MODELS)
    expected.sort(key=lambda key: (order.index(key[0]), *key[1:]))
    assert [(row.model, row.fold, row.repeat) for row in rows] == expected
    comparison = read_comparison(finished)
    for row in rows:
        truth = comparison.fold("psi_0", row.fold).test.y
        assert row.accuracy == np.mean(np.array(row.predictions) == truth)
        assert (row.size is None) == (row.model in ("GIN", "Counts tree"))
        assert (row.text == "") == (row.size is None)
        assert row.auroc is not None
        assert row.settings == comparison.digest("psi_0")
    best = [row for row in rows if row.model == "search(True)"]
    assert [row.text for row in best] == ["1: 1 U1 > 6"] * 4
    networks = [row for row in rows if row.model == "GIN"]
    assert all(set(row.tuned) == {"hidden", "lr"} for row in networks)
    # Another seed is another network on the same fold.
    assert networks[0].evidence != networks[1].evidence


def test_fidelity_and_stability_by_hand(finished: Path) -> None:
    rows = {(row.model, row.fold, row.repeat): row for row in rows_of(finished)}
    (figures,) = summaries(rows_of(finished)).values()
    by_name = {each.model.name: each for each in figures}
    pairs = [
        (mine, its)
        for fold in (0, 1)
        for mine, its in zip(
            rows["layers(GIN)", fold, 0].predictions, rows["GIN", fold, 0].predictions, strict=True
        )
    ]
    n_agree = sum(mine == its for mine, its in pairs)
    distilled, network = by_name["layers(GIN)"], by_name["GIN"]
    assert distilled.fidelity == n_agree / 60
    assert distilled.at_least == agreement_bound(n_agree, 60) < distilled.fidelity
    assert network.fidelity is by_name["search(True)"].fidelity is None
    same = [
        np.mean(np.array(rows["GIN", f, 0].predictions) == rows["GIN", f, 1].predictions)
        for f in (0, 1)
    ]
    assert network.stability == pytest.approx(np.mean(same))
    assert (network.n_folds, network.n_seeds) == (2, 2)


def test_the_best_is_chosen_within_the_training_parts(finished: Path) -> None:
    (figures,) = summaries(rows_of(finished)).values()
    chosen = best_readable(figures, from_network=False)
    assert chosen is not None
    assert chosen.model.name in ("search(GIN+True)", "search(True)")
    assert chosen.held_out == 1
    # Figures on test graphs have no say.
    unlucky = [replace(each, accuracy=0.0) if each is chosen else each for each in figures]
    again = best_readable(unlucky, from_network=False)
    assert again is not None
    assert again.model == chosen.model
    assert best_readable([], from_network=True) is None


def test_files_of_a_comparison(finished: Path) -> None:
    names = {str(path.relative_to(finished)) for path in finished.rglob("*") if path.is_file()}
    tables = {"tables/psi_0.md", "tables/psi_0.csv", "tables/readable.md"}
    assert names == {"README.md", "rows.csv", "rows.jsonl", "run.json", *tables}
    text = (finished / "README.md").read_text(encoding="utf-8")
    assert "| search(True) | 1.000 ± 0.000 |" in text
    assert "1: 1 U1 > 6" in text


def test_a_comparison_goes_on_and_can_be_added_to(
    finished: Path, tmp_path: Path, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {"options": FEW, "settings": quick, "folds": 2}
    few = ["GIN", "search(True)"]
    compare(tmp_path, ["psi_0"], models=few, first=1, **given)
    assert {(row.fold, row.repeat) for row in rows_of(tmp_path)} == {(0, 0)}
    # One fold has no deviation.
    assert "| search(True) | 1.000 |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    lines = (tmp_path / "rows.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(lines[:-20])
    compare(tmp_path, ["psi_0"], models=MODELS, seeds=2, **given)
    assert "1 lines were cut short" in capsys.readouterr().err

    def kept(folder: Path) -> list[ComparedRow]:
        return [msgspec.structs.replace(row, seconds=None) for row in rows_of(folder)]

    assert kept(tmp_path) == kept(finished)
    # Another data set joins the one that is there.
    compare(tmp_path, ["psi_1"], models=["Majority"], **given)
    assert {row.dataset for row in rows_of(tmp_path)} == {"psi_0", "psi_1"}
    assert set(read_comparison(tmp_path).sources) == {"psi_0", "psi_1"}


def test_a_finished_comparison_is_not_run_again(
    finished: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (finished / "rows.jsonl").read_bytes()
    monkeypatch.setattr(experiments, "score_unit", None)
    compare(finished, ["psi_0"], options=FEW, models=MODELS, settings=quick, folds=2, seeds=2)
    assert (finished / "rows.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "change", [{"random_state": 1}, {"folds": 3}, {"options": {"n_graphs": 70}}, {"settings": None}]
)
def test_rows_of_other_settings_are_refused(
    finished: Path, quick: Path, change: dict[str, Any]
) -> None:
    given = {"options": FEW, "settings": quick, "folds": 2, "models": MODELS, **change}
    with pytest.raises(ParameterError, match="made with the same data, folds"):
        compare(finished, ["psi_0"], **given)


def test_verify_makes_rows_anew(finished: Path, tmp_path: Path) -> None:
    assert all(check.ok for check in verify(finished, n_rows=4, random_state=0))
    forged = [row for row in rows_of(finished) if row.model == "search(True)"][:1]
    RowFile(tmp_path / "rows.jsonl", ComparedRow).write(
        [msgspec.structs.replace(forged[0], size=99)]
    )
    (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
    (check,) = verify(tmp_path)
    assert (check.ok, check.finding) == (False, "different although learned from the same")
    RowFile(tmp_path / "rows.jsonl", ComparedRow).write(
        [msgspec.structs.replace(forged[0], fold=7)]
    )
    with pytest.raises(DataSetError, match="there are folds 0 to 1"):
        verify(tmp_path)


def test_folds_of_other_data_are_told(finished: Path, tmp_path: Path) -> None:
    record = json.loads((finished / "run.json").read_bytes())
    record["comparison"]["splits"] = ["psi_0"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    (tmp_path / "splits").mkdir()
    write_folds(
        tmp_path / "splits" / "psi_0.json", [{"train": [0], "validation": [], "test": [60]}]
    )
    with pytest.raises(Gnn2LogicError, match="60"):
        read_comparison(tmp_path).fold("psi_0", 0)
    record["comparison"]["splits"] = ["../psi_0"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(DataSetError, match="must consist of letters"):
        read_comparison(tmp_path)


def test_folders_of_the_two_experiments_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"folds": 10, "seed": 0, "smoke": false}')
    with pytest.raises(ParameterError, match="holds the paper's experiments"):
        compare(tmp_path, ["psi_0"], options=FEW, models=["Majority"], folds=2)


def test_an_interrupted_search_is_no_row(
    tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that is interrupted returns the best so far, which nobody could make anew."""
    fit = IDTClassifier.fit

    def interrupted(model: IDTClassifier, *arguments: Any, **named: Any) -> IDTClassifier:
        warnings.warn("The search was interrupted.", InterruptedSearchWarning, stacklevel=2)
        return fit(model, *arguments, **named)

    monkeypatch.setattr(IDTClassifier, "fit", interrupted)
    given: dict[str, Any] = {"options": FEW, "settings": quick, "folds": 2}
    with pytest.raises(KeyboardInterrupt):
        compare(tmp_path, ["psi_0"], models=["search(True)", "Majority"], **given)
    assert {row.model for row in rows_of(tmp_path)} <= {"Majority"}


# The command line -----------------------------------------------------------------------------


def test_the_command_line_compares(tmp_path: Path, quick: Path) -> None:
    few = ["--dataset", "psi_0", "--data", "n_graphs=60", "--folds", "2", "--settings", quick]
    models = ["--models", "Majority,search(True)"]
    result = run("reproduce", *few, *models, "--seeds", "2", "--out", tmp_path / "out")
    assert "## Readable models" in result.stdout
    assert run("reproduce", "--verify", tmp_path / "out").stdout.count("ok: ") == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "2"], "--seeds goes with --dataset only"),
        (["--teacher", "a:b"], "--teacher goes with --dataset only"),
        (["--dataset", "psi_0", "--smoke"], "--smoke is about the paper's experiments"),
        (["--dataset", "psi_0", "--datasets", "psi_1"], "--datasets is about the paper's"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in run("reproduce", *options, "--out", tmp_path, code=2).stderr


def test_units_go_through_all_data_sets_fold_by_fold(finished: Path) -> None:
    comparison = read_comparison(finished)
    asked = experiments.ComparisonExperiment(comparison, ("psi_0",), ("GIN",), None, 2)
    units = asked.missing([])
    assert units == [
        runner.Unit("psi_0", fold, ("GIN",), repeat) for repeat in (0, 1) for fold in (0, 1)
    ]
    assert asked.missing(rows_of(finished)) == []
