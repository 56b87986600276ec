from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

from gnn2logic import IDTClassifier, IDTNodeClassifier, PredicateEncoder, parse, random_graphs
from gnn2logic.exceptions import (
    ActivationError,
    FeatureError,
    GraphError,
    LabelError,
    ParameterError,
    SingleClassWarning,
)
from gnn2logic.graphs import GraphBatch
from gnn2logic.idt.model import LeafSet
from gnn2logic.logic import Formula

PSI = {
    "psi_0": "1 U1 > 0.5",
    "psi_1": "1((A U0 < 4) | (A U0 > 9)) > 0",
    "psi_2": "1(A(A U0 > 6) > 0.5) > 0.5",
}


def test_fit_tells_the_columns_of_the_graphs() -> None:
    triangle = 1 - np.eye(3, dtype=int)
    graphs = [(triangle, np.array([[n % 3, 0.1 * n]] * 3)) for n in range(30)]
    encoder = PredicateEncoder(feature_names=["atom", "charge"])
    model = IDTClassifier(1, algorithm="layers", width=2, encoder=encoder, random_state=0)
    for name in ("n_features_in_", "feature_names_in_"):
        assert not hasattr(model, name)
    model.fit(graphs, np.arange(30) % 3 == 0)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["atom", "charge"]
    # A batch has predicates, and these are its columns.
    batch = mixed_graphs(0)
    nodes = IDTNodeClassifier(1, algorithm="layers", width=2, random_state=0).fit(
        batch, np.arange(batch.n_nodes) % 2
    )
    assert nodes.feature_names_in_.tolist() == ["U0", "U1"]


@pytest.mark.skipif(
    not hasattr(BaseEstimator, "__sklearn_tags__"), reason="needs scikit-learn 1.6: it has tags"
)
@pytest.mark.parametrize("estimator", [IDTClassifier(), IDTNodeClassifier()])
def test_tags_say_that_the_input_is_graphs(estimator: Any) -> None:
    tags = estimator.__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.no_validation
    assert not tags.input_tags.two_d_array
    assert tags.target_tags.required
    assert not PredicateEncoder().__sklearn_tags__().input_tags.two_d_array


def paper_graphs(seed: int, count: int = 1000) -> GraphBatch:
    return random_graphs(count, sizes=13, density=0.5, probability=[1.0, 0.5], random_state=seed)


