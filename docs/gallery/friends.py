"""Clubs and circles of friends

In some groups everybody knows a few hubs, in others friends of friends know each other. Two lines
of networkx make them, and one short rule tells them apart.
"""

import networkx as nx

import gnn2logic as gl

hubs = [nx.barabasi_albert_graph(20, 2, seed=seed) for seed in range(60)]
circles = [nx.connected_watts_strogatz_graph(20, 4, 0.2, seed=seed) for seed in range(60)]
groups, kinds = hubs + circles, ["hubs"] * 60 + ["circles"] * 60
rules = gl.IDTClassifier(random_state=0).fit(groups[::2], kinds[::2])

print("hubs:", rules.formula("hubs").to_english())
print(f"right about {rules.score(groups[1::2], kinds[1::2]):.0%} of 60 new groups")

gl.plot_explanation(gl.explain(rules, groups[1]))
