"""C2: first-order logic with two variables and counting quantifiers, and its way to EMLC."""

from gnn2logic.logic.c2.from_emlc import to_c2
from gnn2logic.logic.c2.parsing import parse_c2
from gnn2logic.logic.c2.syntax import C2Formula
from gnn2logic.logic.c2.to_emlc import from_c2

__all__ = ["C2Formula", "from_c2", "parse_c2", "to_c2"]
