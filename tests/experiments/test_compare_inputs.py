"""What comparisons are given: folds, data, models, settings and networks of users."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from compared_runs import FEW, rows_of, write_folds, write_quick
from gnn2logic.chem import read_csv, scaffolds
from gnn2logic.datasets import Dataset, load
from gnn2logic.exceptions import (
    DataSetError,
    Gnn2LogicError,
    ParameterError,
    TeacherError,
)
from gnn2logic.experiments import compare, verify
from gnn2logic.experiments.comparison.data import ComparedFold, find_splits, seeded_splits
from gnn2logic.experiments.comparison.learners import (
    learn_network,
    learn_readable,
    with_degrees,
)
from gnn2logic.experiments.comparison.measures import area_under_roc
from gnn2logic.experiments.comparison.names import ALL_MODELS, choose_models
from gnn2logic.experiments.comparison.record import read_comparison
from gnn2logic.experiments.comparison.settings import read_settings
from gnn2logic.graphs import GraphBatch, from_edges
from tu_texts import write_folder

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
    return write_quick(tmp_path_factory.mktemp("settings"))


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
    assert "| psi_0 (1 given fold) |" in (out / "tables" / "readable.md").read_text()


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
    page = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "What is predicted: alcohol." in page
    assert {row.accuracy for row in rows if row.model == "search(True)"} == {1.0}
    with pytest.raises(ParameterError, match="which columns hold the molecules"):
        compare(tmp_path / "new", [str(table)], options={"smiles": "molecule"}, **given)
    # A table may have several columns to learn.
    named = {**options, "name": "again"}
    compare(tmp_path / "out", [str(table)], options=named, **{**given, "models": ["GIN"]})
    assert {row.dataset for row in rows_of(tmp_path / "out")} == {"alcohols", "again"}


def test_molecules_split_by_scaffolds(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")
    rings = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "C1CCCC1", "c1ccoc1"]
    lines = [f"{ring}{end},{end}\n" for ring in rings for end in ("O", "N")]
    table = tmp_path / "rings.csv"
    table.write_text("molecule,end\n" + "".join(lines))
    options = {"smiles": "molecule", "label": "end"}
    given: dict[str, Any] = {"models": ["Majority", "Counts tree"], "splits": "scaffold"}
    compare(tmp_path / "out", [str(table)], options=options, **given)
    (fold,) = read_comparison(tmp_path / "out").splits["rings"]
    data, molecules = read_csv(table, smiles="molecule", label="end")
    parts = [{scaffolds(molecules)[row] for row in part} for part in (fold.train, fold.test)]
    assert not parts[0] & parts[1]
    assert sorted([*fold.train, *fold.validation, *fold.test]) == list(range(len(data)))
    assert "public" not in (tmp_path / "out" / "tables" / "readable.md").read_text().split("\n")[2]
    with pytest.raises(ParameterError, match="for CSV files of molecules"):
        compare(tmp_path / "new", ["psi_0"], options=FEW, **given)


def test_other_settings_do_not_spoil_a_folder(tmp_path: Path) -> None:
    given: dict[str, Any] = {"options": FEW, "models": ["Majority"], "folds": 2}
    compare(tmp_path, ["psi_0"], **given)
    before = (tmp_path / "run.json").read_bytes()
    for wrong in ({"random_state": 1}, {"folds": 3}):
        with pytest.raises(ParameterError, match="holds results on psi_0 with other"):
            compare(tmp_path, ["psi_1"], **{**given, **wrong})
    assert (tmp_path / "run.json").read_bytes() == before


# Networks, models and settings of users -------------------------------------------------------


def test_a_network_of_the_user(
    tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "networks_of_a_user.py").write_text(TRAINS)
    given: dict[str, Any] = {"options": FEW, "settings": quick, "folds": 2}
    models = ["Teacher", "search(Teacher)", "scorecard(Teacher)"]
    compare("out", ["psi_0"], models=models, teacher="networks_of_a_user:train", **given)
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
            compare(
                "new", ["psi_0"], models=models, teacher=f"networks_of_a_user:{function}", **given
            )
    with pytest.raises(ParameterError, match="none of the models learns from it"):
        compare("new", ["psi_0"], models=["GIN"], teacher="networks_of_a_user:train", **given)


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


def test_networks_read_degrees_where_nodes_have_nothing_else() -> None:
    star = from_edges([(0, 1), (0, 2), (0, 3)], 4).symmetrize()
    data = Dataset("star", star, np.array([0]), ("no", "yes"))
    read = with_degrees(data, 2).graphs
    assert read.names == ("degree=0", "degree=1", "degree>=2")
    assert read.predicates.argmax(axis=1).tolist() == [2, 1, 1, 1]
    assert with_degrees(data, 0) is data
    named = load("psi_0", n_graphs=4)
    assert with_degrees(named, 2) is named


def test_networks_of_users_read_degrees_too(
    tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(TRAINS)
    monkeypatch.syspath_prepend(tmp_path)
    rng = np.random.default_rng(0)
    graphs = [
        from_edges([(0, 1), (1, 2), (2, 3)][: 1 + number % 3], 4).symmetrize()
        for number in rng.permutation(40).tolist()
    ]
    y = np.array([graph.n_edges > 3 for graph in graphs]).astype(np.int64)
    data = Dataset("paths", GraphBatch.concat(graphs), y, ("no", "yes"))
    fold = ComparedFold("paths", 0, data, np.arange(40) % 4 == 0, data)
    for name in ("Teacher", "GIN"):
        learned = learn_network(name, fold, read_settings(quick), 0, "mine:train")
        assert len(learned.known.labels) == len(learned.tested.labels) == 40
