"""Searching for new small graphs about which a model and its teacher disagree."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch_geometric.data import Data

from gnn2logic._validation import check_whole, seed_from
from gnn2logic.distillation.conversion import as_teacher
from gnn2logic.distillation.disagreements import (
    Disagreement,
    Disagreements,
    both_answers,
    form_of,
)
from gnn2logic.distillation.mutation import Candidate, Material
from gnn2logic.distillation.teacher import Teacher
from gnn2logic.exceptions import FeatureError, UnseenCategoryWarning, UnsupportedInputError
from gnn2logic.fitted_models import FittedModel, fitted_classifier
from gnn2logic.models.pyg_data import pyg_graphs

__all__ = ["as_read", "find_disagreements"]

IntArray = npt.NDArray[np.int64]

# How many graphs are asked about at once, and how many changes lead away from a known graph.
_AT_ONCE = 256
_MOST_CHANGES = 6


def find_disagreements(
    model: object,
    teacher: object,
    graphs: object,
    *,
    n_disagreements: int = 5,
    max_nodes: int = 20,
    budget: int = 10_000,
    random_state: object = None,
) -> Disagreements:
    """Search for small graphs about which a model and its teacher say different things.

    The search starts from the given graphs. It changes edges and the features of nodes at random;
    new features and edge attributes are always taken from the given graphs, so one-hot columns
    stay one-hot. What it finds is made smaller, first by nodes and then by edges, as long as the
    two still disagree.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller or the like
        A fitted model: rules or a scorecard, also from a file or from a distiller.
    teacher : Teacher, GNNClassifier, GNNNodeClassifier or torch.nn.Module
        See `as_teacher`.
    graphs : PyG graphs or GraphBatch
        Undirected if the graphs that are searched shall be.
    n_disagreements : int
        The search stops when so many different graphs are found.
    max_nodes : int
        Larger graphs are cut down to so many nodes before the search starts from them.
    budget : int
        The number of graphs to ask the two about, at most.
    random_state : int, RandomState, Generator or None

    Returns
    -------
    Disagreements
        The smallest graphs first; empty if none were found within the budget. That is no proof
        that there are none.

    Examples
    --------
    The smallest graph with more than one but not more than two nodes in U0:

    >>> import gnn2logic as gl
    >>> from gnn2logic.models.formula_network import to_gnn
    >>> graphs = gl.random_graphs(100, sizes=5, random_state=0)
    >>> idt = gl.IDTClassifier(n_layers=0, random_state=0)
    >>> idt = idt.fit(graphs, gl.parse("1 U0 > 2").evaluate(graphs).astype(int))
    >>> network = to_gnn(gl.parse("1 U0 > 1"))
    >>> found = find_disagreements(idt, network, graphs, n_disagreements=1, random_state=0)
    >>> found[0].graph.column("U0"), found[0].graph.n_edges
    (array([ True,  True]), 0)
    """
    check_whole("n_disagreements", n_disagreements, least=1)
    check_whole("max_nodes", max_nodes, least=1)
    search = _Search(
        fitted_classifier(model, reason="find_disagreements compares classes"),
        as_teacher(teacher),
        pyg_graphs(graphs),
        check_whole("budget", budget, least=1),
    )
    rng = np.random.default_rng(seed_from(random_state))
    candidates = search.run(n_disagreements, max_nodes, rng)
    return search.report(candidates)


class _Search:
    def __init__(
        self,
        model: FittedModel,
        teacher: Teacher,
        graphs: list[Data],
        budget: int,
    ) -> None:
        self._model = model
        self._teacher = teacher
        self._left = budget
        self._budget = budget
        self._n_graphs = len(graphs)
        self._check_readable(graphs)
        self.material = Material.of(graphs)

    def _check_readable(self, graphs: Sequence[Data]) -> None:
        """Refuse graphs that only one of the two can read once they are PyG data."""
        try:
            self._encode(graphs[:1])
        except FeatureError as error:
            raise UnsupportedInputError(
                "find_disagreements needs PyTorch Geometric graphs or a GraphBatch with the "
                f"features that the model was fitted on. {error}"
            ) from None

    def _encode(self, graphs: Sequence[Data]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            return self._model.encoder_.transform(as_read(graphs))

    # Asking -----------------------------------------------------------------------------------

    def differing(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Return the candidates about which the two disagree, as far as the budget goes."""
        candidates = candidates[: self._left]
        if not candidates:
            return []
        self._left -= len(candidates)
        ours, theirs = self._answers([self.material.data(candidate) for candidate in candidates])
        differs = ours != theirs
        if self._model.level == "node":
            starts = np.cumsum([0, *(len(candidate.nodes) for candidate in candidates[:-1])])
            differs = np.logical_or.reduceat(differs, starts)
        return [candidate for candidate, differ in zip(candidates, differs, strict=True) if differ]

    def _answers(self, graphs: list[Data]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            return both_answers(self._model, as_read(graphs), self._teacher, graphs)

    # Searching --------------------------------------------------------------------------------

    def run(self, n: int, max_nodes: int, rng: np.random.Generator) -> dict[int, Candidate]:
        """Return different small candidates by fingerprint."""
        differing: dict[int, Candidate] = {}
        # Walks go on from where the last ones stopped, so they reach far from the data in time.
        walks: list[Candidate] = []
        while self._left and len(differing) < n:
            started = rng.integers(self._n_graphs, size=_AT_ONCE)
            fresh = [self._start(int(number), max_nodes, rng) for number in started]
            moved = [self._walk(candidate, rng) for candidate in (*walks, *fresh[len(walks) :])]
            for candidate in self.differing(moved):
                small = self._shrunk(candidate)
                differing.setdefault(self.material.fingerprint(small), small)
                if len(differing) >= n or not self._left:
                    break
            walks = [moved[number] for number in rng.permutation(len(moved))[: _AT_ONCE // 2]]
        return differing

    def _start(self, number: int, max_nodes: int, rng: np.random.Generator) -> Candidate:
        return self.material.cut(self.material.candidate(number), max_nodes, rng)

    def _walk(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        for _ in range(int(rng.integers(_MOST_CHANGES))):
            candidate = self.material.mutate(candidate, rng)
        return candidate

    def _shrunk(self, candidate: Candidate) -> Candidate:
        candidate = self._smaller(candidate, Candidate.without_nodes, _node_count)
        return self._smaller(candidate, Candidate.without_pairs, _pair_count)

    def _smaller(
        self,
        candidate: Candidate,
        without: Callable[[Candidate, IntArray], Candidate],
        count: Callable[[Candidate], int],
    ) -> Candidate:
        """Take parts away, many at a time and then one by one, while the two still disagree."""
        size = max(1, count(candidate) // 2)
        while True:
            total = count(candidate)
            groups = [np.arange(at, min(at + size, total)) for at in range(0, total, size)]
            tries = [without(candidate, nodes) for nodes in groups]
            smaller = self.differing([graph for graph in tries if len(graph.nodes)])
            if smaller:
                candidate = smaller[0]
            elif size == 1 or not self._left:
                return candidate
            else:
                size = max(1, size // 2)

    # Telling ----------------------------------------------------------------------------------

    def report(self, candidates: dict[int, Candidate]) -> Disagreements:
        """Return the candidates, smallest first, with both answers."""
        order = sorted(
            candidates.items(), key=lambda item: (len(item[1].nodes), len(item[1].edges), item[0])
        )
        told = [self._told(candidate) for _, candidate in order]
        asked = self._budget - self._left
        return Disagreements(told, asked, self._model.level, form_of(self._model))

    def _told(self, candidate: Candidate) -> Disagreement:
        data = self.material.data(candidate)
        ours, theirs = self._answers([data])
        row = int(np.argmax(ours != theirs))
        return Disagreement(
            index=candidate.origin,
            node=row if self._model.level == "node" else None,
            graph=self._encode([data]),
            data=data,
            model=ours[row],
            teacher=theirs[row],
        )


def as_read(graphs: Sequence[Data]) -> list[Data]:
    """Return the graphs for the IDT, which needs no column of ones where there is no predicate."""
    seen = []
    for data in graphs:
        if "predicate_names" in data and not data.predicate_names:
            data = copy.copy(data)
            data.x = None
        seen.append(data)
    return seen


def _node_count(candidate: Candidate) -> int:
    return len(candidate.nodes)


def _pair_count(candidate: Candidate) -> int:
    return candidate.n_pairs
