"""The installed program: start-up, exit codes, pipes, locales, names of files, signals."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gnn2logic as gl
from cli_runs import FEW, PROGRAM, RULE, run_program, save_model
from gnn2logic import __version__, parse
from gnn2logic.cli.app import COMMANDS

SLOW_MODULES = {"torch", "sklearn", "matplotlib", "numba", "networkx", "pandas"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "psi_0.idt.json")


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "check --help",
        "formula MODEL --as english",
        "check '1 U0 > 0' psi_0 --data n_graphs=5",
        "datasets",
        "evaluate MODEL psi_0",
        "explain MODEL psi_0 0",
    ],
)
def test_nothing_slow_is_imported(command: str, model: Path) -> None:
    arguments = [str(model) if own == "MODEL" else own for own in shlex.split(command)]
    code = (
        f"import sys\nsys.argv[1:] = {arguments!r}\n"
        "from gnn2logic.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0, end.code\n"
        f"assert not {SLOW_MODULES!r} & set(sys.modules), {SLOW_MODULES!r} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_help_names_every_command_and_is_plain_in_a_pipe() -> None:
    done = run_program()
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [own for own in listed if own in COMMANDS] == list(COMMANDS)
    assert done.stdout.isascii()
    assert "Examples:" in done.stdout
    assert done.stderr == ""


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gnn2logic", "--version"], capture_output=True, text=True
    )
    assert done.stdout == f"gnn2logic {__version__}\n" == run_program("--version").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["frobnicate"], 2, "No such command 'frobnicate'"),
        (["check", "--frob"], 2, "No such option"),
        (["check", "1("], 2, "Missing argument 'DATASET'"),
        (["check", "1(", "psi_0"], 2, "Line 1, column 3: Expected a formula"),
        (["check", "1 U9 > 0", "psi_0"], 2, "no predicate 'U9'"),
        (["distil", "psi_0"], 2, "There is no command 'distil'. Did you mean 'distill'?"),
        (["check", "true", "no/folder"], 3, "no/folder: a folder with the files"),
        (["check", "true", "./nowhere"], 3, "nowhere: a folder with the files"),
        (["formula", "missing.idt.json"], 3, "missing.idt.json: No such file"),
    ],
)
def test_errors_are_one_line_on_stderr(
    arguments: list[str], code: int, message: str, tmp_path: Path
) -> None:
    done = run_program(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert done.stdout == ""
    first, *more = done.stderr.splitlines()
    assert first.startswith("error: ")
    assert message in first
    # Only the place of a syntax error is shown below the line.
    assert more == ([] if "column" not in message else ["  1(", "    ^"])


def test_a_closed_pipe_is_no_error() -> None:
    process = subprocess.Popen(
        [*PROGRAM, "check", "1 U0 > 0", "psi_0", "--list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"formula")
    process.stdout.close()
    messages = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert messages == b""


def test_a_pipe_that_nobody_reads_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*PROGRAM, "datasets"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 3
    assert done.stderr == b"error: No space left on device\n"


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"},
    ],
)
def test_any_locale_and_any_name_of_a_file(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "Größe ∀ モデル"
    folder.mkdir()
    model = save_model(folder / "modèle.idt.json", "1(U1 & A U0 > 1) > 1")
    written = run_program("formula", model, "--class", "true", environment=environment)
    assert parse(written.stdout) == parse("1(U1 & A U0 > 1) > 1")
    # Escapes may stand for characters that the locale lacks, but nothing fails.
    shown = run_program("formula", model, "--as", "unicode", environment=environment)
    assert (shown.returncode, shown.stderr) == (0, "")
    missing = run_program("formula", folder / "φ.idt.json", environment=environment)
    assert missing.returncode == 3
    assert missing.stderr.startswith("error: ")
    assert missing.stderr.count("\n") == 1


def test_files_are_written_in_a_c_locale(tmp_path: Path) -> None:
    model = save_model(tmp_path / "modèle.idt.json")
    picture = tmp_path / "картина.svg"
    done = run_program("plot", model, "--out", picture, environment={"LC_ALL": "C"})
    assert done.returncode == 0
    assert f"A picture is in {picture}." in done.stderr
    assert picture.stat().st_size > 1000


def test_json_is_json_in_every_locale(tmp_path: Path) -> None:
    model = tmp_path / "m.idt.json"
    gl.from_formulas({"é ∀": "1 U1 > 6"}, otherwise="ü", names=["U0", "U1"]).save(model)
    given = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = run_program("formula", model, "--json", environment=given)
    assert set(json.loads(done.stdout)) == {"é ∀", "ü"}


def test_formulas_go_from_command_to_command(model: Path) -> None:
    written = run_program("formula", model, "--class", "true")
    assert written.stdout == f"{RULE}\n"
    checked = run_program("check", "-", "psi_0", *FEW, "--json", stdin=written.stdout)
    assert json.loads(checked.stdout)["best_class"] == "true"


def test_control_c_is_130(tmp_path: Path) -> None:
    # The command waits for its formula.
    process = subprocess.Popen(
        [*PROGRAM, "check", "-", "psi_0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in messages


def completions(words: str) -> list[str]:
    asked = {
        "_GNN2LOGIC_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    return run_program(environment=asked).stdout.split()


def test_the_shell_completes_commands_data_sets_and_choices() -> None:
    assert completions("gnn2logic e") == ["export", "evaluate", "explain"]
    assert completions("gnn2logic check true BA") == ["BAMultiShapes", "BA-2Motifs"]
    assert completions("gnn2logic formula m.json --as l") == ["latex"]


def test_people_at_a_terminal_get_frames() -> None:
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "check", "--help"], stdout=side, env={**os.environ, "TERM": "xterm"}
    )
    os.close(side)
    shown = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    assert process.wait(timeout=60) == 0
    assert "╭".encode() in shown
    assert b"gnn2logic check '1(A true > 3) > 2' BAMultiShapes" in shown


def test_sentences_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from gnn2logic.cli.output import fitting

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    text = (
        "0: " + "more than two nodes are in group (a), and " * 4 + "so on\n  A U0 > 3/2\n         ^"
    )
    text += "\n  (a) " + "nodes that are in a ring " * 5 + "x" * 90
    assert fitting(text, io.StringIO()) == text
    monkeypatch.setenv("COLUMNS", "80")
    lines = fitting(text, Terminal()).split("\n")
    assert "  A U0 > 3/2" in lines
    assert "         ^" in lines
    assert [len(line) for line in lines if len(line) > 80] == [94]
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
