"""What a model predicts that predicts numbers: its name, its unit, numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from gnn2logic._text import one_line

__all__ = ["Target"]


@dataclass(frozen=True)
class Target:
    """The name and the unit of a number, as far as they are known.

    Parameters
    ----------
    name, unit : str or None
    step : float or None
        The least difference between what is predicted that a text must show.

    Examples
    --------
    >>> print(Target("solubility", "mol/L"))
    predicts solubility in mol/L
    >>> Target(None, "mol/L").with_unit(0.5), Target().with_unit(3.0)
    ('0.5 mol/L', '3')
    """

    name: str | None = None
    unit: str | None = None
    step: float | None = field(default=None, compare=False)

    def __str__(self) -> str:
        name = "a number" if self.name is None else one_line(self.name)
        return f"predicts {name}" + ("" if self.unit is None else f" in {one_line(self.unit)}")

    @classmethod
    def of_parameters(cls, given: Mapping[str, Any], step: float | None = None) -> Self:
        """Return the target that hyper-parameters name; what is no text names nothing."""
        name, unit = (given.get(key) for key in ("target_name", "unit"))
        name, unit = (text if isinstance(text, str) else None for text in (name, unit))
        return cls(name, unit, step)

    @property
    def noun(self) -> str:
        """What the number is called in a sentence."""
        return "the target" if self.name is None else one_line(self.name)

    def rounded(self, value: float) -> str:
        """Return a measured number with its unit, in four digits, or as `step` asks for.

        >>> Target("gap", "eV").rounded(2.34567), Target("energy", step=0.002).rounded(-76.41234)
        ('2.346 eV', '-76.4123')
        >>> Target(step=0.5).rounded(1.2e-9)
        '0'
        """
        if value == 0 or not math.isfinite(value):
            return self.with_unit(value)
        places = 3 - math.floor(math.log10(abs(value)))
        if self.step:
            # A tenth of a step is seen, a thousandth of it is no difference.
            first = -math.floor(math.log10(self.step))
            places = min(max(places, first + 1), first + 3)
        # Without the sign of a zero.
        return self.with_unit(round(float(value), places) + 0.0)

    def to_dict(self) -> dict[str, str | None]:
        """Return name and unit as plain data."""
        return {"name": self.name, "unit": self.unit}

    def with_unit(self, value: float) -> str:
        """Return a number as people read it."""
        # Numbers of models have few digits; all of them are said.
        text = repr(float(value)).removesuffix(".0")
        return text if self.unit is None else f"{text} {one_line(self.unit)}"
