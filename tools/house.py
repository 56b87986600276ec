"""Measure the house: how many files there are, how long they are, and who imports whom.

`python tools/house.py` prints it, with the modules that no table of `ARCHITECTURE.md` names.
`--modules` adds a line for each module, and `--check` ends with status 1 if a file is longer than
400 lines or in no table. Files are read and never imported, so it takes a second and needs nothing
installed.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gnn2logic"

# Longer files have more than one job; shorter ones are rarely worth a door of their own.
LONGEST = 400
SHORTEST = 60


@dataclass(frozen=True)
class Module:
    """One file of the package."""

    name: str
    n_lines: int
    importers: tuple[str, ...]


def read_package(folder: Path) -> list[Module]:
    """Return the modules of a package, by name."""
    files = {_module_name(path, folder): path for path in sorted(folder.rglob("*.py"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    importers: dict[str, set[str]] = {name: set() for name in files}
    for name, text in texts.items():
        package = name if files[name].name == "__init__.py" else name.rpartition(".")[0]
        for imported in _imports(ast.parse(text, str(files[name])), package, set(files)):
            if imported != name:
                importers[imported].add(name)
    return [
        Module(name, len(text.splitlines()), tuple(sorted(importers[name])))
        for name, text in sorted(texts.items())
    ]


def _module_name(path: Path, folder: Path) -> str:
    steps = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(steps[:-1] if steps[-1] == "__init__" else steps)


def _imports(tree: ast.Module, package: str, modules: set[str]) -> Iterator[str]:
    """Yield the modules of the package that are imported, also inside of functions.

    Names that `importlib` gets as text are not seen.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = _home(node, package)
            # `from package import x`: x may be a module, or something that a module holds.
            inside = [f"{home}.{alias.name}" for alias in node.names]
            wanted = [name if name in modules else home for name in inside]
        else:
            continue
        yield from (name for name in wanted if name in modules)


def _home(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    steps = package.split(".")
    above = steps[: len(steps) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def summary(modules: Sequence[Module]) -> str:
    """Return the measures of all modules together."""
    lengths = [module.n_lines for module in modules]
    longest = max(modules, key=lambda module: module.n_lines)
    # A package is a door to its modules, and is short and has few importers for that reason.
    packages = {module.name.rpartition(".")[0] for module in modules}
    rooms = [module for module in modules if module.name not in packages]
    single = [module for module in rooms if len(module.importers) == 1]
    short = [module for module in rooms if module.n_lines < SHORTEST]
    lines = [
        f"files                     {len(modules)}",
        f"lines                     {sum(lengths)}",
        f"median length             {statistics.median(lengths):g}",
        f"longest                   {longest.n_lines} ({longest.name})",
        f"under {SHORTEST} lines            {len(short)}",
        f"imported by one module    {len(single)}",
        f"imported by no module     {sum(not module.importers for module in rooms)}",
    ]
    if short:
        lines += ["", f"Under {SHORTEST} lines:"]
        lines += [f"  {module.n_lines:3} {module.name}" for module in short]
    if single:
        lines += ["", "Imported by one module:"]
        lines += [f"  {module.name} by {module.importers[0]}" for module in single]
    return "\n".join(lines)


def not_in_tables(modules: Sequence[Module], page: str) -> list[str]:
    """Return the modules of rooms that the first column of no table of their room names.

    A room is a heading; ``name`` stands for a module, ``read_*`` and ``search.*`` for several, and
    behind ``export.sql`` a plain ``sql_names`` is beside it.
    """
    named: dict[str, list[str]] = {}
    for section in re.split("^###+ ", page, flags=re.MULTILINE)[1:]:
        heading, _, text = section.partition("\n")
        columns = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
        patterns = [name for column in columns for name in _names_in(column)]
        for room in heading.strip().split(" and "):
            # A folder in a room may have a heading too: ### learning, #### learning.search.
            head = "" if "." not in room else f"{room.partition('.')[2]}."
            named.setdefault(room.partition(".")[0], []).extend(head + name for name in patterns)
    missing = []
    packages = {module.name.rpartition(".")[0] for module in modules}
    for module in modules:
        room, _, name = module.name.partition(".")[2].partition(".")
        if not name or module.name in packages:
            continue
        known = (pattern.removeprefix(f"{room}.") for pattern in named.get(room, []))
        if not any(fnmatchcase(name, pattern) for pattern in known):
            missing.append(module.name)
    return missing


def _names_in(column: str) -> Iterator[str]:
    folder = ""
    for name in re.findall("`([^`]+)`", column):
        yield name
        if "." in name:
            folder = name.rpartition(".")[0]
        elif folder:
            yield f"{folder}.{name}"


def too_long(modules: Sequence[Module]) -> list[Module]:
    """Return the modules that should be more than one."""
    return [module for module in modules if module.n_lines > LONGEST]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the measures; return the status of the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE, help="a package")
    parser.add_argument("--modules", action="store_true", help="also print each module")
    parser.add_argument(
        "--check", action="store_true", help=f"no file over {LONGEST} lines, none in no table"
    )
    options = parser.parse_args(arguments)
    modules = read_package(options.folder.resolve())
    if not modules:
        parser.error(f"the folder must hold Python files. Got {options.folder} instead.")
    print(summary(modules))
    missing: list[str] = []
    if options.folder == SOURCE:
        missing = not_in_tables(modules, (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
        print("\nIn no table of ARCHITECTURE.md:" if missing else "\nAll are in ARCHITECTURE.md.")
        print("".join(f"  {name}\n" for name in missing), end="")
    if options.modules:
        print("\nlines  importers  module")
        for module in modules:
            print(f"{module.n_lines:5}  {len(module.importers):9}  {module.name}")
    if not options.check:
        return 0
    long = too_long(modules)
    for module in long:
        print(
            f"{module.name} must have at most {LONGEST} lines. It has {module.n_lines}: "
            "make two modules of it.",
            file=sys.stderr,
        )
    for name in missing:
        print(f"{name} must be in a table of ARCHITECTURE.md.", file=sys.stderr)
    return 1 if long or missing else 0


if __name__ == "__main__":
    sys.exit(main())
