"""The folder of a comparison: tables as Markdown and CSV, and one of the best readable models."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gnn2logic._files import write_atomically
from gnn2logic.experiments.comparison import number_pages
from gnn2logic.experiments.comparison.published import (
    SOURCE,
    PublishedFigures,
    are_published,
    published_figures,
)
from gnn2logic.experiments.comparison.record import ComparisonPlan, keep
from gnn2logic.experiments.comparison.summaries import (
    S,
    Summary,
    best_readable,
    network_beside,
    summaries,
)
from gnn2logic.experiments.comparison.texts import (
    flat_rows,
    length,
    markdown_table,
    number,
    over_folds,
    summary_csv,
    with_folds,
)
from gnn2logic.experiments.rows import AnyRow, ComparedRow, NumberRow

__all__ = ["model_table", "readable_table", "write_comparison"]

_HEADS = (
    *("accuracy", "macro F1", "AUROC", "fidelity", "symbols", "lines", "depth"),
    *("seconds", "stability"),
)
_READABLE_HEADS = (
    *("data set", "network", "from labels", "accuracy", "symbols"),
    *("the network, distilled", "accuracy", "fidelity", "symbols", "published"),
)
_NOTE = (
    "Accuracy: mean and standard deviation over the folds. Fidelity: how often a model says what "
    "the network says that it learned from, on all test graphs together, and in brackets what it "
    "is at least with 95 % confidence (one-sided, Clopper and Pearson). Symbols, lines and depth "
    "are medians, and so are the seconds of one core for one fold, tuning included."
)
_STABILITY_NOTE = (
    " Stability: how often models of two seeds say the same about a test graph, where more than "
    "one was run."
)
_READABLE_NOTE = (
    "Which readable model is shown was decided within the training parts, never on test graphs. "
    "Accuracies are in percent. ↓: below the network beside it."
)
_MAJORITY_NOTE = " ∅: no better than always saying the most frequent class."
_PUBLISHED_NOTE = (
    " ⇊: below the published GIN. Published figures are means over all ten folds of the same "
    f"splits, in percent, of a GIN and of the best model there ({SOURCE}); where fewer folds were "
    "run, they say less."
)

_PUBLIC, _GIVEN = "public", "given"
_GIVEN_NOTE = " Given: folds of `--splits`, from a file or by scaffolds."
# Beside an accuracy that always saying the most frequent class has as well.
_MAJORITY, _BASELINE = " ∅", "Majority"
_MEASURED = (
    *("accuracy", "macro_f1", "auroc", "held_out"),
    *("size", "lines", "depth", "leaves"),
)
_MEASURED_OF_NUMBERS = ("mae", "r2", "held_out", "size", "lines", "depth")


def write_comparison(
    folder: Path, rows: Collection[AnyRow], comparison: ComparisonPlan, record: dict[str, Any]
) -> None:
    """Write tables and the record of a comparison."""
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    of_classes = [row for row in rows if isinstance(row, ComparedRow)]
    of_numbers = [row for row in rows if isinstance(row, NumberRow)]
    sections = ["# Comparison", _introduction(comparison, record)]
    if of_classes:
        sections += _class_sections(folder, of_classes, comparison)
    if of_numbers:
        sections += _number_sections(folder, of_numbers, comparison)
    keep(comparison, folder, record)
    _write(folder / "README.md", "\n\n".join(section.strip() for section in sections) + "\n")


def _class_sections(
    folder: Path, rows: Sequence[ComparedRow], comparison: ComparisonPlan
) -> list[str]:
    """Write the tables of data sets with classes; return what the page says about them."""
    figures = summaries(rows)
    tables = {name: model_table(name, models) for name, models in figures.items()}
    _write_tables(folder, tables, {name: summary_csv(Summary, figures[name]) for name in figures})
    folds = _whose_folds(figures, comparison)
    readable = readable_table(figures, folds)
    _write(folder / "tables" / "readable.md", readable)
    _write(folder / "rows.csv", flat_rows(rows, _MEASURED))
    seeds = max(model.n_seeds for models in figures.values() for model in models)
    return [
        "## Readable models",
        f"{readable}\n{_notes(readable, folds)}",
        "## All models",
        f"{_NOTE}{_STABILITY_NOTE if seeds > 1 else ''}",
        *(
            f"### {name}\n\n{_predicted(comparison, name)}{tables[name]}"
            f"{_shown_rule(figures[name])}"
            for name in tables
        ),
    ]


def _number_sections(
    folder: Path, rows: Sequence[NumberRow], comparison: ComparisonPlan
) -> list[str]:
    """Write the tables of data sets with numbers; return what the page says about them."""
    figures = number_pages.number_summaries(rows)
    tables = {name: number_pages.number_table(name, models) for name, models in figures.items()}
    of_numbers = number_pages.NumberSummary
    _write_tables(folder, tables, {n: summary_csv(of_numbers, figures[n]) for n in figures})
    folds = _whose_folds(figures, comparison)
    readable = number_pages.readable_number_table(figures, folds)
    _write(folder / "tables" / "readable_numbers.md", readable)
    _write(folder / "rows_of_numbers.csv", flat_rows(rows, _MEASURED_OF_NUMBERS))
    return [
        "## Readable models of numbers",
        f"{readable}\n{number_pages.READABLE_NOTE}{_given_note(folds)}",
        "## All models of numbers",
        number_pages.NOTE,
        *(
            f"### {name}\n\n{_predicted(comparison, name)}{tables[name]}"
            f"{_shown_rule(figures[name])}"
            for name in tables
        ),
    ]


def _write_tables(folder: Path, tables: dict[str, str], as_csv: dict[str, str]) -> None:
    for name, table in tables.items():
        _write(folder / "tables" / f"{name}.md", table)
        _write(folder / "tables" / f"{name}.csv", as_csv[name])


def _whose_folds(names: Iterable[str], comparison: ComparisonPlan) -> dict[str, str]:
    """Return what is said about folds that were not drawn from the seed."""
    return {
        name: _PUBLIC if are_published(name, comparison.splits[name]) else _GIVEN
        for name in names
        if name in comparison.splits
    }


def _notes(readable: str, folds: dict[str, str]) -> str:
    """Return what the marks of a table mean, and only of those that are in it."""
    majority = _MAJORITY_NOTE if _MAJORITY in readable else ""
    published = _PUBLISHED_NOTE if _PUBLIC in folds.values() else ""
    return f"{_READABLE_NOTE}{majority}{published}{_given_note(folds)}"


def _given_note(folds: dict[str, str]) -> str:
    return _GIVEN_NOTE if _GIVEN in folds.values() else ""


def _predicted(comparison: ComparisonPlan, dataset: str) -> str:
    label = comparison.sources[dataset].options.get("label")
    return "" if label is None else f"What is predicted: {label}.\n\n"


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


def _shown_rule(models: Sequence[S]) -> str:
    best = best_readable(models, from_network=False)
    if best is None or not best.text:
        return ""
    return f"\n{best.model.name} of the first fold:\n\n```\n{best.text}\n```\n"


# Tables ---------------------------------------------------------------------------------------


def model_table(dataset: str, models: Sequence[Summary]) -> str:
    """Return all models on one data set as a Markdown table."""
    most = max(model.n_folds for model in models)
    lines = []
    for model in models:
        few = "" if model.n_folds == most else f" ({model.n_folds} folds)"
        lines.append(
            [
                f"{model.model.name}{few}",
                over_folds(f"{model.accuracy:.3f}", f"{model.deviation:.3f}", model.n_folds),
                f"{model.macro_f1:.3f}",
                number(model.auroc, 3),
                _fidelity(model),
                *(number(each, 0) for each in (model.size, model.lines, model.depth)),
                f"{model.seconds:.1f}",
                number(model.stability, 3),
            ]
        )
    return markdown_table([dataset, *_HEADS], lines)


def readable_table(figures: dict[str, list[Summary]], folds: dict[str, str]) -> str:
    """Return the best readable models against the network and published figures, in Markdown.

    `folds` says whose folds they are.
    """
    lines = []
    for dataset, models in figures.items():
        labels = best_readable(models, from_network=False)
        distilled = best_readable(models, from_network=True)
        network = network_beside(models, distilled)
        published = published_figures(dataset) if folds.get(dataset) == _PUBLIC else None
        bounds = _Bounds(
            None if network is None else network.accuracy,
            None if published is None else published.gin,
            next((model.accuracy for model in models if model.model.name == _BASELINE), None),
        )
        lines.append(
            [
                with_folds(dataset, models, folds),
                ""
                if network is None
                else f"{network.model.name} {_percent(network, replace(bounds, network=None))}",
                "" if labels is None else labels.model.name,
                _percent(labels, bounds),
                length(labels),
                "" if distilled is None else distilled.model.name,
                _percent(distilled, bounds),
                "" if distilled is None else _fidelity(distilled),
                length(distilled),
                "" if published is None else _in_words(published),
            ]
        )
    return markdown_table(_READABLE_HEADS, lines)


@dataclass(frozen=True)
class _Bounds:
    """What a model is compared with: accuracies of others, where they are known."""

    network: float | None
    published: float | None
    majority: float | None


def _percent(model: Summary | None, bounds: _Bounds) -> str:
    """Return an accuracy in percent with its marks, decided by the digits that are shown."""
    if model is None:
        return ""
    accuracy = round(model.accuracy, 3)
    mark = " ↓" * (bounds.network is not None and accuracy < round(bounds.network, 3))
    if bounds.published is not None and accuracy < bounds.published:
        mark += " ⇊"
    mark += _MAJORITY * (bounds.majority is not None and accuracy <= round(bounds.majority, 3))
    mean, deviation = (f"{100 * value:.1f}" for value in (model.accuracy, model.deviation))
    return f"{over_folds(mean, deviation, model.n_folds)}{mark}"


def _in_words(published: PublishedFigures) -> str:
    gin = f"GIN {100 * published.gin:.1f}"
    if published.best_model == "GIN":
        return gin
    return f"{gin}, {published.best_model} {100 * published.best:.1f}"


def _fidelity(model: Summary) -> str:
    if model.fidelity is None:
        return ""
    return f"{model.fidelity:.3f} (≥ {model.at_least:.3f})"
