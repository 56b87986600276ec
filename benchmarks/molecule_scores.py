"""How good rules and scorecards are on molecules, with and without the structure.

BBBP: `gnn2logic.chem.scaffold_split` (80:10:10). Models are learned from the training part: with
and without the relations of rings and bridges, with and without balanced class weights. Of these
four and of all rows of their tables, the one with the largest area under the ROC curve on the
validation part is chosen, and measured once on the test part.

MUTAG (with types of bonds), IMDB-BINARY and BAMultiShapes: accuracy on ten stratified folds, drawn
for each seed. Settings are the defaults, and the structure is on or off; which rule or how many
lines is chosen by the learner on parts of the nine folds that it sees. Scorecards have at most
twenty lines.

    python benchmarks/molecule_scores.py BBBP MUTAG IMDB-BINARY BAMultiShapes --out file
        [--smiles folder] [--seeds 3] [--graphs 1000] [--models rule]

Every figure is a line of the file, written when it is known; a run that was stopped goes on behind
the last line. At the end, and with `--show` at once, the tables of all lines are printed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import gnn2logic as gl

Model = Any
Row = dict[str, Any]
MODELS: dict[str, Callable[[int, Any], Model]] = {
    "rule": lambda seed, encoder: gl.IDTClassifier(encoder=encoder, random_state=seed),
    "scorecard": lambda seed, encoder: gl.ScorecardClassifier(
        max_lines=20, encoder=encoder, random_state=seed
    ),
}
DATA = ("BBBP", "MUTAG", "IMDB-BINARY", "BAMultiShapes")
N_FOLDS = 10


def auroc(model: Model, data: Any, numbers: Any) -> float:
    says = model.predict_proba(data.graphs[numbers])[:, 1]
    return float(roc_auc_score(data.y[numbers], says))


def choices(model: Model) -> list[Model]:
    """Return the model with every row of its table."""
    if isinstance(model, gl.IDTPredictor):
        return [model.pick(index) for index in range(len(model.rules_))]
    # A card without lines always says the same.
    return [model.pick(n_lines=lines) for lines in range(1, len(model.lines_) + 1)] or [model]


def size_of(model: Model) -> int:
    """Return the symbols of a rule, and the lines of a scorecard."""
    if isinstance(model, gl.IDTPredictor):
        return int(model.rules_[model.chosen_].size)
    return len(model.lines_)


def scaffold_scores(folder: Path, tasks: list[tuple[str, int]]) -> Iterator[Row]:
    """Give for every model and seed what was chosen by the validation part, and its test."""
    data, molecules = gl.chem.read_csv(
        folder / "bbbp.csv", smiles="smiles", label="p_np", errors="skip"
    )
    train, validation, test = gl.chem.scaffold_split(molecules)
    for name, seed in tasks:
        start = time.perf_counter()
        best: tuple[float, dict[str, Any], Model] | None = None
        for structure in (None, ["edges"]):
            for weights in (None, "balanced"):
                model = MODELS[name](seed, gl.PredicateEncoder(structure=structure))
                model.set_params(class_weight=weights).fit(data.graphs[train], data.y[train])
                for number, chosen in enumerate(choices(model)):
                    score = auroc(chosen, data, validation)
                    if best is None or score > best[0]:
                        about = {"structure": bool(structure), "weights": weights, "row": number}
                        best = score, about, chosen
        assert best is not None
        yield {
            **{"data": "BBBP", "model": name, "seed": seed, "fold": None},
            **{"auroc": auroc(best[2], data, test), "validation": best[0], **best[1]},
            "size": size_of(best[2]),
            "molecules": [len(train), len(validation), len(test)],
            "seconds": round(time.perf_counter() - start, 1),
        }


def fold_scores(name: str, tasks: list[tuple[bool, str, int, int]], n_graphs: int) -> Iterator[Row]:
    """Give the accuracy on the test part of every fold."""
    options: dict[str, Any] = {"n_graphs": n_graphs} if name == "BAMultiShapes" else {}
    if name == "MUTAG":
        options["edge_labels"] = True
    data = gl.datasets.load(name, **options)
    for structure, model_name, seed, fold in tasks:
        start = time.perf_counter()
        split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
        learned, test = list(split.split(np.zeros(len(data.y)), data.y))[fold]
        model = MODELS[model_name](seed, gl.PredicateEncoder(structure=structure or None))
        model.fit(data.graphs[learned], data.y[learned])
        yield {
            **{"data": name, "model": model_name, "seed": seed, "fold": fold},
            **{"structure": structure, "graphs": len(data), "size": size_of(model)},
            "accuracy": float(model.score(data.graphs[test], data.y[test])),
            "seconds": round(time.perf_counter() - start, 1),
        }


def mean_and_spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


def show(rows: list[Row]) -> None:
    """Print the means over seeds, with the smallest and the largest of the seeds."""
    scaffold = [row for row in rows if row["data"] == "BBBP"]
    if scaffold:
        learn, choose, test = scaffold[0]["molecules"]
        print(f"BBBP, {learn} molecules to learn from, {choose} to choose by, {test} to test on\n")
        print("| model | AUROC of the test part | on the validation part | size | seconds |")
        print("|---|---|---|---|---|")
        for name in MODELS:
            chosen = [row for row in scaffold if row["model"] == name]
            if chosen:
                print(
                    f"| {name} | {mean_and_spread([row['auroc'] for row in chosen])} | "
                    f"{np.mean([row['validation'] for row in chosen]):.3f} | "
                    f"{', '.join(str(row['size']) for row in chosen)} | "
                    f"{sum(row['seconds'] for row in chosen):.0f} |"
                )
        print()
    if len(scaffold) == len(rows):
        return
    print("| data set | model | structure | accuracy, ten folds | seeds | largest size | seconds |")
    print("|---|---|---|---|---|---|---|")
    groups: dict[tuple[str, str, bool], list[Row]] = {}
    for row in rows:
        if row["data"] != "BBBP":
            key = row["data"], row["model"], row["structure"]
            groups.setdefault(key, []).append(row)
    for (data, name, structure), group in groups.items():
        means = []
        for seed in sorted({row["seed"] for row in group}):
            folds = [row["accuracy"] for row in group if row["seed"] == seed]
            if len(folds) == N_FOLDS:
                means.append(float(np.mean(folds)))
        if means:
            print(
                f"| {data} | {name} | {'with' if structure else 'without'} | "
                f"{mean_and_spread(means)} | {len(means)} | {max(r['size'] for r in group)} | "
                f"{sum(row['seconds'] for row in group):.0f} |"
            )


def key_of(row: Row) -> tuple[Any, ...]:
    structure = None if row["data"] == "BBBP" else row["structure"]
    return row["data"], row["model"], row["seed"], row["fold"], structure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", choices=[*DATA, []], help=", ".join(DATA))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--smiles", type=Path, default=Path("smiles"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    if options.out.is_file():
        rows = [json.loads(line) for line in options.out.read_text().splitlines()]
    done = {key_of(row) for row in rows}
    seeds = range(options.seeds)
    for name in [] if options.show else options.data:
        made: Iterator[Row]
        if name == "BBBP":
            few = [(m, s) for m in options.models for s in seeds]
            made = scaffold_scores(
                options.smiles, [t for t in few if (name, *t, None, None) not in done]
            )
        else:
            many = [
                (structure, m, s, fold)
                for structure in (False, True)
                for m in options.models
                for s in seeds
                for fold in range(N_FOLDS)
                if (name, m, s, fold, structure) not in done
            ]
            made = fold_scores(name, many, options.graphs)
        for row in made:
            rows.append(row)
            with options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
