"""`capture`: what a teacher makes of the graphs of a store, kept on disk beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._digests import digest_of_values
from gnn2logic._progress import Progress
from gnn2logic.distillation.answers import Answers
from gnn2logic.distillation.behaviour import few_graphs, read_of_edges
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.fingerprint import fingerprint
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import GraphError, ParameterError, StoreError
from gnn2logic.models.pyg_data import pyg_graphs
from gnn2logic.storage import ShardStore, StoredShard
from gnn2logic.storage.sources import Item, items_from

__all__ = ["capture"]

# Sums in another order differ by rounding, which deep networks make larger.
_ROUNDING = 1e-3
_TINY = 1e-6


def capture(
    teacher: object, store: ShardStore, graphs: object = None, *, verbose: int | None = None
) -> ShardStore:
    """Run a network over a store and keep node representations and predicted classes there.

    One shard is in memory at a time. What is complete is not done again, so an interrupted call
    goes on when it is made again. Another network replaces everything: one with other weights,
    code, attributes, layers or names of classes, and one that looks the same but answers
    differently, for a few graphs of every shard are always asked again. Shards for which other
    `graphs` are given than before are done again.

    Parameters
    ----------
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    store : ShardStore
    graphs : graphs or iterator of graphs, optional
        The graphs as the network wants them, in the order of the store: for networks that read
        features which the store holds as predicates only. By default the network reads these.
    verbose : int, optional
        1 shows progress, 0 shows nothing. By default work of more than five seconds shows it on a
        terminal.

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
    network = as_teacher(teacher)
    if network.node_type is not None:
        raise ParameterError(
            "A store keeps answers for all nodes. This network speaks of nodes of type "
            f"{network.node_type!r} alone; distil it from graphs in memory."
        )
    work = _Capture(network, store, fingerprint(network), verbose=verbose)
    if not work.run(graphs):
        store.remove_activations()
        if isinstance(graphs, Iterator):
            raise StoreError(
                "The store held the answers of another network, which were noticed too late: some "
                "of the graphs were read already, and an iterator can be read once. They are "
                "removed; call capture again with all graphs."
            )
        work.run(graphs)
    work.settle_level()
    return store


class _Capture:
    """One teacher on its way through a store."""

    def __init__(
        self, teacher: Teacher, store: ShardStore, source: str, *, verbose: int | None
    ) -> None:
        self._teacher = teacher
        self._store = store
        self._source = source
        self._verbose = verbose
        self._is_checked = False

    def run(self, graphs: object) -> bool:
        """Fill what is missing; stop with False where what is there came from another network."""
        store = self._store
        items = None if graphs is None else items_from(graphs, None, "graph", store.n_nodes)
        with Progress("capture", store.n_shards, verbose=self._verbose) as progress:
            for shard in store.shards:
                given = None if items is None else _beside(items, shard)
                inputs = "" if given is None else _digest(given)
                if not store.has_activations_of(shard.number, self._source, inputs):
                    self._fill(shard, given, inputs)
                elif not self._is_still_true(shard, given):
                    return False
                progress.step("shard")
        if items is not None and next(items, None) is not None:
            raise GraphError(f"graphs must be those of the store, {store.n_graphs}. Got more.")
        return True

    def _fill(self, shard: StoredShard, given: list[Any] | None, inputs: str) -> None:
        asked = shard.load() if given is None else given
        answers = self._teacher.run(asked)
        if not self._is_checked:
            self._teacher.check(asked, **read_of_edges(self._store.encoder))
            self._is_checked = True
        self._store.add_activations(
            shard.number,
            answers.activations,
            answers.labels,
            classes=answers.classes.tolist(),
            level=answers.level,
            source=self._source,
            inputs=inputs,
        )

    def _is_still_true(self, shard: StoredShard, given: list[Any] | None) -> bool:
        """Whether the teacher still says about some graphs of a shard what the store has."""
        batch = shard.load()
        numbers = few_graphs(batch.sizes, self._teacher.max_nodes)
        if given is None:
            few: Any = batch.take(numbers)
        else:
            items = pyg_graphs(given)
            few = [items[number] for number in numbers]
        if _same(self._teacher.run(few), shard, numbers):
            return True
        # Answers may depend on the other graphs of a mini-batch; then only all together are alike.
        asked = batch if given is None else given
        return _same(self._teacher.run(asked), shard, list(range(shard.n_graphs)))

    def settle_level(self) -> None:
        """Say of shards whose graphs have one node each what the other shards say."""
        levels = {_level(shard) for shard in self._store.shards if shard.n_nodes > shard.n_graphs}
        if self._teacher.level != "auto" or len(levels) != 1:
            return
        (level,) = levels
        for shard in self._store.shards:
            header = shard.activation_header
            if header.labels is None or header.labels.level == level:
                continue
            layers = [np.array(shard.activations(number)) for number in range(len(header.widths))]
            self._store.add_activations(
                shard.number,
                layers,
                shard.teacher_labels,
                classes=header.labels.classes,
                level=level,
                source=self._source,
                inputs=header.inputs,
            )


