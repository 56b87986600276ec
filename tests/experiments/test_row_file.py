"""The file of rows: what was cut short is noticed, nothing else is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from experiment_rows import row
from gnn2logic.experiments.rows import Row, RowFile


def filled(folder: Path, count: int = 3) -> RowFile[Row]:
    file = RowFile(folder / "rows.jsonl", Row)
    for fold in range(count):
        file.append(row(fold=fold, tuned={"width": 8, "ccp_alpha": "auto"}))
    return file


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows, broken = filled(tmp_path).read()
    assert rows == [row(fold=fold, tuned={"width": 8, "ccp_alpha": "auto"}) for fold in range(3)]
    assert broken == 0


def test_no_file_is_no_rows(tmp_path: Path) -> None:
    assert RowFile(tmp_path / "rows.jsonl", Row).read() == ([], 0)


@pytest.mark.parametrize("lost", [1, 2, 30])
def test_a_last_line_cut_short_is_no_row(tmp_path: Path, lost: int) -> None:
    """Also when only the newline is missing: another process might write right behind it."""
    file = filled(tmp_path)
    file.path.write_bytes(file.path.read_bytes()[:-lost])
    rows, broken = file.read()
    assert [each.fold for each in rows] == [0, 1]
    assert broken == 1


def test_a_line_cut_short_in_the_middle_costs_the_line_that_was_written_behind_it(
    tmp_path: Path,
) -> None:
    file = filled(tmp_path)
    first, second, third = file.path.read_bytes().splitlines(keepends=True)
    file.path.write_bytes(first + second[:40] + third + first)
    rows, broken = file.read()
    assert [each.fold for each in rows] == [0]
    assert broken == 1


def test_of_rows_with_one_key_the_first_counts(tmp_path: Path) -> None:
    file = filled(tmp_path, 1)
    file.append(row(fold=0, accuracy=0.9))
    (kept,), broken = file.read()
    assert (kept.accuracy, broken) == (0.5, 0)


def test_write_replaces_all_lines(tmp_path: Path) -> None:
    file = filled(tmp_path)
    file.write([row(fold=7)])
    assert [each.fold for each in file.read()[0]] == [7]
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may take a part of what is written and say so only by a number."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:50]))
    with pytest.raises(OSError, match="No space left on device"):
        filled(tmp_path, 1)
