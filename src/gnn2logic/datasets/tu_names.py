"""What the numbers of a TU data set mean, as far as the text that comes with it says.

The collection has no fixed form for this. Two are common: a section ``Node labels:`` or ``Node
labels were converted to integer values using this map:`` with lines of a number and a name, and
a line ``Node labels: [symbol]`` with the names of columns. This is documentation for people, so
whatever is not understood is left out, and nothing in it is an error.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Documented", "Labels", "documented"]

_HEADING = re.compile(
    r"(node|edge|class|graph) (labels?|attributes?)\b([^\[\]]*)(?:\[(.*)\])?", re.I
)
_COMPONENT = re.compile(r"component (\d{1,3}):\s*", re.I)
_ENTRY = re.compile(r"\s+(-?\d{1,18})\s+(\S[ -~]{0,39}?)\s*")
_MAX_BYTES = 1_000_000

# The text of MUTAG says this in a sentence.
_COLUMN_NAMES = {"MUTAG": {"node": ("symbol",)}}


@dataclass
class Labels:
    """The names of label columns and, for each column, of its values."""

    columns: tuple[str, ...] = ()
    values: dict[int, dict[int, str]] = field(default_factory=dict)

    def column(self, number: int, count: int, default: str) -> str:
        """Return the name of one of `count` columns."""
        if len(self.columns) == count and len(set(self.columns)) == count:
            return self.columns[number]
        return default if count == 1 else f"{default}{number}"

    def named(self, number: int, codes: Sequence[int]) -> list[str]:
        """Return the names of values, or the numbers where the names would not tell them apart."""
        names = self.values.get(number, {})
        found = [names.get(code, str(code)) for code in codes]
        return found if len(set(found)) == len(found) else [str(code) for code in codes]


@dataclass
class Documented:
    """What the text says about node, edge and class labels and about node attributes."""

    nodes: Labels = field(default_factory=Labels)
    edges: Labels = field(default_factory=Labels)
    classes: Labels = field(default_factory=Labels)
    attributes: tuple[str, ...] = ()


def documented(folder: Path, name: str) -> Documented:
    """Return what the texts in a folder say about the data set `name`."""
    result = Documented()
    wanted = {f"{name}_label_readme.txt".lower(), f"{name}_readme.txt".lower(), "readme.txt"}
    with contextlib.suppress(OSError):  # the data can be read without its documentation
        for path in sorted(folder.iterdir()):
            if path.name.lower() in wanted and path.is_file():
                with path.open("rb") as file:
                    text = file.read(_MAX_BYTES).decode("utf-8", errors="replace")
                _read_text(text.splitlines(), result)
    for kind, columns in _COLUMN_NAMES.get(name, {}).items():
        labels = result.nodes if kind == "node" else result.edges
        labels.columns = labels.columns or columns
    return result


def _read_text(lines: Iterable[str], result: Documented) -> None:
    section: Labels | None = None
    component = 0
    for line in lines:
        if not line.strip():
            continue
        if heading := _HEADING.match(line):
            section, component = _section(heading, result), 0
        elif mark := _COMPONENT.fullmatch(line):
            component = int(mark[1])
        elif section is not None and (entry := _ENTRY.fullmatch(line)):
            section.values.setdefault(component, {})[int(entry[1])] = entry[2]
        else:
            section = None


def _section(heading: re.Match[str], result: Documented) -> Labels | None:
    kind, what, _, listed = heading.groups()
    names = tuple(part.strip() for part in (listed or "").split(",") if part.strip())
    names = tuple(part for part in names if part.isprintable())
    if what.lower().startswith("attribute"):
        if kind.lower() == "node" and names:
            result.attributes = names
        return None
    labels = {"node": result.nodes, "edge": result.edges}.get(kind.lower(), result.classes)
    if names:
        labels.columns = names
    return labels
