"""Whatever bytes are in the files: data that holds together, or our own error with the place."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.datasets import read_tu, tu_files
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


def slowly(data: bytes) -> list[list[int]] | int:
    """Return the numbers of a file of two columns, or the number of its first bad line."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip(b" \t\r\n")
    rows = []
    for number, line in enumerate(text.split(b"\n") if text else [], start=1):
        fields = [field.strip(b" \t") for field in line.split(b",")]
        if len(fields) != 2 or not all(re.fullmatch(rb"[+-]?[0-9]{1,18}", f) for f in fields):
            return number
        rows.append([int(field) for field in fields])
    return rows


LINES = [b"1, 2", b" 3,-4 ", b"+5\t,6", b"7,123456789012345678", b"", b" ", b"8", b"9,9,9", b"a,1"]
ENDS = [b"\n", b"\r\n", b"\n\n", b"\r", b""]


@settings(max_examples=300, deadline=None)
@given(
    lines=st.lists(
        st.tuples(st.sampled_from(LINES[:4]) | st.sampled_from(LINES), st.sampled_from(ENDS[:2]))
        | st.tuples(st.sampled_from(LINES), st.sampled_from(ENDS)),
        max_size=12,
    ),
    start=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    block=st.sampled_from([1, 2, 3, 4, 5, 7, 16, 10**6]),
)
def test_blocks_do_not_matter(
    lines: list[tuple[bytes, bytes]],
    start: bytes,
    block: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = start + b"".join(line + end for line, end in lines)
    path = tmp_path_factory.mktemp("blocks") / "DS_A.txt"
    path.write_bytes(data)
    expected = slowly(data)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tu_files, "_BLOCK_BYTES", block)
        if isinstance(expected, int):
            with pytest.raises(DataSetError, match=f"DS_A.txt, line {expected}: "):
                tu_files.read_integers(path, n_columns=2)
        else:
            table = tu_files.read_integers(path, n_columns=2)
            assert table.values.tolist() == expected
