"""The folder of a comparison: tables as Markdown and CSV, and one of the best readable models."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from gnn2logic._files import write_atomically
from gnn2logic.experiments.comparison.data import is_table
from gnn2logic.experiments.comparison.published import SOURCE, published_figures
from gnn2logic.experiments.comparison.record import ComparisonPlan, keep
from gnn2logic.experiments.comparison.summaries import Summary, best_readable, summaries
from gnn2logic.experiments.rows import ComparedRow, Row

__all__ = ["model_table", "readable_table", "write_comparison"]

_HEADS = (
    *("accuracy", "macro F1", "AUROC", "fidelity", "symbols", "lines", "depth"),
    *("seconds", "stability"),
)
_NOTE = (
    "Accuracy: mean and standard deviation over the folds. Fidelity: how often a model says what "
    "the network says that it learned from, on all test graphs together, and in brackets what it "
    "is at least with 95 % confidence (one-sided, Clopper and Pearson). Symbols, lines and depth "
    "are medians, and so are the seconds of one core for one fold, tuning included. Stability: how "
    "often models of two seeds say the same about a test graph."
)
_READABLE_NOTE = (
    "Which readable model is shown was decided within the training parts, never on test graphs. "
    "Accuracies are in percent. ↓: below the network beside it. ⇊: below the published GIN. "
    "Published figures are means over all ten folds of the same splits, in percent, of a GIN and "
    f"of the best model there ({SOURCE}); where fewer folds were run, they say less."
)


def write_comparison(
    folder: Path, rows: Collection[Row], comparison: ComparisonPlan, record: dict[str, Any]
) -> None:
    """Write tables and the record of a comparison."""
    compared = [row for row in rows if isinstance(row, ComparedRow)]
    figures = summaries(compared)
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    tables = {name: model_table(name, models) for name, models in figures.items()}
    for name, table in tables.items():
        _write(folder / "tables" / f"{name}.md", table)
        _write(folder / "tables" / f"{name}.csv", _csv(figures[name]))
    # Folds of tables are those of their users.
    public = {name for name in comparison.splits if not is_table(comparison.sources[name].where)}
    readable = readable_table(figures, public)
    _write(folder / "tables" / "readable.md", readable)
    _write(folder / "rows.csv", _flat(compared))
    keep(comparison, folder, record)
    sections = [
        "# Comparison",
        _introduction(comparison, record),
        "## Readable models",
        f"{readable}\n{_READABLE_NOTE}",
        "## All models",
        _NOTE,
        *(f"### {name}\n\n{tables[name]}{_shown_rule(figures[name])}" for name in tables),
    ]
    _write(folder / "README.md", "\n\n".join(section.strip() for section in sections) + "\n")


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode())


def _introduction(comparison: ComparisonPlan, record: dict[str, Any]) -> str:
    machine = record["machine"]
    given = ", ".join(sorted(comparison.splits))
    folds = f" {given}: on the folds in `splits`." if given else ""
    commands = "\n".join(record["commands"])
    return (
        f"Made as follows with seed {comparison.seed}, on {machine['cores']} cores "
        f"({machine['processor']}); `run.json` has versions and settings.{folds}"
        f"\n\n```\n{commands}\n```"
    )


def _shown_rule(models: Sequence[Summary]) -> str:
    best = best_readable(models, from_network=False)
    if best is None or not best.text:
        return ""
    return f"\n{best.model.name} of the first fold:\n\n```\n{best.text}\n```\n"


# Tables ---------------------------------------------------------------------------------------


def model_table(dataset: str, models: Sequence[Summary]) -> str:
    """Return all models on one data set as a Markdown table."""
    lines = [_bar([dataset, *_HEADS]), _bar(["---"] * (len(_HEADS) + 1))]
    most = max(model.n_folds for model in models)
    for model in models:
        few = "" if model.n_folds == most else f" ({model.n_folds} folds)"
        lines.append(
            _bar(
                [
                    f"{model.model.name}{few}",
                    f"{model.accuracy:.3f} ± {model.deviation:.3f}",
                    f"{model.macro_f1:.3f}",
                    _number(model.auroc, 3),
                    _fidelity(model),
                    *(_number(each, 0) for each in (model.size, model.lines, model.depth)),
                    f"{model.seconds:.1f}",
                    _number(model.stability, 3),
                ]
            )
        )
    return "\n".join(lines) + "\n"


def readable_table(figures: dict[str, list[Summary]], on_public_folds: Collection[str]) -> str:
    """Return the best readable models against the network and published figures, in Markdown."""
    heads = (
        *("data set", "folds", "network", "its accuracy", "from labels", "accuracy", "symbols"),
        *("from the network", "accuracy", "fidelity", "symbols", "published GIN, best"),
    )
    lines = [_bar(heads), _bar(["---"] * len(heads))]
    for dataset, models in figures.items():
        labels = best_readable(models, from_network=False)
        distilled = best_readable(models, from_network=True)
        network = _network_of(models, distilled)
        published = published_figures(dataset) if dataset in on_public_folds else None
        to_beat = None if network is None else network.accuracy
        gin = None if published is None else published.gin
        public = ", public" if dataset in on_public_folds else ""
        lines.append(
            _bar(
                [
                    dataset,
                    f"{max(model.n_folds for model in models)}{public}",
                    "" if network is None else network.model.name,
                    _percent(network, None, gin),
                    "" if labels is None else labels.model.name,
                    _percent(labels, to_beat, gin),
                    _length(labels),
                    "" if distilled is None else distilled.model.name,
                    _percent(distilled, to_beat, gin),
                    "" if distilled is None else _fidelity(distilled),
                    _length(distilled),
                    ""
                    if published is None
                    else f"{100 * published.gin:.1f}, {100 * published.best:.1f} "
                    f"({published.best_model})",
                ]
            )
        )
    return "\n".join(lines) + "\n"


def _network_of(models: Sequence[Summary], distilled: Summary | None) -> Summary | None:
    networks = [model for model in models if model.model.form == "network"]
    named = [model for model in networks if distilled and model.model.name == distilled.model.guide]
    return next(iter(named or networks), None)


def _percent(model: Summary | None, network: float | None, gin: float | None) -> str:
    """Return an accuracy in percent with its marks, decided by the digits that are shown."""
    if model is None:
        return ""
    accuracy = round(model.accuracy, 3)
    mark = " ↓" * (network is not None and accuracy < round(network, 3))
    if gin is not None and accuracy < gin:
        mark = " ⇊"
    return f"{100 * model.accuracy:.1f} ± {100 * model.deviation:.1f}{mark}"


def _length(model: Summary | None) -> str:
    if model is None:
        return ""
    lines = "" if model.lines is None else f" in {model.lines:.0f} lines"
    return f"{_number(model.size, 0)}{lines}"


def _fidelity(model: Summary) -> str:
    if model.fidelity is None:
        return ""
    return f"{model.fidelity:.3f} (≥ {model.at_least:.3f})"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _bar(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


# CSV ------------------------------------------------------------------------------------------


def _csv(models: Sequence[Summary]) -> str:
    names = [field.name for field in fields(Summary) if field.name != "text"]
    lines = [
        [model.model.name if n == "model" else getattr(model, n) for n in names] for model in models
    ]
    return _csv_text([names, *lines])


def _flat(rows: Sequence[ComparedRow]) -> str:
    """Return what was measured in every row; predictions and texts are in the file of rows."""
    plain = (
        *("dataset", "model", "fold", "repeat", "accuracy", "macro_f1", "auroc", "held_out"),
        *("size", "lines", "depth", "leaves"),
    )
    seconds = ("train", "capture", "fit", "tune")
    heads = [*plain, *(f"{each}_seconds" for each in seconds)]
    lines = [
        [*(getattr(row, each) for each in plain), *(getattr(row.seconds, s) for s in seconds)]
        for row in rows
    ]
    return _csv_text([heads, *lines])


def _csv_text(lines: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
