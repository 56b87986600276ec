"""Rules from networks: fidelity against length, and what each word of a teacher brings.

A network is trained on each data set. From its answers about the training graphs both learners
make rules, and the rules are compared with the network on test graphs. The search is tried with
the network's answers, probabilities or logits as targets, and with the columns that the paper's
layers learn from its activations; the last is what `distill` does.

The best fidelity of a rule of at most a size is drawn by `--picture`; the dot is the chosen rule.

    python benchmarks/teachers.py [--data MUTAG,BZR] [--convs gcn,gin] [--out teachers.json]
    python benchmarks/teachers.py --out teachers.json --picture teachers.png
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from gnn2logic import GraphBatch, IDTClassifier, datasets
from gnn2logic.distillation import Answers, as_teacher
from gnn2logic.models import GNNClassifier

ALL = ("MUTAG", "BZR", "PROTEINS", "IMDB-BINARY", "BAMultiShapes")
TARGETS = ("answers", "probabilities", "logits")
DEFAULT = "answers + activations"


def targets_of(scores: np.ndarray, what: str) -> np.ndarray | None:
    """Return what rules explain: None for the classes that the network answers."""
    lead = scores[:, 0] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]
    if what == "answers":
        return None
    if what == "probabilities":
        return np.asarray(1 / (1 + np.exp(-np.clip(lead, -50, 50))))
    return np.asarray(lead)


def curve(model: IDTClassifier, graphs: Any, expected: np.ndarray) -> list[dict[str, Any]]:
    """Return size and fidelity of every rule of the table."""
    return [
        {
            "size": rule.size,
            "fidelity": float(np.mean(model.pick(rule).predict(graphs) == expected)),
            "chosen": rule.chosen,
        }
        for rule in model.rules_
    ]


@dataclass(frozen=True)
class Taught:
    """A network, and what it says about training graphs and about others."""

    graphs: GraphBatch
    answers: Answers
    unseen: GraphBatch
    y_unseen: np.ndarray
    expected: np.ndarray


def taught(name: str, conv: str, seed: int) -> Taught:
    """Train a network on three quarters of a data set."""
    data = datasets.load(name, random_state=0) if name.startswith("BA") else datasets.load(name)
    train, test = train_test_split(
        np.arange(len(data.y)), test_size=0.25, random_state=seed, stratify=data.y
    )
    graphs, unseen = data.graphs.take(np.sort(train)), data.graphs.take(np.sort(test))
    network = GNNClassifier(conv, random_state=seed).fit(graphs, data.y[np.sort(train)])
    answers = as_teacher(network).run(graphs)
    return Taught(graphs, answers, unseen, data.y[np.sort(test)], network.predict(unseen))


def compared(name: str, conv: str, seed: int, *, ablation: bool) -> list[dict[str, Any]]:
    given = taught(name, conv, seed)
    graphs, answers, unseen = given.graphs, given.answers, given.unseen
    y_unseen, expected = given.y_unseen, given.expected
    accuracy = float(np.mean(expected == y_unseen))

    def fitted(label: str, algorithm: str, **others: Any) -> dict[str, Any]:
        started = time.perf_counter()
        model = IDTClassifier(algorithm=algorithm, random_state=0)
        model.fit(graphs, answers.labels, classes=answers.classes, **others)
        seconds = time.perf_counter() - started
        rules = curve(model, unseen, expected)
        chosen = next(rule for rule in rules if rule["chosen"])
        row = {
            "data": name,
            "network": conv,
            "learner": label,
            "fidelity": chosen["fidelity"],
            "accuracy": float(model.score(unseen, y_unseen)),
            "network_accuracy": accuracy,
            "size": chosen["size"],
            "seconds": round(seconds, 1),
            "rules": rules,
        }
        print(
            f"{name:14}{conv:5}{label:28}{row['fidelity']:9.3f}{row['accuracy']:9.3f}"
            f"{accuracy:9.3f}{row['size']:7}{seconds:8.1f}",
            flush=True,
        )
        return row

    rows = [fitted("layers", "layers", activations=answers.activations)]
    rows += [
        fitted(what, "search", scores=targets_of(answers.scores, what))
        for what in (TARGETS if ablation else ())
    ]
    rows.append(fitted(DEFAULT, "search", activations=answers.activations))
    return rows


def drawn(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw fidelity against size for both learners, a panel for each network."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    networks = sorted({(row["data"], row["network"]) for row in rows})
    columns = len({data for data, _ in networks})
    lines = -(-len(networks) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(2.6 * columns, 2.4 * lines), squeeze=False, layout="constrained"
    )
    learners = {"layers": ("the paper's layers", "tab:gray"), DEFAULT: ("search", "tab:blue")}
    for number, (data, network) in enumerate(networks):
        # Data sets side by side, networks one below the other.
        ax = axes[number % lines, number // lines]
        for row in rows:
            if (row["data"], row["network"]) != (data, network) or row["learner"] not in learners:
                continue
            name, colour = learners[row["learner"]]
            best, curve = 0.0, []
            for rule in sorted(row["rules"], key=lambda rule: rule["size"]):
                best = max(best, rule["fidelity"])
                curve.append((rule["size"], best))
            ax.step(*zip(*curve, strict=True), where="post", color=colour, label=name)
            ax.plot(row["size"], row["fidelity"], "o", color=colour)
        ax.set_xscale("log")
        ax.set_title(f"{data}, {network.upper()}", fontsize=9)
        ax.tick_params(labelsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("symbols", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("fidelity", fontsize=8)
    axes[0, 0].legend(fontsize=8)
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(ALL), help="names, with commas")
    parser.add_argument("--convs", default="gcn,gin", help="networks, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-ablation", action="store_true", help="only what distill does")
    parser.add_argument("--out", type=Path, help="where the rows are written, as JSON")
    parser.add_argument("--picture", type=Path, help="draw what `--out` holds, and run nothing")
    given = parser.parse_args()
    if given.picture is not None:
        drawn(json.loads(given.out.read_text()), given.picture)
        return 0
    warnings.simplefilter("ignore")
    print(
        f"{'':19}{'learned from':28}{'fidelity':>9}{'accuracy':>9}{'network':>9}{'size':>7}{'s':>8}"
    )
    rows: list[dict[str, Any]] = []
    for name in given.data.split(","):
        for conv in given.convs.split(","):
            rows += compared(name, conv, given.seed, ablation=not given.no_ablation)
            if given.out is not None:
                given.out.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
