"""More graphs than memory

Graphs are written to a folder, shard by shard, and the fit stays within a limit of memory. The
model is the same, bit for bit, as that of all graphs at once.
"""

import tempfile

import gnn2logic as gl
from gnn2logic.engines import LocalEngine

graphs = gl.random_graphs(2000, sizes=10, density=0.3, random_state=0)
labels = gl.parse("1(U1 & A U0 > 1) > 1").evaluate(graphs)
with tempfile.TemporaryDirectory() as folder:
    store = gl.write_shards(f"{folder}/graphs", graphs, labels, shard_nodes=5000)
    engine = LocalEngine(max_memory="2 GiB", scratch=folder)
    rules = gl.IDTClassifier(n_layers=1, engine=engine, random_state=0).fit(store)
    print(store)
at_once = gl.IDTClassifier(n_layers=1, random_state=0).fit(graphs, labels)

print(rules.formula(True))
print("the same as at once:", rules.formula(True) == at_once.formula(True))

gl.plot_explanation(gl.explain(rules, graphs[int(labels.argmax())]))
