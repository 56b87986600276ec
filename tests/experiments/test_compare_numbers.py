"""Comparisons on data whose labels are numbers, very small: rows, adding, verifying, tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

from compared_runs import FEW, number_rows_of, rows_of, write_folds
from gnn2logic import parse
from gnn2logic.exceptions import DataSetError, LabelError, ParameterError
from gnn2logic.experiments import compare, verify
from gnn2logic.experiments.comparison.names import ALL_MODELS, choose_models
from gnn2logic.experiments.comparison.number_pages import number_summaries
from gnn2logic.experiments.comparison.record import read_comparison
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow, RowFile

pytest.importorskip("rdkit", reason="needs the extra 'chem'")

QUICK = """
[gnn]
n_layers = 1
max_epochs = 2
[[gnn_grid]]
hidden = [4, 8]
lr = [0.01]
[search]
n_layers = 0
[scorecard]
max_lines = 2
n_layers = 0
"""
MODELS = ["GIN", "search(GIN)", "search(True)", "scorecard(GIN)", "Mean", "Forest"]
OPTIONS = {"smiles": "molecule", "label": "boiling point", "task": "regression"}
# Alcohols are 50 above alkanes; a little is left that carbons tell.
LINES = [f"{'C' * n}{end},{50 * bool(end) + n}" for n in range(2, 14) for end in ("", "O")]

USER_NETWORK = """
import torch
from torch_geometric.nn import global_add_pool

class Sums(torch.nn.Module):
    def __init__(self, mean):
        super().__init__()
        self.mean = mean

    def forward(self, x, edge_index, batch):
        return self.mean + global_add_pool(x[:, :1] * 0.0, batch)

def train(graphs, validation, random_state):
    assert graphs[0].y.dtype == torch.float32
    return Sums(float(torch.cat([graph.y for graph in graphs]).mean()))
"""


def write_table(folder: Path, lines: list[str], name: str = "points.csv") -> str:
    """Write molecules and their numbers."""
    (folder / name).write_text("molecule,boiling point\n" + "\n".join(lines) + "\n")
    return str(folder / name)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, settings that take no time, and folds."""
    folder = tmp_path_factory.mktemp("numbers")
    write_table(folder, LINES)
    (folder / "quick.toml").write_text(QUICK)
    return folder


def given_in(place: Path, **more: Any) -> dict[str, Any]:
    return {"options": OPTIONS, "settings": place / "quick.toml", "folds": 2, **more}


@pytest.fixture(scope="module")
def finished(place: Path) -> Path:
    """Return the folder of a comparison that was never disturbed."""
    compare(place / "out", [str(place / "points.csv")], models=MODELS, **given_in(place))
    return place / "out"


def test_rows_are_complete_and_correct(finished: Path) -> None:
    rows = number_rows_of(finished)
    order = list(ALL_MODELS)
    expected = sorted(((m, f) for m in MODELS for f in (0, 1)), key=lambda k: order.index(k[0]))
    assert [(row.model, row.fold) for row in rows] == expected
    comparison = read_comparison(finished)
    for row in rows:
        truth = comparison.fold("points", row.fold).test.numbers
        assert truth is not None
        assert row.mae == pytest.approx(mean_absolute_error(truth, row.predictions))
        assert row.r2 == pytest.approx(r2_score(truth, row.predictions))
        assert (row.size is None) == (row.model in ("GIN", "Mean", "Forest"))
        assert (row.text == "") == (row.size is None) == (row.held_out is None)
        assert (row.lines is None) == (not row.model.startswith("scorecard"))
        assert row.settings == comparison.digest("points")
    by_name = {row.model: row for row in rows if row.fold == 0}
    # Alcohols are told from alkanes.
    assert by_name["search(True)"].r2 > 0.9 > 0 >= by_name["Mean"].r2
    lines = [line.partition(": ") for line in by_name["search(True)"].text.splitlines()]
    predicted = {f"{number:.1f}" for number in by_name["search(True)"].predictions}
    assert predicted <= {number for number, _, _ in lines}
    assert all(parse(formula).size > 1 for _, _, formula in lines)
    assert set(by_name["GIN"].tuned) == {"hidden", "lr"}
    tested = {graph for split in comparison.splits_of("points") for graph in split.test}
    assert tested == set(range(len(LINES)))


