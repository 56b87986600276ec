"""Everyday names of atoms: what others call an element, a charge or hydrogens, as people say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from gnn2logic.logic.printing.elements import ELEMENT_NAMES, element_symbol

__all__ = [
    "ELEMENTS",
    "HYDROGENS",
    "NO_CHARGE",
    "element_name",
    "element_of",
    "everyday_bond",
    "everyday_name",
    "is_of_molecules",
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
HYDROGENS = range(5)

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
NO_CHARGE = 5
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
    if column == "formal_charge" and 0 <= code <= 2 * NO_CHARGE:
        return f"charge={code - NO_CHARGE:+d}" if code != NO_CHARGE else "uncharged"
    if column == "num_hs" and code in HYDROGENS:
        return f"hydrogens={code}"
    return _HYBRIDISATION_CODES.get(column, {}).get(code, predicate)


_ENCODED_BOND = re.compile(r"(?:bond|bond[ _]type)=(single|double|triple|aromatic)", re.IGNORECASE)
_VALENCES = {"valence=1": "single", "valence=2": "double", "valence=3": "triple"}


def everyday_bond(relation: str) -> str:
    """Return what `from_smiles` calls bonds of other data; other relations as they are.

    >>> everyday_bond("valence=2"), everyday_bond("bond=DOUBLE"), everyday_bond("aromatic")
    ('double', 'double', 'aromatic')
    """
    encoded = _ENCODED_BOND.fullmatch(relation)
    return encoded[1].lower() if encoded else _VALENCES.get(relation, relation)


def element_name(everyday: str) -> str | None:
    """Return what an element is called that has an everyday name; None for other names.

    >>> element_name("carbon"), element_name("element=Fe"), element_name("aromatic")
    ('carbon', 'iron', None)
    """
    symbol = element_of(everyday)
    return None if symbol is None else ELEMENT_NAMES[symbol]


def is_of_molecules(names: Iterable[str]) -> bool:
    """Return whether predicates of these names are about atoms of molecules.

    They are if carbon and another element are among them, both told in the same way.

    >>> is_of_molecules(["chem=C", "chem=N"]), is_of_molecules(["chem=C", "chem=red"])
    (True, False)
    """
    columns = {name.partition("=")[0] for name in names if everyday_name(name) == "carbon"}
    for column in columns:
        same = [name for name in names if name == column or name.startswith(f"{column}=")]
        elements = [name for name in names if column == "carbon" and name in ELEMENTS] or same
        if len(elements) > 1 and all(map(element_of, elements)):
            return True
    return False
