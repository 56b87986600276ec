"""Edges of several types

Colleagues work together or are friends, and a team is happy if somebody has more than three
friends. Rules count along one type of edge: `A[friend]`.
"""

import gnn2logic as gl

teams = gl.random_graphs(200, sizes=8, relations=["works", "friend"], random_state=0)
happy = gl.parse("1(A[friend] true > 3) > 0").evaluate(teams)
labels = ["happy" if team else "tired" for team in happy]
rules = gl.IDTClassifier(n_layers=1, random_state=0).fit(teams, labels)

print(rules.formula("happy"))
print(rules.formula("happy").to_english())

gl.plot_explanation(gl.explain(rules, teams[labels.index("happy")]))
