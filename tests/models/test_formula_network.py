"""Networks made of formulas compute what the formulas say, on every kind of graph."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch
from torch_geometric.nn import MessagePassing

import oracle
from gnn2logic.exceptions import (
    FeatureError,
    FormulaError,
    GraphError,
    ParameterError,
    UnknownPredicateError,
    UnsupportedInputError,
)
from gnn2logic.graphs import GraphBatch, random_graphs, to_pyg
from gnn2logic.logic import FALSE, TRUE, Formula, evaluate, parse
from gnn2logic.logic.documents import formula_to_document
from gnn2logic.logic.syntax import And, conjunction, disjunction, predicate
from gnn2logic.models.formula_network import FormulaNetwork, to_gnn
from strategies import KINDS, NAMES, RELATIONS, formulas, plain_graphs, to_batch


def run(net: FormulaNetwork, batch: GraphBatch) -> torch.Tensor:
    data = Batch.from_data_list(to_pyg(batch))
    kinds = data.edge_relations if "edge_relations" in data else data.get("edge_type")
    result: torch.Tensor = net(data.x, data.edge_index, data.batch, kinds)
    return result


def truth(net: FormulaNetwork, batch: GraphBatch) -> list[bool]:
    out = run(net, batch)
    assert set(out.flatten().tolist()) <= {-1.0, 1.0}
    values: list[bool] = (out[:, 0] > 0).tolist()
    return values


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_agrees_with_the_oracle_in_a_batch_and_alone(kind: str, data: st.DataObject) -> None:
    graphs = data.draw(st.lists(plain_graphs(kind), min_size=1, max_size=3))
    if kind == "typed":
        graphs = [graph for graph in graphs if graph.edges]
        if not graphs:
            return
    relations = RELATIONS if kind == "typed" else ()
    formula = data.draw(formulas(relations=relations))
    document = formula_to_document(formula)
    expected = [oracle.truth(document, graph) for graph in graphs]
    batch = to_batch(*graphs)
    local = to_gnn(formula, names=NAMES, relations=relations, level="node")
    whole = to_gnn(formula, names=NAMES, relations=relations)
    assert truth(local, batch) == [value for values in expected for value in values]
    assert truth(whole, batch) == [all(values) for values in expected]
    for number, values in enumerate(expected):
        assert truth(local, batch[number]) == values


@settings(max_examples=30, deadline=None)
@given(formula=formulas(relations=RELATIONS), seed=st.integers(0, 2**31))
def test_agrees_with_evaluate_on_everything_at_once(formula: Formula, seed: int) -> None:
    """Directed, typed, with loops and multi-edges, sizes 1 to 20."""
    batch = random_graphs(
        20,
        sizes=np.arange(1, 21),
        density=np.linspace(0.1, 0.9, 20),
        directed=True,
        loops=True,
        max_multiplicity=3,
        relations=RELATIONS,
        random_state=seed,
    )
    for level in ("graph", "node"):
        net = to_gnn(formula, names=NAMES, relations=RELATIONS, level=level)
        assert truth(net, batch) == evaluate(formula, batch, level=level).tolist()


def test_several_formulas_give_one_column_each() -> None:
    batch = random_graphs(50, sizes=6, random_state=0)
    classes = {"few": parse("1 U0 < 2"), "some": parse("1 U0 = 2"), "many": parse("1 U0 > 2")}
    net = to_gnn(classes)
    expected = np.stack([formula.evaluate(batch) for formula in classes.values()], axis=1)
    assert ((run(net, batch) > 0).numpy() == expected).all()
    assert list(net.formulas) == ["few", "some", "many"]
    assert run(to_gnn(list(classes.values())), batch).equal(run(net, batch))


def test_thousands_of_channels_have_few_weights_each() -> None:
    """Weights from every channel to every channel would be millions, and take a minute."""
    parts = [f"(A U0 > {low}) & (1 U1 > {high}/60)" for low in range(25) for high in range(59)]
    batch = random_graphs(6, sizes=[3, 9, 14, 20, 25, 30], random_state=0)
    rules = {number: parse(text) for number, text in enumerate(parts)}
    net = to_gnn(rules, level="node")
    assert len(net.channels) == 25 * 59 + 25 + 59 + 3
    net = to_gnn({**rules, "all": disjunction(list(rules.values()))}, level="node")
    assert sum(own.numel() for own in net.parameters()) < 5 * len(net.channels)
    expected = np.stack([own.evaluate(batch, level="node") for own in net.formulas.values()], 1)
    assert ((run(net, batch) > 0).numpy() == expected).all()
    assert 0 < expected.mean() < 1


def test_layers_are_as_many_as_the_formula_is_high_and_channels_are_distinct() -> None:
    """psi_1: U0, A U0 > 3, its negation, A U0 > 9, the disjunction, the whole, and true."""
    net = to_gnn(parse("1((A U0 < 4) | (A U0 > 9)) > 0"))
    assert net.n_layers == 4
    assert len(net.channels) == len(set(net.channels)) == 7
    assert to_gnn(parse("U0")).n_layers == to_gnn(TRUE).n_layers == 1


def test_hooks_see_every_activated_layer() -> None:
    """A layer after t steps holds the truth of all subformulas of height t or less."""
    net = to_gnn(parse("1(A(A U0 > 6) > 0.5) > 0.5"))
    batch = random_graphs(10, sizes=np.arange(5, 15), random_state=0)
    seen: list[torch.Tensor] = []
    layers = [module for module in net.modules() if isinstance(module, MessagePassing)]
    assert len(layers) == 1
    handle = layers[0].register_forward_hook(lambda _m, _i, out: seen.append(out))
    run(net, batch)
    handle.remove()
    assert len(seen) == net.n_layers == 3
    for step, text in enumerate(["A U0 > 6", "A(A U0 > 6) > 1/2", "1(A(A U0 > 6) > 0.5) > 0.5"]):
        formula = parse(text)
        column = seen[step][:, net.channels.index(formula)]
        assert (column > 0.5).tolist() == formula.evaluate(batch, level="node").tolist()
        assert set(column.tolist()) <= {0.0, 1.0}


def test_ratios_that_doubles_get_wrong() -> None:
    """63 of 90 neighbours are not more than 0.7."""
    ends = torch.stack([torch.zeros(90, dtype=torch.long), torch.arange(1, 91)])
    x = torch.zeros(91, 1)
    x[1:64] = 1
    for share, expected in (("7/10", False), ("69/100", True), ("629999/900000", False)):
        net = to_gnn(parse(f"A U0 > {share}"), level="node")
        if share == "629999/900000":
            with pytest.raises(GraphError, match="along A exactly"):
                net(x, ends)
            # float64 holds what float32 does not.
            assert net.double()(x, ends)[0] > 0
        else:
            assert bool(net(x, ends)[0] > 0) is expected


def test_sizes_that_float32_cannot_count_are_refused() -> None:
    q = 2**20
    net = to_gnn(parse(f"1 U0 > {q - 1}/{q}"))
    assert net(torch.ones(15, 1), torch.zeros(2, 0, dtype=torch.long)) > 0
    with pytest.raises(GraphError, match=r"along 1 exactly .*below 16777216\. Got 16 .* 1048576"):
        net(torch.ones(16, 1), torch.zeros(2, 0, dtype=torch.long))
    # Not the number of nodes alone: parallel edges count too.
    parallel = torch.tensor([[0], [1]]).repeat(1, 16)
    with pytest.raises(GraphError, match="along A exactly"):
        to_gnn(parse(f"A U0 > {q - 1}/{q}"))(torch.ones(2, 1), parallel)
    with pytest.raises(GraphError, match="float16: whole numbers must stay below 2048"):
        to_gnn(parse("1 U0 > 3")).half()(torch.ones(2048, 1), torch.zeros(2, 0, dtype=torch.long))
    with pytest.raises(FormulaError, match="below 16777216"):
        to_gnn(parse(f"1 U0 > 1/{2**24}"))
    with pytest.raises(FormulaError, match="below 16777216"):
        to_gnn(parse(f"1 U0 > {2**24}"))


def test_complements_start_from_a_whole_graph_that_must_be_counted() -> None:
    """All nodes are neighbours, so that 1-A is empty, but it is counted as all without those."""
    net = to_gnn(parse("1-A U0 > 0"), level="node").to(torch.bfloat16)

    def complete(size: int) -> torch.Tensor:
        return torch.cartesian_prod(torch.arange(size), torch.arange(size)).T

    assert (net(torch.ones(200, 1), complete(200)) < 0).all()
    with pytest.raises(GraphError, match="along 1-A exactly with torch.bfloat16.*below 256"):
        net(torch.ones(257, 1), complete(257))


def test_wide_conjunctions_are_refused_where_they_would_be_rounded() -> None:
    names = [f"U{number}" for number in range(300)]
    for formula in (conjunction(map(predicate, names)), disjunction(map(predicate, names))):
        net = to_gnn(formula, names=names, level="node")
        all_true, one_false = torch.ones(1, 300), torch.ones(1, 300)
        one_false[0, 7] = 0
        for x in (all_true, one_false, 1 - all_true, 1 - one_false):
            expected = x.all() if isinstance(formula, And) else x.any()
            assert bool(net(x, NO_EDGES) > 0) is bool(expected)
        with pytest.raises(FormulaError, match="fewer than 256 parts of one.*Got 300"):
            net.to(torch.bfloat16)(all_true, NO_EDGES)


def test_numbered_and_named_edge_types() -> None:
    x = torch.tensor([[1.0], [0.0], [0.0]])
    edge_index = torch.tensor([[1, 2, 1], [0, 0, 2]])
    kinds = torch.tensor([0, 1, 1])
    by_number = to_gnn(parse("A[1] U0 > 0"), level="node")
    by_name = to_gnn(parse("A[double] U0 > 0"), relations=["single", "double"], level="node")
    one_hot = torch.nn.functional.one_hot(kinds)
    for out in (
        by_number(x, edge_index, edge_type=kinds),
        by_name(x, edge_index, edge_type=kinds),
        by_name(x, edge_index, edge_type=one_hot),
    ):
        assert (out > 0).flatten().tolist() == [False, False, True]
    assert not (by_name(x, torch.zeros(2, 0, dtype=torch.long)) > 0).any()
    with pytest.raises(GraphError, match="edge_type must be given"):
        by_name(x, edge_index)
    with pytest.raises(GraphError, match="each of the 3 edges"):
        by_name(x, edge_index, edge_type=kinds[:2])
    with pytest.raises(GraphError, match="no column 1"):
        by_name(x, edge_index, edge_type=one_hot[:, :1])
    with pytest.raises(GraphError, match="0 and 1"):
        by_name(x, edge_index, edge_type=2 * one_hot)
    with pytest.raises(FeatureError, match="relations="):
        to_gnn(parse("A[double] U0 > 0"))
    with pytest.raises(FeatureError, match="not among relations"):
        to_gnn(parse("A[double] U0 > 0"), relations=["single"])


NO_EDGES = torch.zeros(2, 0, dtype=torch.long)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((torch.ones(3, 1), NO_EDGES), FeatureError, "2 columns .* Got 1"),
        ((torch.full((3, 2), 0.5), NO_EDGES), FeatureError, "0 or 1. Got 0.5 at node 0"),
        ((torch.full((3, 2), torch.nan), NO_EDGES), FeatureError, "Got nan"),
        ((torch.ones(3), NO_EDGES), FeatureError, r"Got shape \(3,\)"),
        ((torch.ones(0, 2), NO_EDGES), FeatureError, r"Got shape \(0, 2\)"),
        ((torch.ones(3, 2), NO_EDGES.T), GraphError, "two rows"),
        ((torch.ones(3, 2), NO_EDGES.float()), GraphError, "whole numbers"),
        ((torch.ones(3, 2), torch.tensor([[3], [0]])), GraphError, "from 0 to 2. Got 3"),
        ((torch.ones(3, 2), torch.tensor([[-1], [0]])), GraphError, "from 0 to 2. Got -1"),
        ((torch.ones(3, 2), NO_EDGES, torch.zeros(2)), GraphError, "each of the 3 nodes"),
        ((torch.ones(3, 2), NO_EDGES, torch.zeros(3)), GraphError, "dtype torch.float32"),
        ((torch.ones(3, 2), NO_EDGES, [0, 0, 0]), GraphError, "Got list instead"),
        ((torch.ones(3, 2), NO_EDGES, torch.tensor([-1, 0, 0])), GraphError, "from 0 on. Got -1"),
        ((None, NO_EDGES), UnsupportedInputError, "x must be a tensor.*Got NoneType"),
        ((torch.ones(3, 2), None), UnsupportedInputError, "edge_index must be a tensor.*NoneType"),
        (
            (torch.ones(2, 2), torch.tensor([[0], [1]]), torch.tensor([0, 1])),
            GraphError,
            "in one graph",
        ),
    ],
)
def test_bad_inputs(arguments: Any, error: Any, message: str) -> None:
    net = to_gnn(parse("A U1 > 0"), names=["U0", "U1"])
    with pytest.raises(error, match=message):
        net(*arguments)


def test_bad_formulas() -> None:
    with pytest.raises(UnknownPredicateError, match="names="):
        to_gnn(parse("A atom=N > 0"))
    with pytest.raises(UnknownPredicateError, match="not among names"):
        to_gnn(parse("A U2 > 0"), names=["U0"])
    with pytest.raises(FeatureError, match="at least 3 columns"):
        to_gnn(parse("A U2 > 0"))(torch.ones(3, 2), NO_EDGES)
    bad: list[Any] = ["A U0 > 0", [], {}, [parse("U0"), "U1"], 3]
    for nothing in bad:
        with pytest.raises(UnsupportedInputError, match="to_gnn needs a formula"):
            to_gnn(nothing)
    with pytest.raises(ParameterError, match="level"):
        to_gnn(TRUE, level="edge")  # type: ignore[arg-type]


def test_inputs_of_other_types_and_a_copy_give_the_same() -> None:
    batch = random_graphs(5, sizes=7, random_state=1)
    data = Batch.from_data_list(to_pyg(batch))
    net = to_gnn({"no": FALSE, "yes": parse("1(A U1 > 1/3) > 2")})
    expected = net(data.x, data.edge_index, data.batch)
    for x in (data.x.bool(), data.x.long(), data.x.double()):
        assert net(x, data.edge_index, data.batch).equal(expected)
    again = copy.deepcopy(net)
    again.load_state_dict(net.state_dict())
    assert again(data.x, data.edge_index, data.batch).equal(expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert net(data.x, data.edge_index, data.batch).equal(expected)
    assert "1(A U1 > 1/3) > 2" in repr(net)
    assert not any(parameter.requires_grad for parameter in net.parameters())
