"""Comparisons on other data, very small: rows, folds, settings, networks of users, tables."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cli_runs import run
from gnn2logic.certification import agreement_bound
from gnn2logic.datasets import load
from gnn2logic.exceptions import (
    DataSetError,
    Gnn2LogicError,
    InterruptedSearchWarning,
    ParameterError,
    TeacherError,
)
from gnn2logic.experiments import compare, runner, verify
from gnn2logic.experiments.comparison import experiment as experiments
from gnn2logic.experiments.comparison.data import ComparedFold, find_splits, seeded_splits
from gnn2logic.experiments.comparison.learners import learn_network, learn_readable
from gnn2logic.experiments.comparison.measures import area_under_roc
from gnn2logic.experiments.comparison.names import ALL_MODELS, choose_models
from gnn2logic.experiments.comparison.record import read_comparison
from gnn2logic.experiments.comparison.settings import read_settings
from gnn2logic.experiments.comparison.summaries import best_readable, summaries
from gnn2logic.experiments.rows import ComparedRow, RowFile
from gnn2logic.learning import IDTClassifier
from tu_texts import write_folder

QUICK = """
[gnn]
n_layers = 2
max_epochs = 8
[[gnn_grid]]
hidden = [8, 16]
lr = [0.01]
[layers]
width = 4
[scorecard]
max_lines = 2
n_layers = 1
[search]
n_layers = 1
"""
FEW = {"n_graphs": 60}
MODELS = ["GIN", "layers(GIN)", "search(GIN+True)", "search(True)", "Counts tree"]
TRAINS = """
import torch
from gnn2logic.models import GNNClassifier

def train(graphs, validation, random_state):
    together = [*graphs, *validation]
    y = torch.cat([graph.y for graph in together])
    network = GNNClassifier("gcn", 1, hidden=4, max_epochs=2, random_state=random_state)
    return network.fit(together, y)

def knows_the_test_part():
    return None

def fails(graphs, validation, random_state):
    raise RuntimeError("no such card")
"""


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return settings that take no time."""
    file = tmp_path_factory.mktemp("settings") / "quick.toml"
    file.write_text(QUICK)
    return file


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, quick: Path) -> Path:
    """Return the folder of a comparison that was never disturbed."""
    folder = tmp_path_factory.mktemp("compared")
    compare(folder, ["psi_0"], options=FEW, models=MODELS, settings=quick, folds=2, seeds=2)
    return folder


def rows_of(folder: Path) -> list[ComparedRow]:
    rows, broken = RowFile(folder / "rows.jsonl", ComparedRow).read()
    assert broken == 0
    return [row for row in rows if isinstance(row, ComparedRow)]


# Runs -----------------------------------------------------------------------------------------


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
    RowFile(tmp_path / "rows.jsonl").write([msgspec.structs.replace(forged[0], size=99)])
    (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
    (check,) = verify(tmp_path)
    assert (check.ok, check.finding) == (False, "different although learned from the same")
    RowFile(tmp_path / "rows.jsonl").write([msgspec.structs.replace(forged[0], fold=7)])
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


# Folds and data -------------------------------------------------------------------------------


def write_folds(path: Path, folds: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(folds))
    return path


def test_public_folds_are_kept_with_the_results(tmp_path: Path, quick: Path) -> None:
    order = np.random.default_rng(0).permutation(60).tolist()
    inner = {"train": order[:30], "validation": order[30:40]}
    folds = [{"test": order[40:], "model_selection": [inner]}]
    (tmp_path / "folds").mkdir()
    file = write_folds(tmp_path / "folds" / "psi_0_full_splits.json", folds)
    out = tmp_path / "out"
    compare(out, ["psi_0"], options=FEW, models=["GIN"], settings=quick, splits=tmp_path / "folds")
    file.unlink()
    comparison = read_comparison(out)
    fold = comparison.fold("psi_0", 0)
    data = load("psi_0", n_graphs=60)
    assert np.array_equal(fold.test.y, data.y[np.sort(order[40:])])
    learned = np.sort(order[:40])
    assert np.array_equal(learned[fold.validation], np.sort(order[30:40]))
    assert all(check.ok for check in verify(out))
    assert "| psi_0 | 1, public |" in (out / "tables" / "readable.md").read_text()


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([{"train": [0], "validation": [], "test": [60]}], "numbers from 0 to 59"),
        ([{"train": [-1], "validation": [], "test": [1]}], "numbers from 0 on. Got -1"),
        ([{"train": [0, 1], "validation": [1], "test": [2]}], "every graph once"),
        ([{"train": [0], "validation": [1], "test": []}], "graphs to test on"),
        ([{"train": [0], "test": [1]}], "JSON list of folds"),
        ([{"train": "x", "validation": [], "test": [1]}], "JSON list of folds"),
        ([{"test": [1], "model_selection": []}], "0 entries in model_selection"),
        ({"train": [0]}, "JSON list of folds"),
        ([], "at least one fold"),
    ],
)
def test_bad_folds_are_told(tmp_path: Path, folds: Any, message: str) -> None:
    file = write_folds(tmp_path / "psi_0.json", folds)
    with pytest.raises(DataSetError, match=message):
        find_splits(file, "psi_0", 60)


