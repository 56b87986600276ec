"""What atoms and bonds are called, and the same in SMARTS. Nothing here needs RDKit."""

from __future__ import annotations

import re
from types import MappingProxyType

import numpy as np

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.printing.elements import ELEMENT_NAMES
from gnn2logic.logic.printing.molecule_names import (
    ELEMENTS,
    HYDROGENS,
    NO_CHARGE,
    element_of,
    everyday_bond,
    everyday_name,
)

__all__ = [
    "BONDS",
    "HYBRIDISATIONS",
    "METALS",
    "OGB_ATOM_FEATURES",
    "PYG_ATOM_FEATURES",
    "RING_SIZES",
    "STEREO",
    "atom_names",
    "atom_smarts",
    "atom_symbols",
    "bond_smarts",
    "with_everyday_names",
]

METALS = frozenset(
    [3, 4, *range(11, 14), *range(19, 32), *range(37, 52), *range(55, 85), *range(87, 113)]
)
_METAL, _OTHER = "metal", "other element"

CHARGES = (-1, 1)
RING_SIZES = range(3, 9)
HYBRIDISATIONS = ("sp", "sp2", "sp3")
STEREO = ("chiral=R", "chiral=S")

BONDS = MappingProxyType({"single": "-", "double": "=", "triple": "#", "aromatic": ":"})
"""The relations of molecules, and how SMARTS writes their bonds."""

PYG_ATOM_FEATURES = (
    "atomic_num",
    "chirality",
    "total_degree",
    "formal_charge",
    "num_hs",
    "num_radical_electrons",
    "hybridization",
    "is_aromatic",
    "is_in_ring",
)
"""The columns of ``torch_geometric.utils.from_smiles``, to be `feature_names`.

PyG calls the third ``degree``: it counts hydrogens, which the degree of a node does not.
"""

OGB_ATOM_FEATURES = tuple(
    f"ogb_{name}" if name in ("atomic_num", "chirality", "hybridization") else name
    for name in PYG_ATOM_FEATURES
)
"""The columns of ``ogb.utils.smiles2graph``; of those named ``ogb_`` the numbers mean others."""

_SHAPE_BONDS = {"ring": "@", "bridge": "!@"}


def atom_names(*, stereo: bool) -> tuple[str, ...]:
    """Return all predicates of atoms, in their order; they are the same for all molecules."""
    return (
        *ELEMENTS,
        _METAL,
        _OTHER,
        "aromatic",
        *(f"charge={charge:+d}" for charge in CHARGES),
        *HYBRIDISATIONS,
        *(f"hydrogens={count}" for count in HYDROGENS),
        *(f"ring={size}" for size in RING_SIZES),
        *(STEREO if stereo else ()),
    )


def with_everyday_names(graphs: GraphBatch) -> GraphBatch:
    """Return the graphs with the names that `from_smiles` has for their predicates and bonds.

    >>> import numpy as np
    >>> graph = GraphBatch(np.eye(2), [[0, 1], [1, 0]], names=["atomic_num=6", "num_hs=3"])
    >>> with_everyday_names(graph).names
    ('carbon', 'hydrogens=3')
    """
    relations = {everyday_bond(name): matrix for name, matrix in graphs.relations.items()}
    if relations.keys() != graphs.relations.keys() and len(relations) == len(graphs.relations):
        graphs = GraphBatch(
            graphs.predicates,
            graphs.adjacency,
            ptr=graphs.ptr,
            names=graphs.names,
            relations=relations,
        )
    names = tuple(map(everyday_name, graphs.names))
    if names == graphs.names or len(set(names)) != len(names):
        return graphs
    return graphs.with_predicates(graphs.predicates, names)


_ALL_SYMBOLS = tuple(ELEMENT_NAMES)
_NAMED = tuple(number for _, number in ELEMENTS.values())
# Noble gases, what lies between metals and the rest, and 0, which stands for any atom.
_OTHERS = tuple(sorted(set(range(119)) - METALS - set(_NAMED)))


def atom_symbols(graph: GraphBatch) -> list[str] | None:
    """Return the symbol of every atom, ``*`` for metals and others; None if it is no molecule.

    >>> import numpy as np
    >>> graph = GraphBatch(np.eye(2), [[0, 1], [1, 0]], names=["carbon", "symbol=O"])
    >>> atom_symbols(graph)
    ['C', 'O']
    """
    symbols: list[str | None] = [None] * graph.n_nodes
    is_some = False
    for name in graph.names:
        symbol = element_of(name) or ("*" if name in (_METAL, _OTHER) else None)
        if symbol is None:
            continue
        is_some = is_some or symbol != "*"
        for node in np.flatnonzero(graph.column(name)).tolist():
            if symbols[node] is not None:
                return None
            symbols[node] = symbol
    known = [symbol for symbol in symbols if symbol is not None]
    return known if is_some and len(known) == graph.n_nodes else None


_FIXED = {
    "aromatic": "a",
    "sp": "^1",
    "sp2": "^2",
    "sp3": "^3",
    "triangles > 0": "$(*1~*~*1)",
    "is_aromatic": "a",
    "is_in_ring": "R",
    "num_hs": "!h0",
    _METAL: "&".join(f"!#{number}" for number in (*_NAMED, *_OTHERS)),
    _OTHER: "$([" + ",".join(f"#{number}" for number in _OTHERS) + "])",
}
_NUMBERED = {
    r"charge=([+-]\d)": "{}",
    r"hydrogens=(\d)": "H{}",
    r"ring=([3-8])": "k{}",
    r"degree=(\d)": "D{}",
    r"total_degree=(\d|10)": "X{}",
    # Hydrogens that are atoms of the graph are not counted by PyG and OGB.
    r"num_hs=([0-8])": "h{}",
}


def atom_smarts(predicate: str) -> str | None:
    """Return a predicate of atoms as SMARTS, to stand within brackets; None if there is none.

    >>> atom_smarts("carbon"), atom_smarts("hydrogens=2"), atom_smarts("chiral=R")
    ('#6', 'H2', None)
    """
    if predicate in ELEMENTS:
        return f"#{ELEMENTS[predicate][1]}"
    if predicate in _FIXED:
        return _FIXED[predicate]
    for pattern, smarts in _NUMBERED.items():
        match = re.fullmatch(pattern, predicate)
        if match:
            return smarts.format(match[1])
    large = re.fullmatch(r"degree > ([49])", predicate)
    if large:
        return "&".join(f"!D{number}" for number in range(int(large[1]) + 1))
    charge = re.fullmatch(r"formal_charge=(\d|10)", predicate)
    if charge:
        return f"{int(charge[1]) - NO_CHARGE:+d}"
    everyday = everyday_name(predicate)
    if everyday in HYBRIDISATIONS:
        return _FIXED[everyday]
    symbol = element_of(predicate)
    return None if symbol is None else f"#{_ALL_SYMBOLS.index(symbol) + 1}"


def bond_smarts(relation: str | None) -> str | None:
    """Return the bonds of a relation as SMARTS; all bonds for None, and None for unknown ones.

    >>> bond_smarts(None), bond_smarts("double"), bond_smarts("bridge"), bond_smarts("r")
    ('~', '=', '!@', None)
    """
    if relation is None:
        return "~"
    return BONDS.get(relation) or _SHAPE_BONDS.get(relation)
