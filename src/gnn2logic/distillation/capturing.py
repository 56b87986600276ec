"""`capture`: what a teacher makes of the graphs of a store, kept on disk beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from gnn2logic._progress import Progress
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import GraphError
from gnn2logic.storage import ShardStore, StoredShard
from gnn2logic.storage.sources import Item, items_from

__all__ = ["capture"]


def capture(
    teacher: object, store: ShardStore, graphs: object = None, *, verbose: int = 0
) -> ShardStore:
    """Run a network over a store and keep node representations and predicted classes there.

    One shard is in memory at a time. What is complete is not done again, so an interrupted call
    goes on when it is made again; another network, or other weights, replace everything.

    Parameters
    ----------
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    store : ShardStore
    graphs : graphs or iterator of graphs, optional
        The graphs as the network wants them, in the order of the store: for networks that read
        features which the store holds as predicates only. By default the network reads these.
    verbose : int
        Not 0 shows progress.

    Returns
    -------
    ShardStore
        The store that was given.

    Examples
    --------
    >>> import tempfile
    >>> import gnn2logic as gl
    >>> from torch_geometric.nn.models import GCN
    >>> network = GCN(2, 8, num_layers=2, out_channels=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = gl.write_shards(folder, gl.random_graphs(9, sizes=5, random_state=0))
    ...     capture(gl.Teacher(network), store).activation_widths
    (8, 3)
    """
    own = as_teacher(teacher)
    source = _fingerprint(own)
    items = None if graphs is None else items_from(graphs, None, "graph", store.n_nodes)
    progress = Progress("capture", store.n_shards, enabled=bool(verbose))
    is_checked = False
    for shard in store.shards:
        given = None if items is None else _beside(items, shard)
        if not store.has_activations_of(shard.number, source):
            asked = shard.load() if given is None else given
            answers = own.run(asked)
            if not is_checked:
                own.check(asked, edge_types=store.encoder.edge_types)
                is_checked = True
            store.add_activations(
                shard.number,
                answers.activations,
                answers.labels,
                classes=answers.classes.tolist(),
                level=answers.level,
                source=source,
            )
        progress.step("shard")
    progress.close()
    if items is not None and next(items, None) is not None:
        raise GraphError(f"graphs must be those of the store, {store.n_graphs}. Got more.")
    return store


def _beside(items: Iterator[Item], shard: StoredShard) -> list[Any]:
    """Return the graphs of a shard as they are given from elsewhere."""
    found: list[Item] = []
    n_graphs = 0
    while n_graphs < shard.n_graphs and (item := next(items, None)) is not None:
        found.append(item)
        n_graphs += item.n_graphs
    sizes = np.concatenate([item.sizes for item in found]) if found else np.zeros(0)
    if not np.array_equal(sizes, shard.load().sizes):
        raise GraphError(
            "graphs must be those of the store, in the same order; give them one by one, for a "
            f"batch must not reach into the next shard. Got others for shard {shard.number}, which "
            f"begins with graph {shard.first_graph}."
        )
    return [item.graphs for item in found]


def _fingerprint(teacher: Teacher) -> str:
    """Return a text that changes with the network, its weights, and what is asked of it."""
    digest = hashlib.blake2b(digest_size=32)
    forward, layers = teacher.forward, teacher.layers
    wanted = getattr(layers, "__qualname__", layers)
    for text in (repr(teacher.module), getattr(forward, "__qualname__", ""), repr(wanted)):
        digest.update(f"{len(text)} {text}".encode(errors="surrogatepass"))
    for name, tensor in teacher.module.state_dict().items():
        digest.update(f"{len(name)} {name}".encode())
        if isinstance(tensor, torch.Tensor):
            flat = tensor.detach().cpu().contiguous().flatten()
            digest.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
