"""The paper's psi_0 and psi_1, recovered from graphs that were labelled by them.

Every graph has 13 nodes, so "more than half of the nodes" is "more than 6 nodes", and "there is a
node that is not ..." is "at most 12 nodes are ...". Rules that look different may be the same on
all such graphs; many new graphs tell.

python examples/paper/recovered_formulas.py [--out paper] [--epochs 40]
"""

from __future__ import annotations

import showing
from showing import Learned

import gnn2logic as gl

TRUE = 1
N_NEW = 20_000
# What the rules count, for the pictures.
COUNTED = {"psi_0": "U1", "psi_1": "4 <= A true <= 9"}


def picture(name: str) -> showing.Figure:
    return showing.draw(showing.from_labels(gl.datasets.load(name)), COUNTED[name])


def main() -> None:
    options = showing.arguments(__doc__)
    for name, counted in COUNTED.items():
        learned = showing.from_labels(gl.datasets.load(name))
        print(f"{name} is {learned.test.truth}\n")
        showing.print_rule("Learned from the labels", learned, TRUE)
        print_differences(name, learned)
        showing.save(showing.draw(learned, counted), options.out, name)
        guided = showing.from_network(learned, options.epochs)
        showing.print_rule("Learned from the GCN and the labels", guided, TRUE)
        print_differences(name, guided)


def print_differences(name: str, learned: Learned) -> None:
    """Print how often a rule and the truth differ on graphs that nobody has seen."""
    new = gl.datasets.load(name, n_graphs=N_NEW, random_state=1)
    differ = int((learned.idt.predict(new.graphs) != new.y).sum())
    print(f"Rule and {name} differ on {differ} of {N_NEW} more graphs.\n")


if __name__ == "__main__":
    main()
