"""Rings of six

Counting neighbours cannot tell a ring of six from two rings of three. `structure` measures rings
and gives them names, which formulas use like any other predicate.
"""

import gnn2logic as gl

ring = gl.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 7)], 8)
graph = gl.structure(ring.symmetrize(), ["edges", "rings"])
rule = gl.parse("1(ring=6 & A[bridge] true > 0) > 0")

print(rule.to_english())
print("true of this graph:", bool(rule.evaluate(graph)[0]))

idt = gl.from_formulas(
    {"yes": rule}, otherwise="no", names=graph.names, relations=["ring", "bridge"]
)
gl.plot_explanation(gl.explain(idt, graph))
