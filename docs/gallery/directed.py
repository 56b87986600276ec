"""Who is cited

Papers cite papers: edges have a direction. `A` looks along the citations of a paper, `A^T` at the
papers that cite it.
"""

import gnn2logic as gl

graphs = gl.random_graphs(300, sizes=12, density=0.12, directed=True, random_state=0)
truth = gl.parse("1(A^T true > 3) > 0")
rules = gl.IDTClassifier(modalities=["A", "A^T", "1"], random_state=0)
rules.fit(graphs[:200], truth.evaluate(graphs[:200]))

print(rules.formula(True))
print(rules.formula(True).to_english())
print(
    f"right about {rules.score(graphs[200:], truth.evaluate(graphs[200:])):.0%} of 100 new graphs"
)

first = int(truth.evaluate(graphs).argmax())
gl.plot_explanation(gl.explain(rules, graphs[first]))
