"""The folder of results: rows, tables, pictures and how they were made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from gnn2logic._files import write_atomically
from gnn2logic.experiments.boxplots import box_plot
from gnn2logic.experiments.catalogue import DATASETS, PAPER_MODELS
from gnn2logic.experiments.rows import Row
from gnn2logic.experiments.table_texts import MARKDOWN_NOTE, to_csv, to_latex, to_markdown
from gnn2logic.experiments.tables import all_tables, fidelity_in, index_rows
from gnn2logic.experiments.times import times_table

__all__ = ["ROWS_NAME", "write_results"]

ROWS_NAME = "rows.jsonl"


def write_results(folder: Path, rows: Collection[Row], record: dict[str, Any]) -> None:
    """Write tables, pictures and the record of a run."""
    tables = all_tables(rows)
    for name in ("tables", "plots"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for table in tables:
        for ending, write in (("md", to_markdown), ("tex", to_latex), ("csv", to_csv)):
            _write(folder / "tables" / f"{table.name}.{ending}", write(table))
    _write(folder / "tables" / "times.md", times_table(rows))
    _write(folder / "rows.csv", _flat(rows))
    _write(folder / "run.json", json.dumps(record, indent=2) + "\n")
    sections = "\n".join(to_markdown(table) for table in tables)
    text = f"# Results\n\n{_introduction(record)}\n\n{sections}\n{times_table(rows)}"
    _write(folder / "README.md", text)
    paper_models = {model.name for model in PAPER_MODELS}
    there = {row.dataset for row in rows if row.model in paper_models}
    for dataset in DATASETS:
        if dataset in there:
            for ending, data in box_plot(dataset, rows).items():
                write_atomically(folder / "plots" / f"{dataset}.{ending}", data)


def _introduction(record: dict[str, Any]) -> str:
    machine = record["machine"]
    made = (
        f"Made with the command below and seed {record['seed']}, {record['folds']} folds, on "
        f"{machine['cores']} cores ({machine['processor']}); `run.json` has versions and settings."
    )
    warning = "\n\nA quick run of every part: these figures mean nothing." * record["smoke"]
    return f"{made}{warning}\n\n```\n{record['command']}\n```\n\n{MARKDOWN_NOTE}"


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())


def _flat(rows: Collection[Row]) -> str:
    """Return all that was measured, one line for each row, as CSV."""
    by_key = index_rows(rows)
    measures = {f"fidelity_{name.lower()}": fidelity_in(by_key, name) for name in ("GCN", "GIN")}
    plain = ("dataset", "fold", "model", "accuracy", "macro_f1", "size", "depth", "leaves")
    seconds = ("train", "capture", "fit", "tune")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*plain, *measures, *(f"{each}_seconds" for each in seconds), "tuned"])
    for row in rows:
        fidelities = [measure(row) for measure in measures.values()]
        times = [getattr(row.seconds, each) for each in seconds]
        own = [getattr(row, each) for each in plain]
        writer.writerow([*own, *fidelities, *times, json.dumps(row.tuned)])
    return text.getvalue()
