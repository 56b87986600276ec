from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import gnn2logic as gl
from gnn2logic._digests import digest_of_document
from gnn2logic.exceptions import (
    LabelError,
    ModelFileError,
    ParameterError,
    SingleClassWarning,
    TeacherError,
    UnsupportedInputError,
)

TRUTHS = {"many": "1 U1 > 4", "busy": "1(A U0 > 2) > 1"}
GRAPHS = gl.random_graphs(300, sizes=8, random_state=0)
ALL = np.column_stack([gl.parse(text).evaluate(GRAPHS) for text in TRUTHS.values()])
Y = ALL.astype(float)
Y[:50, 1] = np.nan
Y[200:280, 0] = np.nan


def rules(**settings: Any) -> gl.IDTClassifier:
    return gl.IDTClassifier(**({"n_layers": 1, "random_state": 0} | settings))


def cards(**settings: Any) -> gl.ScorecardClassifier:
    return gl.ScorecardClassifier(**({"n_layers": 1, "max_lines": 1, "random_state": 0} | settings))


def several(estimator: Any, **settings: Any) -> gl.MultiTargetEstimator:
    return gl.MultiTargetEstimator(
        estimator, **({"targets": list(TRUTHS), "missing": "skip"} | settings)
    )


class Frame:
    """What is read of a data frame."""

    def __init__(self, values: Any, columns: list[str]) -> None:
        self.values, self.columns = values, columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.values, dtype=dtype)


class Heads(torch.nn.Module):
    """A network with one output for each formula."""

    def __init__(self, texts: list[str], outputs: str = "logit") -> None:
        super().__init__()
        self.networks = torch.nn.ModuleList(gl.to_gnn(gl.parse(text)) for text in texts)
        self.outputs = outputs

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        told = torch.cat([each(x, edge_index, batch) for each in self.networks], dim=1)
        if self.outputs == "number":
            return torch.tensor([1.0, 2.0]) + 3.0 * (told > 0)
        return torch.sigmoid(told) if self.outputs == "probability" else told


# Labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [rules(), cards()])
def test_planted_truths_of_all_targets_come_back(estimator: Any) -> None:
    model = several(estimator).fit(GRAPHS, Y)
    assert {name: str(model[name].formula(1)) for name in model} == TRUTHS
    assert model.predict(GRAPHS).tolist() == ALL.astype(int).tolist()
    assert model.target_scores(GRAPHS, Y) == {"many": 1.0, "busy": 1.0}
    assert [each.tolist() for each in model.classes_] == [[0, 1], [0, 1]]
    for number, sure in enumerate(model.predict_proba(GRAPHS)):
        assert (sure[:, 1] > 0.5).tolist() == ALL[:, number].tolist()


@pytest.mark.parametrize("estimator", [rules(), cards()])
def test_every_target_is_what_its_estimator_learns_alone_from_known_labels(estimator: Any) -> None:
    noisy = Y.copy()
    flipped = np.random.default_rng(1).random(Y.shape) < 0.1
    noisy[flipped] = 1 - noisy[flipped]
    model = several(estimator).fit(GRAPHS, noisy)
    for number, name in enumerate(TRUTHS):
        known = np.flatnonzero(~np.isnan(noisy[:, number]))
        alone = clone(estimator).fit(GRAPHS[known], noisy[known, number])
        assert str(model[name]) == str(alone)
        assert model.target_scores(GRAPHS, noisy)[name] == pytest.approx(
            alone.score(GRAPHS[known], noisy[known, number])
        )


def test_numbers_of_several_targets() -> None:
    numbers = 1.0 + 2.0 * Y
    for estimator in (
        gl.IDTRegressor(n_layers=1, random_state=0),
        gl.ScorecardRegressor(1, n_layers=1, random_state=0),
    ):
        model = several(estimator).fit(GRAPHS, numbers)
        assert model.score(GRAPHS, numbers) > 0.99
        assert model.predict(GRAPHS) == pytest.approx(1.0 + 2.0 * ALL, abs=0.1)


