"""Archives that are damaged or meant to do harm."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnn2logic.datasets.download import Limits, unpack
from gnn2logic.exceptions import DownloadError
from tu_texts import archive


def unpacked(tmp_path: Path, data: bytes, limits: Limits | None = None) -> dict[str, str]:
    (tmp_path / "archive.zip").write_bytes(data)
    folder = tmp_path / "inside" / "folder"
    folder.mkdir(parents=True, exist_ok=True)
    return unpack(tmp_path / "archive.zip", folder, limits=limits or Limits())


@pytest.mark.parametrize(
    "name", ["../evil.txt", "DS/../../evil.txt", "/evil.txt", "..\\evil.txt", "C:/evil.txt"]
)
def test_paths_that_lead_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(DownloadError, match=r"must hold plain files. Got .*evil.txt"):
        unpacked(tmp_path, archive({name: "x"}))
    assert not list(tmp_path.rglob("evil*"))


def test_links_are_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("DS/link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(DownloadError, match=r"must hold plain files. Got 'DS/link.txt'"):
        unpacked(tmp_path, buffer.getvalue())


def test_bombs_are_stopped(tmp_path: Path) -> None:
    bomb = archive({"DS_A.txt": b"0" * 10_000_000})
    assert len(bomb) < 100_000
    with pytest.raises(DownloadError, match="must unpack to at most 1000000 bytes"):
        unpacked(tmp_path, bomb, Limits(unpacked=1_000_000))
    assert sum(path.stat().st_size for path in tmp_path.rglob("*.txt")) <= 1_100_000


def test_many_files_are_refused(tmp_path: Path) -> None:
    many = archive({f"{number}.txt": "x" for number in range(4)})
    with pytest.raises(DownloadError, match="at most 3 text files"):
        unpacked(tmp_path, many, Limits(files=3))


def test_two_files_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=re.escape("one file 'a.txt'. Got two")):
        unpacked(tmp_path, archive({"x/a.txt": "1", "y/a.txt": "2"}))


def test_only_text_files_are_unpacked(tmp_path: Path) -> None:
    members = {"DS/": "", "DS/a.txt": "1", "DS/run.sh": "2", "__MACOSX/b.txt": "3", "DS/.txt": "4"}
    assert set(unpacked(tmp_path, archive(dict(members)))) == {"a.txt"}
    folder = tmp_path / "inside" / "folder"
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_mutated_archives(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    sound = archive()
    at = data.draw(st.integers(0, len(sound) - 1))
    piece = data.draw(st.binary(max_size=4))
    broken = sound[:at] + piece + sound[at + data.draw(st.integers(0, 4)) :]
    place = tmp_path_factory.mktemp("mutated")
    try:
        found = unpacked(place, broken)
    except DownloadError:
        return
    assert all(name.endswith(".txt") for name in found)
    outside = [p for p in place.rglob("*.txt") if p.parent != place / "inside" / "folder"]
    assert not outside