def mixed_graphs(seed: int, names: tuple[str, ...] = ("U0", "U1"), **options: Any) -> GraphBatch:
    """Graphs of many sizes and densities, far from each other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, size=200)
    density = rng.random(200)
    return random_graphs(
        200, sizes=sizes, density=density, names=names, random_state=rng, **options
    )


def same_model(first: Any, second: Any) -> bool:
    """Bit for bit: all columns, splits, values and prunings."""
    trees = [
        [*(tree for layer in own.model_.layers for tree in layer.trees), own.prunings_.full]
        for own in (first, second)
    ]
    return (
        first.model_.columns == second.model_.columns
        and first.prunings_.alphas == second.prunings_.alphas
        and first.prunings_.cuts == second.prunings_.cuts
        and first.chosen_ == second.chosen_
        and all(
            a.splits == b.splits
            and np.array_equal(a.values, b.values)
            and np.array_equal(a.weights, b.weights)
            for a, b in zip(*trees, strict=True)
        )
    )


@pytest.mark.parametrize(("name", "least"), [("psi_0", 1.0), ("psi_1", 0.999), ("psi_2", 0.99)])
@pytest.mark.parametrize("seed", [0, 1])
def test_ground_truth_is_learned_from_labels_alone(name: str, least: float, seed: int) -> None:
    truth = parse(PSI[name])
    train, test = paper_graphs(seed), paper_graphs(seed + 1000)
    model = IDTClassifier(random_state=seed).fit(train, truth.evaluate(train))
    assert model.score(test, truth.evaluate(test)) >= least


def test_planted_rule_along_incoming_edges() -> None:
    truth = parse("1(A^T U0 > 1) > 1/2")
    train, test = (
        random_graphs(600, sizes=10, density=0.3, directed=True, random_state=seed)
        for seed in (0, 1)
    )
    model = IDTClassifier(random_state=0).fit(train, truth.evaluate(train))
    assert model.score(test, truth.evaluate(test)) == 1.0
    assert "A^T" in str(model.formula(True))


def test_planted_rule_along_typed_edges() -> None:
    truth = parse("1(A[double] U0 > 1) > 2")
    options: dict[str, Any] = {"relations": ("single", "double"), "density": 0.4}
    train, test = (random_graphs(600, sizes=10, random_state=seed, **options) for seed in (0, 1))
    model = IDTClassifier(random_state=0).fit(train, truth.evaluate(train))
    assert model.score(test, truth.evaluate(test)) == 1.0
    assert "A[double]" in str(model.formula(True))


def test_planted_rule_of_nodes_on_one_big_graph() -> None:
    truth = parse("U1 & A(A U0 > 3) > 1/2")
    graph = random_graphs(1, sizes=1500, density=0.004, random_state=3)
    labels = truth.evaluate(graph, level="node")
    mask = np.random.default_rng(0).random(graph.n_nodes) < 0.5
    model = IDTNodeClassifier(random_state=0).fit(graph, labels, mask=mask)
    assert (model.predict(graph) == labels)[~mask].mean() >= 0.99
    formula = model.formula(True)
    assert np.array_equal(formula.evaluate(graph, level="node"), model.predict(graph))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    options=st.fixed_dictionaries(
        {
            "n_layers": st.integers(0, 3),
            "width": st.integers(1, 4),
            "layer_depth": st.integers(1, 3),
            "ccp_alpha": st.sampled_from([0.0, 0.01, "auto"]),
            "relative": st.booleans(),
            "random_thresholds": st.booleans(),
            "max_samples": st.sampled_from([None, 0.5]),
            "leaf_sets": st.sampled_from(["merge", "nested", "all"]),
        }
    ),
)
def test_formulas_prunings_and_copies_predict_the_same(
    seed: int, n_classes: int, options: dict[str, Any]
) -> None:
    """On graphs far from the data: other sizes, directed, with loops and multi-edges."""
    rng = np.random.default_rng(seed)
    train = mixed_graphs(seed)
    y = rng.integers(0, n_classes, size=train.n_graphs)
    model = IDTClassifier(algorithm="layers", random_state=seed, min_samples_leaf=5, **options).fit(
        train, y
    )
    pruned = model.prune()
    assert len(pruned.model_.columns) <= len(model.model_.columns)
    far = mixed_graphs(seed + 1, directed=True, loops=True, max_multiplicity=3)
    for graphs in (train, far):
        predicted = model.predict(graphs)
        assert np.array_equal(pruned.predict(graphs), predicted)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(graphs), predicted)
        for label in model.classes_:
            expected = (predicted == label).tolist()
            assert model.formula(label).evaluate(graphs).tolist() == expected
            assert pruned.formula(label).evaluate(graphs).tolist() == expected


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_shards_threads_and_repeats_give_one_model(seed: int, weighted: bool) -> None:
    train = mixed_graphs(seed)
    rng = np.random.default_rng(seed)
    y = parse("1(A U0 > 1) > 1/3").evaluate(train) ^ (rng.random(train.n_graphs) < 0.1)
    weight = rng.random(train.n_graphs) if weighted else None
    activations = [rng.normal(size=(train.n_nodes, 12)) for _ in range(2)]

    def fit(**options: Any) -> IDTClassifier:
        model = IDTClassifier(algorithm="layers", random_state=seed, width=4, **options)
        return model.fit(train, y, activations=activations, sample_weight=weight)

    reference = fit()
    for options in (
        {},
        {"n_shards": 2},
        {"n_shards": 7},
        {"n_jobs": 1},
        {"n_jobs": 2, "n_shards": 3},
    ):
        assert same_model(reference, fit(**options)), options


def test_order_of_graphs_and_nodes_does_not_matter_at_predict() -> None:
    train = mixed_graphs(0)
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)
    model = IDTClassifier(random_state=0).fit(train, y)
    order = np.random.default_rng(0).permutation(train.n_graphs)
    assert np.array_equal(model.predict(train.take(order)), model.predict(train)[order])
    for number in range(0, 40, 7):
        graph = train[number]
        shuffle = np.random.default_rng(number).permutation(graph.n_nodes)
        other = GraphBatch(
            graph.predicates[shuffle], graph.adjacency.toarray()[np.ix_(shuffle, shuffle)]
        )
        assert model.predict(other) == model.predict(graph)


def test_refitting_forgets_and_inputs_stay() -> None:
    first, second = mixed_graphs(0), mixed_graphs(1, names=("a", "b", "c"))
    y = np.arange(200) % 3
    weight = np.linspace(1, 2, 200)
    before = copy.deepcopy((y, weight))
    model = IDTClassifier(algorithm="layers", random_state=0, n_layers=1)
    model.fit(first, y, sample_weight=weight)
    model.fit(second, y)
    fresh = IDTClassifier(algorithm="layers", random_state=0, n_layers=1).fit(second, y)
    assert same_model(model, fresh)
    assert np.array_equal(before[0], y)
    assert np.array_equal(before[1], weight)


def test_scikit_learn_tools_work_on_batches_and_lists() -> None:
    train = paper_graphs(0, count=120)
    y = parse(PSI["psi_0"]).evaluate(train)
    model = IDTClassifier(n_layers=1, algorithm="layers", width=2, random_state=0)
    assert cross_val_score(model, train, y, cv=3).min() > 0.9
    assert cross_val_score(model, list(train), y, cv=3).min() > 0.9
    search = GridSearchCV(model, {"width": [1, 2], "ccp_alpha": [0.0, "auto"]}, cv=2).fit(train, y)
    assert search.best_score_ > 0.9
    assert clone(model).get_params() == model.get_params()


def test_pyg_data_work() -> None:
    data = pytest.importorskip("torch_geometric.data", reason="needs the extra 'torch'")
    from gnn2logic import to_pyg

    train = paper_graphs(0, count=100)
    y = parse(PSI["psi_0"]).evaluate(train)
    graphs = to_pyg(train)
    assert isinstance(graphs[0], data.Data)
    model = IDTClassifier(n_layers=1, random_state=0).fit(graphs, y)
    assert model.score(graphs, y) == 1.0
    assert cross_val_score(model, graphs, y, cv=2).min() > 0.8


def test_labels_of_all_kinds() -> None:
    train = paper_graphs(0, count=100)
    truth = parse(PSI["psi_0"]).evaluate(train)
    for labels in (
        np.where(truth, "active", "not active"),
        np.where(truth, 1, -1),
        np.where(truth, 2.0, 0.0),
        truth,
        truth.tolist(),
    ):
        model = IDTClassifier(n_layers=1, random_state=0).fit(train, labels)
        assert set(model.predict(train)) <= set(np.asarray(labels).tolist())
        assert model.score(train, labels) == 1.0
        proba = model.predict_proba(train)
        assert np.allclose(proba.sum(axis=1), 1.0)
        assert np.array_equal(model.classes_[proba.argmax(axis=1)], model.predict(train))


def test_class_and_sample_weights_reach_the_final_tree() -> None:
    train = paper_graphs(0, count=200)
    y = np.zeros(200, dtype=int)
    y[:20] = 1
    options: dict[str, Any] = {"n_layers": 0, "ccp_alpha": 1.0, "random_state": 0}
    assert set(IDTClassifier(algorithm="layers", **options).fit(train, y).predict(train)) == {0}
    heavy = IDTClassifier(algorithm="layers", class_weight={1: 100.0}, **options).fit(train, y)
    assert set(heavy.predict(train)) == {1}
    weighted = IDTClassifier(algorithm="layers", **options).fit(
        train, y, sample_weight=np.where(y == 1, 50.0, 1.0)
    )
    assert set(weighted.predict(train)) == {1}
    balanced = IDTClassifier(algorithm="layers", class_weight="balanced", **options).fit(train, y)
    assert np.allclose(balanced.predict_proba(train)[0], [0.5, 0.5], atol=1e-5)


def test_weight_zero_is_like_leaving_out() -> None:
    train = mixed_graphs(2)
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)
    keep = np.arange(200) < 150
    wrong = np.where(keep, y, ~y)
    model = IDTClassifier(algorithm="layers", random_state=0, width=4, ccp_alpha=0.0)
    model.fit(train, wrong, sample_weight=keep.astype(float))
    assert model.score(train[keep], y[keep]) == 1.0


def test_activations_guide_the_layers() -> None:
    """Activations that show psi_2's inner formulas let narrow layers find it."""
    truth = parse(PSI["psi_2"])
    train, test = paper_graphs(0), paper_graphs(1)
    inner = parse("A U0 > 6").evaluate(train, level="node")
    middle = parse("A(A U0 > 6) > 1/2").evaluate(train, level="node")
    activations = [inner[:, None].astype(np.float32), middle[:, None].astype(np.float32)]
    model = IDTClassifier(algorithm="layers", width=1, max_features=1.0, random_state=0)
    model.fit(train, truth.evaluate(train), activations=activations)
    assert model.n_layers_ == 2
    assert model.score(test, truth.evaluate(test)) == 1.0
    assert model.formula(True).modal_depth == 3


