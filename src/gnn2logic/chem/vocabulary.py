"""What atoms and bonds are called, and the same in SMARTS. Nothing here needs RDKit."""

from __future__ import annotations

import re
from types import MappingProxyType

import numpy as np

from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.printing.elements import ELEMENT_NAMES, element_symbol

__all__ = [
    "BONDS",
    "ELEMENTS",
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
    "element_of",
    "everyday_name",
    "with_everyday_names",
]

# The elements that have a name of their own; atoms of all others are metals or "other element".
ELEMENTS = MappingProxyType(
    {
        "hydrogen": ("H", 1),
        "boron": ("B", 5),
        "carbon": ("C", 6),
        "nitrogen": ("N", 7),
        "oxygen": ("O", 8),
        "fluorine": ("F", 9),
        "silicon": ("Si", 14),
        "phosphorus": ("P", 15),
        "sulfur": ("S", 16),
        "chlorine": ("Cl", 17),
        "selenium": ("Se", 34),
        "bromine": ("Br", 35),
        "iodine": ("I", 53),
    }
)
METALS = frozenset(
    [3, 4, *range(11, 14), *range(19, 32), *range(37, 52), *range(55, 85), *range(87, 113)]
)
_METAL, _OTHER = "metal", "other element"

CHARGES = (-1, 1)
HYDROGENS = range(5)
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


_ALL_SYMBOLS = tuple(ELEMENT_NAMES)
_SYMBOLS = {symbol: name for name, (symbol, _) in ELEMENTS.items()}


def element_of(predicate: str) -> str | None:
    """Return the symbol of the element that a predicate stands for; None if it is not one.

    Names of the TU collection are understood: ``chem=C``, ``symbol=Cl``, ``atom=N``, ``label=O``.

    >>> element_of("carbon"), element_of("chem=Cl"), element_of("aromatic")
    ('C', 'Cl', None)
    """
    if predicate in ELEMENTS:
        return ELEMENTS[predicate][0]
    symbol = element_symbol(predicate)
    if symbol is not None:
        return symbol
    numbered = re.fullmatch(r"(ogb_)?atomic_num=(\d{1,3})", predicate)
    # OGB counts elements from 0.
    number = int(numbered[2]) + bool(numbered[1]) if numbered else 0
    return _ALL_SYMBOLS[number - 1] if 0 < number <= len(_ALL_SYMBOLS) else None


# PyG and OGB count charges from -5.
_NO_CHARGE = 5
# How PyG and OGB number what `from_smiles` has a name for.
_HYBRIDISATION_CODES = {
    "hybridization": {2: "sp", 3: "sp2", 4: "sp3"},
    "ogb_hybridization": {0: "sp", 1: "sp2", 2: "sp3"},
}


def everyday_name(predicate: str) -> str:
    """Return what `from_smiles` calls a predicate of PyG's, OGB's or TU's; others as they are.

    >>> everyday_name("atomic_num=8"), everyday_name("formal_charge=6"), everyday_name("num_hs=2")
    ('oxygen', 'charge=+1', 'hydrogens=2')
    """
    symbol = element_of(predicate)
    if symbol is not None:
        return _SYMBOLS.get(symbol, f"element={symbol}")
    if predicate == "is_aromatic":
        return "aromatic"
    column, _, text = predicate.partition("=")
    code = int(text) if text.isascii() and text.isdigit() else -1
    if column == "formal_charge" and 0 <= code <= 2 * _NO_CHARGE:
        return f"charge={code - _NO_CHARGE:+d}" if code != _NO_CHARGE else "uncharged"
    if column == "num_hs" and code in HYDROGENS:
        return f"hydrogens={code}"
    return _HYBRIDISATION_CODES.get(column, {}).get(code, predicate)


def with_everyday_names(graphs: GraphBatch) -> GraphBatch:
    """Return the graphs with the names that `from_smiles` has for their predicates.

    >>> import numpy as np
    >>> graph = GraphBatch(np.eye(2), [[0, 1], [1, 0]], names=["atomic_num=6", "num_hs=3"])
    >>> with_everyday_names(graph).names
    ('carbon', 'hydrogens=3')
    """
    names = tuple(map(everyday_name, graphs.names))
    if names == graphs.names or len(set(names)) != len(names):
        return graphs
    return graphs.with_predicates(graphs.predicates, names)


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
        return f"{int(charge[1]) - _NO_CHARGE:+d}"
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
