"""How well rules and scorecards tell the twelve tasks of Tox21, beside a multi-task network.

The area under the ROC curve on the test part, for each task and as the mean over tasks, of one
random split and of `gnn2logic.chem.scaffold_split`, both 80:10:10: of a rule and of a scorecard for
each task (`MultiTargetEstimator`, balanced class weights), and of one GIN with twelve outputs that
is stopped by the validation part. Labels that are missing are left out everywhere. Rules and
scorecards are learned from the training part alone.

    python benchmarks/molecule_targets.py --smiles folder --out file [--molecules 2000]
        [--max-time 60] [--tasks NR-AhR SR-MMP]

`--molecules` takes some of them at random, `--max-time` limits the search for each task and model
in seconds, `--tasks` takes these alone for rules and scorecards; the lines of the file say which
were used. Every figure is a line of the file, written when it is known; a run that was stopped goes
on behind the last line. At the end, and with `--show` at once, the table of all lines is printed.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from molecule_numbers import answers, parts_of, read_rows, trained
from sklearn.metrics import roc_auc_score

import gnn2logic as gl

SPLITS = ("random", "scaffold")
MODELS = ("rule", "scorecard", "GIN")
Arrays = Any


def read_tasks(folder: Path, most: int | None) -> tuple[Any, Arrays, list[str]]:
    """Return molecules that can be read, their labels with gaps, and the names of the tasks."""
    with (folder / "tox21.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    if most is not None and most < len(rows):
        chosen = np.sort(np.random.default_rng(0).permutation(len(rows))[:most])
        rows = [rows[number] for number in chosen]
    names = [name for name in rows[0] if name != "smiles"]
    molecules = gl.chem.from_smiles([row["smiles"].strip() for row in rows], errors="skip")
    labels = [[float(rows[number][name] or "nan") for name in names] for number in molecules.rows]
    return molecules, np.array(labels), names


def masked_loss(told: Arrays, truth: Arrays) -> Arrays:
    known = ~torch.isnan(truth)
    return torch.nn.functional.binary_cross_entropy_with_logits(told[known], truth[known])


def said(
    model: str, graphs: Any, y: Arrays, names: list[str], parts: Any, max_time: float | None
) -> dict[str, tuple[Arrays, str]]:
    """Return how sure a model is of every task on the test part, and what it is."""
    train, validation, test = parts
    if model == "GIN":
        every = trained(graphs, y, (train, validation), masked_loss, 0)
        told = answers(every, gl.to_pyg(graphs[test])).numpy()
        return {name: (told[:, n], "3 layers of 64") for n, name in enumerate(names)}
    settings: dict[str, Any] = {"max_time": max_time, "class_weight": "balanced"}
    settings |= {"random_state": 0, "verbose": 0}
    one = gl.IDTClassifier if model == "rule" else gl.ScorecardClassifier
    several = gl.MultiTargetEstimator(one(**settings), targets=names, missing="skip")
    several.fit(graphs[train], y[train])
    sure = several.predict_proba(graphs[test])
    return {
        name: (sure[n][:, 1], about(several[name])) for n, name in enumerate(several.target_names_)
    }


def about(model: Any) -> str:
    if isinstance(model, gl.IDTPredictor):
        return f"{model.rules_[model.chosen_].size} symbols"
    return f"{len(model.lines_)} lines, {model.card_.size} symbols"


def show(rows: list[dict[str, Any]]) -> None:
    """Print the mean over tasks, and every task."""
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    print("| split | model | mean AUROC | tasks | molecules | seconds |")
    print("|---|---|---|---|---|---|")
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        groups.setdefault((row["split"], row["model"]), {})[row["task"]] = row
    for (split, model), group in groups.items():
        mean = np.mean([row["auroc"] for row in group.values()])
        first = next(iter(group.values()))
        print(
            f"| {split} | {model} | {mean:.3f} | {len(group)} | {first['molecules']} | "
            f"{first['seconds']:.0f} |"
        )
    print()
    print(f"| split | model | {' | '.join(tasks)} |")
    print(f"|---|---{'|---' * len(tasks)}|")
    for (split, model), group in groups.items():
        figures = [f"{group[task]['auroc']:.2f}" if task in group else "-" for task in tasks]
        print(f"| {split} | {model} | {' | '.join(figures)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--smiles", type=Path, default=Path("smiles"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--molecules", type=int)
    parser.add_argument("--max-time", type=float)
    parser.add_argument("--tasks", nargs="+")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    rows = read_rows(options.out)
    if options.show:
        show(rows)
        return
    molecules, labels, names = read_tasks(options.smiles, options.molecules)
    wanted = options.tasks or names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"tasks must be of {', '.join(names)}. Got {unknown[0]!r} instead.")
    done = {(row["split"], row["model"]) for row in rows}
    for split in SPLITS:
        parts = parts_of(molecules, split, 0)
        for model in MODELS:
            if (split, model) in done:
                continue
            start = time.perf_counter()
            learned = names if model == "GIN" else wanted
            columns = [names.index(name) for name in learned]
            told = said(
                model, molecules.graphs, labels[:, columns], learned, parts, options.max_time
            )
            seconds = round(time.perf_counter() - start, 1)
            with options.out.open("a") as file:
                for name in wanted:
                    truth = labels[parts[2], names.index(name)]
                    known = ~np.isnan(truth)
                    sure, size = told[name]
                    row = {
                        "split": split,
                        "model": model,
                        "task": name,
                        "auroc": float(roc_auc_score(truth[known], sure[known])),
                        "about": size,
                        "seconds": seconds,
                        "molecules": len(molecules),
                        "max_time": options.max_time,
                    }
                    rows.append(row)
                    file.write(json.dumps(row) + "\n")
                    print(json.dumps(row), flush=True)
    show(rows)


if __name__ == "__main__":
    main()
