"""``gnn2logic distill``: from a network to rules."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnn2logic.cli.options import (
    Convolution,
    ConvOption,
    DataArgument,
    DataOption,
    DataSplit,
    EpochsOption,
    GnnOption,
    HiddenOption,
    JsonOption,
    LabelsOption,
    LayersOption,
    QuietOption,
    SeedOption,
    SmilesOption,
    SplitOption,
    TeacherOption,
    settings_from,
    with_columns,
)
from gnn2logic.cli.output import check_output, emit, emit_json, emit_scores, talker, writing_to
from gnn2logic.exceptions import ParameterError

if TYPE_CHECKING:
    from gnn2logic.engines import Engine
    from gnn2logic.logic.printing.english_words import Names

__all__ = ["EXAMPLES", "CheckpointOption", "DaskOption", "MemoryOption", "distill", "engine_from"]

DaskOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Learn on the cluster of this Dask scheduler."),
]
MemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="A limit for learning, such as '500 MiB'; for a folder of shards 1 GiB by default.",
        show_default=False,
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(help="A file written after every step; a command that was killed goes on there."),
]


@contextlib.contextmanager
def engine_from(dask: str | None, max_memory: str | None) -> Iterator[Engine | None]:
    """Return the engine that the options name; None is the usual one."""
    from gnn2logic.engines import LocalEngine, connected

    if dask is not None and max_memory is not None:
        raise ParameterError("--max-memory is for this machine. Leave it out with --dask.")
    if dask is not None:
        with connected(dask) as engine:
            yield engine
    else:
        threads = os.cpu_count() or 1
        yield None if max_memory is None else LocalEngine(threads, max_memory=max_memory)


EXAMPLES = (
    "gnn2logic distill BAMultiShapes --out shapes.idt.json",
    "gnn2logic distill MUTAG --teacher mutag.safetensors --labels --out mutag.idt.json",
    "gnn2logic distill MUTAG --teacher my_package.networks:trained_gin --out mine.idt.json",
    "gnn2logic distill psi_2 --idt algorithm=layers --idt width=8 --out psi_2.idt.json",
    "gnn2logic distill psi_1 --variant true --layers 1 --out psi_1.idt.json",
    "gnn2logic distill MUTAG --into scorecard --card max_lines=8 --out mutag.card.json",
    "gnn2logic distill esol.csv --smiles smiles --label logS --task regression --variant true "
    "--out esol.idt.json",
    "gnn2logic distill tox21.csv --smiles smiles --label NR-AR --label SR-p53 --variant true "
    "--out tox21.json",
    "gnn2logic distill graphs.shards --variant true --dask tcp://10.0.0.1:8786 --out big.idt.json",
)


class Variant(StrEnum):
    """What the layers are learned from, as in the paper."""

    GNN = "gnn"
    GNN_AND_LABELS = "gnn+true"
    LABELS = "true"


class Task(StrEnum):
    """What is predicted."""

    CLASSES = "classes"
    REGRESSION = "regression"


class ModelForm(StrEnum):
    """What is made of a network, or of labels."""

    IDT = "idt"
    SCORECARD = "scorecard"


def distill(
    dataset: DataArgument,
    out: Annotated[Path, typer.Option(help="The model, such as NAME.idt.json.")],
    teacher: TeacherOption = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Learn the classes from the true labels.")
    ] = False,
    variant: Annotated[
        Variant | None,
        typer.Option(
            help="What is learned from: the network alone (the default), the network and the "
            "labels (as --labels), or the labels alone, which needs no network.",
            show_default=False,
        ),
    ] = None,
    idt: Annotated[
        list[str] | None,
        typer.Option(
            "--idt",
            metavar="KEY=VALUE",
            help="A setting of the rules, such as max_size=20. algorithm=layers is "
            "the paper's algorithm, with settings such as width=8 or ccp_alpha=0.01.",
        ),
    ] = None,
    into: Annotated[
        ModelForm, typer.Option(help="Rules, or a scorecard: lines whose points are added up.")
    ] = ModelForm.IDT,
    card: Annotated[
        list[str] | None,
        typer.Option(
            "--card",
            metavar="KEY=VALUE",
            help="A setting of the scorecard, such as max_lines=8 or max_line_size=6.",
        ),
    ] = None,
    conv: ConvOption = Convolution.GIN,
    layers: LayersOption = 4,
    hidden: HiddenOption = 128,
    epochs: EpochsOption = 200,
    gnn: GnnOption = None,
    save_teacher: Annotated[
        Path | None,
        typer.Option(help="Keep the network that is trained, NAME.safetensors."),
    ] = None,
    task: Annotated[
        Task,
        typer.Option(
            help="Classes, or the numbers of the --label column of a CSV file, or of the graph "
            "attributes of a folder in TU format: with --variant true or with --teacher, a network "
            "that returns one number."
        ),
    ] = Task.CLASSES,
    split: SplitOption = DataSplit.TRAIN,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelsOption = None,
    dask: DaskOption = None,
    max_memory: MemoryOption = None,
    checkpoint: CheckpointOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Distil a network into rules or into a scorecard, and save them.

    Without --teacher a network is trained first; --conv, --layers, --hidden, --epochs and --gnn are
    about that one. With --variant true there are --layers layers, and no network is trained. The
    data set may be a folder that gnn2logic shard wrote: then all of it is learned from, with
    --teacher or with --variant true.
    """
    say = talker(quiet)
    several = label is not None and len(label) > 1
    column = label[0] if label and not several else None
    data = with_columns(data, smiles, column)
    check_output(out, (".json",))
    if save_teacher is not None:
        check_output(save_teacher, (".safetensors",))
    from gnn2logic.chem.words import molecule_words
    from gnn2logic.cli.data import choose, load_whole
    from gnn2logic.cli.stores import learner
    from gnn2logic.cli.subjects import for_numbers, scores_by_split
    from gnn2logic.cli.teachers import find_teacher, train_network
    from gnn2logic.storage import is_store

    settings = _settings(into, idt, card, checkpoint)
    settings |= {"random_state": seed, "verbose": int(not quiet)}
    what = "rules" if into is ModelForm.IDT else "a scorecard"
    if several:
        if teacher is not None or save_teacher or _variant(variant, labels) is not Variant.LABELS:
            raise ParameterError(
                "Several --label columns are learned without a network: say --variant true. A "
                "network with several outputs is distilled in Python: gnn2logic.distill(network, "
                "graphs, targets=[...])."
            )
        from gnn2logic.cli.several import learn_targets

        assert label is not None
        if into is ModelForm.IDT:
            settings = {"n_layers": layers} | settings
        with engine_from(dask, max_memory) as engine:
            learned = learn_targets(
                dataset,
                data,
                label,
                split,
                str(into),
                settings | {"engine": engine},
                numbers=task is Task.REGRESSION,
                say=say,
            )
        _save(learned.model, out, say)
        if as_json:
            each = {
                name: _plain(learned.model[name], learned.scores_of(name), out, learned.dataset)
                for name in learned.model
            }
            emit_json({"dataset": learned.dataset, "file": str(out), "targets": each})
        else:
            emit(learned.to_text())
            emit()
            emit_scores(learned.scores)
        return
    if is_store(dataset):
        if task is Task.REGRESSION:
            for_numbers(dataset, data)
        from gnn2logic.cli.stores import learn_from_store, open_store, scores_on_store

        store = open_store(dataset, data)
        say(f"Learning {what} from {store.n_graphs} graphs of {store.path.name} ...")
        with engine_from(dask, max_memory) as engine:
            chosen_variant = str(_variant(variant, labels))
            if into is ModelForm.IDT and teacher is None:
                settings = {"n_layers": layers} | settings
            model = learn_from_store(
                store, teacher, chosen_variant, str(into), settings | {"engine": engine}
            )
        _save(model, out, say)
        _tell(model, scores_on_store(store, model), out, store.path.name, as_json=as_json)
        return
    numbers = task is Task.REGRESSION
    if numbers and teacher is None and _variant(variant, labels) is not Variant.LABELS:
        raise ParameterError(
            "--task regression trains no network. Give one that returns a number with --teacher "
            "package.module:factory, or learn from the numbers of the table with --variant true."
        )
    if numbers and teacher is not None and (labels or variant not in (None, Variant.GNN)):
        raise ParameterError(
            "--task regression with --teacher learns what the network says. Leave --labels and "
            "--variant out, or leave --teacher out and say --variant true."
        )
    whole = load_whole(dataset, for_numbers(dataset, data) if numbers else data)
    chosen = choose(whole, split)
    network = find_teacher(teacher, whole)
    chosen_variant = _variant(variant, labels)
    if numbers:
        settings = {"target_name": column} | settings
    from_labels = chosen_variant is Variant.LABELS and network is None and save_teacher is None
    if network is None and not from_labels:
        say(f"Training a {conv} on {len(chosen.data)} graphs of {whole.name} ...")
        shape = {"conv": str(conv), "n_layers": layers, "hidden": hidden, "max_epochs": epochs}
        network = train_network(chosen, shape | {"random_state": seed}, gnn, quiet=quiet)
        if save_teacher is not None:
            with writing_to(save_teacher):
                network.save(save_teacher)
            say(f"The network is saved in {save_teacher}.")
    with engine_from(dask, max_memory) as engine:
        settings["engine"] = engine
        if from_labels:
            say(f"Learning {what} from {len(chosen.data)} graphs of {whole.name} ...")
            depth = {"n_layers": layers} if into is ModelForm.IDT else {}
            learned = learner(str(into), "graph", numbers=numbers)()
            # Settings of other learners are told, as with any estimator.
            learned.set_params(**(depth | settings))
            model = learned.fit(chosen.graphs, chosen.labels)
        else:
            from gnn2logic import distillation

            say("Distilling it ...")
            known = None if chosen_variant is Variant.GNN and not labels else chosen.labels
            form: Any = str(into)
            how: dict[str, Any] = {"variant": str(chosen_variant)}
            if numbers:
                how = {"task": "regression"}
            model = distillation.distill(
                network,
                chosen.network_graphs,
                known,
                into=form,
                **how,
                **settings,
            )
    _save(model, out, say)
    scores = scores_by_split(whole, split, rule=model, network=network)
    words = molecule_words(chosen.data.graphs)
    _tell(model, scores, out, whole.name, as_json=as_json, words=words)


