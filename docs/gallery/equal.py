"""Are two rules the same?

`equivalent` proves that two formulas agree on all graphs up to a size, or draws you the smallest
graph on which they do not.
"""

import gnn2logic as gl

one, other = gl.parse("1(A U0 > 1) > 0"), gl.parse("1(I+A U0 > 1) > 0")
answer = gl.equivalent(one, other)
print("first: ", one.to_english())
print("second:", other.to_english())
print(answer)

gl.plot_graph(answer.counterexample, title="Here they differ: both nodes are U0")
