"""Train a network on built-in graphs, distil it into rules, and write a report about them.

The same as ``gnn2logic demo``; the code to read is in gnn2logic/cli/demo.py.

python examples/demo.py [--out demo] [--epochs 60]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gnn2logic.cli.demo import show


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"))
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    show(options.out, epochs=options.epochs, emit=print, say=print)


if __name__ == "__main__":
    main()
