"""Every setting, weight and column does what it is there for: each test fails if it is ignored."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from gnn2logic import GraphBatch, IDTClassifier, IDTNodeClassifier, from_edges, parse, random_graphs
from gnn2logic.graphs import Modality, to_pyg
from gnn2logic.idt.model import InputPredicate, LeafSet, TrueColumn
from gnn2logic.idt.predict import column_values, final_leaves
from gnn2logic.learning import final
from gnn2logic.learning.final import PruningPath


def some_graphs(seed: int = 0, count: int = 80, **options: Any) -> GraphBatch:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 9, size=count)
    return random_graphs(count, sizes=sizes, density=0.4, random_state=rng, **options)


def splits_of(model: Any, layer: int) -> list[Any]:
    trees = model.layers_[layer].trees
    return [split for tree in trees for split in tree.splits if split is not None]


def inner_splits(model: Any) -> list[Any]:
    return [splits_of(model, layer) for layer in range(model.n_layers_)]


# Weights -------------------------------------------------------------------------------------


def with_copies(graphs: GraphBatch, counts: Any) -> GraphBatch:
    return graphs.take(np.repeat(np.arange(graphs.n_graphs), counts))


@pytest.mark.parametrize("by_class", [False, True])
def test_whole_weights_are_like_copies_of_graphs_in_every_layer(by_class: bool) -> None:
    train = some_graphs()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=train.n_graphs)
    counts = np.where(y == 1, 5, 1) if by_class else rng.integers(1, 6, size=train.n_graphs)
    options: dict[str, Any] = {"width": 4, "random_state": 0, "ccp_alpha": 0.0}
    if by_class:
        weighted = IDTClassifier(2, algorithm="layers", class_weight={1: 5, 0: 1}, **options).fit(
            train, y
        )
    else:
        weighted = IDTClassifier(2, algorithm="layers", **options).fit(
            train, y, sample_weight=counts
        )
    copied = IDTClassifier(2, algorithm="layers", **options).fit(
        with_copies(train, counts), np.repeat(y, counts)
    )
    plain = IDTClassifier(2, algorithm="layers", **options).fit(train, y)
    assert inner_splits(weighted) == inner_splits(copied) != inner_splits(plain)
    assert weighted.model_.final.splits == copied.model_.final.splits


def test_weights_of_nodes_reach_the_inner_layers() -> None:
    train = some_graphs()
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=train.n_nodes)
    options: dict[str, Any] = {"width": 4, "random_state": 0}
    plain = IDTNodeClassifier(1, algorithm="layers", **options).fit(train, y)
    weights = rng.integers(1, 9, size=train.n_nodes)
    weighted = IDTNodeClassifier(1, algorithm="layers", **options).fit(
        train, y, sample_weight=weights
    )
    assert inner_splits(weighted) != inner_splits(plain)


# Columns -------------------------------------------------------------------------------------


def test_layers_may_split_on_inputs_on_true_and_on_all_earlier_leaf_sets() -> None:
    """Targets that only a column of one origin explains; each must be found in the last layer."""
    train = some_graphs(names=("U0", "U1"))
    two_busy = parse("A U0 > 1").evaluate(train, level="node")
    none = parse("A U1 > 2").evaluate(train, level="node")
    origin: dict[str, Any] = {
        "A true > 3": TrueColumn(),
        "A U1 > 0": InputPredicate("U1"),
        "A(A U0 > 1) > 0": 0,
    }
    for text, expected in origin.items():
        last = parse(text).evaluate(train, level="node")
        activations = [own[:, None].astype(float) for own in (two_busy, none, last)]
        model = IDTClassifier(
            algorithm="layers", width=1, max_features=1.0, layer_depth=1, random_state=0
        )
        model.fit(train, np.arange(train.n_graphs) % 2, activations=activations)
        (split,) = splits_of(model, 2)
        column = model.model_.columns[split.column]
        if isinstance(expected, int):
            assert isinstance(column, LeafSet)
            assert column.layer == expected
        else:
            assert column == expected
        found = (column_values(model.model_, train, [split.column])[split.column]).astype(int)
        assert str(split.modality) == "A"
        assert np.array_equal(train.adjacency @ found > split.threshold, last)


def test_columns_that_say_the_same_are_kept_once() -> None:
    first = some_graphs(names=("U0", "U1"))
    train = first.with_predicates(
        np.column_stack([first.predicates, first.column("U0")]), ["U0", "U1", "copy"]
    )
    y = parse("1(A U0 > 1) > 2").evaluate(train)
    model = IDTClassifier(2, algorithm="layers", width=8, leaf_sets="all", random_state=0).fit(
        train, y
    )
    columns = model.model_.columns
    assert InputPredicate("copy") not in columns
    values = column_values(model.model_, train, range(len(columns)))
    assert len({values[number].tobytes() for number in range(len(columns))}) == len(columns)
    assert len(columns) > 20


def test_channels_that_repeat_a_column_teach_nothing() -> None:
    """Nine channels pass inputs on, as they are, negated or scaled; the tenth is new."""
    train = some_graphs()
    new = parse("A U0 > 1").evaluate(train, level="node").astype(float)
    u0, u1 = (train.column(name).astype(float) for name in ("U0", "U1"))
    target = np.column_stack([u0, u1, 1 - u0, 1 - u1, 3 * u0 - 7, *[u0] * 4, new])
    y = np.arange(train.n_graphs) % 2
    options: dict[str, Any] = {"width": 1, "layer_depth": 1, "max_features": 1.0}
    for shards in (1, 3):
        model = IDTClassifier(algorithm="layers", random_state=0, n_shards=shards, **options)
        (split,) = splits_of(model.fit(train, y, activations=[target]), 0)
        assert (split.column, str(split.modality), split.threshold) == (1, "A", 1)
    # Where nothing is new, the layer is learned all the same.
    assert splits_of(model.fit(train, y, activations=[target[:, :-1]]), 0)


# Thresholds ----------------------------------------------------------------------------------


def test_thresholds_are_the_simplest_in_the_gap_of_their_own_node() -> None:
    """Among graphs with P there are 2 or 9 nodes with Q; elsewhere all numbers from 0 to 10."""
    rows: list[tuple[bool, int, int]] = [(True, 2, 0), (True, 9, 1)] * 20
    rows += [(False, number % 11, 2) for number in range(44)]
    batch = GraphBatch.concat(
        [
            from_edges([], 11, [[has_p, n < q] for n in range(11)], names=["P", "Q"])
            for has_p, q, _ in rows
        ]
    )
    y = [label for _, _, label in rows]
    model = IDTClassifier(0, algorithm="layers", relative=False, random_state=0).fit(batch, y)
    assert model.score(batch, y) == 1.0
    thresholds = {
        model.model_.columns[split.column]: split.threshold
        for split in model.model_.final.splits
        if split is not None
    }
    # The integer nearest the middle of [2, 9), the lower one of two; P is 0 or 11.
    assert thresholds == {InputPredicate("P"): 5, InputPredicate("Q"): 5}


def test_only_counts_or_only_shares() -> None:
    train = some_graphs()
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)

    def thresholds(**options: Any) -> set[type]:
        model = IDTClassifier(2, algorithm="layers", random_state=0, ccp_alpha=0.0, **options).fit(
            train, y
        )
        splits = [split for layer in inner_splits(model) for split in layer]
        splits += [split for split in model.model_.final.splits if split is not None]
        # A share above 0 is written as a count above 0; along I both are the same.
        kept = [s for s in splits if s.threshold != 0 and s.modality != Modality.from_set("I")]
        return {type(split.threshold) for split in kept}

    assert thresholds(relative=False) == {int}
    assert thresholds(absolute=False) == {Fraction}
    assert thresholds() == {int, Fraction}


@pytest.mark.parametrize("kind", ["absolute", "relative"])
def test_what_holds_at_a_node_itself_is_both_a_count_and_a_share(kind: str) -> None:
    train = some_graphs()
    y = train.column("U0")
    options: dict[str, Any] = {kind: False}
    for n_layers in (0, 1):
        model = IDTNodeClassifier(
            n_layers, algorithm="layers", modalities=["I"], random_state=0, **options
        )
        assert model.fit(train, y).formula(True) is parse("U0")
        assert model.score(train, y) == 1.0


# Hyper-parameters ------------------------------------------------------------------------------


def test_modal_parameters_of_each_layer() -> None:
    train = some_graphs()
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)
    model = IDTClassifier(
        2, algorithm="layers", modalities=[["1-A", "I"], ["A"]], random_state=0
    ).fit(train, y)
    used = [{str(split.modality) for split in splits_of(model, layer)} for layer in (0, 1)]
    assert used == [{"1-A", "I"}, {"A"}]
    same = IDTClassifier(2, algorithm="layers", modalities=["1-I"], random_state=0).fit(train, y)
    assert {str(s.modality) for layer in inner_splits(same) for s in layer} == {"1-I"}


def test_the_projection_and_the_exact_criterion() -> None:
    """One target varies much and means nothing, another varies little and is U1."""
    train = some_graphs(count=300)
    rng = np.random.default_rng(0)
    noise = 1000 * rng.normal(size=train.n_nodes)
    target = np.column_stack([noise, train.column("U1"), np.zeros(train.n_nodes)])
    options: dict[str, Any] = {
        "width": 1,
        "layer_depth": 1,
        "max_features": 1.0,
        "modalities": ["I"],
        "random_state": 0,
    }
    y = np.arange(train.n_graphs) % 2
    whole = IDTClassifier(algorithm="layers", projection=None, **options)
    whole.fit(train, y, activations=[target / [1e6, 1, 1]])
    assert [own.column for own in splits_of(whole, 0)] == [2]
    # The leading direction is the noise, and along it nothing speaks for U1 more than for U0.
    seen = set()
    for seed in range(8):
        shuffled = target.copy()
        shuffled[:, 0] = np.random.default_rng(seed).permutation(noise)
        narrow = IDTClassifier(algorithm="layers", projection=1, **options).fit(
            train, y, activations=[shuffled]
        )
        seen |= {own.column for own in splits_of(narrow, 0)}
    assert seen == {1, 2}


def test_random_thresholds_and_subsets_of_graphs_change_the_trees() -> None:
    train = some_graphs()
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)

    def splits(**options: Any) -> list[Any]:
        model = IDTClassifier(
            1, algorithm="layers", width=4, max_features=1.0, random_state=0, **options
        )
        return splits_of(model.fit(train, y), 0)

    best = splits()
    # All trees see everything, so they are all the same.
    assert len(set(best)) == len(best) // 4
    assert len(set(splits(max_samples=0.3))) > len(set(best))
    drawn = splits(random_thresholds=True)
    assert len(set(drawn)) > len(set(best))


def test_a_share_of_graphs_is_drawn_among_those_with_weight() -> None:
    train = some_graphs()
    y = np.arange(80) % 2
    weight = (np.arange(80) < 4).astype(float)
    model = IDTClassifier(3, algorithm="layers", width=8, max_samples=0.05, random_state=0)
    assert model.fit(train, y, sample_weight=weight).score(train, y, sample_weight=weight) > 0.4
    mask = np.arange(train.n_nodes) < 15
    nodes = IDTNodeClassifier(2, algorithm="layers", width=8, max_samples=0.1, random_state=0)
    nodes.fit(train, np.arange(train.n_nodes) % 2, mask=mask)


def test_smallest_leaves() -> None:
    train = some_graphs(count=200)
    y = np.random.default_rng(0).integers(0, 2, size=200)
    model = IDTClassifier(
        1, algorithm="layers", min_samples_leaf=7, ccp_alpha=0.0, random_state=0
    ).fit(train, y)
    rows = np.bincount(final_leaves(model.model_, train))
    assert rows.min() >= 7
    assert len(rows) > 3
    shallow = IDTClassifier(1, algorithm="layers", max_depth=2, ccp_alpha=0.0, random_state=0).fit(
        train, y
    )
    assert shallow.model_.final.depth == 2


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        # The best is the first; its error is 0.0316, so the second is close enough.
        ([[0.9, 0.88, 0.5], [1.0, 0.98, 0.5], [0.8, 0.78, 0.5]], 0.1),
        # All folds agree: no error, and nothing else is as good.
        ([[0.9, 0.88, 0.5], [0.9, 0.88, 0.5], [0.9, 0.88, 0.5]], 0.0),
        # The smallest tree is the best.
        ([[0.5, 0.6, 0.9], [0.5, 0.6, 0.9], [0.5, 0.6, 0.9]], 0.3),
    ],
)
def test_the_smallest_tree_within_one_standard_error(
    scores: list[list[float]], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = iter(scores)

    def given(grown: Any, weights: Any, alphas: Any) -> Any:
        assert len(alphas) == 3
        return np.array(next(rows))

    monkeypatch.setattr(final, "_scores", given)
    path = PruningPath((0.0, 0.1, 0.3), (0.0,) * 3, (frozenset(),) * 3)
    nothing: Any = [None] * 3
    assert final._best_alpha(path, nothing, nothing) == expected


# Inputs ----------------------------------------------------------------------------------------


def test_activations_and_mask_are_not_modified() -> None:
    train = some_graphs()
    rng = np.random.default_rng(0)
    activations = [rng.normal(size=(train.n_nodes, 20)) for _ in range(2)]
    mask = rng.random(train.n_nodes) < 0.7
    before = [own.copy() for own in (*activations, mask)]
    model = IDTNodeClassifier(algorithm="layers", random_state=0, width=2)
    model.fit(train, np.arange(train.n_nodes) % 2, activations=activations, mask=mask)
    assert all(np.array_equal(a, b) for a, b in zip(before, (*activations, mask), strict=True))


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e308])
def test_the_scale_of_activations_does_not_matter(scale: float) -> None:
    train = some_graphs()
    target = np.random.default_rng(0).integers(-8, 9, size=(train.n_nodes, 3)).astype(float)
    target[:, 0] = train.column("U1")
    y = np.arange(train.n_graphs) % 2
    model = IDTClassifier(algorithm="layers", width=2, random_state=0)
    ordinary = inner_splits(model.fit(train, y, activations=[target / 8]))
    assert inner_splits(model.fit(train, y, activations=[target / 8 * scale])) == ordinary


def test_half_precision_activations() -> None:
    torch = pytest.importorskip("torch", reason="needs the extra 'torch'")
    train = some_graphs()
    target = torch.from_numpy(train.predicates.astype(np.float32))
    y = np.arange(train.n_graphs) % 2
    model = IDTClassifier(algorithm="layers", width=2, random_state=0)
    expected = inner_splits(model.fit(train, y, activations=[target]))
    for kind in (torch.bfloat16, torch.float16):
        found = model.fit(train, y, activations=[target.to(kind).requires_grad_()])
        assert inner_splits(found) == expected


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    train = some_graphs()
    y = parse("1(A U0 > 1) > 1/3").evaluate(train)
    model = IDTClassifier(1, algorithm="layers", random_state=0).fit(train, y)
    before, text = model.predict(train), str(model)
    wider = some_graphs(names=("a", "b", "c"))
    other = np.array(["zz", "aa", "kk", "bb"])[np.arange(80) % 4]
    for options in ({"width": 0}, {"ccp_alpha": "x"}, {"n_jobs": 0}, {"max_depth": -1}):
        broken = (
            IDTClassifier(1, algorithm="layers", random_state=0).fit(train, y).set_params(**options)
        )
        with pytest.raises(ValueError, match=next(iter(options))):
            broken.fit(wider, other)
        assert np.array_equal(broken.predict(train), before)
        assert str(broken) == text


def test_labels_outside_of_the_mask_are_not_looked_at() -> None:
    train = some_graphs()
    truth = parse("A U0 > 1").evaluate(train, level="node")
    mask = np.random.default_rng(0).random(train.n_nodes) < 0.5
    numbers = np.where(mask, truth, np.nan)
    texts = [
        ("yes" if own else "no") if known else None for own, known in zip(truth, mask, strict=True)
    ]
    for y, yes in ((numbers, 1), (texts, "yes")):
        model = IDTNodeClassifier(0, algorithm="layers", random_state=0).fit(train, y, mask=mask)
        assert np.array_equal(model.predict(train) == yes, truth)
    with pytest.raises(ValueError, match="sample_weight must be .*not 0 everywhere"):
        IDTNodeClassifier(0, algorithm="layers").fit(
            train, numbers, mask=mask, sample_weight=(~mask).astype(float)
        )


def test_nodes_in_another_order_and_parts_of_the_data_give_the_same_model_of_nodes() -> None:
    train = some_graphs(count=60)
    y = parse("U1 & A U0 > 1").evaluate(train, level="node")
    y ^= np.random.default_rng(0).random(train.n_nodes) < 0.1
    models = [
        IDTNodeClassifier(
            1, algorithm="layers", width=3, random_state=0, n_shards=shards, n_jobs=jobs
        ).fit(train, y)
        for shards, jobs in ((1, None), (2, 1), (7, 2))
    ]
    assert len({str(inner_splits(own)) for own in models}) == 1
    assert len({str(own.model_.final.splits) for own in models}) == 1
    for number in range(train.n_graphs):
        graph = train[number]
        order = np.random.default_rng(number).permutation(graph.n_nodes)
        other = GraphBatch(graph.predicates[order], graph.adjacency.toarray()[np.ix_(order, order)])
        assert np.array_equal(models[0].predict(other), models[0].predict(graph)[order])


def test_cross_validation_on_a_pyg_dataset() -> None:
    data = pytest.importorskip("torch_geometric.data", reason="needs the extra 'torch'")
    from sklearn.model_selection import GridSearchCV, cross_val_score

    class Own(data.InMemoryDataset):  # type: ignore[misc, name-defined]
        def __init__(self, graphs: list[Any]) -> None:
            super().__init__()
            self.data, self.slices = self.collate(graphs)

    train = some_graphs(count=60)
    y = parse("1 U0 > 2").evaluate(train)
    graphs = Own(to_pyg(train))
    model = IDTClassifier(0, algorithm="layers", random_state=0)
    assert cross_val_score(model, graphs, y, cv=3).tolist() == (
        cross_val_score(model, train, y, cv=3).tolist()
    )
    assert GridSearchCV(model, {"relative": [True, False]}, cv=2).fit(graphs, y).best_score_ > 0.9


# Messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([np.inf, 0.0] * 40), "whole numbers, not continuous.*Got inf at position 0"),
        (np.array([0.0, 1e30] * 40), "Got 1e\\+30 at position 1"),
        (np.array([0.5, 1.0] * 40), "Got 0.5 at position 0"),
        ([1, "one"] * 40, "labels of one kind, whole numbers or strings. Got int, str"),
        ([None, 1] * 40, "labels of one kind"),
        (np.array([b"a", b"b"] * 40), "whole numbers or strings. Got dtype"),
        (np.array([1, 2**63] * 40, dtype=np.uint64), "below 2\\*\\*63"),
        (np.array([1j, 2] * 40), "whole numbers or strings"),
    ],
)
def test_labels_that_are_none(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IDTClassifier(0, algorithm="layers").fit(some_graphs(), y)


@pytest.mark.parametrize("kind", [int, bool, str, float])
def test_labels_as_objects(kind: type) -> None:
    train = some_graphs()
    truth = parse("1 U0 > 2").evaluate(train)
    y = np.array([kind(own) for own in truth.astype(int)], dtype=object)
    model = IDTClassifier(0, algorithm="layers", random_state=0).fit(train, y)
    assert model.score(train, y) == 1.0
    assert model.classes_.dtype.kind == {int: "i", bool: "b", str: "U", float: "i"}[kind]


@pytest.mark.parametrize(
    ("options", "fit_options", "message"),
    [
        ({}, {"sample_weight": ["a"] * 80}, "sample_weight must hold one number per graph. Got"),
        ({"class_weight": {0: "a"}}, {}, "class_weight must hold finite numbers"),
        ({"class_weight": {0: 0, 1: 0}}, {}, "class_weight must hold .*not all 0. Got"),
        ({"encoder": "x"}, {}, "encoder must be a PredicateEncoder or None. Got 'x'"),
        ({}, {"classes": 3}, "classes must be a list of labels. Got 3"),
        ({"absolute": "no"}, {}, "absolute must be one of False, True. Got 'no'"),
        ({"random_thresholds": "x"}, {}, "random_thresholds must be one of"),
        ({"ccp_alpha": True}, {}, "ccp_alpha must be 'auto' or a number >= 0. Got True"),
    ],
)
def test_bad_arguments(options: dict[str, Any], fit_options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IDTClassifier(0, algorithm="layers", **options).fit(
            some_graphs(), np.arange(80) % 2, **fit_options
        )


def test_unknown_parameters_of_a_fitted_model() -> None:
    model = IDTClassifier(0, algorithm="layers", random_state=0).fit(
        some_graphs(), np.arange(80) % 2
    )
    with pytest.raises(
        ValueError, match="'wdth' is not a parameter. Parameters: 'absolute'"
    ) as got:
        model.set_params(wdth=3)
    assert "leaves" not in str(got.value)
    assert model.set_params(width=3).width == 3


def test_predicting_too_early_and_with_other_features() -> None:
    with pytest.raises(ValueError, match="This IDTClassifier is not fitted yet. Call fit"):
        IDTClassifier().predict(some_graphs())
    model = IDTClassifier(0, algorithm="layers", random_state=0).fit(
        some_graphs(), np.arange(80) % 2
    )
    with pytest.raises(ValueError, match=r"the 2 columns that the model was made for .*Got 3"):
        model.predict(some_graphs(names=("U0", "U1", "U2")))
