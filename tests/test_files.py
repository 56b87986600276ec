"""Files are written whole or not at all, wherever their name leads."""

from __future__ import annotations

import errno
import os
import platform
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from gnn2logic._files import read_whole, remove_leftovers, write_atomically

posix = pytest.mark.skipif(os.name != "posix", reason="needs devices, pipes and links")


KILLED = """
import os, signal, sys
from gnn2logic._files import write_atomically
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(sys.argv[1], b"new")
"""
WRITING = """
import sys
from gnn2logic._files import write_atomically
write_atomically(sys.argv[1], b"new")
"""
# Says when it has begun, and waits for a word before it goes on.
SLOW = """
import os, sys
from gnn2logic._files import write_atomically
replace = os.replace
def slowly(*arguments):
    print(flush=True)
    sys.stdin.readline()
    replace(*arguments)
os.replace = slowly
write_atomically(sys.argv[1], b"slow")
"""


def entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# Where a name leads ---------------------------------------------------------------------------


@posix
def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "real"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to("there/real")
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    target.unlink()
    write_atomically(link, b"made")
    assert target.read_bytes() == b"made"
    assert entries(tmp_path) == ["link", "there"]
    assert entries(tmp_path / "there") == ["real"]


@posix
def test_links_without_an_end_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="a'") as caught:
        write_atomically(tmp_path / "a", b"x")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, b"x")
    with pytest.raises(FileNotFoundError, match="missing/file"):
        write_atomically(tmp_path / "missing" / "file", b"x")
    assert entries(tmp_path) == ["a", "b"]


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, [b"one ", memoryview(b"two")])
    reader.join()
    assert got == [b"one two"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_a_device_stays_a_device(tmp_path: Path) -> None:
    # A link in a folder of ours, so that the old way could do no harm but here.
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_atomically(link, b"x")
    assert link.is_symlink()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert stat.S_ISCHR(link.stat().st_mode)


@pytest.mark.skipif(not Path("/proc/self/fd/1").exists(), reason="needs open files with names")
@pytest.mark.parametrize("through", ["file", "pipe", "deleted"])
def test_standard_output_by_its_name(tmp_path: Path, through: str) -> None:
    # What /dev/stdout is, in a folder of ours, so that no mistake can harm the system.
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    command = [sys.executable, "-c", WRITING, str(link)]
    if through == "pipe":
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        assert done.stdout == b"new"
        return
    with (tmp_path / "out").open("w+b") as out:
        if through == "deleted":
            (tmp_path / "out").unlink()
        subprocess.run(command, stdout=out, check=True)
        if through == "deleted":
            out.seek(0)
            assert out.read() == b"new"
    if through == "file":
        assert (tmp_path / "out").read_bytes() == b"new"
    assert entries(tmp_path) == (["out", "stdout"] if through == "file" else ["stdout"])


# What is left behind --------------------------------------------------------------------------


@posix
def test_a_killed_save_is_tidied_up_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, path])
    assert killed.returncode == -9
    assert path.read_bytes() == b"old"
    assert len(entries(tmp_path)) == 2
    subprocess.run([sys.executable, "-c", WRITING, tmp_path / "other"], check=True)
    assert entries(tmp_path) == ["file", "other"]
    assert path.read_bytes() == b"old"


@posix
def test_a_second_writer_leaves_the_first_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as first:
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdout.readline()
        assert len(entries(tmp_path)) == 1
        subprocess.run([sys.executable, "-c", WRITING, path], check=True)
        assert path.read_bytes() == b"new"
        remove_leftovers(tmp_path)
        first.stdin.write(b"\n")
        first.stdin.close()
        assert first.wait() == 0
    assert path.read_bytes() == b"slow"
    assert entries(tmp_path) == ["file"]


def test_only_files_of_dead_processes_of_this_machine_are_removed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as gone:
        pass
    host = platform.node()
    others = [
        f".gnn2logic-{host}-{os.getpid()}-abc.part",
        f".gnn2logic-other{host}-{gone.pid}-abc.part",
        f".gnn2logic-{host}-{gone.pid}-abc.txt",
        f".gnn2logic-{host}-abc.part",
        "mine.part",
    ]
    for name in (*others, f".gnn2logic-{host}-{gone.pid}-abc.part"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert entries(tmp_path) == sorted(others)
    remove_leftovers(tmp_path / "missing")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(**_: object) -> tuple[int, str]:
        (tmp_path / "new").touch()
        return os.open("/dev/full", os.O_WRONLY), str(tmp_path / "new")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(OSError, match="No space left on device: .*/file'") as caught:
        write_atomically(path, b"new")
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert entries(tmp_path) == ["file"]


# Reading --------------------------------------------------------------------------------------


def test_files_up_to_a_limit_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_whole(path, 5) == b"12345"
    with pytest.raises(ValueError, match="It must have at most 4 bytes. It has 5"):
        read_whole(path, 4)
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "missing", 5)
    with pytest.raises(IsADirectoryError):
        read_whole(tmp_path, 5)


@posix
def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for endless in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ValueError, match="must be a regular file"):
            read_whole(endless, 5)
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_bytes(b"x")
    assert read_whole(tmp_path / "link", 5) == b"x"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs files without a size")
def test_files_that_do_not_know_their_size_are_refused() -> None:
    with pytest.raises(ValueError, match="It has more than 0 bytes"):
        read_whole("/proc/self/maps", 2**30)