def test_folds_in_folders(tmp_path: Path) -> None:
    fold = [{"train": [0], "validation": [], "test": [1]}]
    assert find_splits(tmp_path, "A", 2) is None
    for name in ("A_x_splits.json", "A_y_splits.json"):
        write_folds(tmp_path / name, fold)
    with pytest.raises(DataSetError, match="one file with the folds of A"):
        find_splits(tmp_path, "A", 2)
    write_folds(tmp_path / "A.json", fold)
    assert find_splits(tmp_path, "A", 2) is not None


@settings(deadline=None, max_examples=30)
@given(
    y=st.lists(st.integers(0, 2), min_size=30, max_size=60),
    folds=st.integers(2, 3),
    seed=st.integers(0, 99),
)
def test_seeded_folds_test_every_graph_once(y: list[int], folds: int, seed: int) -> None:
    labels = np.array([*y, *[0, 1, 2] * 3])
    splits = seeded_splits(labels, "data", folds=folds, share=0.1, seed=seed)
    assert sorted(n for split in splits for n in split.test) == list(range(len(labels)))
    for split in splits:
        everything = [*split.train, *split.validation, *split.test]
        assert sorted(everything) == list(range(len(labels)))


def test_the_test_part_has_no_part_in_learning(quick: Path) -> None:
    usual = read_settings(quick)
    data = load("psi_0", **FEW)
    (split, _) = seeded_splits(data.y, "psi_0", folds=2, share=0.1, seed=0)
    fold = ComparedFold.of("psi_0", 0, data, split)
    other = replace(fold, test=fold.test.take([0]))
    networks = [learn_network("GIN", each, usual, 0, None) for each in (fold, other)]
    assert np.array_equal(networks[0].known.scores, networks[1].known.scores)
    for name in ("search(GIN)", "scorecard(GIN)", "layers(GIN+True)", "scorecard(True)+structure"):
        model = ALL_MODELS[name]
        texts = [
            learn_readable(model, each, networks[0] if model.guide else None, usual, 0).text
            for each in (fold, other)
        ]
        assert texts[0] == texts[1] != ""


def test_a_folder_of_the_user(tmp_path: Path, quick: Path) -> None:
    """Twenty edges; one of the two nodes says which class the graph has."""
    starts = range(1, 41, 2)
    folder = write_folder(
        tmp_path / "DS",
        A="".join(f"{v}, {v + 1}\n{v + 1}, {v}\n" for v in starts),
        graph_indicator="".join(f"{n}\n{n}\n" for n in range(1, 21)),
        graph_labels="1\n2\n" * 10,
        node_labels="0\n1\n0\n2\n" * 10,
        node_attributes="".join(f"{v / 7}\n" for v in range(40)),
        edge_labels=None,
    )
    given: dict[str, Any] = {"settings": quick, "folds": 2, "options": {"node_attributes": True}}
    models = ["GIN", "Forest", "search(True)"]
    compare(tmp_path / "out", [str(folder)], models=models, **given)
    rows = rows_of(tmp_path / "out")
    assert {row.dataset for row in rows} == {"DS"}
    assert {row.accuracy for row in rows if row.model != "GIN"} == {1.0}


