"""Finding, downloading and keeping data; the only server here is one on this computer."""

from __future__ import annotations

import hashlib
import http.server
import io
import json
import os
import stat
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gnn2logic.datasets import cache_folder, load, read_tu
from gnn2logic.datasets.cache import find_folder
from gnn2logic.datasets.download import Limits, _OnlyHttps, open_https
from gnn2logic.exceptions import DataSetError, DownloadError
from tu_texts import GOOD, archive, write_folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GNN2LOGIC_DATA", raising=False)
    monkeypatch.setenv("GNN2LOGIC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tu"


class Server:
    """Answers every request with `answer`; `opener` leads every address to it."""

    def __init__(self) -> None:
        self.answer: Callable[[http.server.BaseHTTPRequestHandler], None] = self.send(archive())
        self.paths: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.paths.append(self.path)
                outer.answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @staticmethod
    def send(
        data: bytes, *, status: int = 200, length: int | None = -1
    ) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
        def answer(request: http.server.BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            if length is not None:
                request.send_header("Content-Length", str(len(data) if length < 0 else length))
            request.end_headers()
            request.wfile.write(data)

        return answer

    def opener(self, url: str) -> Any:
        assert url.startswith("https://www.chrsmrrs.com/graphkerneldatasets/")
        port = self.server.server_address[1]
        return urllib.request.urlopen(
            f"http://127.0.0.1:{port}/{url.rsplit('/', 1)[1]}", timeout=10
        )


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.server.shutdown()
    running.server.server_close()


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir()) if cache.is_dir() else []


def no_network(url: str) -> Any:
    raise AssertionError(f"{url} must not be opened")


# Where data is found ---------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["DS", "DS/raw"])
def test_the_user_s_folder_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, place: str
) -> None:
    write_folder(tmp_path / "data" / place)
    write_folder(cache / "DS")
    monkeypatch.setenv("GNN2LOGIC_DATA", str(tmp_path / "data"))
    assert find_folder("DS", opener=no_network) == tmp_path / "data" / place
    assert len(load("DS")) == 3


def test_the_cache_comes_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    write_folder(cache / "DS")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("GNN2LOGIC_DATA", str(tmp_path / "empty"))
    assert find_folder("DS", opener=no_network) == cache / "DS"


def test_the_place_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GNN2LOGIC_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "gnn2logic"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "gnn2logic"


def test_the_user_s_folder_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNN2LOGIC_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataSetError, match="GNN2LOGIC_DATA must name a folder. Got .*nowhere"):
        find_folder("DS", opener=no_network)


def test_a_broken_folder_of_the_user_is_not_replaced_by_a_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "data" / "DS", A=None)
    monkeypatch.setenv("GNN2LOGIC_DATA", str(tmp_path / "data"))
    with pytest.raises(DataSetError, match=r"DS_A.txt: the file is missing"):
        load("DS")


@pytest.mark.parametrize("name", ["", ".", "..", "../DS", "a/b", "a\\b", "DS.zip", "D S", "é", 3])
def test_names_that_are_paths_are_refused(name: Any) -> None:
    with pytest.raises(DataSetError, match="must consist of letters, digits"):
        find_folder(name, opener=no_network)
    with pytest.raises(DataSetError, match="must consist of letters, digits"):
        load(name)


def test_without_network(cache: Path) -> None:
    with pytest.raises(DataSetError, match=r"'DS' is not on this computer. .*GNN2LOGIC_DATA"):
        load("DS", download=False)

    def offline(url: str) -> Any:
        raise urllib.error.URLError("name or service not known")

    with pytest.raises(DownloadError, match=r"name or service not known.*GNN2LOGIC_DATA") as caught:
        find_folder("DS", opener=offline)
    assert str(cache / "DS") in str(caught.value)
    assert leftovers(cache) == []


# Downloading -----------------------------------------------------------------------------------


def test_a_download_is_kept(server: Server, cache: Path) -> None:
    folder = find_folder("DS", opener=server.opener)
    assert server.paths == ["/DS.zip"]
    assert len(read_tu(folder)) == 3
    assert leftovers(cache) == ["DS", "DS.sha256"]
    record = json.loads((folder / "checksums.json").read_text())
    assert record["sha256"] == hashlib.sha256(archive()).hexdigest()
    assert record["files"]["DS_A.txt"] == hashlib.sha256(GOOD["A"].encode()).hexdigest()
    assert (cache / "DS.sha256").read_text().split() == [record["sha256"], "DS.zip"]
    assert stat.S_IMODE(folder.stat().st_mode) & 0o500 == 0o500
    assert find_folder("DS", opener=no_network) == folder
    assert len(load("DS")) == 3


def test_files_that_change_in_the_cache_are_noticed(server: Server, cache: Path) -> None:
    folder = find_folder("DS", opener=server.opener)
    (folder / "DS_graph_labels.txt").write_text("1\n1\n1\n")
    with pytest.raises(DataSetError, match=r"DS_graph_labels.txt: the file has changed.*Delete"):
        find_folder("DS", opener=no_network)
    (folder / "DS_graph_labels.txt").unlink()
    with pytest.raises(DataSetError, match=r"DS_graph_labels.txt: the file cannot be read"):
        find_folder("DS", opener=no_network)
    (folder / "checksums.json").write_text("{")
    with pytest.raises(DataSetError, match=r"checksums.json: the checksums cannot be read"):
        find_folder("DS", opener=no_network)


