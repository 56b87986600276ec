"""The folder of results: rows, tables, pictures and how they were made."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gnn2logic._files import write_atomically
from gnn2logic._optional import import_optional
from gnn2logic._version import __version__
from gnn2logic.experiments.catalogue import DATASETS, PAPER_MODELS
from gnn2logic.experiments.paper import paper_figures
from gnn2logic.experiments.rows import Row
from gnn2logic.experiments.tables import (
    MARKDOWN_NOTE,
    all_tables,
    fidelity_in,
    index_rows,
    times_table,
    to_csv,
    to_latex,
    to_markdown,
)

__all__ = ["box_plot", "describe_environment", "write_results"]


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
        figures = [getattr(row, each) for each in plain]
        writer.writerow([*figures, *fidelities, *times, json.dumps(row.tuned)])
    return text.getvalue()


_SIZE = (7.0, 3.2)
_DPI = 120


def box_plot(dataset: str, rows: Collection[Row]) -> dict[str, bytes]:
    """Return a picture of a data set as PNG and SVG, by the ending of the file name.

    Diamonds are the means of the paper.
    """
    figure = _draw(dataset, rows)
    matplotlib = import_optional("matplotlib", extra="plot", purpose="A box plot")
    files = {}
    # Fixed ids and no date: the same rows give the same file.
    with matplotlib.rc_context({"svg.hashsalt": "gnn2logic", "svg.fonttype": "none"}):
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            file = io.BytesIO()
            figure.savefig(file, format=ending, dpi=_DPI, metadata=metadata)
            files[ending] = file.getvalue()
    return files


def _draw(dataset: str, rows: Collection[Row]) -> Any:
    figures = import_optional("matplotlib.figure", extra="plot", purpose="A box plot")
    values = {
        model.name: [row.accuracy for row in rows if (row.dataset, row.model) == (dataset, name)]
        for model in PAPER_MODELS
        for name in (model.name,)
    }
    shown = {name: figures for name, figures in values.items() if figures}
    figure = figures.Figure(figsize=_SIZE, layout="constrained")
    ax = figure.add_subplot()
    positions = range(1, len(shown) + 1)
    ax.boxplot(list(shown.values()), positions=list(positions), widths=0.6)
    paper = paper_figures("accuracy")
    means = [paper[dataset, name][0] for name in shown]
    ax.plot(list(positions), means, "D", color="tab:orange", label="mean in the paper")
    ax.set_xticks(list(positions), list(shown), rotation=20, ha="right")
    ax.set_ylabel("test accuracy")
    ax.set_title(f"{dataset}, {len(next(iter(shown.values())))} folds")
    ax.legend(loc="lower right", fontsize="small")
    ax.grid(axis="y", alpha=0.3)
    return figure


_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch", "torch_geometric", "joblib")


def describe_environment() -> dict[str, Any]:
    """Return the versions of what matters and the kind of machine.

    Examples
    --------
    >>> sorted(describe_environment())
    ['machine', 'versions']
    """
    versions = {"gnn2logic": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    machine = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
    }
    return {"versions": versions, "machine": machine}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _memory() -> float | None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(total / 2**30, 1)