def test_molecules_of_the_user(tmp_path: Path, quick: Path) -> None:
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")
    table = tmp_path / "alcohols.csv"
    lines = [f"{'C' * n}O,yes\n{'C' * n}N,no\n" for n in range(1, 13)]
    table.write_text("molecule,alcohol\n" + "".join(lines))
    options = {"smiles": "molecule", "label": "alcohol"}
    given: dict[str, Any] = {"models": ["GIN", "search(True)"], "settings": quick, "folds": 2}
    compare(tmp_path / "out", [str(table)], options=options, **given)
    rows = rows_of(tmp_path / "out")
    assert {row.dataset for row in rows} == {"alcohols"}
    assert {row.accuracy for row in rows if row.model == "search(True)"} == {1.0}
    with pytest.raises(ParameterError, match="which columns hold the molecules"):
        compare(tmp_path / "new", [str(table)], options={"smiles": "molecule"}, **given)


# Networks, models and settings of users -------------------------------------------------------


def test_a_network_of_the_user(
    tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_networks.py").write_text(TRAINS)
    given: dict[str, Any] = {"options": FEW, "settings": quick, "folds": 2}
    models = ["Teacher", "search(Teacher)", "scorecard(Teacher)"]
    compare("out", ["psi_0"], models=models, teacher="my_networks:train", **given)
    rows = rows_of(tmp_path / "out")
    assert [row.model for row in rows[::2]] == models
    text = (tmp_path / "out" / "tables" / "psi_0.md").read_text(encoding="utf-8")
    assert text.count("(≥ 0.") == 2
    for function, error, message in (
        ("knows_the_test_part", ParameterError, "has the parameters none"),
        ("no_function", ParameterError, "is no function"),
        ("fails", TeacherError, "no such card"),
    ):
        with pytest.raises(error, match=message):
            compare("new", ["psi_0"], models=models, teacher=f"my_networks:{function}", **given)
    with pytest.raises(ParameterError, match="none of the models learns from it"):
        compare("new", ["psi_0"], models=["GIN"], teacher="my_networks:train", **given)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"models": ["SVM"]}, "Each model must be one of GCN, GIN"),
        ({"models": []}, "Got none instead"),
        ({"models": ["Teacher"]}, "needs a network of yours"),
        ({"models": ["scorecard(GIN+True)"]}, "Each model must be one of"),
        ({"first": 0}, "first must be"),
        ({"seeds": 0}, "seeds must be"),
        ({"folds": 1}, "folds must be"),
        ({"folds": 31}, "the size of the smallest class of psi_0"),
        ({"splits": "nowhere"}, "nowhere"),
        ({"datasets": ["psi_0", "psi_0"]}, "given once"),
        ({"datasets": []}, "must be a list of names"),
        ({"options": {"n_nodes": 3}}, "has no option"),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    given = {"datasets": ["psi_0"], "options": FEW, "models": ["Majority"], **wrong}
    with pytest.raises((Gnn2LogicError, OSError), match=message):
        compare(tmp_path, **given)
    assert not (tmp_path / "rows.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[gnn]\nwidth = 3", r"\[gnn\] of bad.toml must have some of the keys .* Got 'width'"),
        ("[search]\nrandom_state = 3", "Got 'random_state'"),
        ("[scorecard]\nmax_time = 3", "Got 'max_time'"),
        ("[idt]\nwidth = 3", "unknown field `idt`"),
        ("gnn = 3", "Got this instead"),
        ("= 3", "must be a TOML file"),
    ],
)
def test_bad_settings_are_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(ParameterError, match=message):
        read_settings(file)


def test_usual_models() -> None:
    names = [model.name for model in choose_models(None)]
    assert {"GIN", "search(GIN)", "scorecard(True)+structure", "WL-OA"} <= set(names)
    own = {model.guide for model in choose_models(None, has_teacher=True)}
    assert own == {"Teacher", None}


# Measures -------------------------------------------------------------------------------------


def test_auroc_of_two_and_three_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    scores = rng.random((60, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    expected = roc_auc_score(y, scores, multi_class="ovr")
    assert area_under_roc(y, scores, np.arange(3)) == pytest.approx(expected)
    assert area_under_roc(y[y < 2], scores[y < 2][:, :2], np.arange(2)) is not None
    assert area_under_roc(np.zeros(5), scores[:5, :2], np.arange(2)) is None


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
