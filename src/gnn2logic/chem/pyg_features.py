"""Graphs of PyTorch Geometric's reader of SMILES and of OGB's, with names for their numbers."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from gnn2logic._validation import check_choice
from gnn2logic.chem.vocabulary import BONDS, OGB_ATOM_FEATURES, PYG_ATOM_FEATURES
from gnn2logic.exceptions import GraphError, ParameterError

__all__ = ["named_pyg"]

_ATOMS = {"pyg": PYG_ATOM_FEATURES, "ogb": OGB_ATOM_FEATURES}
_OTHER_BOND = "other bond"
_RELATIONS = (*BONDS, _OTHER_BOND)
# The first column of edge_attr: how many numbers it may have, and which are single to aromatic.
_BOND_CODES = {
    "pyg": (22, {1: "single", 2: "double", 3: "triple", 12: "aromatic"}),
    "ogb": (5, {0: "single", 1: "double", 2: "triple", 3: "aromatic"}),
}


def named_pyg(graphs: Iterable[Any], *, features: str = "pyg") -> list[Any]:
    """Return molecules of PyG or OGB that say what their numbers mean.

    A network takes them as before: ``x``, ``edge_index`` and ``edge_attr`` stay as they are. Rules
    about them speak of named columns (``atomic_num=8``, ``num_hs=2``) and of the relations
    ``single``, ``double``, ``triple``, ``aromatic`` and ``other bond``, which the first column of
    ``edge_attr`` holds. `to_smarts`, `in_words` and drawings understand these names.

    Parameters
    ----------
    graphs : iterable of Data
        As ``torch_geometric.utils.from_smiles`` makes them, or data sets of OGB.
    features : {"pyg", "ogb"}, default="pyg"
        Whose numbers they are. OGB counts elements and bonds from 0, so that the same numbers mean
        others.

    Returns
    -------
    list of Data
        Shallow copies with ``predicate_names``, ``edge_type`` and ``relation_names``.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from torch_geometric.utils import from_smiles
    >>> graphs = named_pyg([from_smiles("CC(=O)C"), from_smiles("CCO")])
    >>> batch = gl.PredicateEncoder().fit_transform(graphs)
    >>> gl.parse("1(atomic_num=6 & A[double](atomic_num=8) > 0) > 0").evaluate(batch)
    array([ True, False])
    """
    check_choice("features", features, tuple(_ATOMS), error=ParameterError)
    n_codes, bond_names = _BOND_CODES[features]
    numbers = [_RELATIONS.index(bond_names.get(code, _OTHER_BOND)) for code in range(n_codes)]
    return [_named(graph, number, _ATOMS[features], numbers) for number, graph in enumerate(graphs)]


def _named(graph: Any, number: int, columns: tuple[str, ...], relation_numbers: list[int]) -> Any:
    x, bonds = getattr(graph, "x", None), getattr(graph, "edge_attr", None)
    if x is None or x.ndim != 2 or x.shape[1] != len(columns):
        got = "nothing" if x is None else f"shape {tuple(x.shape)}"
        raise GraphError(
            f"x of graph {number} must have the {len(columns)} columns of atoms that PyG and OGB "
            f"have. Got {got} instead."
        )
    if bonds is None or bonds.ndim != 2 or not bonds.shape[1]:
        got = "nothing" if bonds is None else f"shape {tuple(bonds.shape)}"
        raise GraphError(
            f"edge_attr of graph {number} must have rows whose first number is the type of the "
            f"bond. Got {got} instead."
        )
    codes = bonds[:, 0].long()
    if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < len(relation_numbers):
        raise GraphError(
            f"The first column of edge_attr of graph {number} must hold types of bonds, from 0 to "
            f"{len(relation_numbers) - 1}. Got {int(codes.min())} to {int(codes.max())}; is "
            "`features` right?"
        )
    named = copy.copy(graph)
    named.predicate_names = columns
    named.edge_type = codes.new_tensor(relation_numbers)[codes]
    named.relation_names = _RELATIONS
    return named
