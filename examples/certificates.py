"""How sure it is that a rule says what its network says.

    python examples/certificates.py

A rule is compared with a network in three ways: by a bound from a sample, by running both on every
small graph, and by a proof. Then one weight of the network is changed, and all of them notice.
"""

from __future__ import annotations

import argparse

import torch

import gnn2logic as gl

RULE = "1(U0 & A U1 > 1) > 1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--max-nodes", type=int, default=4)
    arguments = parser.parse_args()

    network = gl.to_gnn(gl.parse(RULE), names=["U0", "U1"])
    rule = gl.from_formulas({1: RULE}, otherwise=0, names=["U0", "U1"])
    fresh = gl.random_graphs(arguments.graphs, sizes=7, random_state=1)

    print("The network is made of the rule.")
    report(rule, network, fresh, arguments.max_nodes)

    with torch.no_grad():
        counts = network.channels.index(gl.parse("A U1 > 1"))
        network.layer.bias[counts] += 1
    print("\nOne weight is changed: the network now counts one neighbour less.")
    report(rule, network, fresh, arguments.max_nodes)

    print("\nThe rule is learned again, with the differences.")
    graphs = gl.random_graphs(200, sizes=6, random_state=2)
    differences = gl.certify(rule, network, fresh).counterexamples
    again = gl.distill(network, graphs, counterexamples=differences, random_state=0)
    # It has learned from some of the fresh graphs, so others are needed to judge it.
    fresher = gl.random_graphs(arguments.graphs, sizes=7, random_state=3)
    report(again, network, fresher, arguments.max_nodes)
    print("\nWhat changed:")
    print(gl.diff(rule, again, fresher))


def report(rule: object, network: object, graphs: object, max_nodes: int) -> None:
    print(f"  sample:     {gl.certify(rule, network, graphs)}")
    print(f"  off data:   {gl.certify(rule, network, graphs, source='random', random_state=0)}")
    for grade in ("exhaustive", "symbolic"):
        certificate = gl.certify(rule, network, grade=grade, max_nodes=max_nodes)
        print(f"  {grade + ':':11} {certificate}")


if __name__ == "__main__":
    main()
