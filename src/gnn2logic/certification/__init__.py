"""How sure it is that a rule says what a network says: bounds, all small graphs, proofs."""

import importlib
from typing import TYPE_CHECKING, Any

from gnn2logic.certification.bounds import agreement_bound

if TYPE_CHECKING:
    from gnn2logic.certification.certificates import Certificate
    from gnn2logic.certification.certifying import certify

__all__ = ["Certificate", "agreement_bound", "certify"]

_NEED_TORCH = {"Certificate": "certificates", "certify": "certifying"}


def __getattr__(name: str) -> Any:
    # Networks need torch; the bound does not, and reports show it without.
    if name in _NEED_TORCH:
        # This room says which extra is missing.
        importlib.import_module("gnn2logic.distillation")
        module = importlib.import_module(f"gnn2logic.certification.{_NEED_TORCH[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
