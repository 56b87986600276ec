"""The paper's rule for AIDS: a molecule with more than 12 atoms is in class 0, "a".

The data set is read from the folder that GNN2LOGIC_DATA names or from the cache, or downloaded.

python examples/paper/aids.py [--out paper] [--epochs 40]
"""

from __future__ import annotations

import showing
from showing import Learned

import gnn2logic as gl

ACTIVE = 0


def from_labels() -> Learned:
    return showing.from_labels(gl.datasets.load("AIDS"))


def picture() -> showing.Figure:
    return showing.draw(from_labels(), "true")


def main() -> None:
    options = showing.arguments(__doc__)
    learned = from_labels()
    showing.print_rule("Learned from the labels", learned, ACTIVE)
    showing.save(showing.draw(learned, "true"), options.out, "aids")
    guided = showing.from_network(learned, options.epochs)
    showing.print_rule("Learned from the GCN and the labels", guided, ACTIVE)
    print("The paper: 1 true > 12")


if __name__ == "__main__":
    main()
