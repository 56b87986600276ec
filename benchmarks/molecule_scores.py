"""How good rules and scorecards are on molecules, with and without the structure.

BBBP: trained on the training and validation parts of `gnn2logic.chem.scaffold_split` (80:10:10),
measured on the test part by the area under the ROC curve. MUTAG, IMDB-BINARY, BAMultiShapes: ten
stratified folds; all choices are made within the training folds. Nothing is tuned here: settings
are the defaults, and the structure is on or off.

    python benchmarks/molecule_scores.py BBBP [--smiles folder] [--seeds 3]
    python benchmarks/molecule_scores.py MUTAG|IMDB-BINARY|BAMultiShapes [--seeds 3] [--graphs 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import gnn2logic as gl

Model = Any
MODELS: dict[str, Callable[[int, Any], Model]] = {
    "rule": lambda seed, encoder: gl.IDTClassifier(encoder=encoder, random_state=seed),
    "scorecard": lambda seed, encoder: gl.ScorecardClassifier(
        max_lines=20, encoder=encoder, random_state=seed
    ),
}


def bbbp(folder: Path, seeds: int) -> None:
    data, molecules = gl.chem.read_csv(
        folder / "bbbp.csv", smiles="smiles", label="p_np", errors="skip"
    )
    train, validation, test = gl.chem.scaffold_split(molecules)
    learned = np.concatenate([train, validation])
    print(f"BBBP: {len(data)} molecules, {len(learned)} to learn from, {len(test)} to test")
    for title, structure in (("atoms and bonds", None), ("and A[ring], A[bridge]", ["edges"])):
        for name, make in MODELS.items():
            scores = []
            for seed in range(seeds):
                model = make(seed, gl.PredicateEncoder(structure=structure))
                model.fit(data.graphs[learned], data.y[learned])
                says = model.predict_proba(data.graphs[test])[:, 1]
                scores.append(roc_auc_score(data.y[test], says))
            shown = " ".join(f"{score:.3f}" for score in scores)
            print(f"{title:<24} {name:<10} AUROC {np.mean(scores):.3f} ({shown})", flush=True)


def folds(name: str, seeds: int, count: int) -> None:
    options: dict[str, Any] = {"n_graphs": count} if name == "BAMultiShapes" else {}
    if name == "MUTAG":
        options["edge_labels"] = True
    data = gl.datasets.load(name, **options)
    print(f"{name}: {len(data)} graphs")
    for title, structure in (("as it is", None), ("with structure", True)):
        for model_name, make in MODELS.items():
            means = []
            for seed in range(seeds):
                split = StratifiedKFold(10, shuffle=True, random_state=seed)
                right = []
                for learned, test in split.split(np.zeros(len(data.y)), data.y):
                    model = make(seed, gl.PredicateEncoder(structure=structure))
                    model.fit(data.graphs[learned], data.y[learned])
                    right.append(model.score(data.graphs[test], data.y[test]))
                means.append(float(np.mean(right)))
            shown = " ".join(f"{mean:.3f}" for mean in means)
            print(f"{title:<24} {model_name:<10} {np.mean(means):.3f} ({shown})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", choices=["BBBP", "MUTAG", "IMDB-BINARY", "BAMultiShapes"])
    parser.add_argument("--smiles", type=Path, default=Path("smiles"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--graphs", type=int, default=1000)
    options = parser.parse_args()
    if options.data == "BBBP":
        bbbp(options.smiles, options.seeds)
    else:
        folds(options.data, options.seeds, options.graphs)


if __name__ == "__main__":
    main()