def _level(shard: StoredShard) -> Any:
    labels = shard.activation_header.labels
    return None if labels is None else labels.level


def _same(answers: Answers, shard: StoredShard, numbers: list[int]) -> bool:
    """Whether fresh answers about some graphs are those that a shard holds, but for rounding."""
    header = shard.activation_header
    table = header.labels
    widths = [layer.shape[1] for layer in answers.activations]
    if table is None or widths != header.widths or answers.classes.tolist() != table.classes:
        return False
    if answers.level != table.level and not answers.either_level:
        return False
    ptr = shard.load().ptr
    nodes = np.concatenate([np.arange(ptr[number], ptr[number + 1]) for number in numbers])
    for number, layer in enumerate(answers.activations):
        kept = shard.activations(number)[nodes]
        if (np.abs(layer - kept) > _ROUNDING * np.abs(kept).max() + _TINY).any():
            return False
    labels = shard.teacher_labels
    assert labels is not None
    rows = np.asarray(numbers) if table.level == "graph" else nodes
    # Rounding may decide between classes that are nearly as likely.
    differs = (answers.labels != labels[rows]) & (_leads(answers.scores) > _ROUNDING)
    return not differs.any()


def _leads(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return by how much the best class of each row is ahead, measured by all scores."""
    values = scores.astype(np.float64)
    values = np.where(np.isfinite(values), values, np.sign(values) * np.finfo(np.float32).max)
    if values.shape[1] == 1:
        return np.asarray(np.abs(values[:, 0]) / max(np.abs(values).max(), _TINY))
    best = np.sort(values, axis=1)
    return np.asarray((best[:, -1] - best[:, -2]) / max(np.abs(values).max(), _TINY))


def _beside(items: Iterator[Item], shard: StoredShard) -> list[Any]:
    """Return the graphs of a shard as they are given from elsewhere."""
    taken: list[Item] = []
    n_graphs = 0
    while n_graphs < shard.n_graphs and (item := next(items, None)) is not None:
        taken.append(item)
        n_graphs += item.n_graphs
    sizes = np.concatenate([item.sizes for item in taken]) if taken else np.zeros(0)
    if not np.array_equal(sizes, shard.load().sizes):
        raise GraphError(
            "graphs must be those of the store, in the same order; give them one by one, for a "
            f"batch must not reach into the next shard. Got others for shard {shard.number}, which "
            f"begins with graph {shard.first_graph}."
        )
    return [item.graphs for item in taken]


def _digest(given: list[Any]) -> str:
    """Return a digest of all that graphs hold which are given beside a store."""

    def values() -> Iterator[str | npt.NDArray[Any]]:
        for graph in pyg_graphs(given):
            for name, value in sorted(graph.to_dict().items()):
                yield str(name)
                yield value.detach().cpu().numpy() if hasattr(value, "detach") else repr(value)

    return digest_of_values(values())
