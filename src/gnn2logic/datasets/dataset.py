"""`Dataset`: graphs with numbers at their nodes, labels, and what is known about the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_numbers
from gnn2logic._optional import import_optional
from gnn2logic._text import one_line
from gnn2logic._validation import check_names
from gnn2logic.exceptions import FeatureError, GraphError, LabelError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.batch_checks import graph_numbers
from gnn2logic.graphs.writing import edge_rows, to_pyg
from gnn2logic.logic.syntax import Formula

__all__ = ["AttributedGraph", "Dataset", "NodeAttributes", "attributed_graphs"]


@dataclass(frozen=True, eq=False)
class NodeAttributes:
    """Named columns of finite numbers, one row per node.

    Parameters
    ----------
    names : tuple of str
    values : array of float, shape (n_nodes, n_attributes)
    """

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        names = check_names(self.names, what="Attribute")
        if values.ndim != 2 or values.shape[1] != len(names):
            raise FeatureError(
                "values must have one row per node and one column per name. "
                f"Got shape {values.shape} for {len(names)} names."
            )
        if not np.isfinite(values).all():
            raise FeatureError("values must be finite. Got NaN or an infinity.")
        values.setflags(write=False)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, eq=False, slots=True)
class AttributedGraph:
    """One graph with numbers at its nodes, in the shape of a PyG ``Data`` but on numpy.

    The readers know this shape by its attributes, so `PredicateEncoder` and all estimators take
    lists of these as they take PyG graphs, and torch is not needed.
    """

    x: npt.NDArray[np.float64]
    edge_index: npt.NDArray[np.int64]
    num_nodes: int
    predicate_names: Sequence[str]
    relation_names: Sequence[str] | None = None
    edge_relations: npt.NDArray[np.bool_] | None = None


def attributed_graphs(graphs: GraphBatch, attributes: NodeAttributes) -> list[AttributedGraph]:
    """Return every graph with its predicates and attributes as columns side by side."""
    names = check_names((*graphs.names, *attributes.names), what="Feature")
    table = np.concatenate([graphs.predicates.astype(np.float64), attributes.values], axis=1)
    table.setflags(write=False)
    sources, targets, held = edge_rows(graphs)
    cuts = np.searchsorted(sources, graphs.ptr)
    relations = list(graphs.relations) or None
    attributed = []
    for number in range(graphs.n_graphs):
        start, stop = int(graphs.ptr[number]), int(graphs.ptr[number + 1])
        edges = slice(int(cuts[number]), int(cuts[number + 1]))
        attributed.append(
            AttributedGraph(
                x=table[start:stop],
                edge_index=np.stack([sources[edges], targets[edges]]) - start,
                num_nodes=stop - start,
                predicate_names=list(names),
                relation_names=relations,
                edge_relations=held[edges] if relations else None,
            )
        )
    return attributed


BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Graphs with labels.

    ``len`` counts the graphs. Unpacking gives what estimators are fitted on:
    ``graphs, y = dataset``.

    Parameters
    ----------
    name : str
    graphs : GraphBatch
        The graphs with named predicates.
    y : array of int
        The class of every graph, from 0 on.
    class_names : tuple of str
        ``class_names[y[i]]`` is what the class of graph i is called.
    description : str
        How the data came about, in a few sentences.
    truth : Formula, optional
        The formula that is true exactly for the graphs of class 1.
    motifs : mapping of str to array of bool, optional
        For each motif that was planted, where its nodes are.
    attributes : NodeAttributes, optional
        Numbers at the nodes beside the predicates.
    numbers : array of float, optional
        What is to be predicted where that is a number of every graph; there is one class then.

    Examples
    --------
    >>> from gnn2logic import datasets
    >>> data = datasets.load("psi_1", n_graphs=200)
    >>> data
    Dataset('psi_1', 200 graphs, 2 features, 2 classes)
    >>> graphs, y = data
    >>> bool((data.truth.evaluate(graphs) == y).all())
    True
    >>> print(data)
    psi_1      200 graphs
    nodes      2600, 13.00 per graph
    edges      7776, 38.88 per graph
    features   2: U0, U1
    classes    2: false 53, true 147
    truth      1(A U0 < 4 | A U0 > 9) > 0
    """

    name: str
    graphs: GraphBatch
    y: npt.NDArray[np.int64]
    class_names: tuple[str, ...]
    description: str = ""
    truth: Formula | None = None
    motifs: Mapping[str, BoolArray] | None = None
    attributes: NodeAttributes | None = None
    numbers: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        y = np.array(self.y)
        if y.dtype.kind not in "iub":
            raise LabelError(f"y must hold whole numbers. Got dtype {y.dtype} instead.")
        y = y.astype(np.int64)
        names = check_names(self.class_names, what="Class")
        if y.shape != (self.graphs.n_graphs,):
            raise LabelError(
                f"y must hold one label for each of the {self.graphs.n_graphs} graphs. "
                f"Got shape {y.shape} instead."
            )
        if y.min() < 0 or y.max() >= len(names):
            raise LabelError(
                f"y must hold numbers from 0 to {len(names) - 1}, one for each class name. "
                f"Got numbers from {y.min()} to {y.max()}."
            )
        y.setflags(write=False)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "class_names", names)
        if self.numbers is not None:
            numbers = check_numbers(self.numbers, self.graphs.n_graphs, of="graph")
            numbers.setflags(write=False)
            object.__setattr__(self, "numbers", numbers)
        if self.motifs is not None:
            masks = {motif: np.array(mask, dtype=bool) for motif, mask in self.motifs.items()}
            for motif, mask in masks.items():
                self._check_rows(mask, f"motif {motif!r}")
                mask.setflags(write=False)
            object.__setattr__(self, "motifs", MappingProxyType(masks))
        if self.attributes is not None:
            self._check_rows(self.attributes.values, "attributes")

    def _check_rows(self, array: npt.NDArray[Any], what: str) -> None:
        if len(array) != self.graphs.n_nodes:
            raise GraphError(
                f"{what} must have one row for each of the {self.graphs.n_nodes} nodes. "
                f"Got {len(array)} rows instead."
            )

    def __len__(self) -> int:
        return self.graphs.n_graphs

    def __iter__(self) -> Iterator[Any]:
        """Give `inputs` and `y`, so that ``graphs, y = dataset`` works."""
        return iter((self.inputs, self.y))

    @property
    def inputs(self) -> GraphBatch | list[AttributedGraph]:
        """What estimators and `PredicateEncoder` read: `graphs`, with the attributes if any.

        Attributes are numbers until thresholds are chosen on training graphs, so with attributes
        this is a list of graphs whose columns are predicates and numbers side by side.
        """
        if self.attributes is None:
            return self.graphs
        return attributed_graphs(self.graphs, self.attributes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @property
    def n_features(self) -> int:
        """The number of predicates, and of attributes where they were asked for."""
        extra = 0 if self.attributes is None else len(self.attributes.names)
        return len(self.graphs.names) + extra

    @property
    def n_edges(self) -> int:
        """The number of edges; one that is there in both directions counts once."""
        if not self.graphs.is_symmetric:
            return self.graphs.n_edges
        loops = int(self.graphs.adjacency.diagonal().sum(dtype=np.int64))
        return (self.graphs.n_edges + loops) // 2

    @property
    def mask(self) -> BoolArray | None:
        """Where the nodes of any planted motif are; None without motifs."""
        if self.motifs is None:
            return None
        mask: BoolArray = np.any(list(self.motifs.values()), axis=0)
        return mask

    def take(self, graphs: npt.ArrayLike) -> Dataset:
        """Return the data set of the given graphs; labels, masks and attributes go with them.

        Parameters
        ----------
        graphs : array of int or bool
            Graph numbers, in any order, or a mask.
        """
        index = graph_numbers(graphs, len(self))
        ptr = self.graphs.ptr
        rows = np.concatenate([np.arange(ptr[g], ptr[g + 1]) for g in index])
        motifs, attributes = self.motifs, self.attributes
        if motifs is not None:
            motifs = {motif: mask[rows] for motif, mask in motifs.items()}
        if attributes is not None:
            attributes = NodeAttributes(attributes.names, attributes.values[rows])
        return replace(
            self,
            graphs=self.graphs.take(index),
            y=self.y[index],
            motifs=motifs,
            attributes=attributes,
            numbers=None if self.numbers is None else self.numbers[index],
        )

    def to_pyg(self) -> list[Any]:
        """Return the graphs as PyTorch Geometric ``Data``, with the class number in ``y``.

        Where `numbers` are to be predicted, ``y`` holds these as float32. ``x`` has the predicates
        and then the attributes. Where motifs were planted, ``node_mask`` says which nodes belong
        to one.
        """
        torch = import_optional("torch", extra="torch", purpose="Dataset.to_pyg")
        pyg_graphs = to_pyg(self.graphs)
        mask = self.mask
        labels: npt.NDArray[Any] = self.y
        dtype = torch.int64
        if self.numbers is not None:
            labels, dtype = self.numbers, torch.float32
        for number, (data, label) in enumerate(zip(pyg_graphs, labels.tolist(), strict=True)):
            rows = slice(int(self.graphs.ptr[number]), int(self.graphs.ptr[number + 1]))
            data.y = torch.tensor([label], dtype=dtype)
            if self.attributes is not None:
                values = self.attributes.values[rows].astype(np.float32)
                data.x = torch.cat([data.x, torch.from_numpy(values)], dim=1)
                data.predicate_names = [*self.graphs.names, *self.attributes.names]
            if mask is not None:
                data.node_mask = torch.from_numpy(mask[rows])
        return pyg_graphs

    def __reduce__(self) -> tuple[Any, ...]:
        # The read-only view of the masks cannot be pickled, and arrays come back writable.
        motifs = None if self.motifs is None else dict(self.motifs)
        fields = (self.name, self.graphs, self.y, self.class_names, self.description, self.truth)
        return (Dataset, (*fields, motifs, self.attributes, self.numbers))

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {len(self)} graphs, {self.n_features} features, "
            f"{self.n_classes} classes)"
        )

    def __str__(self) -> str:
        counts = np.bincount(self.y, minlength=self.n_classes).tolist()
        classes = [
            f"{one_line(name)} {n}" for name, n in zip(self.class_names, counts, strict=True)
        ]
        extra = () if self.attributes is None else self.attributes.names
        rows = [
            (one_line(self.name), f"{len(self)} graphs"),
            ("nodes", f"{self.graphs.n_nodes}, {self.graphs.n_nodes / len(self):.2f} per graph"),
            ("edges", f"{self.n_edges}, {self.n_edges / len(self):.2f} per graph"),
            ("features", _listed(tuple(map(one_line, (*self.graphs.names, *extra))))),
            ("classes", _listed(tuple(classes))),
        ]
        if self.graphs.relations:
            rows.append(("relations", _listed(tuple(map(one_line, self.graphs.relations)))))
        if self.motifs is not None:
            rows.append(("motifs", _listed(tuple(map(one_line, self.motifs)))))
        if self.truth is not None:
            rows.append(("truth", str(self.truth)))
        width = max(10, *(len(name) for name, _ in rows))
        return "\n".join(f"{name:<{width}} {text}" for name, text in rows)


def _listed(names: tuple[str, ...], limit: int = 12) -> str:
    if not names:
        return "0"
    more = ", ..." if len(names) > limit else ""
    return f"{len(names)}: {', '.join(names[:limit])}{more}"
