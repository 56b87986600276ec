"""Molecules with an acid group

Atoms have an element, bonds a type. The molecules are made up; every second one has an acid group:
a carbon with a double-bonded oxygen and another oxygen beside it. Atoms and bonds are
drawn and told as chemists do.
"""

import networkx as nx
import numpy as np

import gnn2logic as gl


def molecule(acid, generator):
    atoms = nx.random_labeled_tree(int(generator.integers(8, 14)), seed=generator)
    nx.set_edge_attributes(atoms, "single", "bond")
    nx.set_node_attributes(atoms, {node: generator.choice(["C", "N"]) for node in atoms}, "atom")
    center, *others = generator.permutation(len(atoms)).tolist()
    atoms.nodes[center]["atom"] = "C"
    # The others have the oxygens at two places, or no double bond.
    together = acid or generator.random() < 0.5
    bonds = ["double" if acid or not together else "single", "single"]
    for place, bond in zip((center, center) if together else others[:2], bonds, strict=True):
        atoms.add_node(len(atoms), atom="O")
        atoms.add_edge(place, len(atoms) - 1, bond=bond)
    return atoms


generator = np.random.default_rng(0)
is_acid = np.arange(300) % 2 == 0
labels = np.where(is_acid, "acid", "other")
molecules = [molecule(acid, generator) for acid in is_acid]
rules = gl.IDTClassifier(modalities=["A[bond=double]", "A[bond=single]", "A", "1"], random_state=0)
rules.fit(molecules[:200], labels[:200])

print("acid:", rules.formula("acid"))
print("acid:", rules.formula("acid").to_english())
print(f"right about {rules.score(molecules[200:], labels[200:]):.0%} of 100 new molecules")

gl.plot_explanation(gl.explain(rules, molecules[0]))
