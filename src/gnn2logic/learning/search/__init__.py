"""Learning by search: short rules whose counts tell whole graphs apart.

The paper's layers look for columns that explain every node. Here a node formula is judged by what a
rule needs: whether the number of its nodes in a graph says which class the graph has.
"""