def test_leaf_sets_by_name() -> None:
    """The paper's 2k-1 merged sets; with the sides of each split; or all of them."""
    train = mixed_graphs(0)
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)
    sets = {}
    for name in ("merge", "nested", "all"):
        model = IDTClassifier(
            n_layers=1,
            algorithm="layers",
            width=1,
            max_features=1.0,
            leaf_sets=name,
            random_state=0,
        )
        model.fit(train, y)
        (tree,) = model.layers_[0].trees
        assert tree.n_leaves == 4
        found = {own.leaves for own in model.model_.columns if isinstance(own, LeafSet)}
        sets[name] = found | {(0, 1, 2, 3)}
    # The set of all leaves is true, and `true` is a column already.
    assert len(sets["merge"]) == 2 * 4 - 1
    assert sets["nested"] == sets["merge"] | {(0, 1), (2, 3)}
    assert len(sets["all"]) == 15


def test_reading_the_model() -> None:
    train = paper_graphs(0)
    truth = parse(PSI["psi_1"])
    model = IDTClassifier(algorithm="layers", random_state=0).fit(train, truth.evaluate(train))
    origins = [column for column in model.model_.columns if isinstance(column, LeafSet)]
    assert {origin.layer for origin in origins} == {0, 1, 2}
    assert len(model.layers_) == 3
    text = str(model)
    assert "> marks the chosen one" in text
    assert str(model.formula(model.rules_.chosen.classes[0]))[:20] in text or (
        str(model.formula(model.rules_.chosen.classes[1]))[:20] in text
    )
    rules = model.rules_
    assert [rule.n_leaves for rule in rules] == sorted(rule.n_leaves for rule in rules)
    assert rules[0].n_leaves == 1
    for rule in rules:
        picked = model.pick(rule.index)
        assert picked.score(train, truth.evaluate(train)) == pytest.approx(rule.accuracy)
        assert isinstance(picked.formula(True), Formula)
        assert sum(rule.support.values()) == pytest.approx(1.0)
    assert model.rules_.chosen.index == model.chosen_
    with pytest.raises(ParameterError, match="number of rules"):
        model.pick(10**6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0}, "width must be a whole number >= 1. Got 0"),
        ({"width": 2.5}, "width must be a whole number"),
        ({"n_layers": -1}, "n_layers must be a whole number >= 0"),
        ({"layer_depth": 0}, "layer_depth must be"),
        ({"max_features": 0.0}, r"max_features must be a number in \(0, 1\]. Got 0.0"),
        ({"max_samples": 2}, r"max_samples must be a number in \(0, 1\]"),
        ({"ccp_alpha": "best"}, "ccp_alpha must be one of 'auto'. Got 'best'"),
        ({"ccp_alpha": -1}, "ccp_alpha must be 'auto' or a number >= 0"),
        ({"modalities": "A"}, "non-empty list of modal parameters"),
        ({"modalities": []}, "non-empty list"),
        ({"modalities": ["B"]}, "Got 'B' instead"),
        ({"modalities": [["A"]], "n_layers": 2}, "each of the 2 layers. Got 1 lists"),
        ({"leaf_sets": "some"}, "leaf_sets must be one of 'merge', 'nested', 'all'"),
        ({"leaf_sets": "all", "layer_depth": 4}, "at most 3"),
        ({"absolute": False, "relative": False}, "must not both be False"),
        ({"class_weight": {"x": 1}}, "names 'x', which is not a class"),
        ({"class_weight": 3}, "class_weight must be None, 'balanced'"),
        ({"random_state": "x"}, "random_state must be"),
        ({"projection": 0}, "projection must be"),
        ({"n_shards": 0}, "n_shards must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"max_depth": 0}, "max_depth must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be"),
    ],
)
def test_bad_hyper_parameters_are_told_at_fit(options: dict[str, Any], message: str) -> None:
    model = IDTClassifier(algorithm="layers", **options)
    with pytest.raises(ParameterError, match=message):
        model.fit(paper_graphs(0, count=10), np.arange(10) % 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(9), "Got 9 labels for 10 graphs"),
        (np.zeros((10, 2)), r"Got shape \(10, 2\)"),
        (np.full(10, np.nan), "Got nan at position 0"),
        (np.linspace(0, 1, 10), "Got 0.1111111111111111 at position 1"),
        (None, "Got None instead"),
        (["a", 1] * 5, "labels of one kind|Got"),
        ([None] * 10, "labels of one kind, whole numbers or strings. Got NoneType"),
    ],
)
def test_bad_labels(y: object, message: str) -> None:
    if isinstance(y, list) and y == ["a", 1] * 5:
        y = np.array(y, dtype=object)
    with pytest.raises(LabelError, match=message):
        IDTClassifier(n_layers=0).fit(paper_graphs(0, count=10), y)