def _save(model: Any, out: Path, say: Callable[[str], None]) -> None:
    # Who did the work and whether somebody looked on is no part of the model.
    used = {"verbose": 0, "engine": None, "checkpoint": None}
    for each in getattr(model, "estimators_", [model]):
        known = each.get_params(deep=False)
        each.set_params(**{name: value for name, value in used.items() if name in known})
    with writing_to(out):
        model.save(out)
    say(f"Saved in {out}.")


def _tell(
    model: Any,
    scores: list[dict[str, Any]],
    out: Path,
    dataset: str,
    *,
    as_json: bool,
    words: Names | None = None,
) -> None:
    if as_json:
        emit_json(_plain(model, scores, out, dataset))
    else:
        emit(model.to_text(words))
        emit()
        emit_scores(scores)


def _variant(variant: Variant | None, labels: bool) -> Variant:
    if variant is not None:
        return variant
    return Variant.GNN_AND_LABELS if labels else Variant.GNN


def _settings(
    into: ModelForm, idt: list[str] | None, card: list[str] | None, checkpoint: Path | None
) -> dict[str, Any]:
    """Return the settings of the form that is asked for; those of the other are refused."""
    from gnn2logic.idt.parameters import PARAMETERS
    from gnn2logic.scorecards.documents import PARAMETERS as CARD_PARAMETERS

    ours = ("random_state", "verbose")
    if into is ModelForm.IDT:
        if card:
            raise ParameterError("--card is for --into scorecard. Settings of rules are --idt.")
        known = [name for name in PARAMETERS if name not in ours]
        return settings_from("--idt", idt, known) | {"checkpoint": checkpoint}
    if idt or checkpoint is not None:
        option = "--idt" if idt else "--checkpoint"
        raise ParameterError(f"{option} is for rules. With --into scorecard give --card.")
    return settings_from("--card", card, [name for name in CARD_PARAMETERS if name not in ours])


def _plain(model: Any, scores: object, out: Path, dataset: str) -> dict[str, Any]:
    import numpy as np

    from gnn2logic.scorecards import ScorecardPredictor

    labels = getattr(model, "classes_", np.array([])).tolist()
    said: dict[str, Any] = {}
    if isinstance(model, ScorecardPredictor):
        said = model.table().to_dict()
    else:
        said = {"formulas": {label: str(model.formula(label)) for label in labels}}
    return {
        "dataset": dataset,
        "classes": labels,
        **said,
        "file": str(out),
        "scores": scores,
    }
