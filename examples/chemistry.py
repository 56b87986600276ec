"""From a table of molecules to a network, its rule, a scorecard, SMARTS, drawings and a report.

Without --csv the molecules are made up: rings with groups on them, of which those with a nitro
group on an aromatic ring are called active. The scaffolds are few then, so the parts are drawn at
random.

python examples/chemistry.py [--csv bbbp.csv --label p_np] [--epochs 60] [--out folder]
"""

from __future__ import annotations

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np

import gnn2logic as gl

RINGS = (
    "c1cc({})ccc1{}",
    "c1c({})cncc1{}",
    "C1CC({})CCC1{}",
    "c1c({})scc1{}",
    "C1C({})NCCC1{}",
    "c1cc2cc({})ccc2cc1{}",
)
GROUPS = (
    "[N+](=O)[O-]",
    "N",
    "O",
    "C(=O)O",
    "C",
    "Cl",
    "C#N",
    "OC",
    "S(=O)(=O)N",
    "C(C)=O",
)


def made_up(path: Path) -> None:
    """Write a table of rings with two groups each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["smiles", "active"])
        for ring, first, second in product(RINGS, GROUPS, GROUPS):
            is_active = "c" in ring and GROUPS[0] in (first, second)
            writer.writerow([ring.format(first, second), int(is_active)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--smiles", default="smiles")
    parser.add_argument("--label", default="active")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("chemistry"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    table = options.csv
    if table is None:
        table = options.out / "molecules.csv"
        made_up(table)

    data, molecules = gl.chem.read_csv(
        table, smiles=options.smiles, label=options.label, errors="skip"
    )
    print(f"{data}\n")
    for problem in molecules.problems:
        print(f"left out: {problem}")
    if options.csv is None:
        order = np.random.default_rng(0).permutation(len(data))
        train, test = order[: len(data) * 4 // 5], order[len(data) * 4 // 5 :]
    else:
        # The validation part is not needed: nothing is chosen by it.
        train, _, test = gl.chem.scaffold_split(molecules)
    print(f"{len(train)} molecules to learn from, {len(test)} to test on\n")

    graphs, labels = data.graphs, data.y
    gnn = gl.models.GNNClassifier(conv="gin", max_epochs=options.epochs, random_state=0)
    gnn.fit(graphs[train], labels[train])
    # Without shares of neighbours, which make long patterns.
    rules = gl.distill(gnn, graphs[train], relative=False, random_state=0)
    rule = rules.formula(1)
    print(f"The network is right for {gnn.score(graphs[test], labels[test]):.3f} of the test,")
    print(f"its rule for {rules.score(graphs[test], labels[test]):.3f}:\n")
    print(f"  {gl.chem.in_words(rule, graphs[train])}\n")
    try:
        smarts = gl.chem.smarts_rule(rule)
    except gl.exceptions.TranslationError as error:
        print(f"No SMARTS: {error}")
    else:
        smarts.write_csv(options.out / "rule.csv")
        print(f"{smarts}\n")

    card = gl.ScorecardClassifier(max_lines=6, relative=False, random_state=0)
    card.fit(graphs[train], labels[train])
    print(f"A scorecard from the labels is right for {card.score(graphs[test], labels[test]):.3f}:")
    print(f"{card}\n")

    shown = gl.explain(rules, graphs[int(test[0])])
    if shown.drawing is not None:
        (options.out / "molecule.svg").write_text(shown.drawing.svg, encoding="utf-8")
    report = gl.report(rules, graphs[test], labels[test], teacher=gnn, dataset_name=data.name)
    report.write_html(options.out / "report.html")
    print(f"See {options.out / 'report.html'}")


if __name__ == "__main__":
    main()