def test_one_class_warns_and_is_constant() -> None:
    train = paper_graphs(0, count=10)
    with pytest.warns(SingleClassWarning, match="All labels are"):
        model = IDTClassifier(random_state=0).fit(train, np.ones(10, dtype=int))
    assert set(model.predict(train)) == {1}
    assert str(model.formula(1)) == "true"


def test_bad_weights_masks_and_activations() -> None:
    train = paper_graphs(0, count=10)
    y = np.arange(10) % 2
    model = IDTClassifier(n_layers=0)
    for weight, message in (
        (np.ones(3), r"Got shape \(3,\) for 10 graphs"),
        (np.full(10, -1.0), "at least 0"),
        (np.zeros(10), "not 0 everywhere"),
        (np.full(10, np.nan), "finite"),
    ):
        with pytest.raises(LabelError, match=message):
            model.fit(train, y, sample_weight=weight)
    good = np.zeros((train.n_nodes, 2))
    bad = good.copy()
    bad[3, 1] = np.nan
    for activations, message in (
        ([good, good[:5]], r"layer 1 must have one row for each of the 130 nodes.*\(5, 2\)"),
        ([bad], "layer 0 must be finite. Got nan at node 3, column 1"),
        ([], "at least one layer"),
        (good, "list with one array per layer. Got ndarray"),
        ([good.astype(str)], "layer 0 must be numbers"),
    ):
        with pytest.raises(ActivationError, match=message):
            IDTClassifier().fit(train, y, activations=activations)
    with pytest.raises(ParameterError, match="n_layers=3 was given together with activations of 1"):
        IDTClassifier(n_layers=3, algorithm="layers").fit(train, y, activations=[good])
    nodes = np.zeros(train.n_nodes, dtype=int)
    for mask, message in ((np.ones(3, bool), "each of the 130 nodes"), (nodes > 0, "Got none")):
        with pytest.raises(LabelError, match=message):
            IDTNodeClassifier().fit(train, nodes, mask=mask)


