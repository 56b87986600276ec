"""Where the time of a run went; what tuning took is told apart."""

from __future__ import annotations

from collections.abc import Collection

from gnn2logic.experiments.catalogue import DATASETS
from gnn2logic.experiments.rows import Row

__all__ = ["times_table"]


def times_table(rows: Collection[Row]) -> str:
    """Return the minutes of one core for each data set, as a Markdown table."""
    lines = [
        "| Minutes of one core | train | capture | fit | all but tuning | tuning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    datasets = [name for name in DATASETS if any(row.dataset == name for row in rows)]
    for label, chosen in [*((name, {name}) for name in datasets), ("together", set(datasets))]:
        own = [row for row in rows if row.dataset in chosen]
        train = sum(row.seconds.train for row in own) / 60
        fit = sum(row.seconds.fit for row in own) / 60
        tune = sum(row.seconds.tune for row in own) / 60
        # The models that share a network also share what asking it took.
        shared = {(row.dataset, row.fold, row.evidence): row.seconds.capture for row in own}
        capture = sum(shared.values()) / 60
        figures = (train, capture, fit, train + capture + fit, tune)
        lines.append(f"| {label} | {' | '.join(f'{each:.1f}' for each in figures)} |")
    return "\n".join(lines) + "\n"
