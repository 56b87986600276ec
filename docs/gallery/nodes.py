"""The class of every node

Who is a broker: a person with many friends, among whom somebody has hardly any?
`IDTNodeClassifier` learns classes of nodes, not of whole graphs.
"""

import gnn2logic as gl

graphs = gl.random_graphs(40, sizes=15, density=0.15, random_state=0)
truth = gl.parse("A true > 2 & A(A true < 2) > 0")
broker = truth.evaluate(graphs, level="node")
rules = gl.IDTNodeClassifier(random_state=0).fit(graphs, broker)

print(rules.formula(True).to_english())
new = gl.random_graphs(40, sizes=15, density=0.15, random_state=1)
right = rules.score(new, truth.evaluate(new, level="node"))
print(f"right about {right:.0%} of the nodes of new graphs")

gl.plot_graph(graphs[3], truth)
