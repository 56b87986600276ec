"""What a model predicts that predicts numbers: its name, its unit, numbers as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gnn2logic._text import one_line

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """The name and the unit of a number, as far as they are known.

    Examples
    --------
    >>> print(Target("solubility", "mol/L"))
    predicts solubility in mol/L
    >>> Target(None, "mol/L").with_unit(0.5), Target().with_unit(3.0)
    ('0.5 mol/L', '3')
    """

    name: str | None = None
    unit: str | None = None

    def __str__(self) -> str:
        name = "a number" if self.name is None else one_line(self.name)
        return f"predicts {name}" + ("" if self.unit is None else f" in {one_line(self.unit)}")

    @classmethod
    def of_parameters(cls, given: Mapping[str, Any]) -> Self:
        """Return the target that hyper-parameters name; what is no text names nothing."""
        name, unit = (given.get(key) for key in ("target_name", "unit"))
        return cls(name if isinstance(name, str) else None, unit if isinstance(unit, str) else None)

    @property
    def noun(self) -> str:
        """What the number is called in a sentence."""
        return "the target" if self.name is None else one_line(self.name)

    def rounded(self, value: float) -> str:
        """Return a measured number with its unit, in four digits.

        >>> Target("gap", "eV").rounded(2.34567)
        '2.346 eV'
        """
        return self.with_unit(float(f"{value:.4g}"))

    def to_dict(self) -> dict[str, str | None]:
        """Return name and unit as plain data."""
        return {"name": self.name, "unit": self.unit}

    def with_unit(self, value: float) -> str:
        """Return a number as people read it."""
        # Numbers of models have few digits; all of them are said.
        text = repr(float(value)).removesuffix(".0")
        return text if self.unit is None else f"{text} {one_line(self.unit)}"
