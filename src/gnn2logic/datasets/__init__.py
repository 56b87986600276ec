"""Data sets by name: formulas, planted motifs, and the TU collection. Nothing here needs torch."""

from gnn2logic.datasets.barabasi_albert import barabasi_albert_graphs
from gnn2logic.datasets.cache import cache_folder
from gnn2logic.datasets.dataset import AttributedGraph, Dataset, NodeAttributes
from gnn2logic.datasets.formulas import formula_dataset
from gnn2logic.datasets.registry import Entry, Registry, load, load_from, names, registry
from gnn2logic.datasets.shapes import ba_2motifs, ba_multi_shapes
from gnn2logic.datasets.tu import read_tu

__all__ = [
    "AttributedGraph",
    "Dataset",
    "Entry",
    "NodeAttributes",
    "Registry",
    "ba_2motifs",
    "ba_multi_shapes",
    "barabasi_albert_graphs",
    "cache_folder",
    "formula_dataset",
    "load",
    "load_from",
    "names",
    "read_tu",
    "registry",
]