def test_nodes_have_several_targets_with_gaps_and_a_mask() -> None:
    graph = gl.random_graphs(1, sizes=400, density=0.01, random_state=0)
    texts = ["A U0 > 2", "A U1 > 1"]
    y = np.column_stack([gl.parse(text).evaluate(graph, level="node") for text in texts])
    gaps = y.astype(float)
    gaps[:50, 0] = np.nan
    node_rules = gl.IDTNodeClassifier(n_layers=0, random_state=0)
    model = gl.MultiTargetEstimator(node_rules, missing="skip")
    model.fit(graph, gaps, mask=np.arange(400) < 350)
    assert [str(model[name].formula(1)) for name in model] == texts
    assert model.target_names_ == ("target_0", "target_1")


def test_features_are_encoded_once_and_by_the_encoder_that_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = np.random.default_rng(0)
    cycle = np.roll(np.eye(6, dtype=int), 1, axis=1)
    graphs = [(cycle + cycle.T, draw.random((6, 1)).round(2)) for _ in range(120)]
    y = np.array([[(x > 0.5).sum() > 2, (x > 0.5).sum() > 3] for _, x in graphs])
    encoder = gl.PredicateEncoder(feature_names=["charge"], n_thresholds=3)
    calls: list[int] = []
    transform = type(encoder).transform

    def counted(self: Any, given: Any) -> Any:
        calls.append(1)
        return transform(self, given)

    monkeypatch.setattr(type(encoder), "transform", counted)
    model = several(rules(n_layers=0, encoder=encoder)).fit(graphs, y)
    model.predict(graphs)
    assert calls == [1]
    # Each model alone reads what users have.
    both = np.column_stack([model[name].predict(graphs) for name in model])
    assert both.tolist() == model.predict(graphs).tolist()
    assert model["many"].encoder is not None
    assert list(model.feature_names_in_) == ["charge"]


def test_a_frame_names_its_targets_and_a_store_is_learned_from(tmp_path: Path) -> None:
    frame = Frame(Y, list(TRUTHS))
    model = several(rules(), targets=None).fit(GRAPHS, frame)
    assert model.target_names_ == tuple(TRUTHS)
    store = gl.write_shards(tmp_path / "graphs.shards", GRAPHS, shard_nodes=800)
    stored = several(rules()).fit(store, frame)
    assert str(stored) == str(model)
    assert stored.predict(store).tolist() == model.predict(GRAPHS).tolist()


def test_texts_as_labels_with_gaps() -> None:
    words = np.where(ALL, "yes", "no").astype(object)
    words[3, 0], words[4, 1] = None, float("nan")
    model = several(rules()).fit(GRAPHS, words)
    assert model.predict(GRAPHS)[:, 1].tolist() == np.where(ALL[:, 1], "yes", "no").tolist()


def test_texts_and_numbers_stay_what_they_are() -> None:
    mixed = np.empty((300, 2), dtype=object)
    mixed[:, 0], mixed[:, 1] = np.where(ALL[:, 0], "yes", "no"), ALL[:, 1].astype(int)
    assert several(rules()).fit(GRAPHS, mixed).predict(GRAPHS).tolist() == mixed.tolist()


def test_equal_targets_have_equal_models() -> None:
    model = several(rules(), targets=["a", "b"]).fit(GRAPHS, ALL[:, [0, 0]])
    assert str(model["a"]) == str(model["b"])


