"""``gnn2logic reproduce``: the paper's tables, and the same on other data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnn2logic.cli.options import JsonOption, SeedOption, settings_from
from gnn2logic.cli.output import emit_json
from gnn2logic.exceptions import ParameterError

if TYPE_CHECKING:
    from gnn2logic.experiments.verification import RowCheck

__all__ = ["EXAMPLES", "reproduce"]

EXAMPLES = (
    "gnn2logic reproduce --smoke --out smoke",
    "gnn2logic reproduce --datasets psi_2,BAMultiShapes --models 'IDT(GIN+True)' --out results",
    "gnn2logic reproduce --folds 10 --jobs 2 --baselines --out results",
    "gnn2logic reproduce --verify results",
    "gnn2logic reproduce --dataset MUTAG --dataset my/folder --seeds 3 --out mine",
    "gnn2logic reproduce --dataset PROTEINS --splits folds --models 'GIN,search(GIN)' --out mine",
    "gnn2logic reproduce --dataset bbbp.csv --data smiles=smiles --data label=p_np "
    "--splits scaffold --out mine",
    "gnn2logic reproduce --dataset freesolv.csv --data smiles=smiles --data label=expt "
    "--data task=regression --seed 7 --out mine",
    "gnn2logic reproduce --dataset MUTAG --teacher my_package.networks:train_gin --out mine",
)

_INTERRUPTED = 130


def reproduce(
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A data set of the paper; may be repeated. All seven by default."
        ),
    ] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A model; may be repeated. All seven by default. With --dataset: GCN, GIN, "
            "Teacher; layers, search or scorecard of one of these, of True (labels), or of both, "
            "such as 'search(GIN)' or 'layers(GIN+True)', also with +structure behind it; "
            "Majority, Counts tree, Forest, WL kernel, WL-OA. Where labels are numbers: networks, "
            "search and scorecard of one of them or of True; Mean, Counts tree, Forest.",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FOLDER|CSV",
            help="Leave the paper: compare models on this data set, folder in TU format or CSV "
            "file of molecules; may be repeated.",
        ),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="With --dataset: an option, such as node_attributes=true; for a CSV file "
            "smiles=COLUMN and label=COLUMN, name=NAME for one of several columns, errors=skip, "
            "and task=regression where labels are numbers.",
        ),
    ] = None,
    splits: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|FOLDER|scaffold",
            help="With --dataset: folds as JSON, public or yours; in a folder NAME.json or "
            "NAME_splits.json. The word scaffold: one fold of a CSV file, by scaffolds.",
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help="With --dataset: settings that differ from the usual."),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="With --dataset: a function of yours that trains a network, called with graphs, "
            "validation (lists of PyG graphs) and random_state for every fold.",
        ),
    ] = None,
    first: Annotated[
        int | None, typer.Option(min=1, help="With --dataset: run only so many of the folds.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="With --dataset: learn every model so often on each fold."),
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
    """Make the tables of the paper anew, or compare models.

    Its seven models are cross-validated on its seven data sets. With --dataset, any of our models,
    networks and baselines are cross-validated on any data. A run that was stopped goes on when the
    same command is given again.
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
    shared: dict[str, Any] = {
        "models": _names(models),
        "folds": folds,
        "n_jobs": jobs,
        "dask": dask,
        "random_state": seed,
        "command": _command(),
    }
    of_paper: dict[str, Any] = {"--datasets": datasets, "--smoke": smoke, "--baselines": baselines}
    of_paper["--ablation"] = ablation
    of_others: dict[str, Any] = {"--data": data, "--splits": splits, "--settings": settings}
    of_others |= {"--teacher": teacher, "--first": first, "--seeds": seeds}
    try:
        if not dataset:
            _refuse(of_others, "goes with --dataset only. Name a data set, or leave it out.")
            rows: Any = experiments.reproduce(
                out,
                datasets=_names(datasets),
                smoke=smoke,
                baselines=baselines,
                ablation=ablation,
                **shared,
            )
        else:
            _refuse(of_paper, "is about the paper's experiments and does not go with --dataset.")
            keys = [text.partition("=")[0] for text in data or ()]
            rows = experiments.compare(
                out,
                dataset,
                options=settings_from("--data", data, keys),
                splits=splits,
                settings=settings,
                teacher=teacher,
                first=first,
                seeds=seeds or 1,
                **shared,
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


def _refuse(options: dict[str, Any], why: str) -> None:
    """Refuse what would be ignored."""
    for name, value in options.items():
        if value:
            raise ParameterError(f"{name} {why}")


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
