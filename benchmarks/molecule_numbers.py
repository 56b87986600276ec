"""How good rules and scorecards are at numbers of molecules, beside a network.

ESOL, FreeSolv and Lipophilicity (a CSV file each): R2 and mean absolute error on the test part of
a random split (one for each seed) and of `gnn2logic.chem.scaffold_split`, both 80:10:10, of a rule,
a scorecard, a GIN that is stopped by the validation part, and the mean of the training part. Rules
and scorecards are learned from the training part alone.

    python benchmarks/molecule_numbers.py ESOL FreeSolv --smiles folder --out file [--seeds 3]

Every figure is a line of the file, written when it is known. A run that was stopped goes on behind
the last line; with the same file and more data sets, only what is missing is done. At the end, and
with `--show` at once, the table of all lines is printed; `--lines` prints the rules and scorecards
of seed 0 as well.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool

import gnn2logic as gl

TABLES = {
    "ESOL": ("esol.csv", "measured log solubility in mols per litre"),
    "FreeSolv": ("freesolv.csv", "expt"),
    "Lipophilicity": ("lipophilicity.csv", "exp"),
}
NAMES = {
    "ESOL": {"target_name": "log solubility", "unit": "log mol/L"},
    "FreeSolv": {"target_name": "energy of hydration", "unit": "kcal/mol"},
    "Lipophilicity": {"target_name": "log D"},
}
SPLITS = ("random", "scaffold")
Arrays = Any


class GIN(torch.nn.Module):
    """Three layers, sums of nodes, one output for each target."""

    def __init__(self, n_features: int, n_targets: int, hidden: int = 64) -> None:
        super().__init__()
        widths = [n_features, hidden, hidden]
        self.convs = torch.nn.ModuleList(
            GINConv(
                torch.nn.Sequential(
                    torch.nn.Linear(width, hidden),
                    torch.nn.BatchNorm1d(hidden),
                    torch.nn.ReLU(),
                    torch.nn.Linear(hidden, hidden),
                    torch.nn.ReLU(),
                )
            )
            for width in widths
        )
        self.head = torch.nn.Sequential(
            torch.nn.Linear(hidden, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, n_targets)
        )

    def forward(self, x: Arrays, edge_index: Arrays, batch: Arrays) -> Arrays:
        """Return one number for each graph and target."""
        for conv in self.convs:
            x = conv(x, edge_index)
        return self.head(global_add_pool(x, batch))


def trained(
    graphs: Any,
    targets: Arrays,
    parts: tuple[Arrays, Arrays],
    loss: Callable[[Arrays, Arrays], Arrays],
    seed: int,
    *,
    epochs: int = 200,
    patience: int = 25,
) -> GIN:
    """Return the network with the least loss on the validation part."""
    torch.manual_seed(seed)
    items = gl.to_pyg(graphs)
    for item, row in zip(items, targets, strict=True):
        item.y = torch.tensor(row, dtype=torch.float32)[None]
    train, validation = ([items[number] for number in part] for part in parts)
    network = GIN(items[0].x.shape[1], targets.shape[1])
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    order = torch.Generator().manual_seed(seed)
    best, best_state, waited = float("inf"), network.state_dict(), 0
    for _ in range(epochs):
        network.train()
        for batch in DataLoader(train, 64, shuffle=True, generator=order):
            optimiser.zero_grad()
            loss(network(batch.x.float(), batch.edge_index, batch.batch), batch.y).backward()
            optimiser.step()
        told = answers(network, validation)
        now = float(loss(told, torch.cat([item.y for item in validation])))
        waited += 1
        if now < best:
            best, waited = now, 0
            best_state = {name: value.clone() for name, value in network.state_dict().items()}
        if waited == patience:
            break
    network.load_state_dict(best_state)
    return network


@torch.no_grad()
def answers(network: GIN, items: list[Any]) -> Arrays:
    network.eval()
    batches = DataLoader(items, 256)
    return torch.cat([network(one.x.float(), one.edge_index, one.batch) for one in batches])


# Numbers --------------------------------------------------------------------------------------


def read_numbers(name: str, folder: Path) -> tuple[Any, Arrays]:
    """Return molecules that can be read, and their numbers."""
    file, column = TABLES[name]
    with (folder / file).open(newline="") as table:
        rows = list(csv.DictReader(table))
    molecules = gl.chem.from_smiles([row["smiles"].strip() for row in rows], errors="skip")
    return molecules, np.array([float(rows[number][column]) for number in molecules.rows])


def parts_of(molecules: Any, split: str, seed: int) -> tuple[Arrays, Arrays, Arrays]:
    if split == "scaffold":
        train, validation, test = gl.chem.scaffold_split(molecules)
        return train, validation, test
    order = np.random.default_rng(seed).permutation(len(molecules))
    cuts = [int(0.8 * len(order)), int(0.9 * len(order))]
    first, second, third = np.split(order, cuts)
    return first, second, third


def predicted(
    model: str,
    name: str,
    graphs: Any,
    y: Arrays,
    parts: tuple[Arrays, Arrays, Arrays],
    seed: int,
) -> tuple[Arrays, str, list[str]]:
    """Return what a model says about the test part, what it is, and what people read of it."""
    train, validation, test = parts
    if model == "mean":
        return np.full(len(test), y[train].mean()), "", []
    settings: dict[str, Any] = {"random_state": seed, "verbose": 0, **NAMES[name]}
    if model == "rule":
        rule = gl.IDTRegressor(**settings).fit(graphs[train], y[train])
        about = f"{len(rule.classes_)} numbers, {rule.rules_.chosen.size} symbols"
        return rule.predict(graphs[test]), about, read_aloud(rule, graphs[train])
    if model == "scorecard":
        card = gl.ScorecardRegressor(**settings).fit(graphs[train], y[train])
        about = f"{len(card.lines_)} lines, {card.card_.size} symbols"
        return card.predict(graphs[test]), about, read_aloud(card, graphs[train])
    centre, scale = y[train].mean(), y[train].std()
    targets = ((y - centre) / scale)[:, None]
    network = trained(graphs, targets, (train, validation), torch.nn.functional.mse_loss, seed)
    told = answers(network, gl.to_pyg(graphs[test]))[:, 0].numpy()
    return told * scale + centre, "3 layers of 64", []


def read_aloud(model: Any, graphs: Any) -> list[str]:
    """Return what people read of a rule or a scorecard, in the words of chemists."""
    words = gl.chem.molecule_words(graphs)
    if isinstance(model, gl.IDTPredictor):
        rule = model.rules_.chosen
        return [
            f"{model.rules_.name_of(value)} ({rule.support[value]:.0%}): "
            f"{formula.to_english(words)}"
            for value, formula in rule.formulas.items()
        ]
    table = model.table()
    lines = [f"{row.points[0]:+d}: {row.formula.to_english(words)}" for row in table.rows]
    return [*lines, table.verdict]


def regression_rows(name: str, folder: Path, seeds: int, done: set[Any], keep: Any) -> None:
    molecules, y = read_numbers(name, folder)
    graphs = molecules.graphs
    for split in SPLITS:
        for seed in range(seeds):
            parts = parts_of(molecules, split, seed)
            for model in ("mean", "rule", "scorecard", "GIN"):
                key = (name, split, model, seed)
                if key in done or (model == "mean" and split == "scaffold" and seed):
                    continue
                start = time.perf_counter()
                told, about, lines = predicted(model, name, graphs, y, parts, seed)
                truth = y[parts[2]]
                keep(
                    key,
                    {
                        "mae": float(np.abs(truth - told).mean()),
                        "r2": float(
                            1 - ((truth - told) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
                        ),
                        "about": about,
                        "seconds": round(time.perf_counter() - start, 1),
                        **({"lines": lines} if lines and not seed else {}),
                    },
                )


# The file and its table -----------------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file; one that was cut short is left out."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def show(rows: list[dict[str, Any]], *, lines: bool) -> None:
    """Print means over seeds, and what people read of rules and scorecards."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["data"], row["split"], row["model"]), []).append(row)
    print("| data | split | model | MAE | R2 | runs |")
    print("|---|---|---|---|---|---|")
    for (data, split, model), group in groups.items():
        columns = [np.array([row[key] for row in group]) for key in ("mae", "r2")]
        figures = [
            f"{column.mean():.2f}" + (f" ± {column.std():.2f}" if len(column) > 1 else "")
            for column in columns
        ]
        print(f"| {data} | {split} | {model} | {' | '.join(figures)} | {len(group)} |")
    for row in rows if lines else ():
        if "lines" in row:
            print("\n".join(["", f"{row['data']}, {row['split']} split", *row["lines"]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="*", metavar="|".join(TABLES))
    parser.add_argument("--smiles", type=Path, default=Path("smiles"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    if unknown := sorted(set(options.data) - set(TABLES)):
        parser.error(f"data must be of {', '.join(TABLES)}. Got {unknown[0]!r} instead.")
    rows = read_rows(options.out)
    done = {(row["data"], row["split"], row["model"], row["seed"]) for row in rows}

    def keep(key: tuple[str, str, str, int], figures: dict[str, Any]) -> None:
        row = dict(zip(("data", "split", "model", "seed"), key, strict=True)) | figures
        rows.append(row)
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)

    if not options.show:
        for name in options.data:
            regression_rows(name, options.smiles, options.seeds, done, keep)
    show(rows, lines=options.lines)


if __name__ == "__main__":
    main()
