"""Tables, against means and marks worked out by hand."""

from __future__ import annotations

import csv
import io

import pytest

from experiment_rows import row
from gnn2logic.experiments.rows import Row, Seconds
from gnn2logic.experiments.tables import (
    Table,
    all_tables,
    times_table,
    to_csv,
    to_latex,
    to_markdown,
)


def example_rows() -> list[Row]:
    """Two folds of psi_1: GCN 0.8 and 0.9, GIN 1 and 0.96, IDT(GCN) 0.984 twice."""
    accuracies = {"GCN": (0.8, 0.9), "GIN": (1.0, 0.96), "IDT(GCN)": (0.984, 0.984)}
    predictions = {
        "GCN": ([0, 1, 1, 0], [0, 0, 0, 0]),
        "GIN": ([0, 1, 1, 1], [1, 0, 0, 0]),
        "IDT(GCN)": ([0, 1, 1, 0], [0, 0, 1, 1]),
    }
    return [
        row(
            model,
            fold,
            dataset="psi_1",
            accuracy=accuracies[model][fold],
            predictions=predictions[model][fold],
            size=5 + fold if model == "IDT(GCN)" else None,
        )
        for model in accuracies
        for fold in (0, 1)
    ]


def table(name: str) -> Table:
    return next(each for each in all_tables(example_rows()) if each.name == name)


def test_means_deviations_and_marks() -> None:
    cells = table("accuracy").cells
    gcn, gin, idt = (cells["psi_1", name] for name in ("GCN", "GIN", "IDT(GCN)"))
    assert (gcn.mean, gcn.deviation, gcn.n_folds) == pytest.approx((0.85, 0.05, 2))
    # 0.984 and 0.98 are both 0.98 in two digits.
    assert (gcn.best, gin.best, idt.best) == (False, True, True)
    # The paper has 0.88, 0.88 and 0.93.
    assert (gcn.below_paper, gin.below_paper, idt.below_paper) == (True, False, False)


def test_fidelity_compares_predictions_fold_by_fold() -> None:
    to_gcn, to_gin = table("fidelity_gcn").cells, table("fidelity_gin").cells
    assert to_gcn["psi_1", "GIN"].mean == pytest.approx((3 / 4 + 3 / 4) / 2)
    assert to_gcn["psi_1", "IDT(GCN)"].mean == pytest.approx((1 + 2 / 4) / 2)
    assert to_gin["psi_1", "GCN"].mean == to_gcn["psi_1", "GIN"].mean
    assert ("psi_1", "GCN") not in to_gcn


def test_tables_of_what_was_not_run_are_left_out() -> None:
    names = [each.name for each in all_tables(example_rows())]
    assert names == ["accuracy", "macro_f1", "fidelity_gcn", "fidelity_gin", "size"]


def test_markdown() -> None:
    lines = to_markdown(table("accuracy")).splitlines()
    assert lines[2].startswith("| psi_1 | 0.85 ± 0.05 ↓ | **0.98 ± 0.02** | **0.98 ± 0.00** |  |")
    assert lines[3].startswith("| psi_1, paper | 0.88 ± 0.02 | 0.88 ± 0.02 | 0.93 ± 0.02 |")
    assert len({line.count("|") for line in lines}) == 1


def test_latex() -> None:
    lines = to_latex(table("accuracy")).splitlines()
    assert lines[4].startswith(
        r"$\psi_1$ & $0.85 \pm 0.05$ $\downarrow$ & $\mathbf{0.98 \pm 0.02}$ &"
    )
    assert {line.count("&") for line in lines if line.endswith(r"\\")} == {7}


def test_csv_has_all_digits() -> None:
    lines = list(csv.DictReader(io.StringIO(to_csv(table("accuracy")))))
    assert [line["model"] for line in lines] == ["GCN", "GIN", "IDT(GCN)"]
    assert (lines[2]["mean"], lines[2]["paper_mean"]) == ("0.984000", "0.93")
    assert (lines[0]["best"], lines[0]["below_paper"]) == ("0", "1")


def test_sizes_have_no_best_and_no_paper() -> None:
    text = to_markdown(table("size"))
    assert "| psi_1 | 5.5 ± 0.5 |" in text
    assert "**" not in text
    assert "paper" not in text


def test_times_count_what_models_share_once() -> None:
    rows = [
        row("GCN", seconds=Seconds(train=60.0, tune=120.0)),
        row("IDT(GCN)", evidence="a", seconds=Seconds(capture=6.0, fit=30.0)),
        row("IDT(GCN+True)", evidence="a", seconds=Seconds(capture=6.0, fit=30.0)),
    ]
    assert times_table(rows).splitlines()[2] == "| AIDS | 1.0 | 0.1 | 1.0 | 2.1 | 2.0 |"
