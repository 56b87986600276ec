"""Commands about rules and data; none of them needs torch."""

from __future__ import annotations

import errno
import json
import os
import shlex
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

import gnn2logic as gl
from cli_runs import FEW, RULE, run, run_json, save_model
from gnn2logic import datasets
from gnn2logic.cli.app import COMMANDS
from gnn2logic.cli.data import read_data
from gnn2logic.cli.options import DataSplit
from tu_texts import write_folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "psi_0.idt.json")


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose classes are 0 and 1, as Python users fit them."""
    path = tmp_path_factory.mktemp("models") / "numbers.idt.json"
    gl.from_formulas({1: RULE}, otherwise=0, names=["U0", "U1"]).save(path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_that_name_it(command: str) -> None:
    text = run(command, "--help").stdout
    assert run(command, "-h").stdout == text
    examples = text.partition("Examples:")[2].strip().splitlines()
    assert examples
    assert any(f"gnn2logic {command}" in line for line in examples)
    for line in examples:
        assert shlex.split(line)[0] == "gnn2logic"


# distill --------------------------------------------------------------------------------------


def test_rules_are_learned_from_labels_alone(tmp_path: Path) -> None:
    out = tmp_path / "psi_1.idt.json"
    given = ("distill", "psi_1", "--data", "n_graphs=300", "--variant", "true", "--layers", "1")
    plain = run_json(*given, "--quiet", "--out", out)
    chosen = read_data("psi_1", ["n_graphs=300"], DataSplit.TRAIN)
    idt = gl.IDTClassifier(n_layers=1, random_state=0).fit(chosen.graphs, chosen.labels)
    assert plain["formulas"] == {own: str(idt.formula(own)) for own in ("false", "true")}
    assert [row["rule_accuracy"] for row in plain["scores"]] == [1.0, 1.0]
    assert plain["scores"][0]["network_accuracy"] is plain["scores"][0]["fidelity"] is None
    assert (gl.load(out).predict(chosen.graphs) == idt.predict(chosen.graphs)).all()


# datasets -------------------------------------------------------------------------------------


def test_datasets_lists_the_registry() -> None:
    lines = run("datasets").stdout.splitlines()
    assert lines[0].split() == ["name", "graphs", "nodes", "edges", "features", "classes", "source"]
    assert [line.split()[0] for line in lines[1:]] == list(datasets.names())
    assert run_json("datasets")[5] == {
        "name": "AIDS",
        "graphs": 2000,
        "nodes": 15.69,
        "edges": 16.2,
        "features": 38,
        "classes": 2,
        "source": "TU",
    }


def test_datasets_describes_one() -> None:
    data = datasets.load("psi_1", n_graphs=60)
    assert run("datasets", "psi_1", *FEW).stdout == f"{data}\n\n{data.description}\n"
    plain = run_json("datasets", "psi_1", *FEW)
    assert plain["graphs"] == sum(plain["classes"].values()) == 60
    assert gl.parse(plain["truth"]) == data.truth


def test_a_folder_is_a_data_set(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "DS")
    plain = run_json("datasets", folder, "--data", "edge_labels=true")
    assert plain["classes"] == {"-1": 1, "1": 2}
    assert plain["relations"] == ["0", "1"]
    assert run_json("datasets", folder, "--data", "node_labels=false")["features"] == []
    result = run("datasets", folder, "--data", "labels=1", code=2)
    assert "node_labels" in result.stderr


def test_a_folder_as_pytorch_geometric_keeps_it(tmp_path: Path) -> None:
    write_folder(tmp_path / "DS" / "raw")
    (tmp_path / "DS" / "processed").mkdir()
    assert run("datasets", tmp_path / "DS").stdout.startswith("DS ")


def test_a_folder_with_bad_files_is_bad_data(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "DS", graph_labels="1\nx\n1\n")
    result = run("check", "true", folder, code=3)
    assert result.stderr.startswith("error: ")
    assert "DS_graph_labels.txt, line 2" in result.stderr


# formula --------------------------------------------------------------------------------------


def test_formula_in_every_notation(model: Path) -> None:
    rule = gl.parse(RULE)
    expected = {
        "text": RULE,
        "unicode": rule.to_unicode(),
        "latex": rule.to_latex(),
        "c2": str(rule.to_c2()),
        "english": rule.to_english(),
    }
    for notation, text in expected.items():
        arguments = ("formula", model, "--class", "true", "--as", notation)
        assert run(*arguments).stdout == f"{text}\n"
        assert run("formula", RULE, "--as", notation).stdout == f"{text}\n"
    for source in ([model, "--class", "true"], [RULE]):
        for way in (["--as", "json"], ["--json"]):
            assert gl.from_json(run("formula", *source, *way).stdout) is rule


def test_formula_of_all_classes(model: Path, numbered: Path) -> None:
    assert run("formula", model).stdout.splitlines() == ["false: 1 U1 < 7", "true: 1 U1 > 6"]
    assert run("formula", numbered).stdout.splitlines() == ["0: 1 U1 < 7", "1: 1 U1 > 6"]
    assert set(run_json("formula", model)) == {"false", "true"}
    assert run("formula", numbered, "--class", 1).stdout == f"{RULE}\n"


def test_formula_from_stdin_and_simplified() -> None:
    long = "A U1 = 0 | (A U1 > 0 & A U1 > 1)"
    assert run("formula", "-", "--simplify", stdin=long).stdout == "A U1 != 1\n"


def test_a_formula_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnn2logic.cli.formula._MOST_CHARACTERS", 30)
    assert run("formula", "-", stdin="U0 |".ljust(28) + "U1").stdout == "U0 | U1\n"
    result = run("formula", "-", stdin="U0 |".ljust(29) + "U1", code=2)
    assert "A formula from stdin must have at most 30 characters" in result.stderr


NESTED = "1(A(U0 & A(U1 | A U0 > 1) > 2 & A(A U0 = 0) > 0) > 1) > 10"


def test_long_formulas_are_told_in_steps() -> None:
    first, *steps = run("formula", NESTED, "--as", "english").stdout.splitlines()
    assert first == "more than 10 nodes have more than 1 neighbour in group (a)"
    assert [line[:19] for line in steps] == ["  (a) nodes that ar"]
    checked = run("check", f"!({NESTED})", "psi_0", *FEW).stdout.splitlines()
    assert checked[1] == "in words  at most 10 nodes have more than 1 neighbour in group (a)"
    assert checked[2].strip() == steps[0].strip()


def test_shares_in_c2_need_a_size() -> None:
    failed = run("formula", "A U0 > 1/2", "--as", "c2", code=2)
    assert "Give --max-size D" in failed.stderr
    written = run("formula", "A U0 > 1/2", "--as", "c2", "--max-size", "2").stdout
    at_most_2 = gl.parse("A true = 1 & A U0 > 0 | A true = 2 & A U0 > 1")
    assert gl.equivalent(gl.from_c2(gl.parse_c2(written)), at_most_2, max_nodes=3)
    assert "--max-size is for --as c2" in run("formula", "U0", "--max-size", "2", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--class", "maybe"], "must be one of false, true. Got 'maybe'"),
        (["--as", "klingon"], "klingon"),
    ],
)
def test_wrong_options_of_formula(model: Path, arguments: list[str], message: str) -> None:
    assert message in run("formula", model, *arguments, code=2).stderr


def test_what_is_no_model_and_no_formula(tmp_path: Path, model: Path) -> None:
    assert "no file and no formula" in run("formula", "hello@", code=2).stderr
    assert "is for models" in run("formula", "U0", "--class", "1", code=2).stderr
    broken = tmp_path / "broken.idt.json"
    broken.write_bytes(model.read_bytes()[:-40])
    assert "Cannot load" in run("formula", broken, code=3).stderr
    pickled = tmp_path / "model.idt.json"
    pickled.write_bytes(b"\x80\x04K\x01.")
    assert "Cannot load" in run("evaluate", pickled, "psi_0", code=3).stderr


# check ----------------------------------------------------------------------------------------


def test_check_agrees_with_scikit_learn() -> None:
    formula = gl.parse("1 U1 > 5 & 1(A U0 > 6) > 3")
    data = datasets.load("psi_0", n_graphs=60)
    holds = formula.evaluate(data.graphs)
    plain = run_json("check", formula, "psi_0", *FEW)
    assert plain["n_satisfied_graphs"] == holds.sum()
    assert 0 < holds.sum() < 60
    for number, score in enumerate(plain["classes"]):
        truth = data.y == number
        assert score["name"] == data.class_names[number]
        assert score["graphs"] == truth.sum()
        assert score["accuracy"] == pytest.approx(accuracy_score(truth, holds))
        assert score["precision"] == pytest.approx(precision_score(truth, holds))
        assert score["recall"] == pytest.approx(recall_score(truth, holds))
        assert score["f1"] == pytest.approx(f1_score(truth, holds))
    best = max(plain["classes"], key=lambda score: score["f1"])
    assert plain["best_class"] == best["name"]


def test_check_names_graphs_and_nodes() -> None:
    formula = gl.parse("A U0 > 2 & U1")
    data = datasets.load("psi_0", n_graphs=60)
    plain = run_json("check", formula, "psi_0", *FEW, code=1)
    nodes = formula.evaluate(data.graphs, level="node")
    found = {(place["graph"], node) for place in plain["graphs"] for node in place["nodes"]}
    expected = {
        (
            int(data.graphs.graph_index[row]),
            int(row - data.graphs.ptr[data.graphs.graph_index[row]]),
        )
        for row in np.flatnonzero(nodes)
    }
    assert found == expected
    assert not any(place["satisfied"] for place in plain["graphs"])


def test_check_of_the_truth_is_perfect_and_says_so() -> None:
    data = datasets.load("psi_1", n_graphs=60)
    result = run("check", data.truth, "psi_1", *FEW)
    *_, row, _, graphs = result.stdout.splitlines()
    n_true = int(data.y.sum())
    assert row.split() == ["true", str(n_true), *["1.0000"] * 4, "best"]
    first = ", ".join(map(str, np.flatnonzero(data.y)[:20]))
    assert graphs == f"true in graphs {first}, ... (--list names all)"


def test_check_lists_all() -> None:
    text = run("check", "1 U1 > 6", "psi_0", "--data", "n_graphs=10", "--list").stdout
    data = datasets.load("psi_0", n_graphs=10)
    lines = [line for line in text.splitlines() if line.startswith("true  graph")]
    assert [int(line.split()[2]) for line in lines] == np.flatnonzero(data.y).tolist()


def test_a_formula_of_no_graph_is_a_negative_answer() -> None:
    nowhere = run("check", "1 U0 > 99", "psi_0", *FEW, code=1)
    assert "true in 0 of 60" in nowhere.stdout
    assert "best" not in nowhere.stdout
    assert nowhere.stderr == ""
    somewhere = run("check", "U1", "psi_0", *FEW, code=1)
    assert "1(...) > 0" in somewhere.stderr
    assert run("check", "U1", "psi_0", *FEW, "--quiet", code=1).stderr == ""


def test_parts_are_disjoint_and_keep_their_numbers() -> None:
    shares, numbers = [], {}
    for split in ("train", "test", "all"):
        plain = run_json("check", "1 true > 0", "psi_0", "--split", split, *FEW)
        numbers[split] = {place["graph"] for place in plain["graphs"]}
        shares.append(plain["classes"][1]["graphs"] / plain["n_graphs"])
    assert numbers["train"] | numbers["test"] == numbers["all"] == set(range(60))
    assert not numbers["train"] & numbers["test"]
    assert len(numbers["test"]) == 11
    assert np.ptp(shares) < 0.1


def test_too_few_graphs_to_test_on(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "DS")
    assert "--split all" in run("check", "true", folder, "--split", "test", code=3).stderr


# evaluate, explain, plot, report ----------------------------------------------------------------


def test_evaluate_uses_the_names_of_classes(model: Path, numbered: Path) -> None:
    for path in (model, numbered):
        plain = run_json("evaluate", path, "psi_0", "--split", "all", *FEW)
        n_true = int(datasets.load("psi_0", n_graphs=60).y.sum())
        assert plain["classes"] == ["false", "true"]
        assert plain["confusion"] == [[60 - n_true, 0], [0, n_true]]
        assert plain["scores"][0]["accuracy"] == plain["scores"][0]["macro_f1"] == 1.0
        assert plain["agreement"] is None


def test_evaluate_against_scikit_learn(tmp_path: Path) -> None:
    path = save_model(tmp_path / "m.idt.json", "1 U1 > 7")
    data = datasets.load("psi_0", n_graphs=60)
    predicted = gl.parse("1 U1 > 7").evaluate(data.graphs)
    plain = run_json("evaluate", path, "psi_0", "--split", "all", *FEW)
    rule = plain["scores"][0]
    assert rule["accuracy"] == pytest.approx(accuracy_score(data.y, predicted))
    assert rule["macro_f1"] == pytest.approx(f1_score(data.y, predicted, average="macro"))
    text = run("evaluate", path, "psi_0", "--split", "all", *FEW).stdout
    assert f"rule        {rule['accuracy']:.4f}    {rule['macro_f1']:.4f}" in text


def test_a_model_of_other_classes_is_bad_data(model: Path) -> None:
    result = run("evaluate", model, "BA-2Motifs", *FEW, code=3)
    assert "house, cycle. Its classes are false, true" in result.stderr


def test_explain_in_words_json_and_picture(numbered: Path, tmp_path: Path) -> None:
    data = datasets.load("psi_0", n_graphs=60)
    name = data.class_names[data.y[3]]
    picture = tmp_path / "why.png"
    result = run("explain", numbered, "psi_0", 3, *FEW, "--picture", picture)
    assert result.stdout.startswith(f"Graph 3 of psi_0, whose class is {name}\nPredicted class: ")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in result.stderr
    plain = run_json("explain", numbered, "psi_0", 3, *FEW)
    assert plain["label"] == plain["true_class"] == name
    assert plain["conditions"][0]["count"] == data.graphs[3].column("U1").sum()


def test_explain_a_node(tmp_path: Path) -> None:
    path = tmp_path / "node.idt.json"
    gl.from_formulas(
        {"busy": "A true > 5"}, otherwise="calm", names=["U0", "U1"], level="node"
    ).save(path)
    plain = run_json("explain", path, "psi_0", 0, "--node", 2, *FEW)
    degree = datasets.load("psi_0", n_graphs=60).graphs[0].adjacency[[2]].sum()
    assert plain["label"] == ("busy" if degree > 5 else "calm")
    assert run("explain", path, "psi_0", 0, *FEW, code=2).stderr.startswith("error: ")


def test_explain_a_graph_that_is_not_there(model: Path) -> None:
    assert "must be below 60" in run("explain", model, "psi_0", 60, *FEW, code=2).stderr


@pytest.mark.parametrize("what", ["idt", "tree", "rules"])
@pytest.mark.parametrize(
    ("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_plot(model: Path, tmp_path: Path, what: str, ending: str, start: bytes) -> None:
    out = tmp_path / f"picture.{ending}"
    assert run("plot", model, "--what", what, "--out", out).stdout == ""
    assert out.read_bytes().startswith(start)


def test_plot_on_a_data_set(tmp_path: Path) -> None:
    """The rule is wrong about some graphs, and the pictures say about how many."""
    path = save_model(tmp_path / "half.idt.json", "1 U1 > 7")
    scores = run_json("evaluate", path, "psi_0", *FEW, "--split", "all")["scores"]
    accuracy = f"{scores[0]['accuracy']:.3f}"
    assert accuracy != "1.000"
    for what in ("confusion", "rules"):
        out = tmp_path / f"{what}.svg"
        run("plot", path, "psi_0", *FEW, "--split", "all", "--what", what, "--out", out)
        assert accuracy in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--what", "confusion"], "needs a DATASET"),
        (["psi_0", "--what", "fidelity"], "needs a --teacher"),
    ],
)
def test_plot_without_what_it_needs(
    model: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    out = tmp_path / "x.png"
    assert message in run("plot", model, *arguments, "--out", out, code=2).stderr
    assert not out.exists()


def test_report_in_three_forms(model: Path, tmp_path: Path) -> None:
    given = ("report", model, "psi_0", *FEW, "--title", "Ours", "--examples", 1, "--quiet", "--out")
    for ending, start in (("html", "<!doctype html>"), ("md", "# Ours"), ("json", "{")):
        out = tmp_path / f"report.{ending}"
        result = run(*given, out)
        assert result.stdout == result.stderr == ""
        assert out.read_text(encoding="utf-8").startswith(start)
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert document["data"]["n_graphs"] == 11
    assert {own["name"] for own in document["data"]["classes"]} == {"false", "true"}


@pytest.mark.parametrize(
    ("command", "name", "message"),
    [
        ("plot", "x.jpg", "must end in .png or .svg or .pdf"),
        ("report", "x.docx", "must end in .html or .md or .json"),
    ],
)
def test_files_of_unknown_kinds(
    model: Path, tmp_path: Path, command: str, name: str, message: str
) -> None:
    given = [command, model, *(["psi_0"] if command == "report" else [])]
    assert message in run(*given, "--out", tmp_path / name, code=2).stderr


def test_a_file_that_cannot_be_written(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No such file" in run("plot", model, "--out", tmp_path / "no" / "x.svg", code=3).stderr
    (tmp_path / "folder.svg").mkdir()
    assert "directory" in run("plot", model, "--out", tmp_path / "folder.svg", code=3).stderr
    old = tmp_path / "old.svg"
    old.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("gnn2logic._files.os.fsync", full)
    result = run("plot", model, "--out", old, code=3)
    assert result.stderr == f"error: {old}: cannot be written. No space left on device\n"
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.svg", "old.svg"]


@pytest.mark.skipif(os.name != "posix", reason="needs devices and links")
def test_links_and_devices_are_written_to(model: Path, tmp_path: Path) -> None:
    device, link = tmp_path / "device.svg", tmp_path / "link.svg"
    device.symlink_to(os.devnull)
    run("plot", model, "--out", device)
    assert device.is_symlink()
    assert device.is_char_device()
    link.symlink_to("there/real.svg")
    assert "No such file" in run("plot", model, "--out", link, code=3).stderr
    (tmp_path / "there").mkdir()
    run("plot", model, "--out", link)
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.svg").read_text().startswith("<?xml")
