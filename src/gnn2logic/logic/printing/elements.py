"""The chemical elements: their symbols, and what their atoms are called."""

from __future__ import annotations

import re
from types import MappingProxyType

__all__ = ["ELEMENT_NAMES", "element_symbol"]

_TABLE = re.findall(
    r"\S+",
    "H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen "
    "F fluorine Ne neon Na sodium Mg magnesium Al aluminium Si silicon P phosphorus S sulfur "
    "Cl chlorine Ar argon K potassium Ca calcium Sc scandium Ti titanium V vanadium "
    "Cr chromium Mn manganese Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium "
    "Ge germanium As arsenic Se selenium Br bromine Kr krypton Rb rubidium Sr strontium "
    "Y yttrium Zr zirconium Nb niobium Mo molybdenum Tc technetium Ru ruthenium Rh rhodium "
    "Pd palladium Ag silver Cd cadmium In indium Sn tin Sb antimony Te tellurium I iodine "
    "Xe xenon Cs caesium Ba barium La lanthanum Ce cerium Pr praseodymium Nd neodymium "
    "Pm promethium Sm samarium Eu europium Gd gadolinium Tb terbium Dy dysprosium Ho holmium "
    "Er erbium Tm thulium Yb ytterbium Lu lutetium Hf hafnium Ta tantalum W tungsten "
    "Re rhenium Os osmium Ir iridium Pt platinum Au gold Hg mercury Tl thallium Pb lead "
    "Bi bismuth Po polonium At astatine Rn radon Fr francium Ra radium Ac actinium Th thorium "
    "Pa protactinium U uranium Np neptunium Pu plutonium Am americium Cm curium Bk berkelium "
    "Cf californium Es einsteinium Fm fermium Md mendelevium No nobelium Lr lawrencium "
    "Rf rutherfordium Db dubnium Sg seaborgium Bh bohrium Hs hassium Mt meitnerium "
    "Ds darmstadtium Rg roentgenium Cn copernicium Nh nihonium Fl flerovium Mc moscovium "
    "Lv livermorium Ts tennessine Og oganesson",
)

ELEMENT_NAMES = MappingProxyType(dict(zip(_TABLE[::2], _TABLE[1::2], strict=True)))
"""Names by symbol, in the order of the elements' numbers, from 1."""


def element_symbol(predicate: str) -> str | None:
    """Return the symbol in a name such as those of the TU collection; None if there is none.

    >>> element_symbol("chem=Cl"), element_symbol("symbol=N"), element_symbol("chem=carbon")
    ('Cl', 'N', None)
    """
    match = re.fullmatch(r"(?:chem|symbol|atom|element|label)=([A-Z][a-z]?)", predicate)
    return match[1] if match and match[1] in ELEMENT_NAMES else None