def test_gaps_of_rows_that_are_not_learned_from_are_not_looked_at() -> None:
    graph = gl.random_graphs(1, sizes=200, density=0.03, random_state=0)
    truths = [gl.parse(text).evaluate(graph, level="node") for text in ("A U0 > 2", "A U1 > 3")]
    y = np.column_stack(truths).astype(float)
    mask = np.arange(200) % 2 == 0
    gaps = np.where(mask[:, None], y, np.nan)
    for student in (gl.IDTNodeClassifier(0, random_state=0), gl.IDTNodeRegressor(0)):
        model = gl.MultiTargetEstimator(student).fit(graph, gaps, mask=mask)
        assert model.target_scores(graph, y) == {"target_0": 1.0, "target_1": 1.0}
    weights = (~np.isnan(Y)).all(axis=1).astype(float)
    model = several(rules(), missing="error").fit(GRAPHS, Y, sample_weight=weights)
    assert set(model.target_scores(GRAPHS, ALL).values()) == {1.0}
    with pytest.raises(LabelError, match="'busy'. All of them are missing among the graphs of the"):
        several(rules()).fit(GRAPHS, Y, sample_weight=(np.arange(300) < 50).astype(float))


def test_numbers_are_named_by_their_target() -> None:
    numbers = gl.ScorecardRegressor(n_layers=0, unit="V", random_state=0)
    model = gl.MultiTargetEstimator(numbers, targets=["gap", "charge"]).fit(GRAPHS, 1.0 * ALL)
    assert "gap in V = " in str(model["gap"])
    assert "charge in V = " in str(model["charge"])
    assert numbers.target_name is None


def test_what_is_about_one_target_says_how_to_get_at_it() -> None:
    model = several(rules()).fit(GRAPHS, Y)
    one = GRAPHS[:1]
    for ask in (
        lambda: gl.explain(model, one),
        lambda: gl.plot_tree(model),
        lambda: gl.recourse(model, one),
        lambda: gl.diff(model, model),
    ):
        with pytest.raises(UnsupportedInputError, match=r"model\[(name|'name')\]"):
            ask()
    with pytest.raises(ParameterError, match=r"one target at a time.*model\['name'\]"):
        gl.fidelity(model, Y, GRAPHS)


def test_manners_of_an_estimator() -> None:
    model = several(rules())
    assert clone(model).get_params()["estimator__n_layers"] == 1
    with pytest.raises(NotFittedError):
        model.predict(GRAPHS)
    search = GridSearchCV(several(rules()), {"estimator__n_layers": [0, 1]}, cv=2)
    search.fit(list(GRAPHS), Y)
    assert search.best_params_ == {"estimator__n_layers": 1}
    weights = np.arange(300) >= 100
    fitted = model.fit(GRAPHS, Y, sample_weight=weights)
    assert str(fitted) == str(several(rules()).fit(GRAPHS[100:], Y[100:]))
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(GRAPHS).tolist() == fitted.predict(GRAPHS).tolist()


def test_what_is_wrong_with_labels_is_told_by_target() -> None:
    model = several(rules(), missing="error")
    with pytest.raises(LabelError, match=r"80 of 300 labels of target 'many'.*missing='skip'"):
        model.fit(GRAPHS, Y)
    with pytest.raises(LabelError, match=r"shape \(300,\).*reshape"):
        model.fit(GRAPHS, ALL[:, 0])
    with pytest.raises(LabelError, match=r"shape \(299, 2\)"):
        model.fit(GRAPHS, ALL[1:])
    with pytest.raises(LabelError, match="rows of the same length"):
        model.fit(GRAPHS, [[0, 1]] * 299 + [[0]])
    with pytest.raises(LabelError, match="Got None"):
        model.fit(GRAPHS)
    with pytest.raises(ParameterError, match="There must be 3 names"):
        model.fit(GRAPHS, np.column_stack([ALL, ALL[:, 0]]))
    with pytest.raises(LabelError, match=r"'busy': .*Got 0.5 in row \d+.*MultiTargetEstimator of"):
        model.fit(GRAPHS, ALL * [1.0, 0.5])
    gone = Y.copy()
    gone[:, 1] = np.nan
    with pytest.raises(LabelError, match="'busy'. All of them are missing"):
        several(rules()).fit(GRAPHS, gone)
    with pytest.raises(ParameterError, match="missing must be"):
        several(rules(), missing="drop").fit(GRAPHS, Y)
    with pytest.raises(ParameterError, match="estimator must be an IDTClassifier"):
        several(object()).fit(GRAPHS, Y)
    with pytest.raises(ParameterError, match="distinct"):
        several(rules(), targets=["a", "a"]).fit(GRAPHS, Y)
    with pytest.raises(ParameterError, match="mask is for estimators of nodes"):
        several(rules()).fit(GRAPHS, Y, mask=np.ones(300, dtype=bool))
    with pytest.raises(ParameterError, match="checkpoint must be None"):
        several(rules(checkpoint="a.json")).fit(GRAPHS, Y)
    assert not hasattr(model, "estimators_")


