"""``gnn2logic train``: a network to distil."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    LabelOption,
    LayersOption,
    QuietOption,
    SeedOption,
    SmilesOption,
    SplitOption,
    with_columns,
)
from gnn2logic.cli.output import check_output, emit_json, emit_scores, talker, writing_to

__all__ = ["EXAMPLES", "train"]

EXAMPLES = (
    "gnn2logic train BAMultiShapes --conv gin --hidden 64 --out shapes.safetensors",
    "gnn2logic train MUTAG --epochs 100 --gnn pooling=mean --out mutag.safetensors",
    "gnn2logic distill BAMultiShapes --teacher shapes.safetensors --out shapes.idt.json",
)


def train(
    dataset: DataArgument,
    out: Annotated[
        Path,
        typer.Option(help="The network, NAME.safetensors."),
    ],
    conv: ConvOption = Convolution.GIN,
    layers: LayersOption = 4,
    hidden: HiddenOption = 128,
    epochs: EpochsOption = 200,
    gnn: GnnOption = None,
    split: SplitOption = DataSplit.TRAIN,
    data: DataOption = None,
    smiles: SmilesOption = None,
    label: LabelOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Train a graph neural network on a data set, and save it."""
    say = talker(quiet)
    data = with_columns(data, smiles, label)
    check_output(out, (".safetensors",))
    from gnn2logic.cli.data import choose, load_whole
    from gnn2logic.cli.subjects import scores_by_split
    from gnn2logic.cli.teachers import train_network

    whole = load_whole(dataset, data)
    chosen = choose(whole, split)
    say(f"Training a {conv} on {len(chosen.data)} graphs of {chosen.data.name} ...")
    settings = {
        "conv": str(conv),
        "n_layers": layers,
        "hidden": hidden,
        "max_epochs": epochs,
        "random_state": seed,
    }
    network = train_network(chosen, settings, gnn, quiet=quiet)
    with writing_to(out):
        network.save(out)
    say(f"Saved in {out}.")
    scores = scores_by_split(whole, split, network=network)
    if as_json:
        emit_json(
            {
                "dataset": whole.name,
                "classes": network.classes_.tolist(),
                "epochs": len(network.history_),
                "file": str(out),
                "scores": scores,
            }
        )
    else:
        emit_scores(scores)