def test_figures_by_hand(finished: Path) -> None:
    rows = {(row.model, row.fold): row for row in number_rows_of(finished)}
    (figures,) = number_summaries(number_rows_of(finished)).values()
    by_name = {each.model.name: each for each in figures}
    forest = by_name["Forest"]
    shares = [rows["Forest", fold].r2 for fold in (0, 1)]
    assert forest.r2 == pytest.approx(np.mean(shares))
    assert forest.r2_deviation == pytest.approx(np.std(shares))
    mine, its = (
        [value for fold in (0, 1) for value in rows[name, fold].predictions]
        for name in ("search(GIN)", "GIN")
    )
    assert by_name["search(GIN)"].fidelity == pytest.approx(r2_score(its, mine))
    assert forest.fidelity is by_name["GIN"].fidelity is by_name["search(True)"].fidelity is None


def test_files_of_a_comparison(finished: Path) -> None:
    names = {str(path.relative_to(finished)) for path in finished.rglob("*") if path.is_file()}
    tables = {"tables/points.md", "tables/points.csv", "tables/readable_numbers.md"}
    records = {"README.md", "rows_of_numbers.csv", "rows.jsonl", "run.json"}
    assert names == records | tables
    text = (finished / "README.md").read_text(encoding="utf-8")
    assert "What is predicted: boiling point." in text
    assert "search(True) of the first fold" in text
    readable = (finished / "tables" / "readable_numbers.md").read_text(encoding="utf-8")
    assert "| points (2 folds) | GIN |" in readable
    assert "search(True)" in readable.splitlines()[2]


def test_rows_are_verified(finished: Path, tmp_path: Path) -> None:
    assert all(check.ok for check in verify(finished, n_rows=4, random_state=0))
    (forged,) = [row for row in number_rows_of(finished) if row.model == "Mean" and not row.fold]
    RowFile(tmp_path / "rows.jsonl", NumberRow).write([msgspec.structs.replace(forged, mae=0.0)])
    (tmp_path / "run.json").write_bytes((finished / "run.json").read_bytes())
    (check,) = verify(tmp_path)
    assert (check.ok, check.finding) == (False, "different although learned from the same")


