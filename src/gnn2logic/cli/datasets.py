"""``gnn2logic datasets``: what there is to learn from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from gnn2logic.cli.options import DataArgument, DataOption, JsonOption
from gnn2logic.cli.output import emit, emit_json, emit_table

__all__ = ["EXAMPLES", "datasets"]

EXAMPLES = (
    "gnn2logic datasets",
    "gnn2logic datasets BAMultiShapes",
    "gnn2logic datasets path/to/MUTAG --data edge_labels=true",
)


def datasets(
    name: Annotated[str | None, DataArgument.__metadata__[0]] = None,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the data sets that are known, or describe one.

    Every other data set of the TU collection can be used by its name as well. Files are looked for
    in the folder that GNN2LOGIC_DATA names, then in the cache, and else downloaded.
    """
    if name is None:
        _list(as_json)
        return
    from gnn2logic.cli.data import load_whole

    dataset = load_whole(name, data)
    if as_json:
        emit_json(_plain(dataset))
    else:
        emit(dataset)
        if dataset.description:
            emit(f"\n{dataset.description}")


def _list(as_json: bool) -> None:
    from gnn2logic.datasets import registry

    entries = [asdict(entry) for entry in registry()]
    if as_json:
        emit_json(entries)
    else:
        per_graph = ("nodes", "edges")
        emit_table(
            list(entries[0]),
            [
                [f"{value:.2f}" if key in per_graph else value for key, value in entry.items()]
                for entry in entries
            ],
        )


def _plain(data: Any) -> dict[str, Any]:
    return {
        "name": data.name,
        "description": data.description,
        "graphs": len(data),
        "nodes": data.graphs.n_nodes,
        "edges": data.n_edges,
        "features": [
            *data.graphs.names,
            *(() if data.attributes is None else data.attributes.names),
        ],
        "relations": list(data.graphs.relations),
        "classes": {
            name: int((data.y == number).sum()) for number, name in enumerate(data.class_names)
        },
        "motifs": list(data.motifs or ()),
        "truth": None if data.truth is None else str(data.truth),
    }
