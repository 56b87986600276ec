"""Data sets whose ground truth is a formula: draw graphs, then evaluate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import RandomState, check_whole, generator_from
from gnn2logic.datasets.barabasi_albert import barabasi_albert_graphs
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.random import random_graphs
from gnn2logic.graphs.reading import as_batch
from gnn2logic.logic.evaluation import evaluate
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.syntax import Formula
from gnn2logic.logic.walk import predicate_names

__all__ = ["PAPER_FORMULAS", "formula_dataset"]

Generator = (
    Literal["erdos-renyi", "barabasi-albert"]
    | GraphBatch
    | Callable[[int, np.random.Generator], Any]
)

# The paper's formulas; a share is compared by a strict >.
PAPER_FORMULAS = {
    "psi_0": "1 U1 > 0.5",
    "psi_1": "1((A U0 < 4) | (A U0 > 9)) > 0",
    "psi_2": "1(A(A U0 > 6) > 0.5) > 0.5",
}


def formula_dataset(
    formula: Formula | str,
    n_graphs: int = 1000,
    *,
    generator: Generator = "erdos-renyi",
    sizes: int | npt.ArrayLike = 13,
    density: float | npt.ArrayLike = 0.5,
    attachment: int = 1,
    names: Sequence[str] | None = None,
    probability: float | npt.ArrayLike | None = None,
    random_state: RandomState = 0,
    name: str = "formula",
) -> Dataset:
    """Return random graphs labelled by a formula, which is attached as the ground truth.

    The defaults are the paper's: 1000 Erdos-Renyi graphs with 13 nodes and half of all edges, a
    predicate U0 that is always true and a predicate U1 that is true half of the time.

    Parameters
    ----------
    formula : Formula or str
        A graph is in class 1 iff the formula is true at all of its nodes.
    n_graphs : int
    generator : {"erdos-renyi", "barabasi-albert"}, callable or graphs
        A callable is given the number of graphs and a numpy ``Generator``, and returns graphs
        that `gnn2logic.as_batch` reads. Graphs are used as they are; `n_graphs` and all that
        follows then has nothing to say.
    sizes : int or array of int
        The number of nodes, of all graphs or of each.
    density : float or array of float
        Erdos-Renyi: the probability of each edge, in all graphs or in each.
    attachment : int
        Barabasi-Albert: the number of edges that a new node brings.
    names : sequence of str, optional
        The predicates. By default U0, U1, and what else the formula speaks of.
    probability : float or array of float, optional
        The probability that a predicate holds at a node, of all predicates or of each. By default
        1 for a predicate U0 and 1/2 for all others.
    random_state : int, Generator or None
    name : str
        What the data set is called.

    Examples
    --------
    >>> data = formula_dataset("1(A red > 1/2) > 3", 100, generator="barabasi-albert", sizes=20)
    >>> data.graphs
    GraphBatch(n_graphs=100, n_nodes=2000, n_edges=3800, names=('U0', 'U1', 'red'))
    >>> data.class_names, int(data.y.sum())
    (('false', 'true'), 89)
    """
    truth = parse(formula) if isinstance(formula, str) else formula
    if not isinstance(truth, Formula):
        raise ParameterError(
            f"formula must be a Formula or its text. Got {type(formula).__name__} instead."
        )
    if isinstance(generator, str):
        if names is None:
            names = tuple(dict.fromkeys(("U0", "U1", *predicate_names(truth))))
        if probability is None:
            probability = [1.0 if predicate == "U0" else 0.5 for predicate in names]
        graphs, how = _drawn(
            generator, n_graphs, sizes, density, attachment, names, probability, random_state
        )
    elif callable(generator):
        count = check_whole("n_graphs", n_graphs, least=1)
        graphs = as_batch(generator(count, generator_from(random_state)))
        how = f"{graphs.n_graphs} graphs of a generator of the caller"
        if graphs.n_graphs != count:
            raise ParameterError(
                f"generator must return n_graphs={count} graphs. Got {graphs.n_graphs} instead."
            )
    else:
        graphs = as_batch(generator)
        how = f"{graphs.n_graphs} graphs of the caller"
    return Dataset(
        name=name,
        graphs=graphs,
        y=evaluate(truth, graphs).astype(np.int64),
        class_names=("false", "true"),
        description=f"{how}, labelled by the formula {truth}.",
        truth=truth,
    )


def _drawn(
    generator: str,
    n_graphs: int,
    sizes: int | npt.ArrayLike,
    density: float | npt.ArrayLike,
    attachment: int,
    names: Sequence[str],
    probability: float | npt.ArrayLike,
    random_state: RandomState,
) -> tuple[GraphBatch, str]:
    if generator == "erdos-renyi":
        graphs = random_graphs(
            check_whole("n_graphs", n_graphs, least=1),
            sizes=sizes,
            density=density,
            names=names,
            probability=probability,
            random_state=generator_from(random_state),
        )
        return graphs, f"{n_graphs} Erdos-Renyi graphs of {_sizes(graphs)} nodes"
    if generator == "barabasi-albert":
        graphs = barabasi_albert_graphs(
            n_graphs,
            sizes=sizes,
            attachment=attachment,
            names=names,
            probability=probability,
            random_state=random_state,
        )
        how = f"{n_graphs} Barabasi-Albert graphs (m={attachment}) of {_sizes(graphs)} nodes"
        return graphs, how
    raise ParameterError(
        "generator must be 'erdos-renyi', 'barabasi-albert', a callable or graphs. "
        f"Got {generator!r} instead."
    )


def _sizes(graphs: GraphBatch) -> str:
    least, most = int(graphs.sizes.min()), int(graphs.sizes.max())
    return str(least) if least == most else f"{least} to {most}"
