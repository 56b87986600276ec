"""A house or a ring?

Half of the graphs have a house hanging on a random tree, the others a ring of five. The rule is
learned from the classes alone. The picture shows one graph, and the nodes that the rule counts.
"""

import gnn2logic as gl

data = gl.datasets.load("BA-2Motifs", n_graphs=300, random_state=0)
labels = [data.class_names[label] for label in data.y]
rules = gl.IDTClassifier(random_state=0).fit(data.graphs[:200], labels[:200])

print("cycle:", rules.formula("cycle").to_english())
print(f"right about {rules.score(data.graphs[200:], labels[200:]):.0%} of 100 new graphs")

gl.plot_explanation(gl.explain(rules, data.graphs[labels.index("cycle")]))
