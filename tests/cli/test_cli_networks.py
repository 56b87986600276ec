"""Commands that train networks and ask them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import oracle
from cli_runs import FEW, run, run_json, run_program, save_model

pytest.importorskip("torch_geometric", reason="needs the extra 'torch'")

import gnn2logic as gl
from gnn2logic import datasets
from gnn2logic.idt.formulas import column_formulas
from gnn2logic.logic import TRUE
from gnn2logic.logic.documents import formula_to_document
from gnn2logic.models import load_gnn

TINY = ["--layers", "1", "--hidden", "4", "--epochs", "2", "--quiet"]
# Quick, and the paper's algorithm.
NARROW = ("--idt", "algorithm=layers", "--idt", "width=2")
# Enough to say both things about graphs.
SMALL = [
    *("--conv", "gcn", "--layers", "1", "--hidden", "8", "--epochs", "30", "--gnn", "lr=0.05"),
    "--quiet",
]

NETWORKS = """
import torch
from torch_geometric.nn import GCNConv, Sequential, global_add_pool

import gnn2logic as gl

def network():
    torch.manual_seed(0)
    return Sequential("x, edge_index, batch", [
        (GCNConv(2, 4), "x, edge_index -> x"),
        (GCNConv(4, 2), "x, edge_index -> x"),
        (global_add_pool, "x, batch -> x"),
    ])

def teacher():
    return gl.Teacher(network(), classes=["true", "false"])

def numbers():
    return gl.Teacher(network(), classes=[1, 0])

def foreign():
    return gl.Teacher(network(), classes=["cat", "dog"])

def broken():
    return torch.nn.Linear("wide")

def three():
    return 3

