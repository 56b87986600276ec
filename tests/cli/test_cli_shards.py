"""Stores on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

import gnn2logic as gl
from cli_runs import FEW, RULE, run, run_json, run_program, save_model
from gnn2logic import datasets
from gnn2logic.exceptions import DataSetError
from tu_texts import write_folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "psi_0 größe"
    run("shard", "psi_0", folder, *FEW, "--shard-nodes", 100)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "psi_0.idt.json")


def test_shard_writes_the_data_set(tmp_path: Path) -> None:
    data = datasets.load("psi_0", n_graphs=60)
    folder = tmp_path / "store"
    plain = run_json("shard", "psi_0", folder, *FEW, "--shard-nodes", 100)
    opened = gl.open_shards(folder)
    assert plain == {
        "dataset": "psi_0",
        "path": str(folder),
        "shards": 9,
        "graphs": 60,
        "nodes": data.graphs.n_nodes,
        "edges": data.graphs.n_edges,
        "predicates": ["U0", "U1"],
        "relations": [],
        "digest": opened.digest,
    }
    assert gl.GraphBatch.concat(opened) == data.graphs
    assert opened.y is not None
    assert opened.y.tolist() == [data.class_names[label] for label in data.y]
    # The same command again has nothing to do, another one is refused, unless it may replace.
    again = run("shard", "psi_0", folder, *FEW, "--shard-nodes", 100)
    assert again.stdout == f"60 graphs of psi_0 in 9 shards: {folder}\n"
    refused = run("shard", "psi_1", folder, *FEW, "--shard-nodes", 100, code=3)
    assert refused.stderr.startswith("error: ")
    assert "overwrite" in refused.stderr
    run("shard", "psi_1", folder, *FEW, "--overwrite", "--split", "test")
    test_part = datasets.load("psi_1", n_graphs=60)
    assert gl.open_shards(folder).n_graphs < len(test_part) / 4


def test_numbers_at_nodes_are_cut_on_all_graphs(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "DS")
    options = ("--shard-nodes", 2, "--data", "node_attributes=true")
    plain = run_json("shard", folder, tmp_path / "store", *options)
    data = datasets.read_tu(folder, node_attributes=True)
    encoder = gl.PredicateEncoder().fit(data.inputs)
    assert plain["predicates"] == list(encoder.names_)
    assert plain["shards"] == 3
    found = gl.GraphBatch.concat(gl.open_shards(tmp_path / "store"))
    assert found == encoder.transform(data.inputs)


@pytest.mark.parametrize("split", ["all", "test", "train"])
@pytest.mark.parametrize("formula", [RULE, "A U1 > 6", "false"])
def test_check_reads_a_store(store: Path, split: str, formula: str) -> None:
    code = 1 if formula != RULE else 0
    found = run_json("check", formula, store, "--split", split, code=code)
    expected = run_json("check", formula, "psi_0", *FEW, "--split", split, code=code)
    assert found.pop("dataset") == store.name
    expected.pop("dataset")
    assert found == expected


def test_check_of_a_store_as_text(store: Path) -> None:
    lines = run("check", RULE, store, "--list").stdout.splitlines()
    expected = run("check", RULE, "psi_0", *FEW, "--list").stdout.splitlines()
    assert [line.replace(store.name, "psi_0") for line in lines] == expected


def test_check_of_a_store_without_labels(tmp_path: Path) -> None:
    batch = gl.random_graphs(20, sizes=13, random_state=0)
    gl.write_shards(tmp_path / "s", batch, shard_nodes=50)
    plain = run_json("check", RULE, tmp_path / "s")
    assert plain["n_satisfied_graphs"] == int(gl.parse(RULE).evaluate(batch).sum())
    assert plain["classes"] == []
    assert plain["best_class"] is None
    assert run("check", RULE, tmp_path / "s", "--split", "test").stdout


@pytest.mark.parametrize("split", ["all", "test"])
def test_evaluate_reads_a_store(store: Path, model: Path, split: str) -> None:
    found = run_json("evaluate", model, store, "--split", split)
    expected = run_json("evaluate", model, "psi_0", *FEW, "--split", split)
    assert found.pop("dataset") == store.name
    expected.pop("dataset")
    assert found == expected


def test_evaluate_knows_what_a_teacher_said(tmp_path: Path, model: Path) -> None:
    batch = gl.random_graphs(20, sizes=13, random_state=0)
    truth = np.where(gl.parse(RULE).evaluate(batch), "true", "false")
    opened = gl.write_shards(tmp_path / "s", batch, truth)
    says = truth.copy()
    says[:5] = "true"
    layers = [np.zeros((batch.n_nodes, 1))]
    opened.add_activations(0, layers, says, classes=["false", "true"])
    plain = run_json("evaluate", model, tmp_path / "s", "--split", "all")
    rule = plain["scores"][0]
    assert rule["accuracy"] == 1.0
    assert rule["fidelity"] == float((says == truth).mean())


def test_evaluate_compares_classes(tmp_path: Path, store: Path) -> None:
    other = tmp_path / "other.idt.json"
    gl.from_formulas({"cat": RULE}, otherwise="dog", names=["U0", "U1"]).save(other)
    result = run("evaluate", other, store, code=3)
    assert "classes of the store, false, true. Its classes are cat, dog" in result.stderr


def test_what_does_not_go_with_a_store(store: Path, model: Path) -> None:
    result = run("check", RULE, store, *FEW, code=2)
    assert "--data is for data sets" in result.stderr
    result = run("check", RULE, store, "--model", model, code=2)
    assert "--model is for data sets" in result.stderr
    for command in (["datasets", store], ["explain", model, store, 0]):
        result = run(*command, *FEW, code=2)
        assert "A shard store is read as it was written" in result.stderr


def test_other_commands_read_a_store_as_a_whole(
    store: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run_json("explain", model, store, 3)
    expected = run_json("explain", model, "psi_0", *FEW, 3)
    assert found.pop("dataset") == store.name
    expected.pop("dataset")
    assert found == expected
    run("report", model, store, "--out", tmp_path / "page.md")
    assert "11 graphs of" in (tmp_path / "page.md").read_text()
    assert store.name in run("datasets", store).stdout
    monkeypatch.setattr("gnn2logic.datasets.stored._MOST_NODES", 100)
    with pytest.raises(DataSetError, match="at most 100 nodes.*has 780"):
        datasets.load_from(str(store))


def test_pairs_of_typed_graphs_with_numbers_at_edges_are_explained(tmp_path: Path) -> None:
    data = HeteroData()
    rng = np.random.default_rng(0)
    data["user"].x = torch.tensor(rng.normal(size=(12, 1)))
    data["item"].num_nodes = 8
    buys = np.array(np.nonzero(rng.random((12, 8)) < 0.4))
    data["user", "buys", "item"].edge_index = torch.tensor(buys)
    data["user", "buys", "item"].price = torch.tensor(rng.uniform(0, 5, buys.shape[1]))
    graph = gl.PredicateEncoder(edge_features="price").fit_transform(data)
    pairs = [(user, item) for user in range(12) for item in range(8)]
    links = gl.link_graphs(graph, pairs, hops=1, node_types=("user", "item"))
    (dear, *_) = [name for name in links.relation_names if "price" in name]
    truth = gl.parse(f'1(A["{dear}"] item > 2 & source) > 0')
    gl.write_shards(tmp_path / "links", links, truth.evaluate(links), shard_nodes=200)
    gl.from_formulas(
        {"True": truth}, otherwise="False", names=links.names, relations=links.relation_names
    ).save(tmp_path / "links.idt.json")
    plain = run_json("explain", tmp_path / "links.idt.json", tmp_path / "links", 5)
    assert plain["label"] == plain["true_class"]
    run("report", tmp_path / "links.idt.json", tmp_path / "links", "--out", tmp_path / "a.html")
    # A model that speaks of something else is told so.
    gl.from_formulas({"True": gl.parse("1 old > 0")}, otherwise="False", names=["old"]).save(
        tmp_path / "old.idt.json"
    )
    result = run("explain", tmp_path / "old.idt.json", tmp_path / "links", 5, code=3)
    assert "It has no 'old'" in result.stderr


def test_a_damaged_store_is_bad_data(tmp_path: Path, model: Path) -> None:
    batch = gl.random_graphs(20, sizes=13, random_state=0)
    gl.write_shards(tmp_path / "s", batch)
    path = tmp_path / "s" / "shard-000000.bin"
    path.write_bytes(path.read_bytes()[:-1])
    for command in (["check", RULE], ["evaluate", model]):
        result = run(*command, tmp_path / "s", code=3)
        assert result.stderr.startswith("error: Cannot read")


def test_the_program_writes_a_store(tmp_path: Path) -> None:
    done = run_program("shard", "psi_0", "out", *FEW, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["graphs"] == 60
    refused = run_program("shard", "psi_0", tmp_path, cwd=tmp_path)
    assert refused.returncode == 3
    assert "holds other files" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_rules_are_learned_from_a_store(store: Path, tmp_path: Path) -> None:
    out, checkpoint = tmp_path / "rule.idt.json", tmp_path / "layers"
    common = ("--variant", "true", "--layers", 1, "--out", out)
    plain = run_json(
        "distill", store, *common, "--max-memory", "600 MiB", "--checkpoint", checkpoint
    )
    assert plain["dataset"] == store.name
    assert plain["scores"][0]["rule_accuracy"] == 1.0
    assert plain["scores"][0]["graphs"] == 60
    assert not checkpoint.exists()
    opened = gl.open_shards(store)
    expected = gl.IDTClassifier(1, random_state=0).fit(opened)
    label = expected.classes_.tolist()[0]
    assert plain["formulas"][label] == str(expected.formula(label))
    assert gl.load(out).score(opened) == 1.0


def test_a_network_is_distilled_on_a_store(store: Path, tmp_path: Path) -> None:
    network, out = tmp_path / "net.safetensors", tmp_path / "rule.idt.json"
    small = ("--layers", 1, "--hidden", 16, "--epochs", 40, "--gnn", "lr=0.01")
    run("train", "psi_0", *FEW, *small, "--out", network)
    plain = run_json("distill", store, "--teacher", network, "--out", out)
    (scores,) = plain["scores"]
    assert scores["fidelity"] is not None
    assert scores["network_accuracy"] is not None
    assert gl.open_shards(store).n_activation_layers == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--teacher must be given for a folder of shards"),
        (("--variant", "true", "--data", "n_graphs=3"), "--data is for data sets"),
        (("--variant", "true", "--max-memory", "lots"), "max_memory must be a number of bytes"),
        (("--dask", "tcp://x:1", "--max-memory", "1 GiB"), "Leave it out with --dask"),
    ],
)
def test_what_learning_from_a_store_needs(
    options: tuple[str, ...], message: str, store: Path, tmp_path: Path
) -> None:
    refused = run("distill", store, "--out", tmp_path / "x.json", *options, code=2)
    assert message in refused.stderr
