"""A score that adds up

Three things count here, and none of them decides alone. A scorecard gives points for each, like a
risk score in a clinic. The picture is the card itself, ready for a wall.
"""

import gnn2logic as gl
import numpy as np

graphs = gl.random_graphs(600, sizes=12, density=0.25, names=["smoking", "running"], random_state=0)
signs = [
    gl.parse(text).evaluate(graphs)
    for text in ("1 smoking > 6", "1 running > 6", "1(A true > 4) > 2")
]
noise = np.random.default_rng(0).normal(size=600)
labels = np.where(2 * signs[0] - 2.0 * signs[1] + signs[2] + 0.5 * noise > 0.5, "ill", "healthy")
card = gl.ScorecardClassifier(max_lines=3, n_layers=1, random_state=0)
card.fit(graphs[:400], labels[:400])

print(card)
print(f"right about {card.score(graphs[400:], labels[400:]):.0%} of 200 new groups")

gl.plot_scorecard(card)