def test_a_constant_target_is_named_and_the_others_are_learned() -> None:
    y = ALL.astype(int)
    y[:, 0] = 1
    with pytest.warns(SingleClassWarning, match="Target 'many': All labels are 1") as caught:
        model = several(rules()).fit(GRAPHS, y)
    assert caught[0].filename == __file__
    assert str(model["busy"].formula(1)) == TRUTHS["busy"]
    with pytest.raises(ParameterError, match=r"no target 'bussy'.*Did you mean 'busy'"):
        model["bussy"]


# Files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [rules(), cards()])
def test_all_models_come_back_from_one_file(estimator: Any, tmp_path: Path) -> None:
    model = several(estimator).fit(GRAPHS, Y)
    path = tmp_path / "both.json"
    model.save(path)
    loaded = gl.load(path)
    assert isinstance(loaded, gl.MultiTargetPredictor)
    assert str(loaded) == str(model)
    assert loaded.predict(GRAPHS).tolist() == model.predict(GRAPHS).tolist()
    assert len(loaded) == 2
    assert list(loaded) == list(TRUTHS)
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    said = str(gl.explain(loaded["busy"], GRAPHS[0]))
    assert said == str(gl.explain(model["busy"], GRAPHS[0]))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    several(rules()).fit(GRAPHS, Y).save(path)
    good = json.loads(path.read_text())

    def refused(match: str, *, on_purpose: bool = False, **changes: Any) -> None:
        document = good | changes
        if on_purpose:
            document["digest"] = digest_of_document(document)
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match=match):
            gl.load(path)

    refused("version of the file must be 1", version=2)
    refused("digest", targets=["a", "b"])
    refused("There must be 2 names", on_purpose=True, targets=["a"])
    refused("distinct", on_purpose=True, targets=["a", "a"])
    refused("digest", models=good["models"][::-1])
    refused("not a valid gnn2logic set of models", models=[1, 2])
    path.write_text(json.dumps(good)[:-20])
    with pytest.raises(ModelFileError, match="no gnn2logic models"):
        gl.load(path)


# Networks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("into", ["idt", "scorecard"])
@pytest.mark.parametrize("outputs", ["logit", "probability"])
def test_a_built_network_with_two_heads(into: Any, outputs: str) -> None:
    network = Heads(list(TRUTHS.values()), outputs)
    settings: dict[str, Any] = {"n_layers": 1, "random_state": 0}
    settings |= {"max_lines": 1} if into == "scorecard" else {}
    model = gl.distill(network, GRAPHS, targets=list(TRUTHS), into=into, **settings)
    assert {name: str(model[name].formula(1)) for name in model} == TRUTHS
    for number, name in enumerate(TRUTHS):
        head = gl.Teacher(network).head(number)
        assert gl.fidelity(model[name], head, GRAPHS) == 1.0


