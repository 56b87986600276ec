"""What formulas of every logic have in common as Python objects."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["ImmutableFormula"]

_SHOWN = 200


class ImmutableFormula:
    """An interned formula: it never changes, so a copy of it is itself."""

    __slots__ = ("__weakref__",)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Formulas are immutable; {name!r} cannot be set.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Formulas are immutable; {name!r} cannot be deleted.")

    def __bool__(self) -> bool:
        raise TypeError(
            "A formula has no truth value of its own; evaluate it on graphs. "
            "Combine formulas with & | ~, not with and, or, not, and write a < A(phi) < b as "
            "(a < A(phi)) & (A(phi) < b)."
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        text = str(self)
        shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        for ancestor in type(self).__mro__:
            if ancestor.__base__ is ImmutableFormula:
                return f"<{ancestor.__name__} {shown}>"
        return f"<{shown}>"
