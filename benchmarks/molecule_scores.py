"""How good rules and scorecards are on molecules, with and without the structure.

BBBP: `gnn2logic.chem.scaffold_split` (80:10:10). Models are learned from the training part. Of a
few settings and of the rows of their tables, the one with the largest area under the ROC curve on
the validation part is chosen, and measured once on the test part. MUTAG, IMDB-BINARY and
BAMultiShapes: ten stratified folds; all choices are made within the training folds. Settings are
the defaults, and the structure is on or off.

    python benchmarks/molecule_scores.py BBBP [--smiles folder] [--seeds 3] [--models rule]
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


def auroc(model: Model, data: Any, numbers: Any) -> float:
    says = model.predict_proba(data.graphs[numbers])[:, 1]
    return float(roc_auc_score(data.y[numbers], says))


def choices(model: Model) -> list[Model]:
    """Return the model with every row of its table."""
    if isinstance(model, gl.IDTPredictor):
        return [model.pick(index) for index in range(len(model.rules_))]
    return [model.pick(n_lines=lines) for lines in range(1, len(model.lines_) + 1)]


def bbbp(folder: Path, seeds: int, models: list[str]) -> None:
    data, molecules = gl.chem.read_csv(
        folder / "bbbp.csv", smiles="smiles", label="p_np", errors="skip"
    )
    train, validation, test = gl.chem.scaffold_split(molecules)
    print(f"BBBP: {len(data)} molecules, {len(molecules.problems)} rows that RDKit cannot read")
    print("groups of one Bemis-Murcko scaffold, the largest first, fill 80 %, 10 % and 10 %:")
    for part, numbers in (("learn", train), ("choose", validation), ("test", test)):
        positive = int(data.y[numbers].sum())
        print(f"  to {part:<6} {len(numbers):>4} molecules, {positive} of class 1")
    for name in models:
        make, measured = MODELS[name], []
        for seed in range(seeds):
            best: tuple[float, str, Model] | None = None
            for structure in (None, ["edges"]):
                for weights in (None, "balanced"):
                    model = make(seed, gl.PredicateEncoder(structure=structure))
                    model.set_params(class_weight=weights).fit(data.graphs[train], data.y[train])
                    label = f"structure={structure}, class_weight={weights}"
                    for row, chosen in enumerate(choices(model)):
                        score = auroc(chosen, data, validation)
                        if best is None or score > best[0]:
                            best = score, f"{label}, row {row}", chosen
            assert best is not None
            tested = auroc(best[2], data, test)
            shown = f"validation {best[0]:.3f}, test {tested:.3f} ({best[1]})"
            print(f"{name} {seed}: {shown}", flush=True)
            measured.append(tested)
        spread = f"from {min(measured):.3f} to {max(measured):.3f}"
        print(f"{name}: mean {np.mean(measured):.3f} on the test, {spread}", flush=True)


def folds(name: str, seeds: int, count: int, models: list[str]) -> None:
    options: dict[str, Any] = {"n_graphs": count} if name == "BAMultiShapes" else {}
    if name == "MUTAG":
        options["edge_labels"] = True
    data = gl.datasets.load(name, **options)
    print(f"{name}: {len(data)} graphs")
    for title, structure in (("as it is", None), ("with structure", True)):
        for model_name in models:
            make, means = MODELS[model_name], []
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
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = parser.parse_args()
    if options.data == "BBBP":
        bbbp(options.smiles, options.seeds, options.models)
    else:
        folds(options.data, options.seeds, options.graphs, options.models)


if __name__ == "__main__":
    main()