def test_a_trained_network_with_two_heads() -> None:
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GINConv, global_add_pool

    class Trained(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            shape = torch.nn.Linear(2, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16)
            self.conv = GINConv(torch.nn.Sequential(*shape))
            self.head = torch.nn.Sequential(
                torch.nn.Linear(18, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2)
            )

        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            seen = torch.cat([x, self.conv(x, edge_index).relu()], dim=1)
            return self.head(global_add_pool(seen, batch))

    graphs = gl.random_graphs(400, sizes=8, random_state=2)
    truths = ["1 U1 > 4", "1 U0 > 2"]
    y = np.column_stack([gl.parse(text).evaluate(graphs) for text in truths])
    items = gl.to_pyg(graphs)
    for item, row in zip(items, y, strict=True):
        item.y = torch.tensor(row, dtype=torch.float32)[None]
    torch.manual_seed(0)
    network = Trained()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(120):
        for batch in DataLoader(items, 100):
            optimiser.zero_grad()
            loss(network(batch.x.float(), batch.edge_index, batch.batch), batch.y).backward()
            optimiser.step()
    model = gl.distill(network, graphs, targets=["few", "some"], n_layers=1, random_state=0)
    for number, name in enumerate(model):
        assert str(model[name].formula(1)) == truths[number]
        assert gl.fidelity(model[name], gl.Teacher(network).head(number), graphs) > 0.97


class Returning(torch.nn.Module):
    """Outputs as a list, or by name, as many networks for several tasks return them."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self.columns = Heads(list(TRUTHS.values()))
        self.change = change

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        return self.change(self.columns(x, edge_index, batch))


@pytest.mark.parametrize(
    "change",
    [
        lambda told: [told[:, :1], told[:, 1:]],
        lambda told: (told[:, 0], told[:, 1]),
        # In another order, and with an output that nobody asks about.
        lambda told: {"busy": told[:, 1], "classes": told.repeat(1, 2), "many": told[:, :1]},
    ],
)
def test_outputs_may_be_a_list_or_have_names(change: Any) -> None:
    network = Returning(change)
    model = gl.distill(network, GRAPHS, targets=list(TRUTHS), n_layers=1, random_state=0)
    assert {name: str(model[name].formula(1)) for name in model} == TRUTHS
    for number, name in enumerate(TRUTHS):
        head = gl.Teacher(network).head(number, name=name)
        assert gl.fidelity(model[name], head, GRAPHS) == 1.0
    page = gl.report(model, GRAPHS, ALL, teacher=network, n_examples=0)
    for part in page.to_dict()["targets"].values():
        assert part["scores"][0]["fidelity"] == 1.0


def test_several_outputs_that_do_not_fit_are_told() -> None:
    targets = list(TRUTHS)
    for change, message in (
        (lambda told: {"a": told[:, 0], "b": told[:, 1]}, "by the names 'a', 'b'.*Got 'many'"),
        (lambda told: [told[:, 0], told], r"Got \(300, 2\) for output 1"),
        (lambda told: [told[:, 0], None], "Got NoneType for output 1"),
        (lambda told: [told[:, 0], told[:5, 1]], "Got 300, 5"),
        (lambda told: [], "no output"),
        (lambda told: [told[:, 0]], "Got 1 numbers for 2 targets"),
    ):
        with pytest.raises(TeacherError, match=message):
            gl.distill(Returning(change), GRAPHS, targets=targets, n_layers=1)


def test_heads_that_are_quantities() -> None:
    network = Heads(list(TRUTHS.values()), "number")
    model = gl.distill(
        network, GRAPHS, targets=list(TRUTHS), task="regression", n_layers=1, random_state=0
    )
    assert [each.tolist() for each in model.classes_] == [[1.0, 4.0], [2.0, 5.0]]


def test_what_does_not_fit_several_heads_is_told() -> None:
    network = Heads(list(TRUTHS.values()))
    with pytest.raises(TeacherError, match="Got 2 numbers for 3 targets"):
        gl.distill(network, GRAPHS, targets=["a", "b", "c"])
    with pytest.raises(ParameterError, match="y must be left out"):
        gl.distill(network, GRAPHS, ALL, targets=list(TRUTHS))
    with pytest.raises(ParameterError, match="Got the single string"):
        gl.distill(network, GRAPHS, targets="many")
    with pytest.raises(ParameterError, match="mask is for teachers of nodes"):
        gl.distill(network, GRAPHS, targets=list(TRUTHS), mask=np.ones(300, dtype=bool))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TeacherError, match="target number 7"):
            gl.Teacher(network).head(7).predict(GRAPHS)
