"""From rows to tables: mean and standard deviation over folds; as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnn2logic.experiments.catalogue import ABLATIONS, BASELINES, DATASETS, PAPER_MODELS
from gnn2logic.experiments.paper import paper_figures
from gnn2logic.experiments.rows import Row

__all__ = [
    "MARKDOWN_NOTE",
    "Table",
    "TableCell",
    "all_tables",
    "fidelity_in",
    "index_rows",
    "times_table",
    "to_csv",
    "to_latex",
    "to_markdown",
]

Key = tuple[Any, ...]
Measure = Callable[[Row], float | None]

_PAPER = tuple(model.name for model in PAPER_MODELS)
_BEST_PAPER = "IDT(GCN+True)"
# Two digits, as in the paper, decide which cells are the best and which are below the paper.
_DIGITS = 2


@dataclass(frozen=True)
class TableCell:
    """One model on one data set.

    Parameters
    ----------
    mean, deviation : float
        Over the folds.
    n_folds : int
    paper : (float, float) or None
        Mean and deviation in the paper.
    best : bool
        Whether no other cell of the row is better, in the digits that are shown.
    """

    mean: float
    deviation: float
    n_folds: int
    paper: tuple[float, float] | None = None
    best: bool = False

    @property
    def below_paper(self) -> bool:
        """Whether the paper's figure is higher, in the digits that are shown."""
        return self.paper is not None and round(self.mean, _DIGITS) < self.paper[0]


@dataclass(frozen=True)
class Table:
    """Cells by data set and model.

    Parameters
    ----------
    name : str
        The name of its files.
    title : str
    models : tuple of str
    cells : dict
        By (data set, model); what was not run is not there.
    digits : int
    """

    name: str
    title: str
    models: tuple[str, ...]
    cells: dict[tuple[str, str], TableCell]
    digits: int = _DIGITS

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets with at least one cell."""
        measured = {dataset for dataset, _ in self.cells}
        return tuple(dataset for dataset in DATASETS if dataset in measured)


def index_rows(rows: Iterable[Row]) -> dict[Key, Row]:
    """Return rows by data set, fold and model."""
    return {row.key: row for row in rows}


def fidelity_in(rows: dict[Key, Row], network: str) -> Measure:
    """Return the measure that says how often a row agrees with a network on the same fold."""

    def measure(row: Row) -> float | None:
        teacher = rows.get((row.dataset, row.fold, network))
        if teacher is None:
            return None
        return float(np.mean(np.array(row.predictions) == np.array(teacher.predictions)))

    return measure


def all_tables(rows: Collection[Row]) -> list[Table]:
    """Return the paper's four tables, and those of everything else that was run."""
    by_key = index_rows(rows)
    baselines = tuple(model.name for model in BASELINES)
    ablations = tuple(model.name for model in ABLATIONS)
    to_gcn, to_gin = (fidelity_in(by_key, name) for name in ("GCN", "GIN"))
    tables = [
        _table("accuracy", "Test accuracy", _PAPER, rows, _accuracy, paper="accuracy"),
        _table("macro_f1", "F1-score (macro)", _PAPER, rows, _macro_f1, paper="macro_f1"),
        _table(
            "fidelity_gcn",
            "Fidelity to the GCN",
            ("GIN", "IDT(GCN)", "IDT(True)"),
            rows,
            to_gcn,
            paper="fidelity_gcn",
        ),
        _table(
            "fidelity_gin",
            "Fidelity to the GIN",
            ("GCN", "IDT(GIN)", "IDT(True)"),
            rows,
            to_gin,
            paper="fidelity_gin",
        ),
        _table("size", "Size of the formula", _PAPER[2:], rows, _size, digits=1),
        _table("depth", "Modal depth of the formula", _PAPER[2:], rows, _depth, digits=1),
        _table("baselines", "Baselines, test accuracy", (*baselines, _BEST_PAPER), rows, _accuracy),
        _table("ablation", "Ablation of IDT(GCN+True), accuracy", ablations, rows, _accuracy),
        _table("ablation_size", "Ablation, size of the formula", ablations, rows, _size, digits=1),
    ]
    # The last column is there to compare with; alone it says nothing new.
    return [
        table
        for table in tables
        if any(model != _BEST_PAPER or table.name != "baselines" for _, model in table.cells)
    ]


def _table(
    name: str,
    title: str,
    models: Sequence[str],
    rows: Iterable[Row],
    measure: Measure,
    *,
    paper: str | None = None,
    digits: int = _DIGITS,
) -> Table:
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        value = measure(row) if row.model in models else None
        if value is not None:
            values.setdefault((row.dataset, row.model), []).append(value)
    figures = paper_figures(paper) if paper else {}
    tops: dict[str, float] = {}
    for (dataset, _), per_fold in values.items():
        tops[dataset] = max(tops.get(dataset, -np.inf), round(float(np.mean(per_fold)), _DIGITS))
    cells = {
        key: TableCell(
            mean=float(np.mean(per_fold)),
            deviation=float(np.std(per_fold)),
            n_folds=len(per_fold),
            paper=figures.get(key),
            best=measure is not _size
            and measure is not _depth
            and round(float(np.mean(per_fold)), _DIGITS) == tops[key[0]],
        )
        for key, per_fold in values.items()
    }
    return Table(name, title, tuple(models), cells, digits)