def test_another_archive_than_last_time_is_noticed(server: Server, cache: Path) -> None:
    folder = find_folder("DS", opener=server.opener)
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    server.answer = server.send(archive({"DS_A.txt": "1, 2\n"}))
    with pytest.raises(DownloadError, match=r"is not what it was .*delete .*DS.sha256"):
        find_folder("DS", opener=server.opener)
    assert leftovers(cache) == ["DS.sha256"]
    server.answer = server.send(archive())
    assert find_folder("DS", opener=server.opener) == folder


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Server.send(b"", status=404), "has no data set 'DS'"),
        (Server.send(b"", status=500), "could not be read: 500"),
        (Server.send(archive()[:100]), "not a sound zip archive"),
        (Server.send(archive(), length=10**6), "broke off"),
        (Server.send(archive()[:-50], length=len(archive())), "broke off"),
        (Server.send(b"<html>sorry</html>"), "not a sound zip archive"),
        (Server.send(b""), "not a sound zip archive"),
        (Server.send(archive({"DS/README.txt": "x"})), "must hold DS_A.txt"),
        (lambda request: request.connection.close(), "could not be reached or broke off"),
    ],
)
def test_bad_answers(server: Server, cache: Path, answer: Any, message: str) -> None:
    server.answer = answer
    with pytest.raises(DownloadError, match=message):
        find_folder("DS", opener=server.opener)
    assert leftovers(cache) == []


def test_too_much_is_not_taken(server: Server, cache: Path) -> None:
    size = len(archive())
    for length in (-1, None):
        server.answer = server.send(archive(), length=length)
        with pytest.raises(DownloadError, match=f"at most {size - 1} bytes"):
            find_folder("DS", opener=server.opener, limits=Limits(archive=size - 1))
    assert leftovers(cache) == []
    find_folder("DS", opener=server.opener, limits=Limits(archive=size))


def test_a_response_without_a_length_is_read_to_its_end(server: Server) -> None:
    server.answer = server.send(archive(), length=None)
    assert len(read_tu(find_folder("DS", opener=server.opener))) == 3


def test_ctrl_c_leaves_nothing(server: Server, cache: Path) -> None:
    class Interrupted(io.BytesIO):
        headers: ClassVar[dict[str, str]] = {}

        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 0:
                raise KeyboardInterrupt
            return super().read(10)

    with pytest.raises(KeyboardInterrupt):
        find_folder("DS", opener=lambda url: Interrupted(archive()))
    assert leftovers(cache) == []
    assert len(read_tu(find_folder("DS", opener=server.opener))) == 3


def test_what_a_killed_download_left_is_removed_later(server: Server, cache: Path) -> None:
    for name, age in ((".old.part", 3 * 24 * 3600), (".fresh.part", 0)):
        (cache / name).mkdir(parents=True)
        (cache / name / "archive.zip").write_bytes(b"half")
        os.utime(cache / name, (time.time() - age, time.time() - age))
    find_folder("DS", opener=server.opener)
    assert leftovers(cache) == [".fresh.part", "DS", "DS.sha256"]


def test_two_at_once(server: Server, cache: Path) -> None:
    barrier = threading.Barrier(4)
    found: list[Path] = []

    def opener(url: str) -> Any:
        response = server.opener(url)
        barrier.wait(timeout=10)
        return response

    def run() -> None:
        found.append(find_folder("DS", opener=opener))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert found == [cache / "DS"] * 4
    assert leftovers(cache) == ["DS", "DS.sha256"]
    assert len(read_tu(find_folder("DS", opener=no_network))) == 3


def test_a_cache_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GNN2LOGIC_CACHE", str(tmp_path / "file"))
    with pytest.raises(DownloadError, match=r"could not be stored .*GNN2LOGIC_CACHE"):
        find_folder("DS", opener=server.opener)


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, server: Server, cache: Path) -> None:
    def full(*args: Any, **kwargs: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gnn2logic.datasets.cache.unpack", full)
    with pytest.raises(DownloadError, match="No space left on device"):
        find_folder("DS", opener=server.opener)
    assert leftovers(cache) == []


def test_progress_is_shown_on_terminals_only(
    server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find_folder("DS", opener=server.opener)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("GNN2LOGIC_CACHE", os.environ["GNN2LOGIC_CACHE"] + "2")
    find_folder("DS", opener=server.opener)
    assert "download DS: percent 100/100" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


def test_only_https(server: Server) -> None:
    port = server.server.server_address[1]
    with pytest.raises(DownloadError, match="over https only"):
        open_https(f"http://127.0.0.1:{port}/DS.zip")
    with pytest.raises(urllib.error.URLError):  # the server speaks no TLS
        open_https(f"https://127.0.0.1:{port}/DS.zip")
    assert server.paths == []


@pytest.mark.parametrize("target", ["http://elsewhere/DS.zip", "ftp://elsewhere/DS.zip"])
def test_no_redirect_away_from_https(target: str) -> None:
    handler = _OnlyHttps()
    request = urllib.request.Request("https://www.chrsmrrs.com/DS.zip")
    with pytest.raises(DownloadError, match=f"redirects to {target}, which is not https"):
        handler.redirect_request(request, None, 302, "Found", {}, target)
    kept = handler.redirect_request(request, None, 302, "Found", {}, "https://elsewhere/DS.zip")
    assert kept.full_url == "https://elsewhere/DS.zip"
