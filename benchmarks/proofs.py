"""Small trained networks: running every small graph, beside a search of all of them at once.

A GIN without normalisation learns "more than one node is U0". Whether the formula and the network
agree on all simple graphs of a size is asked in three ways: both are run on every graph
(``certify(grade="exhaustive")``), z3 searches with the weights as exact fractions (the symbolic
grade, told to run nothing), and HiGHS maximises the lead of the wrong class as a mixed-integer
program (ReLU by big-M from bounds of every unit, messages by McCormick, nodes in the order of their
predicates). HiGHS works with rounded numbers, so what it excludes is not proven exactly.

    pip install highspy  # for the last of the three
    python benchmarks/proofs.py [--networks 4x1 8x2] [--nodes 4] [--seconds 60]

Seconds in the table are those of the processor; the limit is that of a clock.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import time
from typing import Any

import torch

import gnn2logic as gl

RULE = "1 U0 > 1"
NAMES = ["U0", "U1"]
LEAST = 2
Row = list[int]


def trained(hidden: int, n_layers: int) -> gl.models.GNNClassifier:
    graphs = gl.random_graphs(300, sizes=[1 + k % 6 for k in range(300)], random_state=0)
    network = gl.models.GNNClassifier(
        "gin", n_layers, hidden=hidden, norm=None, max_epochs=60, lr=0.02, random_state=0
    )
    return network.fit(graphs, gl.parse(RULE).evaluate(graphs))


class Program:
    """A mixed-integer program whose variables know their bounds."""

    def __init__(self, highspy: Any) -> None:
        self.highspy = highspy
        self.solver = highspy.Highs()
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.bounds: list[tuple[float, float]] = []

    def variable(self, low: float, high: float) -> int:
        """Return the number of a new variable between bounds."""
        self.solver.addVar(low, high)
        self.bounds.append((low, high))
        return len(self.bounds) - 1

    def bit(self) -> int:
        """Return a new variable that is 0 or 1."""
        number = self.variable(0, 1)
        self.solver.changeColIntegrality(number, self.highspy.HighsVarType.kInteger)
        return number

    def require(self, low: float, high: float, *terms: tuple[float, int]) -> None:
        """Keep a weighted sum between bounds."""
        total: dict[int, float] = {}
        for weight, number in terms:
            total[number] = total.get(number, 0.0) + weight
        self.solver.addRow(low, high, len(total), list(total), list(total.values()))

    def at_least(self, low: float, *terms: tuple[float, int]) -> None:
        """Keep a weighted sum above a bound."""
        self.require(low, self.highspy.kHighsInf, *terms)

    def sum(self, terms: list[tuple[float, int]], offset: float = 0.0) -> int:
        """Return a variable that is a weighted sum."""
        ends = [sorted(weight * end for end in self.bounds[number]) for weight, number in terms]
        low, high = (offset + sum(end[side] for end in ends) for side in (0, 1))
        result = self.variable(low, high)
        self.require(offset, offset, (1, result), *((-weight, unit) for weight, unit in terms))
        return result

    def relu(self, unit: int) -> int:
        """Return the larger of a variable and 0."""
        low, high = self.bounds[unit]
        if low >= 0:
            return unit
        result, on = self.variable(0, max(high, 0)), self.bit()
        self.at_least(0, (1, result), (-1, unit))
        self.at_least(low, (-1, result), (1, unit), (low, on))
        self.at_least(0, (-1, result), (max(high, 0), on))
        return result

    def message(self, edge: int, unit: int) -> int:
        """Return a variable where there is an edge, and 0 elsewhere."""
        low, high = self.bounds[unit]
        result = self.variable(min(0, low), max(0, high))
        self.at_least(0, (1, result), (-low, edge))
        self.at_least(0, (-1, result), (high, edge))
        self.at_least(-high, (1, result), (-1, unit), (-high, edge))
        self.at_least(low, (-1, result), (1, unit), (low, edge))
        return result

    def layers(self, module: Any, row: Row) -> Row:
        """Return what layers of torch make of a row."""
        if isinstance(module, torch.nn.Sequential):
            for step in module:
                row = self.layers(step, row)
            return row
        if isinstance(module, torch.nn.ReLU):
            return [self.relu(unit) for unit in row]
        if isinstance(module, torch.nn.Dropout):
            return row
        biases = [0.0] * len(module.weight) if module.bias is None else module.bias.tolist()
        return [
            self.sum(list(zip(weights, row, strict=True)), bias)
            for weights, bias in zip(module.weight.tolist(), biases, strict=True)
        ]


def excluded(highspy: Any, module: Any, n: int, label: int, seconds: float) -> bool:
    """Return whether no graph of n nodes with a class by the rule has another by the network."""
    program = Program(highspy)
    features = [[program.bit() for _ in NAMES] for _ in range(n)]
    edges = {frozenset((v, w)): program.bit() for v in range(n) for w in range(v)}
    for row, later in itertools.pairwise(features):
        program.at_least(0, (2, row[0]), (1, row[1]), (-2, later[0]), (-1, later[1]))
    marked = [(1.0, row[0]) for row in features]
    program.require(*((LEAST, n) if label else (0, LEAST - 1)), *marked)
    rows = [program.layers(module.embedding, row) for row in features]
    for block in module.blocks:
        updates = []
        for v, row in enumerate(rows):
            mixed = [
                program.sum(
                    [(1 + block.conv.eps.item(), unit)]
                    + [
                        (1.0, program.message(edges[frozenset((v, w))], rows[w][k]))
                        for w in range(n)
                        if w != v
                    ]
                )
                for k, unit in enumerate(row)
            ]
            updates.append(program.layers(block.conv.nn, mixed))
        rows = [
            [program.sum([(1, x), (1, program.relu(y))]) for x, y in zip(row, update, strict=True)]
            for row, update in zip(rows, updates, strict=True)
        ]
    size = n if module.shape.pooling == "mean" else module.shape.typical_size
    pooled = [program.sum([(1 / size, row[k]) for row in rows]) for k in range(len(rows[0]))]
    scores = program.layers(module.head, pooled)
    lead = program.sum([(1, scores[1 - label]), (-1, scores[label])])
    program.solver.changeColCost(lead, 1.0)
    program.solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    program.solver.setOptionValue("time_limit", seconds)
    program.solver.run()
    return float(program.solver.getInfo().mip_dual_bound) < 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", nargs="+", default=["4x1", "8x1", "4x2", "8x2"])
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    try:
        highspy: Any = importlib.import_module("highspy")
    except ImportError:
        highspy = None
    rule = gl.from_formulas({True: RULE}, otherwise=False, names=NAMES)
    print("| width x layers | nodes | all graphs run | z3 | MILP |\n|---|---|---|---|---|")
    for name in options.networks:
        hidden, n_layers = map(int, name.split("x"))
        network = trained(hidden, n_layers)
        given_up: set[str] = set()
        for n in range(1, options.nodes + 1):
            cells = []
            for way in ("exhaustive", "symbolic", "milp"):
                if way in given_up or (way == "milp" and highspy is None):
                    cells.append("")
                    continue
                begin = time.process_time()
                if way == "milp":
                    module, limit = network.module_, options.seconds / 2
                    known = all(
                        excluded(highspy, module, n, label, limit)
                        for label in (0, 1)
                        if n >= LEAST or not label
                    )
                    said = "agree" if known else "not settled"
                else:
                    found = gl.certify(
                        rule,
                        network,
                        grade=way,
                        max_nodes=n,
                        max_graphs=100_000 if way == "exhaustive" else 1,
                        time_limit=options.seconds,
                    )
                    said = {True: "agree", False: "differ", None: "not settled"}[found.holds]
                if said != "agree":
                    given_up.add(way)
                cells.append(f"{said}, {time.process_time() - begin:.1f} s")
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
