"""Whole points for the lines of a card: ours beside those of `fasterrisk`.

A card is learned from three quarters of the graphs. Its lines are then given points twice, from the
same truths on the same graphs: by our rounding, and by the beam search and ray search of fasterrisk
(Liu et al. 2022), with at most as many points. Loss, AUROC and accuracy are on the other quarter.

fasterrisk is not among our dependencies: it asks for single old versions of scikit-learn, pandas
and matplotlib, and for numpy below 2. It is installed by itself (`pip install --no-deps fasterrisk
requests`), and with numpy 2.3 or newer every `tostring` in its files must be `tobytes`.

    python benchmarks/points.py [--data MUTAG,BZR] [--seeds 1,2,3]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import numpy.typing as npt
from fasterrisk.fasterrisk import RiskScoreOptimizer
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from gnn2logic import ScorecardClassifier, datasets
from gnn2logic.learning.scoring.losses import TARGET_STEPS, PatternTable, loss_for
from gnn2logic.learning.scoring.points import rounded_points

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
MAX_POINTS = 10
RIDGE = 2.0


def our_chances(truths: BoolArray, classes: BoolArray, others: BoolArray) -> tuple[int, FloatArray]:
    """Return the largest points, and the chances of other rows."""
    one_hot = np.eye(2, dtype=np.int64)[classes.astype(np.int64)]
    ones = np.ones(len(classes), dtype=np.int64)
    table = PatternTable.of_rows(truths, ones, one_hot[:, 1:] * TARGET_STEPS, one_hot)
    loss = loss_for("class", 2)
    given = rounded_points(
        loss, table, loss.fit(table, RIDGE), [1] * truths.shape[1], MAX_POINTS, ridge=RIDGE
    )
    points = np.array([of_line[1, 0] for of_line in given.points])
    raw = given.intercept + given.slope * (given.base[0] + others @ points)
    return int(np.abs(points).max()), 1 / (1 + np.exp(-raw))


def their_chances(
    truths: BoolArray, classes: BoolArray, others: BoolArray
) -> tuple[int, FloatArray]:
    """Return the same for the best model of fasterrisk with all lines."""
    optimizer = RiskScoreOptimizer(
        truths.astype(float),
        np.where(classes, 1.0, -1.0),
        k=truths.shape[1],
        lb=-MAX_POINTS,
        ub=MAX_POINTS,
    )
    optimizer.optimize()
    multipliers, intercepts, points = optimizer.get_models()
    raw = (intercepts[0] + others @ points[0]) / multipliers[0]
    return int(np.abs(points[0]).max()), 1 / (1 + np.exp(-raw))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="MUTAG,BZR", help="names, with commas")
    parser.add_argument("--seeds", default="1,2,3", help="of the split, with commas")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = ("lines", "points", "loss", "AUROC", "accuracy", "seconds")
    print(f"{'':22}" + "".join(f"{head:>9}" for head in heads))
    for name in given.data.split(","):
        data = datasets.load(name)
        labels = data.y == np.unique(data.y)[1]
        for seed in map(int, given.seeds.split(",")):
            train, test = train_test_split(
                np.arange(len(labels)), test_size=0.25, random_state=seed, stratify=labels
            )
            train, test = np.sort(train), np.sort(test)
            seen, unseen = data.graphs.take(train), data.graphs.take(test)
            card = ScorecardClassifier(random_state=0).fit(seen, labels[train])
            conditions = [each for line in card.lines_ for each in line.conditions]
            truths, others = (
                np.stack([each.evaluate(graphs) for each in conditions], axis=1)
                for graphs in (seen, unseen)
            )
            for who, chances in (("ours", our_chances), ("fasterrisk", their_chances)):
                started = time.perf_counter()
                most, chance = chances(truths, labels[train], others)
                seconds = time.perf_counter() - started
                print(
                    f"{name:8}{seed:3} {who:10}{len(conditions):9}{most:9}"
                    f"{log_loss(labels[test], chance):9.3f}"
                    f"{roc_auc_score(labels[test], chance):9.3f}"
                    f"{np.mean((chance > 0.5) == labels[test]):9.3f}{seconds:9.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
