"""Tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Sequence

from gnn2logic.experiments.catalogue import DATASETS
from gnn2logic.experiments.rows import Row
from gnn2logic.experiments.tables import Cell, Table

__all__ = ["MARKDOWN_NOTE", "times_table", "to_csv", "to_latex", "to_markdown"]

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

_MISSING = Cell(0.0, 0.0, 0)


def _cells(table: Table, dataset: str) -> list[Cell]:
    return [table.cells.get((dataset, model), _MISSING) for model in table.models]


def _line(table: Table, dataset: str, write: Callable[[Cell, int], str]) -> list[str]:
    return [write(cell, table.digits) if cell.n_folds else "" for cell in _cells(table, dataset)]


def _in_paper(table: Table, dataset: str) -> bool:
    return any(cell.paper is not None for cell in _cells(table, dataset))


def _figures(pair: tuple[float, float] | None, digits: int) -> str:
    return "" if pair is None else f"{pair[0]:.{digits}f} ± {pair[1]:.{digits}f}"


def _markdown_cell(cell: Cell, digits: int) -> str:
    text = _figures((cell.mean, cell.deviation), digits)
    return (f"**{text}**" if cell.best else text) + (" ↓" if cell.below_paper else "")


def _latex_figures(pair: tuple[float, float] | None, digits: int, *, bold: bool = False) -> str:
    if pair is None:
        return ""
    inside = rf"{pair[0]:.{digits}f} \pm {pair[1]:.{digits}f}"
    return rf"$\mathbf{{{inside}}}$" if bold else f"${inside}$"


def _latex_cell(cell: Cell, digits: int) -> str:
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
