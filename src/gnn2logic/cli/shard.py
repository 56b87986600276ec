"""``gnn2logic shard``: a data set as a folder that is read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnn2logic.cli.options import (
    DataArgument,
    DataOption,
    DataSplit,
    JsonOption,
    QuietOption,
    SplitOption,
)
from gnn2logic.cli.output import emit, emit_json, talker

__all__ = ["EXAMPLES", "shard"]

EXAMPLES = (
    "gnn2logic shard BAMultiShapes shapes.shards",
    "gnn2logic shard path/to/MUTAG mutag.shards --shard-nodes 10000",
    "gnn2logic check '1(A true > 3) > 2' shapes.shards",
)


def shard(
    dataset: DataArgument,
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The folder, new or empty.", show_default=False),
    ],
    shard_nodes: Annotated[
        int,
        typer.Option(min=1, help="The most nodes of a shard; what reads it needs memory for one."),
    ] = 50_000,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a store that is there.")
    ] = False,
    split: SplitOption = DataSplit.ALL,
    data: DataOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a data set as a store of shards.

    Formulas and models go through a store shard by shard: check and evaluate take its folder in
    place of a data set, and Python programs open it with gnn2logic.open_shards. If the command is
    interrupted, the same command goes on.
    """
    say = talker(quiet)
    from gnn2logic.cli.data import read_data
    from gnn2logic.graphs import PredicateEncoder
    from gnn2logic.storage import write_shards

    chosen = read_data(dataset, data, split)
    graphs = chosen.graphs
    # Thresholds and categories are chosen on all graphs, for they are in memory already.
    encoder = PredicateEncoder().fit(graphs)
    store = write_shards(
        out,
        graphs,
        chosen.labels,
        encoder=encoder,
        shard_nodes=shard_nodes,
        overwrite=overwrite,
        verbose=not quiet,
    )
    if as_json:
        emit_json(
            {
                "dataset": chosen.data.name,
                "path": str(out),
                "shards": store.n_shards,
                "graphs": store.n_graphs,
                "nodes": store.n_nodes,
                "edges": store.n_edges,
                "predicates": list(store.names),
                "relations": list(store.relation_names),
                "digest": store.digest,
            }
        )
    else:
        shards = "1 shard" if store.n_shards == 1 else f"{store.n_shards} shards"
        emit(f"{store.n_graphs} graphs of {chosen.data.name} in {shards}: {out}")
        say("Python programs open it with gnn2logic.open_shards.")
