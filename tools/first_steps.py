"""What a fresh installation must be able to do, with the extra `cli` and without any other.

`make package` runs it with what was built and nothing of the checkout in reach.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import gnn2logic as gl


def main() -> int:
    """Learn a rule, save it, load it, and ask the command line about it."""
    home = Path(gl.__file__).resolve()
    assert Path(sys.prefix).resolve() in home.parents, f"{home} is not what was installed."
    assert gl.__version__ == version("gnn2logic")
    assert files("gnn2logic").joinpath("py.typed").is_file()
    graphs = gl.random_graphs(60, sizes=8, random_state=0)
    truth = gl.parse("1(A U0 > 2) > 1")
    labels = truth.evaluate(graphs).astype(int)
    model = gl.IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rule.idt.json"
        model.save(file)
        assert (gl.load(file).predict(graphs) == model.predict(graphs)).all()
        program = Path(sys.executable).with_name("gnn2logic")
        told = subprocess.run(
            [program, "formula", file], capture_output=True, text=True, check=True
        ).stdout
    assert told.strip(), "The command line must print the formula."
    print(f"gnn2logic {gl.__version__} works from {home.parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
