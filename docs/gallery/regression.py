"""Rules that say a number

Every graph has a number, here an energy in electron volts, with some noise. The rule is a small
tree: conditions inside, numbers at its leaves.
"""

import gnn2logic as gl
import numpy as np

graphs = gl.random_graphs(300, sizes=10, density=0.3, names=["N", "O"], random_state=0)
rich = gl.parse("1(N & A O > 1) > 2").evaluate(graphs)
energy = 1.2 + 2.5 * rich + 0.1 * np.random.default_rng(1).normal(size=300)
rules = gl.IDTRegressor(n_layers=1, target_name="gap", unit="eV", random_state=0)
rules.fit(graphs[:200], energy[:200])

high = rules.classes_[-1]
names = {"N": ("nitrogen atom", "nitrogen atoms"), "O": ("oxygen atom", "oxygen atoms")}
print(f"{high} eV:", rules.formula(high).to_english(names))
print(f"R2 on 100 new graphs: {rules.score(graphs[200:], energy[200:]):.3f}")

gl.plot_tree(rules)
