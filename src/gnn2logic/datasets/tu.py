"""Data sets of the TU collection: a strict reader of its text files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import check_choice, check_flag, check_whole
from gnn2logic.datasets.dataset import Dataset, NodeAttributes
from gnn2logic.datasets.tu_files import (
    Documented,
    Labels,
    NumberTable,
    documented,
    read_floats,
    read_integers,
)
from gnn2logic.exceptions import DataSetError, ParameterError
from gnn2logic.graphs.inputs import MAX_RELATIONS, boundaries, structure
from gnn2logic.logic.printing.elements import ELEMENT_NAMES

__all__ = ["read_tu"]

IntArray = npt.NDArray[np.int64]

# Each value of a node label is a predicate; more of them than this are identifiers, not labels.
MAX_NODE_LABELS = 1000
_BLOCK_ROWS = 2**17


def read_tu(
    folder: str | os.PathLike[str],
    name: str | None = None,
    *,
    node_labels: bool = True,
    node_attributes: bool = False,
    edge_labels: bool = False,
    node_names: Mapping[Any, str] | str | None = None,
    edge_names: Mapping[Any, str] | None = None,
    task: str = "classes",
    target: int | None = None,
) -> Dataset:
    r"""Read a data set of the TU collection from its text files.

    Every file is checked: number and range of the entries, edges inside graphs, graphs that follow
    each other. Lines are kept as they are: an edge that is listed once in each direction is an
    undirected edge, one that is listed in one direction only is directed, one that is listed twice
    is a double edge, and a loop is a loop (`GraphBatch.symmetrize`, ``merge_multi_edges`` and
    ``without_loops`` change that). Edge attributes are not read.

    Parameters
    ----------
    folder : path
        Where ``NAME_A.txt``, ``NAME_graph_indicator.txt`` and ``NAME_graph_labels.txt`` are.
    name : str, optional
        NAME. By default the name of the folder, or of the folder around one called ``raw``.
    node_labels : bool
        Whether each value of a node label becomes a predicate, such as ``symbol=N``, with the
        names that the text in the folder gives, else ``label=2``. Data sets without node labels
        have no predicates.
    node_attributes : bool
        Whether the numbers at the nodes are read as well, to be cut into predicates by
        `PredicateEncoder`; see `Dataset.inputs`.
    edge_labels : bool
        Whether each value of an edge label becomes a relation, such as ``A[single]``.
    node_names, edge_names : mapping of int to str, optional
        What the numbers mean, instead of what the text in the folder says: ``{0: "O", 1: "N"}``,
        ``{0: "single", 1: "double"}``. ``node_names="atomic_numbers"`` is for molecules whose
        labels are these, such as BZR. Numbers that are not there stay numbers.
    task : {"classes", "regression"}
        Whether graphs have the classes of ``NAME_graph_labels.txt``, or the numbers of
        ``NAME_graph_attributes.txt``: `Dataset.numbers`.
    target : int, optional
        Which of several columns of numbers, from 0.

    Returns
    -------
    Dataset
        Classes are numbered from 0 in the order of the labels in the file.

    Raises
    ------
    DataSetError
        With the file and line where something is wrong.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> files = {"A": "1, 2\n2, 1", "graph_indicator": "1\n1\n2", "graph_labels": "1\n-1"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part, text in files.items():
    ...         _ = pathlib.Path(folder, f"TINY_{part}.txt").write_text(text)
    ...     data = read_tu(folder, "TINY")
    >>> data, data.class_names
    (Dataset('TINY', 2 graphs, 0 features, 2 classes), ('-1', '1'))
    """
    for option, value in (
        ("node_labels", node_labels),
        ("node_attributes", node_attributes),
        ("edge_labels", edge_labels),
    ):
        check_flag(option, value)
    check_choice("task", task, ("classes", "regression"))
    if task == "classes" and target is not None:
        raise ParameterError("target is for task='regression', which predicts numbers.")
    root = Path(folder)
    if not root.is_dir():
        raise DataSetError(f"{root}: a folder with the files of the data set must be there.")
    if name is None:
        whole = root.resolve()
        name = whole.parent.name if whole.name == "raw" else whole.name

    def path(suffix: str) -> Path:
        return root / f"{name}_{suffix}.txt"

    indicator = read_integers(path("graph_indicator"), n_columns=1)
    ptr = _boundaries(indicator)
    edges = _edges(read_integers(path("A"), n_columns=2), ptr, indicator)
    texts = documented(root, name)
    if node_names == "atomic_numbers":
        texts.nodes = Labels(("symbol",), {0: dict(enumerate(ELEMENT_NAMES, start=1))})
    elif node_names is not None:
        texts.nodes.values[0] = _given_names("node_names", node_names)
    if edge_names is not None:
        texts.edges.values[0] = _given_names("edge_names", edge_names)
    graph_numbers = None
    class_names: tuple[str, ...] = ("number",)
    if task == "regression":
        graph_numbers = _graph_numbers(path("graph_attributes"), indicator, ptr, target)
        y = np.zeros(len(ptr) - 1, dtype=np.int64)
    else:
        files = path("graph_labels"), path("graph_attributes")
        y, class_names = _classes(*files, indicator, ptr, texts)
    relations = {}
    if edge_labels:
        labels = _labels(path("edge_labels"), len(edges), "edges", path("A"), "edge_labels")
        relations = _relations(labels, texts.edges)
    graphs = structure(ptr, edges[:, 0], edges[:, 1], relations)
    n_nodes = int(ptr[-1])
    if node_labels and path("node_labels").exists():
        columns = _labels(path("node_labels"), n_nodes, "nodes", indicator.path, "node_labels")
        graphs = graphs.with_predicates(*_one_hot(columns, texts.nodes))
    attributes = None
    if node_attributes:
        numbers = _present(path("node_attributes"), "node_attributes")
        attributes = _attributes(read_floats(numbers), n_nodes, indicator, texts)
    return Dataset(
        name=name,
        graphs=graphs,
        y=y,
        class_names=class_names,
        description=f"The data set {name} of the TU collection.",
        attributes=attributes,
        numbers=graph_numbers,
    )


def _given_names(option: str, names: Any) -> dict[int, str]:
    """Return names by number; texts such as "6" are numbers as well, as JSON has them."""
    try:
        given = {int(code): name for code, name in names.items()}
    except (AttributeError, TypeError, ValueError):
        given = {}
    if not given or not all(isinstance(name, str) and name.strip() for name in given.values()):
        raise ParameterError(
            f"{option} must map numbers of labels to their names, such as {{0: 'C', 1: 'O'}}"
            + (", or be 'atomic_numbers'" if option == "node_names" else "")
            + f". Got {names!r} instead."
        )
    return given


def _boundaries(indicator: NumberTable) -> IntArray:
    """Return where the graphs begin and end, from the graph number of each node."""
    numbers = indicator.values[:, 0]
    if not len(numbers):
        raise DataSetError(f"{indicator.path}, line 1: the file must not be empty.")
    previous, following = numbers[:-1], numbers[1:]
    begins = following != previous
    wrong = np.concatenate([[numbers[0] != 1], begins & (following - 1 != previous)])
    if wrong.any():
        row = int(np.argmax(wrong))
        if row == 0:
            problem = f"graphs are numbered from 1 on. Got graph {numbers[0]} first."
        else:
            problem = (
                "the nodes of a graph must follow each other, and no graph may be left out. "
                f"Got graph {numbers[row]} after graph {numbers[row - 1]}."
            )
        raise indicator.error(row, problem)
    starts = np.flatnonzero(begins) + 1
    return boundaries(np.diff(np.concatenate([[0], starts, [len(numbers)]])))


def _edges(table: NumberTable, ptr: IntArray, indicator: NumberTable) -> npt.NDArray[Any]:
    """Return the ends of every edge, numbered from 0."""
    graph_of = indicator.values[:, 0]
    for start in range(0, len(table), _BLOCK_ROWS):
        # In place and block by block: edges take most of the memory.
        ends = table.values[start : start + _BLOCK_ROWS]
        _check_ends(table, start, int(ptr[-1]), indicator.path.name)
        ends -= 1
        graph = graph_of[ends]
        across = graph[:, 0] != graph[:, 1]
        if across.any():
            row = int(np.argmax(across))
            (first, last), (one, other) = ends[row] + 1, graph[row]
            raise table.error(
                start + row,
                "an edge must join nodes of one graph. "
                f"Got node {first} of graph {one} and node {last} of graph {other}.",
            )
    return table.values


def _check_ends(table: NumberTable, start: int, n_nodes: int, source: str) -> None:
    """Refuse nodes that are not there, in one block of edges."""
    ends = table.values[start : start + _BLOCK_ROWS]
    outside = (ends < 1) | (ends > n_nodes)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        raise table.error(
            start + row,
            f"nodes must be numbered from 1 to {n_nodes}, the number of lines of {source}. "
            f"Got {ends[row][outside[row]][0]} instead.",
        )


def _classes(
    path: Path, regression: Path, indicator: NumberTable, ptr: IntArray, texts: Documented
) -> tuple[IntArray, tuple[str, ...]]:
    if not path.exists() and regression.exists():
        raise DataSetError(
            f"{path}: the file is missing. The data set has only {regression.name}, numbers to be "
            "predicted, and no classes: task='regression' reads them, --task regression in "
            "commands."
        )
    table = read_integers(path, n_columns=1)
    table.check_length(len(ptr) - 1, of="graphs", source=indicator.path.name)
    codes, y = np.unique(table.values[:, 0], return_inverse=True)
    return y.reshape(-1).astype(np.int64), tuple(texts.classes.named(0, codes.tolist()))


def _graph_numbers(
    path: Path, indicator: NumberTable, ptr: IntArray, target: int | None
) -> npt.NDArray[np.float64]:
    """Return the number of every graph that is to be predicted."""
    if not path.exists():
        raise DataSetError(
            f"{path}: the file is missing. It must hold the numbers of graphs that are predicted."
        )
    table = read_floats(path)
    table.check_length(len(ptr) - 1, of="graphs", source=indicator.path.name)
    width = table.values.shape[1]
    if target is None and width > 1:
        raise ParameterError(
            f"target must say which of the {width} columns of {path.name} is predicted, from 0: "
            "target=0, or --data target=0 in commands."
        )
    column = 0 if target is None else check_whole("target", target, least=0, most=width - 1)
    return np.asarray(table.values[:, column], dtype=np.float64)


def _present(path: Path, option: str) -> Path:
    """Return the path of an optional file that was asked for."""
    if path.exists():
        return path
    raise DataSetError(
        f"{path}: the file is missing, so this data set cannot be read with {option}=True."
    )


def _labels(path: Path, count: int, of: str, source: Path | str, option: str) -> NumberTable:
    table = read_integers(_present(path, option))
    table.check_length(count, of=of, source=Path(source).name)
    return table


def _one_hot(table: NumberTable, texts: Labels) -> tuple[npt.NDArray[np.bool_], list[str]]:
    """Return one predicate for each value of each column of node labels."""
    names: list[str] = []
    columns = []
    n_columns = table.values.shape[1]
    for number, column in enumerate(table.values.T):
        codes = np.unique(column)
        if len(names) + len(codes) > MAX_NODE_LABELS:
            raise DataSetError(
                f"{table.path}: node labels must have at most {MAX_NODE_LABELS} different values "
                f"to be a predicate each. Got {len(names) + len(codes)}; leave them out with "
                "node_labels=False."
            )
        prefix = texts.column(number, n_columns, "label")
        names += [f"{prefix}={value}" for value in texts.named(number, codes.tolist())]
        columns += [column == code for code in codes]
    return np.stack(columns, axis=1), names


def _relations(table: NumberTable, texts: Labels) -> dict[str, npt.NDArray[np.intp]]:
    """Return for each value of each column of edge labels which edges have it."""
    edges_of: dict[str, npt.NDArray[np.intp]] = {}
    n_columns = table.values.shape[1]
    for number, column in enumerate(table.values.T):
        codes = np.unique(column)
        if len(edges_of) + len(codes) > MAX_RELATIONS:
            raise DataSetError(
                f"{table.path}: edge labels must have at most {MAX_RELATIONS} different values to "
                f"be a relation each. Got {len(edges_of) + len(codes)}; leave out edge_labels=True."
            )
        # A[single] says it all; A[valence=1] needs the name of the column.
        prefix = texts.column(number, n_columns, "")
        values = texts.named(number, codes.tolist())
        for code, value in zip(codes, values, strict=True):
            edges_of[f"{prefix}={value}" if prefix else value] = np.flatnonzero(column == code)
    return edges_of


def _attributes(
    table: NumberTable, n_nodes: int, indicator: NumberTable, texts: Documented
) -> NodeAttributes:
    table.check_length(n_nodes, of="nodes", source=indicator.path.name)
    width = table.values.shape[1]
    names = texts.attributes
    if len(names) != width or len(set(names)) != width:
        names = tuple(f"x{number}" for number in range(width))
    return NodeAttributes(names, table.values)