constant = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained network and the rules that were distilled from it."""
    place = tmp_path_factory.mktemp("networks")
    run("train", "psi_0", *FEW, *SMALL, "--out", place / "gnn.safetensors")
    run(
        *("distill", "psi_0", *FEW, "--teacher", place / "gnn.safetensors", "--quiet"),
        *(*NARROW, "--out", place / "rules.idt.json"),
    )
    (place / "my_networks.py").write_text(NETWORKS, encoding="utf-8")
    return place


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def test_train_saves_a_network_of_the_named_classes(folder: Path, tmp_path: Path) -> None:
    network = load_gnn(folder / "gnn.safetensors")
    assert network.classes_.tolist() == ["false", "true"]
    assert (network.conv, network.n_layers, network.hidden) == ("gcn", 1, 8)
    shown = [own for own in SMALL if own != "--quiet"]
    plain = run_json("train", "psi_0", *FEW, *shown, "--out", tmp_path / "a.safetensors")
    # Progress is no part of the network.
    assert load_gnn(tmp_path / "a.safetensors").verbose == network.verbose == 0
    weights = load_gnn(tmp_path / "a.safetensors").module_.state_dict()
    for name, value in network.module_.state_dict().items():
        assert (weights[name] == value).all()
    data = datasets.load("psi_0", n_graphs=60)
    right = network.predict(data.graphs) == np.array(data.class_names)[data.y]
    sizes = [score["graphs"] for score in plain["scores"]]
    accuracies = [score["network_accuracy"] for score in plain["scores"]]
    assert sizes == [49, 11]
    assert np.dot(sizes, accuracies) == pytest.approx(right.sum())


def test_other_settings_of_the_network(tmp_path: Path) -> None:
    out = tmp_path / "gnn.safetensors"
    run("train", "psi_0", *FEW, *TINY, "--gnn", "pooling=mean", "--gnn", "lr=0.5", "--out", out)
    network = load_gnn(out)
    assert (network.pooling, network.lr) == ("mean", 0.5)
    unknown = run("train", "psi_0", *FEW, *TINY, "--gnn", "size=1", "--out", out, code=2)
    assert "weight_decay" in unknown.stderr
    assert (
        "lr must be"
        in run("train", "psi_0", *FEW, *TINY, "--gnn", "lr=-1", "--out", out, code=2).stderr
    )


def test_distill_saves_the_rules_that_it_prints(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rules.idt.json"
    given = ("distill", "psi_0", *FEW, "--teacher", folder / "gnn.safetensors")
    result = run(*given, *NARROW, "--out", out)
    saved = gl.load(out)
    assert out.read_bytes() == (folder / "rules.idt.json").read_bytes()
    assert str(saved) in result.stdout
    assert f"Saved in {out}" in result.stderr
    assert saved.classes_.tolist() == ["false", "true"]
    assert saved._parameters["width"] == 2


def test_distill_trains_a_network_and_keeps_it(tmp_path: Path) -> None:
    rules, network = tmp_path / "r.idt.json", tmp_path / "n.safetensors"
    given = ("distill", "psi_0", *FEW, *TINY, "--variant", "true", *NARROW)
    plain = run_json(*given, "--out", rules, "--save-teacher", network)
    assert plain["scores"][0]["rule_accuracy"] > 0.9
    agreed = run_json("evaluate", rules, "psi_0", *FEW, "--teacher", network)["scores"][0]
    assert agreed["fidelity"] == plain["scores"][1]["fidelity"]
    assert plain["formulas"] == {
        label: str(gl.load(rules).formula(label)) for label in ("false", "true")
    }


def test_labels_decide_the_final_tree(folder: Path, tmp_path: Path) -> None:
    given = ("distill", "psi_0", *FEW, "--teacher", folder / "gnn.safetensors", *NARROW)
    files = [tmp_path / "flag.idt.json", tmp_path / "name.idt.json"]
    run(*given, "--quiet", "--labels", "--out", files[0])
    run(*given, "--quiet", "--variant", "gnn+true", "--out", files[1])
    assert files[0].read_bytes() == files[1].read_bytes()
    both = run(*given, "--labels", "--variant", "gnn", "--out", files[0], code=2)
    assert "labels must not be given" in both.stderr
    assert files[0].read_bytes() == files[1].read_bytes()


def test_evaluate_explain_and_report_beside_the_network(folder: Path, tmp_path: Path) -> None:
    given = (folder / "rules.idt.json", "psi_0")
    teacher = ("--teacher", folder / "gnn.safetensors")
    network, rules = load_gnn(folder / "gnn.safetensors"), gl.load(folder / "rules.idt.json")
    graphs = datasets.load("psi_0", n_graphs=60).graphs
    plain = run_json("evaluate", *given, *FEW, *teacher, "--split", "all")
    assert plain["scores"][0]["fidelity"] == gl.fidelity(rules, network, graphs)
    assert sum(map(sum, plain["agreement"])) == 60
    assert "teacher says" in run("evaluate", *given, *FEW, *teacher).stdout
    said = run_json("explain", *given, 5, *FEW, *teacher)["teacher"]
    assert said["label"] == network.predict(graphs[5]).tolist()[0]
    run("report", *given, *FEW, *teacher, "--out", tmp_path / "report.json", "--examples", 1)
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert document["teacher"]["name"] == "GNNClassifier (gcn)"
    for what in ("fidelity", "rules"):
        out = tmp_path / f"{what}.svg"
        run("plot", *given, *FEW, *teacher, "--what", what, "--out", out)
        assert "fidelity" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("factory", "classes"),
    [
        ("network", ["false", "true"]),
        ("teacher", ["true", "false"]),
        ("numbers", ["true", "false"]),
    ],
)
def test_a_network_of_the_user(
    here: Path, factory: str, classes: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "mine.idt.json"
    run(
        *("distill", "psi_0", *FEW, "--teacher", f"my_networks:{factory}", "--quiet"),
        *(*NARROW, "--out", out),
    )
    assert set(gl.load(out).classes_.tolist()) == set(classes)
    plain = run_json(
        "evaluate", out, "psi_0", *FEW, "--teacher", f"my_networks:{factory}", "--quiet"
    )
    # The untrained network says one thing about all graphs; which one depends on the names.
    assert plain["scores"][0]["fidelity"] == 1.0
    assert sum(plain["agreement"][plain["classes"].index(classes[0])]) in (0, 11)


@pytest.mark.parametrize(
    ("factory", "code", "message"),
    [
        ("my_networks:broken", 3, "failed with TypeError"),
        ("my_networks:three", 3, "Got int instead"),
        ("my_networks:foreign", 3, "Its classes are cat, dog"),
        ("my_networks:constant", 2, "constant is no function"),
        ("my_networks:missing", 2, "missing is no function"),
        ("no_such_module:f", 2, "there is none"),
        ("neither", 2, "must be a file NAME.safetensors"),
        ("missing.safetensors", 3, "missing.safetensors: there is no such network"),
    ],
)
def test_networks_that_cannot_be_used(here: Path, factory: str, code: int, message: str) -> None:
    result = run(
        "distill", "psi_0", *FEW, "--teacher", factory, "--out", here / "x.json", code=code
    )
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert not (here / "x.json").exists()


def test_the_line_of_a_broken_factory_is_named(here: Path) -> None:
    given = ("distill", "psi_0", *FEW, "--teacher", "my_networks:broken", "--out", here / "x.json")
    line = NETWORKS.splitlines().index('    return torch.nn.Linear("wide")') + 1
    assert f"my_networks.py, line {line})" in run(*given, code=3).stderr


def test_nothing_is_trained_for_a_file_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnn2logic.cli.teachers.train_network", None)
    for name in ("no/gnn.safetensors", "gnn.pt"):
        run("train", "psi_0", "--out", tmp_path / name, code=3 if "/" in name else 2)
    run("distill", "psi_0", "--out", tmp_path / "no" / "r.json", code=3)


def test_wrong_settings_of_the_rules(tmp_path: Path) -> None:
    result = run("distill", "psi_0", "--idt", "wdth=2", "--out", tmp_path / "r.json", code=2)
    assert "--idt must be KEY=VALUE" in result.stderr
    assert "leaf_sets" in result.stderr


def test_numbers_at_the_nodes(tmp_path: Path) -> None:
    """Train, distil, evaluate, explain and check on a folder whose nodes have numbers."""
    rng = np.random.default_rng(0)
    n_graphs, size = 40, 4
    heat = rng.random((n_graphs, size)).round(2)
    folder = tmp_path / "HEAT"
    folder.mkdir()
    starts = np.arange(n_graphs) * size
    texts = {
        "A": [f"{s + 1}, {s + 2}\n{s + 2}, {s + 1}" for s in starts],
        "graph_indicator": [str(g + 1) for g in range(n_graphs) for _ in range(size)],
        "graph_labels": [str(int(row.max() > 0.8)) for row in heat],
        "node_attributes": [str(own) for row in heat for own in row],
    }
    for part, lines in texts.items():
        (folder / f"HEAT_{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules, network = tmp_path / "r.idt.json", tmp_path / "n.safetensors"
    numbers = ("--data", "node_attributes=true")
    run(
        *("distill", folder, *numbers, *TINY, "--variant", "true", *NARROW),
        *("--out", rules, "--save-teacher", network),
    )
    plain = run_json("evaluate", rules, folder, *numbers, "--teacher", network, "--split", "all")
    assert plain["scores"][0]["accuracy"] > 0.8
    run("explain", rules, folder, 0, *numbers, "--teacher", network)
    rule = run("formula", rules, "--class", "1").stdout
    assert "x0 >" in rule
    assert "no predicate" in run("check", rule, folder, *numbers, code=2).stderr
    checked = run_json("check", rule, folder, *numbers, "--model", rules)
    assert checked["classes"][1]["accuracy"] == plain["scores"][0]["accuracy"]


def test_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets, "load", partial(datasets.load, n_graphs=400))
    result = run("demo", "--epochs", 40)
    assert "rule and network agree about" in result.stdout
    assert "Training" in result.stderr
    files = {path.name for path in Path("demo").iterdir()}
    assert {"report.html", "rule.idt.json", "rule.png", "two_shapes.png"} < files
    assert all(str(Path("demo") / name) in result.stdout for name in files)

    # What the demo says about the shapes, counted once more by the oracle.
    data = datasets.load("BAMultiShapes", random_state=0)
    test = data.take(np.random.default_rng(0).permutation(len(data))[:200])
    loaded = gl.load(Path("demo") / "rule.idt.json")
    assert isinstance(loaded, gl.IDTPredictor)
    model = loaded.model_
    wanted = {split.column for split in model.final.splits if split is not None}
    assert wanted
    by_column = column_formulas(model, wanted)
    counts = {str(by_column[column]): by_column[column] for column in wanted}
    plain = [
        oracle.PlainGraph(
            graph.n_nodes,
            {name: graph.column(name).tolist() for name in graph.names},
            [
                (int(row), int(col), None)
                for row, col in zip(*graph.adjacency.nonzero(), strict=True)
            ],
        )
        for graph in test.graphs
    ]
    truths = {
        text: np.concatenate([oracle.truth(formula_to_document(formula), graph) for graph in plain])
        for text, formula in counts.items()
        if formula is not TRUE
    }
    inside = test.mask
    assert inside is not None
    share = inside[np.any(list(truths.values()), axis=0)].mean()
    assert f"{share:.1%} of the nodes that the rule counts are in a shape" in result.stdout
    assert f"and {inside.mean():.1%} of all nodes are" in result.stdout
    # The share of some count alone differs from that of all nodes, or nothing is tested here.
    assert any(abs(inside[own].mean() - inside.mean()) > 0.1 for own in truths.values())
    for own in truths.values():
        assert f"{inside[own].mean():6.1%} of {own.sum():5} nodes: " in result.stdout


@pytest.mark.parametrize("command", ["train", "distill"])
def test_networks_that_say_nothing_are_told(command: str, tmp_path: Path) -> None:
    out = tmp_path / ("net.safetensors" if command == "train" else "rule.idt.json")
    loud = [own for own in TINY if own != "--quiet"]
    done = run_program(command, "psi_1", *FEW, *loud, "--gnn", "lr=1e-9", "--out", out)
    assert done.returncode == 0
    assert "warning: The network is not better than saying the most frequent class" in done.stderr


def test_certificates_of_a_rule_and_its_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "certified_networks.py").write_text(
        "import gnn2logic as gl\n"
        "def same():\n    return gl.to_gnn(gl.parse('1 U1 > 6'), names=['U0', 'U1'])\n"
        "def other():\n    return gl.to_gnn(gl.parse('1 U1 > 2'), names=['U0', 'U1'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    model = save_model(tmp_path / "rule.idt.json", "1 U1 > 6")
    options = ["psi_0", *FEW, "--split", "all", "--teacher"]
    plain = run_json("certify", model, *options, "certified_networks:same")
    assert (plain["grade"], plain["n_compared"], plain["n_disagreements"]) == ("statistical", 60, 0)
    (tmp_path / "sample.json").write_text(json.dumps(plain))
    page = tmp_path / "page.md"
    report = ["report", model, *options, "certified_networks:same", "--examples", 0, "--out", page]
    run(*report, "--certificate", tmp_path / "sample.json")
    assert "A sample: no difference was seen" in page.read_text()
    assert "certify --json" in run(*report, "--certificate", page, code=2).stderr
    small = ["--grade", "exhaustive", "--max-nodes", 3]
    proven = run("certify", model, *options, "certified_networks:same", *small)
    assert "up to isomorphism, were run" in proven.stdout
    looped = run(
        "certify", model, *options, "certified_networks:same", *small, "--graph-class=looped"
    )
    assert "that may have self loops" in looped.stdout
    few = run(
        "certify", model, *options, "certified_networks:same", *small, "--max-graphs=5", code=3
    )
    assert "max_graphs allows 5" in few.stderr
    for unread in ("--margin=1", "--max-graphs=5", "--graph-class=looped"):
        ignored = run("certify", model, *options, "certified_networks:same", unread, code=2)
        assert f"{unread.partition('=')[0]} goes with --grade" in ignored.stderr
    differs = run("certify", model, *options, "certified_networks:other", *small, code=1)
    assert "differ on a graph with 3 nodes" in differs.stdout
    assert "disagreement" in differs.stdout
