"""Whatever bytes are in the files: data that holds together, or our own error with the place."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.datasets import read_tu
from gnn2logic.exceptions import DataSetError
from tu_texts import GOOD, write_folder

README = "Node labels: [symbol]\n\nNode labels:\n  0  C\n  1  N\n\nEdge labels:\n  0  single\n"
TEXTS = {part: text.encode() for part, text in {**GOOD, "README": README}.items()}
PLACE = re.compile(r"DS_\w+\.txt(, line [1-9]\d*)?: ")
SNIPPETS = (
    r"0 1 7 - , . e9 nan [ 0x1 _ 9999999999999999999 \0 \xff \xef\xbb\xbf \xc2\xb2 \r \r\n \n"
)
PIECES = [piece.encode().decode("unicode_escape").encode("latin-1") for piece in SNIPPETS.split()]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw a file and put, replace or delete bytes in a few places of it."""
    part = draw(st.sampled_from(sorted(TEXTS)))
    data = TEXTS[part]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 4)))
        piece = draw(st.sampled_from([*PIECES, b"", b" ", b"1\n"]) | st.binary(max_size=3))
        data = data[:start] + piece + data[stop:]
    return part, data


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_mutated_files(change: tuple[str, bytes]) -> None:
    part, data = change
    with tempfile.TemporaryDirectory() as name:
        folder = write_folder(Path(name), **{**TEXTS, part: data})
        try:
            read = read_tu(folder, "DS", node_attributes=True, edge_labels=True)
        except DataSetError as error:
            problem: DataSetError | None = error
        else:
            problem = None
    if problem is not None:
        assert PLACE.search(str(problem))
        assert part != "README"
        return
    assert len(read) == len(read.y) == len(read.graphs)
    assert read.attributes is not None
    assert np.isfinite(read.attributes.values).all()
    assert read.graphs.predicates.any(axis=1).all()
    assert len(read.inputs) == len(read)
    assert str(read)