def test_a_comparison_goes_on_and_classes_join_it(
    finished: Path, place: Path, tmp_path: Path
) -> None:
    table = [str(place / "points.csv")]
    compare(tmp_path, table, models=["Mean"], **given_in(place, first=1))
    lines = (tmp_path / "rows.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(lines + lines[:40])
    compare(tmp_path, table, models=["Mean", "Forest"], **given_in(place))

    def kept(folder: Path) -> list[NumberRow]:
        rows = [row for row in number_rows_of(folder) if row.model in ("Mean", "Forest")]
        return [msgspec.structs.replace(row, seconds=None) for row in rows]

    assert kept(tmp_path) == kept(finished)
    compare(tmp_path, ["psi_0"], models=["Majority"], **given_in(place, options=FEW))
    assert kept(tmp_path) == kept(finished)
    rows, _ = RowFile[AnyRow](tmp_path / "rows.jsonl", ComparedRow, NumberRow).read()
    assert {row.dataset for row in rows} == {"points", "psi_0"}
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.index("## Readable models\n") < text.index("## Readable models of numbers")
    assert all(check.ok for check in verify(tmp_path, n_rows=2, random_state=0))
    # A folder without the new rows has the tables that it would have had.
    compare(tmp_path / "alone", ["psi_0"], models=["Majority"], **given_in(place, options=FEW))
    table_of = "tables/readable.md"
    assert (tmp_path / table_of).read_text() == (tmp_path / "alone" / table_of).read_text()
    assert rows_of(tmp_path / "alone")


def test_shapes_and_scaffolds(place: Path, tmp_path: Path) -> None:
    rings = [f"{ring}{end}" for ring in ("c1ccccc1", "C1CCCCC1", "C1CCCC1") for end in "OFN"]
    chains = [line.partition(",")[0] for line in LINES]
    lines = [f"{smiles},{number}" for number, smiles in enumerate([*chains, *rings])]
    table = write_table(tmp_path, lines)
    models = ["search(True)+structure", "Mean"]
    compare(tmp_path / "out", [table], models=models, **given_in(place, splits="scaffold"))
    (split,) = read_comparison(tmp_path / "out").splits["points"]
    assert len(split.test) >= 2
    assert "| points (1 given fold) |" in (tmp_path / "out/tables/readable_numbers.md").read_text()


def test_a_network_of_the_user(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "number_networks.py").write_text(USER_NETWORK)
    models = ["Teacher", "search(Teacher)", "Mean"]
    given = given_in(place, first=1, models=models, teacher="number_networks:train")
    compare("out", [str(place / "points.csv")], **given)
    network, rule, _ = number_rows_of(tmp_path / "out")
    assert rule.predictions == pytest.approx(network.predictions, abs=0.5)


def test_usual_models_of_numbers() -> None:
    names = [model.name for model in choose_models(None, numbers=True)]
    assert names[0] == "GIN"
    assert {"search(True)+structure", "scorecard(GIN)", "Mean", "Forest"} <= set(names)
    assert not any("layers" in name or name.startswith(("Maj", "WL")) for name in names)
    assert "Mean" not in [model.name for model in choose_models(None)]


@pytest.mark.parametrize(
    ("lines", "more", "error", "message"),
    [
        ([*LINES, "CC,high"], {}, LabelError, "must hold numbers. Got 'high'"),
        ([*LINES, "CC,inf"], {}, LabelError, "must hold numbers. Got 'inf'"),
        ([f"{'C' * n},7.5" for n in range(1, 9)], {}, LabelError, "All 8 are 7.5"),
        (["C,1", "CC,2", "CCC,3"], {}, ParameterError, "has 3 graphs with a number"),
        (LINES, {"folds": 13}, ParameterError, "enough for 12 folds"),
        (LINES, {"models": ["Majority"]}, ParameterError, "not for labels that are numbers"),
        (LINES, {"models": ["layers(GIN)"]}, ParameterError, "not for labels that are numbers"),
        (LINES, {"models": ["search(GIN+True)"]}, ParameterError, "not for labels that are num"),
        (LINES, {"settings": "weights.toml"}, ParameterError, r"\[gnn\] has 'class_weight'"),
    ],
)
def test_bad_numbers_are_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    more: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.toml").write_text('[gnn]\nclass_weight = "balanced"\n')
    given = {"options": OPTIONS, "models": ["Mean"], "folds": 2, **more}
    with pytest.raises(error, match=message):
        compare(tmp_path / "out", [write_table(tmp_path, lines)], **given)
    assert not (tmp_path / "out").exists()


def test_folds_of_which_nothing_is_learned_are_told(place: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path, ["C,1", "CC,1", "CCC,2", "CO,3", "CCO,4"])
    for fold, error, message in (
        ({"train": [0, 2], "validation": [], "test": [3]}, DataSetError, "R2 of one says nothing"),
        ({"train": [0], "validation": [1], "test": [2, 3]}, LabelError, "have the same"),
    ):
        splits = write_folds(tmp_path / "points.json", [fold])
        with pytest.raises(error, match=message):
            compare(tmp_path / "out", [table], models=["Mean"], **given_in(place, splits=splits))


def test_models_of_numbers_are_not_for_classes(place: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="not for labels that are classes"):
        compare(tmp_path, ["psi_0"], models=["Mean"], **given_in(place, options=FEW))
