"""Rules run in a data base

A rule is a query. `to_sql` writes it for tables of nodes and edges, and any data base runs it;
here it is the one that comes with Python.
"""

import sqlite3

import gnn2logic as gl

rules = gl.from_formulas({"hub": "1(A true > 2) > 0"}, otherwise="no hub", names=[])
data = sqlite3.connect(":memory:")
data.executescript("""
    create table nodes (graph integer, node integer);
    create table edges (graph integer, source integer, target integer);
    insert into nodes values (0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1);
    insert into edges values (0, 0, 1), (0, 1, 0), (0, 0, 2), (0, 2, 0), (0, 0, 3), (0, 3, 0);
    insert into edges values (1, 0, 1), (1, 1, 0);
""")
query = rules.to_sql()
print(f"{query.count(chr(10))} lines of SQL, which end with\n{query.splitlines()[-2]}")
print(data.execute(query).fetchall())

star = gl.from_edges([(0, 1), (0, 2), (0, 3)], 4).symmetrize()
gl.plot_explanation(gl.explain(rules, star))
