"""Write the public address of the project into a copy of it that is about to be released.

`make release ADDRESS=https://...` is the only place where the address is given. From it come the
links of the package index, absolute links in the README (a package index shows it without the
files beside it), the address to cite, and the link to the sources in the documentation.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

# Formulas in code, such as `A[r](U0)`, look like links and are none.
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
# `[text](target)` and `![text](target)`; the target of a picture is shown and not opened.
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^]]*)\]\((?P<target>[^)\s]+)\)")
VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
FINAL = re.compile(r"\d+\.\d+\.\d+")


def absolute_links(text: str, address: str, tag: str) -> str:
    """Return Markdown whose links lead to the public address, at one version."""

    def changed(match: re.Match[str]) -> str:
        target = match["target"]
        if target.startswith(("https://", "http://", "#", "mailto:")):
            return match[0]
        view = "raw" if match["picture"] else "blob"
        return f"{match['picture']}[{match['text']}]({address}/{view}/{tag}/{target})"

    pieces = CODE.split(text)
    pieces[::2] = [LINK.sub(changed, piece) for piece in pieces[::2]]
    return "".join(pieces)


def project_links(address: str, tag: str) -> str:
    """Return the table of links for pyproject.toml."""
    links = {
        "Source": address,
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }
    return "\n[project.urls]\n" + "".join(f'{name} = "{link}"\n' for name, link in links.items())


def prepare(folder: Path, address: str) -> str:
    """Change the files of a copy; return the version that will be released."""
    if (folder / ".git").exists():
        raise SystemExit(f"{folder} must be a copy made for the release. It is a checkout.")
    match = VERSION.search(_read(folder / "src/gnn2logic/_version.py"))
    version = match[1] if match else "none"
    if not FINAL.fullmatch(version):
        raise SystemExit(f"The version must be like 0.1.0 before a release. It is {version}.")
    dated = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    if not re.search(dated, _read(folder / "CHANGELOG.md"), re.MULTILINE):
        raise SystemExit(f"CHANGELOG.md must have the heading '## {version} (YYYY-MM-DD)'.")
    tag = f"v{version}"
    readme = _read(folder / "README.md")
    _write(folder / "README.md", absolute_links(readme, address, tag))
    _append(folder / "pyproject.toml", project_links(address, tag))
    _append(folder / "CITATION.cff", f'version: "{version}"\nrepository-code: "{address}"\n')
    _append(folder / "mkdocs.yml", f"\nrepo_url: {address}\n")
    return version


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _append(path: Path, text: str) -> None:
    _write(path, _read(path).rstrip("\n") + "\n" + text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prepare a copy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="where the sources will be, as https://host/owner/project")
    parser.add_argument("folder", type=Path, help="a copy of the project, which is changed")
    options = parser.parse_args(arguments)
    address = options.address.rstrip("/")
    if not re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", address):
        parser.error(
            f"the address must look like https://host/owner/project. Got {options.address!r}."
        )
    print(f"{options.folder} is ready for version {prepare(options.folder, address)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
