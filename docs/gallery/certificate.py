"""How sure can you be?

A rule agrees with a network on nearly all graphs. A certificate says what that proves, and another
looks through all small graphs for one where they differ. The picture shows the one that it finds.
"""

import gnn2logic as gl

network = gl.to_gnn(gl.parse("1(A U0 > 1) > 1"))  # stands for a network of yours
rule = gl.from_formulas({1: "1(A U0 > 1) > 2"}, otherwise=0, names=["U0"])

graphs = gl.random_graphs(300, sizes=12, names=["U0"], random_state=1)
print(gl.certify(rule, network, graphs))

small = gl.certify(rule, network, grade="exhaustive", max_nodes=4)
print(small)

gl.plot_graph(small.counterexamples[0].graph)
