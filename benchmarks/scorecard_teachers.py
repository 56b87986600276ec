"""Networks as scorecards: fidelity against lines, beside the best rules of the search.

The networks, graphs and splits are those of `teachers.py`. For each network: the rule that the
search chooses, the best of all its rules on the test graphs (which nobody could have known), the
card that cross-validation chooses, and the card with all lines. The command fails if a card of 20
lines has a lower fidelity than the rule that the search chooses.

    python benchmarks/scorecard_teachers.py [--data MUTAG,BZR] [--convs gcn,gin] [--out cards.json]
    python benchmarks/scorecard_teachers.py --out cards.json --picture scorecard_fidelity.png
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from teachers import ALL, curve, taught

from gnn2logic import IDTClassifier, ScorecardClassifier
from gnn2logic.distillation.soft_labels import log_shares


def compared(name: str, conv: str, seed: int) -> dict[str, Any]:
    """Return fidelity of rules by size, and of cards by lines, on graphs that nobody has seen."""
    given = taught(name, conv, seed)
    graphs, answers, unseen = given.graphs, given.answers, given.unseen
    # What `distill` does for either form.
    started = time.perf_counter()
    idt = IDTClassifier(random_state=0)
    idt.fit(graphs, answers.labels, classes=answers.classes, activations=answers.activations)
    rules = curve(idt, unseen, given.expected)
    between = time.perf_counter()
    scores = log_shares(answers.classes, answers.probabilities)
    card = ScorecardClassifier(random_state=0)
    card.fit(graphs, answers.labels, classes=answers.classes, scores=scores)
    ended = time.perf_counter()
    cards = [
        {
            "lines": row.n_lines,
            "size": row.card.size,
            "fidelity": float(np.mean(card.pick(index).predict(unseen) == given.expected)),
            "chosen": index == card.path_.chosen,
        }
        for index, row in enumerate(card.path_)
    ]
    return {
        "data": name,
        "network": conv,
        "n_graphs": unseen.n_graphs,
        "rules": rules,
        "cards": cards,
        "seconds": [round(between - started, 1), round(ended - between, 1)],
    }


def summary(row: dict[str, Any]) -> dict[str, float]:
    """Return the four figures of one network."""
    rules, cards = row["rules"], row["cards"]
    return {
        "rule": next(rule["fidelity"] for rule in rules if rule["chosen"]),
        "best rule": max(rule["fidelity"] for rule in rules),
        "card": next(card["fidelity"] for card in cards if card["chosen"]),
        "all lines": cards[-1]["fidelity"],
    }


def drawn(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw fidelity against lines, a panel for each network; the rule of the search is a line."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    convs = list(dict.fromkeys(row["network"] for row in rows))
    figure, axes = plt.subplots(
        len(convs),
        len(names),
        figsize=(2.6 * len(names), 2.3 * len(convs)),
        squeeze=False,
        layout="constrained",
    )
    for row in rows:
        ax = axes[convs.index(row["network"]), names.index(row["data"])]
        figures = summary(row)
        lines = [card["lines"] for card in row["cards"]]
        ax.plot(lines, [c["fidelity"] for c in row["cards"]], color="tab:blue", label="scorecard")
        chosen = next(card for card in row["cards"] if card["chosen"])
        ax.plot(chosen["lines"], chosen["fidelity"], "o", color="tab:blue")
        ax.axhline(figures["rule"], color="tab:gray", ls="--", lw=1, label="rule of the search")
        ax.set_title(f"{row['data']}, {row['network'].upper()}", fontsize=9)
        ax.tick_params(labelsize=8)
        ax.xaxis.get_major_locator().set_params(integer=True)
    for ax in axes[-1]:
        ax.set_xlabel("lines", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("fidelity", fontsize=8)
    axes[0, 0].legend(fontsize=7, loc="lower right")
    figure.savefig(path, dpi=130)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(ALL), help="names, with commas")
    parser.add_argument("--convs", default="gcn,gin", help="networks, with commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where the rows are written, as JSON")
    parser.add_argument("--picture", type=Path, help="draw what `--out` holds, and run nothing")
    given = parser.parse_args()
    if given.picture is not None:
        drawn(json.loads(given.out.read_text()), given.picture)
        return 0
    warnings.simplefilter("ignore")
    heads = ("rule", "best rule", "card", "all lines")
    print(f"{'':19}" + "".join(f"{head:>11}" for head in heads) + f"{'lines':>7}{'s':>6}{'s':>6}")
    rows: list[dict[str, Any]] = []
    for name in given.data.split(","):
        for conv in given.convs.split(","):
            row = compared(name, conv, given.seed)
            figures = summary(row)
            chosen = next(card["lines"] for card in row["cards"] if card["chosen"])
            print(
                f"{name:14}{conv:5}"
                + "".join(f"{figures[head]:11.3f}" for head in heads)
                + f"{chosen:4}/{row['cards'][-1]['lines']:<2}"
                + "".join(f"{seconds:6.0f}" for seconds in row["seconds"]),
                flush=True,
            )
            rows.append(row)
            if given.out is not None:
                given.out.write_text(json.dumps(rows, indent=1))
    below = [row for row in rows if summary(row)["all lines"] < summary(row)["rule"]]
    for row in below:
        print(f"below the rule: {row['data']}, {row['network']}")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
