"""What a network counts

The network is a black box to `distill`: it only hears its answers. Here the network was made from
a formula, so that we can see whether the same formula comes back.
"""

import gnn2logic as gl

graphs = gl.random_graphs(400, sizes=8, random_state=1)
network = gl.to_gnn(gl.parse("1(U1 & A U0 > 2) > 1"))
rules = gl.distill(network, graphs[:200], random_state=0)

print("the network says yes if", rules.formula(1).to_english())
print(
    f"agrees with the network on {gl.fidelity(rules, network, graphs[200:]):.0%} of 200 new graphs"
)

gl.plot_explanation(gl.explain(rules, graphs[0], network))