def test_numbers_of_parallel_edges_are_no_amount_of_data() -> None:
    most = 2**31 - 1
    y = [0, 1, 1, 0]
    kinds: list[dict[str, Any]] = [{}, {"absolute": False}, {"relative": False}]
    for count, fine in ((1000, True), (most, False)):
        graph = GraphBatch(None, [[0, count, 0, 0], [count, 0, 3, 1], [0, 3, 0, 2], [0, 1, 2, 0]])
        for options in kinds:
            learner = IDTNodeClassifier(
                0, algorithm="layers", ccp_alpha=0.0, random_state=0, **options
            )
            if fine:
                learner.fit(graph, y)
                continue
            with pytest.raises(GraphError, match=r"at most 1048576 edges.*Merge parallel edges"):
                learner.fit(graph, y)
    elsewhere = IDTNodeClassifier(
        0, algorithm="layers", modalities=["1-A"], ccp_alpha=0.0, random_state=0
    )
    assert elsewhere.fit(graph, y).score(graph, y) > 0
    assert (
        IDTNodeClassifier(0, algorithm="layers", ccp_alpha=0.0)
        .fit(graph.merge_multi_edges(), y)
        .score(graph, y)
    )


def test_constant_activations_are_fine() -> None:
    train = paper_graphs(0, count=60)
    y = parse(PSI["psi_0"]).evaluate(train)
    model = IDTClassifier(random_state=0)
    model.fit(train, y, activations=[np.ones((train.n_nodes, 3))] * 2)
    assert model.score(train, y) == 1.0


def test_predict_before_fit_and_other_features() -> None:
    train = paper_graphs(0, count=20)
    with pytest.raises(NotFittedError):
        IDTClassifier().predict(train)
    with pytest.raises(NotFittedError):
        IDTClassifier().formula(1)
    model = IDTClassifier(n_layers=1, random_state=0).fit(train, np.arange(20) % 2)
    with pytest.raises(FeatureError):
        model.predict(mixed_graphs(0, names=("x", "y", "z")))
    with pytest.raises(LabelError, match=r"7 is not a class. The classes are \[0, 1\]"):
        model.formula(7)


def test_graphs_without_features_learn_from_true_alone() -> None:
    train = mixed_graphs(0, names=())
    y = parse("1 true > 7").evaluate(train)
    model = IDTClassifier(n_layers=1, random_state=0).fit(train, y)
    assert str(model.formula(True)) == "1 true > 7"


def test_labels_in_parts_of_different_lengths() -> None:
    graphs = [random_graphs(1, sizes=size, random_state=size) for size in (3, 4)]
    parts = [graph.column("U0") for graph in graphs]
    with pytest.raises(LabelError, match="Got parts of different lengths instead; join them"):
        IDTNodeClassifier().fit(GraphBatch.concat(graphs), parts)
