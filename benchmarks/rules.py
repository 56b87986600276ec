"""Rules from labels: accuracy on held-out graphs, length of the rule, seconds, for both learners.

Ten folds; a learner sees nine of them and chooses its rule by itself, so nothing is tuned on what
is reported. IMDB-BINARY and PROTEINS can be run on public folds (`--folds FILE`, a list of
objects with "test" and "model_selection": [{"train": [...], "validation": [...]}]).

    python benchmarks/rules.py [--data MUTAG,BZR] [--algorithm search|layers] [--jobs 2]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from gnn2logic import IDTClassifier, datasets

ALL = ("MUTAG", "BZR", "PROTEINS", "IMDB-BINARY", "AIDS", "BAMultiShapes", "BA-2Motifs")
IntArray = npt.NDArray[np.int64]


def folds_of(y: IntArray, seed: int, path: Path | None) -> list[tuple[IntArray, IntArray]]:
    """Return the training and test graphs of every fold."""
    if path is None:
        splitter = StratifiedKFold(10, shuffle=True, random_state=seed)
        return list(splitter.split(np.zeros(len(y)), y))
    folds = []
    for fold in json.loads(path.read_text()):
        inner = fold["model_selection"][0]
        folds.append((np.array([*inner["train"], *inner["validation"]]), np.array(fold["test"])))
    return folds


def one_fold(
    name: str, algorithm: str, settings: dict[str, Any], train: IntArray, test: IntArray
) -> tuple[float, int, float, str]:
    data = datasets.load(name)
    started = time.perf_counter()
    model = IDTClassifier(algorithm=algorithm, random_state=0, n_jobs=1, **settings).fit(
        data.graphs.take(train), data.y[train]
    )
    seconds = time.perf_counter() - started
    rule = model.rules_.chosen
    shortest = min((rule.formulas[label] for label in model.classes_), key=lambda phi: phi.size)
    return model.score(data.graphs.take(test), data.y[test]), rule.size, seconds, str(shortest)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=",".join(ALL), help="names, with commas")
    parser.add_argument("--algorithm", choices=["search", "layers"], default="search")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--folds", type=Path, help="public folds, as JSON")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--set", default="{}", help="settings of the learner, as JSON")
    parser.add_argument("--show", action="store_true", help="print the rules")
    given = parser.parse_args()
    print(f"{'':16}{'accuracy':>10}{'+-':>7}{'size':>7}{'largest':>9}{'seconds':>9}")
    for name in given.data.split(","):
        data = datasets.load(name)
        runs = joblib.Parallel(n_jobs=given.jobs)(
            joblib.delayed(one_fold)(name, given.algorithm, json.loads(given.set), *fold)
            for fold in folds_of(data.y, given.seed, given.folds)
        )
        accuracy, size, seconds = (np.array([run[k] for run in runs]) for k in range(3))
        print(
            f"{name:16}{accuracy.mean():10.4f}{accuracy.std():7.3f}{np.median(size):7.0f}"
            f"{size.max():9}{np.median(seconds):9.1f}",
            flush=True,
        )
        if given.show:
            for score, length, _, rule in runs:
                print(f"    {score:.3f} {length:4} {rule[:150]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
