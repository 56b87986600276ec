"""Print pip constraints with the lowest version of every dependency that pyproject.toml promises.

Everything else, such as pytest, stays as it is in constraints.txt. `--keep torch` leaves a package
as it is there too: not every machine can have every version of it.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What developers use is not promised to work in old versions.
FOR_DEVELOPERS = ("dev", "docs", "all")

# A name, extras in brackets, and the lowest version; nothing else is used in pyproject.toml.
PROMISE = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)")
PIN = re.compile(r"([A-Za-z0-9._-]+)==(\S+)")


def promises(project: dict[str, object]) -> dict[str, str]:
    """Return the lowest version of each package that the project says it works with."""
    lines = [*_texts(project["dependencies"])]
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    for extra, texts in extras.items():
        if extra not in FOR_DEVELOPERS:
            lines += _texts(texts)
    lowest = {}
    for line in lines:
        if line.startswith("gnn2logic["):
            continue
        match = PROMISE.fullmatch(line)
        if match is None:
            raise SystemExit(f"A dependency must look like 'name>=1.2'. Got {line!r}.")
        lowest[normal(match[1])] = match[2]
    return lowest


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(text) for text in value]


def normal(name: str) -> str:
    """Return the name of a package as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints(lowest: dict[str, str], pinned: str, keep: Sequence[str]) -> list[str]:
    """Return the lines of a constraints file."""
    kept = {normal(name) for name in keep}
    pins = {normal(name): version for name, version in PIN.findall(pinned)}
    unknown = kept - pins.keys()
    if unknown:
        raise SystemExit(f"--keep needs names in constraints.txt. Got {sorted(unknown)}.")
    pins |= {name: version for name, version in lowest.items() if name not in kept}
    return [f"{name}=={version}" for name, version in sorted(pins.items())]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the constraints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", nargs="*", default=[], metavar="PACKAGE")
    options = parser.parse_args(arguments)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    print("\n".join(constraints(promises(project), pinned, options.keep)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