def _accuracy(row: Row) -> float:
    return row.accuracy


def _macro_f1(row: Row) -> float:
    return row.macro_f1


def _size(row: Row) -> float | None:
    return row.size


def _depth(row: Row) -> float | None:
    return row.depth


MARKDOWN_NOTE = (
    "Mean and standard deviation over the folds. Bold: the best of the row in the digits shown. "
    "↓: below the paper's figure in the line underneath."
)
_LATEX_NAMES = {"psi_0": r"$\psi_0$", "psi_1": r"$\psi_1$", "psi_2": r"$\psi_2$"}


def to_markdown(table: Table) -> str:
    """Return a table in Markdown, the paper's figures under ours."""
    lines = [_bar([table.title, *table.models]), _bar(["---"] * (len(table.models) + 1))]
    for dataset in table.datasets:
        lines.append(_bar([dataset, *_line(table, dataset, _markdown_cell)]))
        if _in_paper(table, dataset):
            paper = [_figures(cell.paper, table.digits) for cell in _cells(table, dataset)]
            lines.append(_bar([f"{dataset}, paper", *paper]))
    return "\n".join(lines) + "\n"


def to_latex(table: Table) -> str:
    """Return a table as a LaTeX tabular (with booktabs), the paper's figures under ours."""
    lines = [
        rf"\begin{{tabular}}{{l{'c' * len(table.models)}}}",
        r"\toprule",
        _row([table.title, *table.models]),
        r"\midrule",
    ]
    for dataset in table.datasets:
        name = _LATEX_NAMES.get(dataset, dataset)
        lines.append(_row([name, *_line(table, dataset, _latex_cell)]))
        if _in_paper(table, dataset):
            paper = [_latex_figures(cell.paper, table.digits) for cell in _cells(table, dataset)]
            lines.append(_row([r"\quad paper", *paper]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def to_csv(table: Table) -> str:
    """Return a table as CSV, one line for each cell, with all digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = ("dataset", "model", "mean", "deviation", "folds", "best", "below_paper")
    writer.writerow([*heads, "paper_mean", "paper_deviation"])
    for dataset in table.datasets:
        for model, cell in zip(table.models, _cells(table, dataset), strict=True):
            if cell.n_folds:
                flags = int(cell.best), int(cell.below_paper)
                paper = cell.paper or ("", "")
                figures = f"{cell.mean:.6f}", f"{cell.deviation:.6f}", cell.n_folds
                writer.writerow([dataset, model, *figures, *flags, *paper])
    return text.getvalue()


# Cells ----------------------------------------------------------------------------------------

_MISSING = TableCell(0.0, 0.0, 0)


def _cells(table: Table, dataset: str) -> list[TableCell]:
    return [table.cells.get((dataset, model), _MISSING) for model in table.models]


def _line(table: Table, dataset: str, write: Callable[[TableCell, int], str]) -> list[str]:
    return [write(cell, table.digits) if cell.n_folds else "" for cell in _cells(table, dataset)]


def _in_paper(table: Table, dataset: str) -> bool:
    return any(cell.paper is not None for cell in _cells(table, dataset))


def _figures(pair: tuple[float, float] | None, digits: int) -> str:
    return "" if pair is None else f"{pair[0]:.{digits}f} ± {pair[1]:.{digits}f}"


def _markdown_cell(cell: TableCell, digits: int) -> str:
    text = _figures((cell.mean, cell.deviation), digits)
    return (f"**{text}**" if cell.best else text) + (" ↓" if cell.below_paper else "")


def _latex_figures(pair: tuple[float, float] | None, digits: int, *, bold: bool = False) -> str:
    if pair is None:
        return ""
    inside = rf"{pair[0]:.{digits}f} \pm {pair[1]:.{digits}f}"
    return rf"$\mathbf{{{inside}}}$" if bold else f"${inside}$"


def _latex_cell(cell: TableCell, digits: int) -> str:
    text = _latex_figures((cell.mean, cell.deviation), digits, bold=cell.best)
    return text + (r" $\downarrow$" if cell.below_paper else "")


def _bar(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def times_table(rows: Collection[Row]) -> str:
    """Return the minutes of one core for each data set, as a Markdown table."""
    lines = [
        "| Minutes of one core | train | capture | fit | all but tuning | tuning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    datasets = [name for name in DATASETS if any(row.dataset == name for row in rows)]
    for label, chosen in [*((name, {name}) for name in datasets), ("together", set(datasets))]:
        of_datasets = [row for row in rows if row.dataset in chosen]
        train = sum(row.seconds.train for row in of_datasets) / 60
        fit = sum(row.seconds.fit for row in of_datasets) / 60
        tune = sum(row.seconds.tune for row in of_datasets) / 60
        # The models that share a network also share what asking it took.
        shared = {(row.dataset, row.fold, row.evidence): row.seconds.capture for row in of_datasets}
        capture = sum(shared.values()) / 60
        figures = (train, capture, fit, train + capture + fit, tune)
        lines.append(f"| {label} | {' | '.join(f'{each:.1f}' for each in figures)} |")
    return "\n".join(lines) + "\n"
