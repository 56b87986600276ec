"""``gnn2logic reproduce``: the paper's tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnn2logic.cli.options import JsonOption, SeedOption
from gnn2logic.cli.output import emit_json

if TYPE_CHECKING:
    from gnn2logic.experiments.verification import RowCheck

__all__ = ["EXAMPLES", "reproduce"]

EXAMPLES = (
    "gnn2logic reproduce --smoke --out smoke",
    "gnn2logic reproduce --datasets psi_2,BAMultiShapes --models 'IDT(GIN+True)' --out results",
    "gnn2logic reproduce --folds 10 --jobs 2 --baselines --out results",
    "gnn2logic reproduce --verify results",
)

_INTERRUPTED = 130


def reproduce(
    datasets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A data set; may be repeated. All seven by default."),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A model; may be repeated. All seven by default."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 10,
    out: Annotated[Path, typer.Option(help="Where rows, tables and plots go.")] = Path("results"),
    jobs: Annotated[int, typer.Option(min=1, help="Folds that run side by side.")] = 1,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run folds on the cluster of this Dask scheduler."),
    ] = None,
    seed: SeedOption = 0,
    smoke: Annotated[bool, typer.Option("--smoke", help="A two-minute version.")] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Also majority, counts tree, WL kernel.")
    ] = False,
    ablation: Annotated[
        bool, typer.Option("--ablation", help="Also IDT(GCN+True) with one choice changed.")
    ] = False,
    verify: Annotated[
        Path | None, typer.Option(help="Make three random rows of this folder anew, and compare.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make the tables of the paper anew.

    Its seven models are cross-validated on its seven data sets. A run that was stopped goes on when
    the same command is given again.
    """
    # Networks and plots are slow to import; help should not wait for them.
    from gnn2logic import experiments

    if verify is not None:
        checks = experiments.verify(verify)
        if as_json:
            emit_json([_plain(check) for check in checks])
        for check in () if as_json else checks:
            mark = "ok" if check.ok else "DIFFERENT"
            typer.echo(
                f"{mark}: {check.old.model} on {check.old.dataset}, fold {check.old.fold}: "
                f"{check.finding}"
            )
        raise typer.Exit(0 if all(check.ok for check in checks) else 1)
    try:
        rows = experiments.reproduce(
            out,
            datasets=_names(datasets),
            models=_names(models),
            folds=folds,
            n_jobs=jobs,
            dask=dask,
            random_state=seed,
            smoke=smoke,
            baselines=baselines,
            ablation=ablation,
            command=_command(),
        )
    except KeyboardInterrupt:
        typer.echo("\nStopped. Rows are kept: the same command goes on from here.", err=True)
        raise typer.Exit(_INTERRUPTED) from None
    if as_json:
        import msgspec

        emit_json(msgspec.to_builtins(rows))
    else:
        typer.echo((out / "README.md").read_text(encoding="utf-8"))


def _plain(check: RowCheck) -> dict[str, object]:
    old = check.old
    return {
        "dataset": old.dataset,
        "fold": old.fold,
        "model": old.model,
        "ok": check.ok,
        "finding": check.finding,
    }


def _names(given: list[str] | None) -> list[str] | None:
    """Return names that were given one by one or with commas between them."""
    if not given:
        return None
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _command() -> str:
    """Return the command line without folders and addresses, which belong to this machine."""
    words, skip = ["gnn2logic"], False
    for word in sys.argv[1:]:
        if skip or word.startswith(("--out=", "--dask=")):
            skip = False
        elif word in ("--out", "--dask"):
            skip = True
        else:
            words.append(f'"{word}"' if "(" in word or " " in word else word)
    return " ".join(words)
