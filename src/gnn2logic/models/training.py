"""Training a network: seeded, in mini-batches, until the validation loss stops falling."""

from __future__ import annotations

import contextlib
import copy
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from gnn2logic._validation import to_numpy
from gnn2logic.exceptions import LabelError, ParameterError
from gnn2logic.models.network import GraphNetwork
from gnn2logic.models.tensors import GraphTensors, MiniBatch

__all__ = [
    "Epoch",
    "Rows",
    "Skill",
    "TrainingPlan",
    "check_validation",
    "logits_of",
    "seeded",
    "skill_of",
    "train",
    "validation_rows",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Gradients longer than this are shortened: sums over large graphs can make them very long.
_MAX_GRADIENT = 1.0
# The learning rate is halved after this share of the patience without a better loss.
_SLOW_DOWN = 3


@dataclass(frozen=True)
class TrainingPlan:
    """How to train; see `GNNClassifier` for the meaning of each."""

    lr: float
    weight_decay: float
    batch_size: int
    max_epochs: int
    patience: int
    seed: int
    device: torch.device


@dataclass(frozen=True)
class Rows:
    """What is learned: a class or a number for each graph or node, and which count how much.

    Parameters
    ----------
    codes : array of int or float
        Class numbers, whose loss is the cross entropy; or numbers, whose loss is their square.
    training, validation : array of float
        The weight of every row in the two losses; no row has both. No validation at all means
        that all epochs are run and the last weights stay.
    per_node : bool
    """

    codes: IntArray | FloatArray
    training: FloatArray
    validation: FloatArray
    per_node: bool


@dataclass(frozen=True)
class Epoch:
    """The losses after an epoch, and the seconds since the start; `validation` may be missing."""

    training: float
    validation: float | None
    seconds: float


def validation_rows(
    codes: IntArray, weights: FloatArray, fraction: float, seed: int
) -> npt.NDArray[np.bool_]:
    """Choose about a `fraction` of the rows of every class, but never the last row of a class.

    Rows without weight are not chosen.
    """
    rng = np.random.default_rng([seed, 1])
    chosen = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = np.flatnonzero((codes == code) & (weights > 0))
        count = min(int(fraction * len(rows) + 0.5), len(rows) - 1)
        if count > 0:
            chosen[rng.permutation(rows)[:count]] = True
    return chosen


def check_validation(
    validation: object, codes: IntArray, weights: FloatArray
) -> npt.NDArray[np.bool_]:
    """Return which graphs to watch; every class must be among those that are learned from."""
    watched = np.asarray(to_numpy(validation))
    if watched.dtype != bool or watched.shape != codes.shape:
        raise LabelError(
            f"validation must hold one truth value for each of the {len(codes)} graphs. "
            f"Got shape {watched.shape}, dtype {watched.dtype} instead."
        )
    learned = set(codes[~watched & (weights > 0)].tolist())
    if learned != set(codes[weights > 0].tolist()):
        raise LabelError("validation must leave graphs of every class to learn from.")
    return watched


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Draw the numbers of torch from a seed, and leave its global state as it was."""
    on_gpu = device.type == "cuda"
    with torch.random.fork_rng(devices=[device] if on_gpu else []):
        # Not torch.manual_seed: that would also seed the devices that are not restored.
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            with torch.cuda.device(device):
                torch.cuda.manual_seed(seed)
        yield


def train(
    network: GraphNetwork,
    tensors: GraphTensors,
    rows: Rows,
    plan: TrainingPlan,
    *,
    report: Callable[[Epoch], None],
) -> tuple[list[Epoch], int]:
    """Train the network in place; return its epochs and the number of the one it ends with.

    Where the loss is no longer a number, training stops. The best weights before are kept, if there
    are any; without a validation part nothing says which those are.
    """
    started = time.perf_counter()
    learning = _UsedRows(tensors, rows, rows.training)
    watching = _UsedRows(tensors, rows, rows.validation)
    optimizer = torch.optim.AdamW(network.parameters(), lr=plan.lr, weight_decay=plan.weight_decay)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=0.5, patience=max(plan.patience // _SLOW_DOWN, 1)
    )
    epochs: list[Epoch] = []
    best, best_loss, best_weights = -1, float("inf"), None
    for number in range(plan.max_epochs):
        training = _train_epoch(network, learning, optimizer, plan)
        validation = _loss(network, watching, plan) if len(watching.graphs) else None
        if not math.isfinite(training + (validation or 0.0)):
            break
        epochs.append(Epoch(training, validation, time.perf_counter() - started))
        report(epochs[-1])
        if validation is None:
            best = number
            continue
        if validation < best_loss:
            best, best_loss = number, validation
            best_weights = copy.deepcopy(network.state_dict())
        elif number - best >= plan.patience:
            break
        scheduler.step(validation)
    if best_weights is not None:
        network.load_state_dict(best_weights)
    elif best < 0 or not math.isfinite(_loss(network, learning, plan)):
        raise ParameterError(
            f"The loss must stay finite in training. After {len(epochs)} epochs it was not; choose "
            f"a smaller lr than {plan.lr}, or scale features that are very large."
        )
    return epochs, best


@dataclass(frozen=True)
class Skill:
    """How often a network is right, and how often its data has the most frequent class.

    Parameters
    ----------
    accuracy, majority : float
        Shares of the weight of all rows.
    n_rows : int
    held_out : bool
        Whether these are the rows of the validation part; without any they are those of training.
    """

    accuracy: float
    majority: float
    n_rows: int
    held_out: bool

    @property
    def is_trivial(self) -> bool:
        """Whether one class for all would be as good, while the rows have several."""
        return self.majority < 1 and self.accuracy <= self.majority


@torch.no_grad()
def skill_of(
    network: GraphNetwork, tensors: GraphTensors, rows: Rows, device: torch.device
) -> Skill:
    """Compare a trained network with the most frequent class, by the weights of the loss."""
    held_out = bool(rows.validation.any())
    used_rows = _UsedRows(tensors, rows, rows.validation if held_out else rows.training)
    network.eval()
    right, n_rows = 0.0, 0
    totals = np.zeros(int(rows.codes.max()) + 1)
    for graphs in tensors.runs(used_rows.graphs):
        batch = tensors.batch(graphs)
        codes, weights = (each.numpy() for each in used_rows.targets(graphs, batch))
        predicted = _run(network, batch, device).argmax(dim=1).cpu().numpy()
        right += float(weights[predicted == codes].sum(dtype=np.float64))
        n_rows += int((weights > 0).sum())
        totals += np.bincount(codes, weights, minlength=len(totals))
    # The majority is a share of one class alone, so that it is 1 exactly where there is no other.
    return Skill(right / totals.sum(), totals.max() / totals.sum(), n_rows, held_out)


class _UsedRows:
    """The graphs that have rows with weight in one of the two losses."""

    def __init__(self, tensors: GraphTensors, rows: Rows, weights: FloatArray) -> None:
        self.tensors = tensors
        self._per_node = rows.per_node
        codes = torch.from_numpy(rows.codes)
        self._codes = codes.to(torch.float32) if codes.is_floating_point() else codes
        # Only their ratios matter, and very small or large ones would be 0 or infinite as float32.
        self._weights = torch.from_numpy(weights / (weights.max() or 1.0)).to(torch.float32)
        counts = self._weights > 0
        if rows.per_node:
            owners = torch.repeat_interleave(torch.arange(tensors.n_graphs), tensors.ptr.diff())
            self.graphs = torch.unique(owners[counts])
        else:
            self.graphs = torch.nonzero(counts)[:, 0]

    def targets(self, graphs: Tensor, batch: MiniBatch) -> tuple[Tensor, Tensor]:
        """Return the class or number and the weight of every row of a mini-batch."""
        chosen = batch.nodes if self._per_node else graphs
        return self._codes[chosen], self._weights[chosen]


def _train_epoch(
    network: GraphNetwork,
    used_rows: _UsedRows,
    optimizer: torch.optim.Optimizer,
    plan: TrainingPlan,
) -> float:
    network.train()
    order = used_rows.graphs[torch.randperm(len(used_rows.graphs))]
    total, weight = 0.0, 0.0
    for graphs in used_rows.tensors.runs(order, max_graphs=plan.batch_size):
        loss, count = _batch_loss(network, used_rows, graphs, plan.device)
        optimizer.zero_grad()
        torch.autograd.backward(loss / count)
        nn.utils.clip_grad_norm_(network.parameters(), _MAX_GRADIENT)
        optimizer.step()
        total, weight = total + float(loss.detach()), weight + float(count)
    return total / weight


@torch.no_grad()
def _loss(network: GraphNetwork, used_rows: _UsedRows, plan: TrainingPlan) -> float:
    network.eval()
    total, weight = 0.0, 0.0
    for graphs in used_rows.tensors.runs(used_rows.graphs):
        loss, count = _batch_loss(network, used_rows, graphs, plan.device)
        total, weight = total + float(loss), weight + float(count)
    return total / weight


def _batch_loss(
    network: GraphNetwork, used_rows: _UsedRows, graphs: Tensor, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return the weighted sum of the losses of a mini-batch, and the weight in it."""
    batch = used_rows.tensors.batch(graphs)
    codes, weights = (each.to(device) for each in used_rows.targets(graphs, batch))
    logits = _run(network, batch, device)
    losses = (
        mse_loss(logits[:, 0], codes, reduction="none")
        if codes.is_floating_point()
        else cross_entropy(logits, codes, reduction="none")
    )
    return (losses * weights).sum(), weights.sum()


def _run(network: GraphNetwork, batch: MiniBatch, device: torch.device) -> Tensor:
    logits: Tensor = network(
        batch.x.to(device), batch.edge_index.to(device), batch.batch.to(device)
    )
    return logits


@torch.no_grad()
def logits_of(network: GraphNetwork, tensors: GraphTensors, device: torch.device) -> Tensor:
    """Return the logits of all graphs or nodes in eval mode; the mode is left as it was."""
    was_training = network.training
    network.eval()
    try:
        runs = tensors.runs(torch.arange(tensors.n_graphs))
        return torch.cat([_run(network, tensors.batch(run), device).cpu() for run in runs])
    finally:
        network.train(was_training)
