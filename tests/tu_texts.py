"""A small data set in the form of the TU collection, whole or with some files changed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

# Three graphs: a path of three nodes, an edge, and a node alone at the end.
GOOD: dict[str, str] = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n1\n0\n1\n1\n2\n",
    "node_attributes": "0.5, 1\n-1e3, 2.\n.25, 3\n1, 4\n2, 5\n3, 6\n",
    "edge_labels": "0\n0\n1\n1\n1\n1\n",
}


def file_name(part: str) -> str:
    return f"{part}.txt" if part == "README" else f"DS_{part}.txt"


def write_folder(folder: Path, **changes: str | bytes | None) -> Path:
    """Write the data set DS with some of its files replaced; None leaves a file out."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, text in {**GOOD, **changes}.items():
        path = folder / file_name(part)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def archive(members: dict[str, bytes | str] | None = None) -> bytes:
    """A zip archive; by default the good data set in a folder DS, as the collection packs it."""
    if members is None:
        members = {f"DS/{file_name(part)}": text for part, text in GOOD.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()
