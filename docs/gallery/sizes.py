"""Short rules and long rules

A longer rule is right more often, up to a point. All rules from one symbol on are kept, with their
accuracy on graphs that were held out; the picture shows where more symbols stop paying.
"""

import gnn2logic as gl

data = gl.datasets.load("BAMultiShapes", n_graphs=300, random_state=0)
labels = [data.class_names[label] for label in data.y]
rules = gl.IDTClassifier(random_state=0).fit(data.graphs, labels)

for rule in rules.rules_:
    print(f"size {rule.size:2}: {rule.accuracy:.1%} right")

gl.plot_rules(rules)
