"""C2 against brute force: loops over nodes on plain tuples, nothing of the package's evaluation."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from gnn2logic.exceptions import TranslationError
from gnn2logic.graphs import Direction, Edges, GraphBatch, Modality
from gnn2logic.logic import FALSE, TRUE, Formula, conjunction, disjunction, evaluate, predicate
from gnn2logic.logic.c2 import C2Formula, from_c2, parse_c2, to_c2
from gnn2logic.logic.c2 import syntax as c2
from gnn2logic.logic.syntax import modal, negation

PREDICATES = ("U0", "U1", "U2")
RELATIONS = ("r", "s")
SETS = ("0", "1", "I", "A", "1-I", "1-A", "I+A", "1-I-A")
PROPER_SETS = tuple(name for name in SETS if name not in ("0", "I"))

Plain = tuple[Any, ...]
"""A formula of C2 as nested tuples: the form that the brute force reads."""

moderate = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])


# Brute force ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class World:
    """One graph: how many nodes, which pairs each relation joins, where predicates hold."""

    n: int
    edges: dict[str | None, frozenset[tuple[int, int]]]
    true_at: dict[str, frozenset[int]]

    def batch(self) -> GraphBatch:
        columns = [[v in self.true_at[name] for name in PREDICATES] for v in range(self.n)]
        typed = {name: self._matrix(name) for name in self.edges if name is not None}
        return GraphBatch(columns, self._matrix(None), relations=typed)

    def _matrix(self, name: str | None) -> np.ndarray[Any, np.dtype[np.int64]]:
        matrix = np.zeros((self.n, self.n), dtype=np.int64)
        for v, w in self.edges[name]:
            matrix[v, w] = 1
        return matrix


COMPARE = {
    ">=": int.__ge__,
    ">": int.__gt__,
    "<=": int.__le__,
    "<": int.__lt__,
    "=": int.__eq__,
    "!=": int.__ne__,
}


def holds(f: Plain, world: World, env: dict[str, int]) -> bool:
    match f:
        case ("true",):
            return True
        case ("false",):
            return False
        case ("P", name, v):
            return env[v] in world.true_at[name]
        case ("E", v, w, relation):
            return (env[v], env[w]) in world.edges[relation]
        case ("=", v, w):
            return env[v] == env[w]
        case ("not", g):
            return not holds(g, world, env)
        case ("and", *parts):
            return all(holds(part, world, env) for part in parts)
        case ("or", *parts):
            return any(holds(part, world, env) for part in parts)
        case ("implies", g, h):
            return not holds(g, world, env) or holds(h, world, env)
        case ("exists", relation, n, v, g):
            found = sum(holds(g, world, {**env, v: node}) for node in range(world.n))
            return bool(COMPARE[relation](found, n))
        case ("forall", v, g):
            return all(holds(g, world, {**env, v: node}) for node in range(world.n))
    raise AssertionError(f)


def everywhere(f: Plain, world: World) -> list[bool]:
    """Return the truth at each node, with both variables standing for it."""
    return [holds(f, world, {"x": v, "y": v}) for v in range(world.n)]


def as_plain(formula: C2Formula) -> Plain:
    match formula:
        case c2.C2Constant():
            return ("true",) if formula.value else ("false",)
        case c2.C2Predicate():
            return ("P", formula.name, formula.variable)
        case c2.Edge():
            return ("E", formula.source, formula.target, formula.relation)
        case c2.Equal():
            return ("=", "x", "y")
        case c2.Exists():
            body = as_plain(formula.body)
            return ("exists", ">=", formula.count, formula.variable, body)
    kind = {c2.C2Not: "not", c2.C2And: "and", c2.C2Or: "or"}[type(formula)]
    return (kind, *(as_plain(child) for child in formula.children))


def as_text(f: Plain) -> str:
    """Return text for the parser, with all brackets."""
    match f:
        case ("P", name, v):
            return f"{name}({v})"
        case ("E", v, w, None):
            return f"E({v},{w})"
        case ("E", v, w, relation):
            return f"E[{relation}]({v},{w})"
        case ("=", v, w):
            return f"{v} = {w}"
        case ("not", g):
            return f"!({as_text(g)})"
        case ("and", *parts):
            return " & ".join(f"({as_text(part)})" for part in parts)
        case ("or", *parts):
            return " | ".join(f"({as_text(part)})" for part in parts)
        case ("implies", g, h):
            return f"({as_text(g)}) -> ({as_text(h)})"
        case ("exists", relation, n, v, g):
            return f"exists{relation}{n} {v} ({as_text(g)})"
        case ("forall", v, g):
            return f"forall {v} ({as_text(g)})"
    return str(f[0])


def free(f: Plain) -> frozenset[str]:
    match f:
        case ("P", _, v):
            return frozenset({v})
        case ("E", v, w, _) | ("=", v, w):
            return frozenset({v, w})
        case ("exists", _, _, v, g) | ("forall", v, g):
            return free(g) - {v}
    return frozenset().union(*(free(part) for part in f[1:]))


def plain_depth(f: Plain) -> int:
    below = max((plain_depth(part) for part in f if isinstance(part, tuple)), default=0)
    return below + (f[0] in ("exists", "forall"))


# Strategies ----------------------------------------------------------------------------------

variables = st.sampled_from("xy")
seeds = st.integers(0, 2**32 - 1)


def atoms(relations: tuple[str | None, ...]) -> st.SearchStrategy[Plain]:
    properties = st.tuples(st.just("P"), st.sampled_from(PREDICATES), variables)
    return st.one_of(
        properties,
        properties,
        st.sampled_from([("E", "x", "y"), ("E", "y", "x"), ("E", "x", "x")]).flatmap(
            lambda edge: st.sampled_from(relations).map(lambda relation: (*edge, relation))
        ),
        st.sampled_from([("=", "x", "y"), ("=", "y", "x"), ("=", "x", "x"), ("true",), ("false",)]),
    )


def plain_formulas(
    depth: int, relations: tuple[str | None, ...] = (None,)
) -> st.SearchStrategy[Plain]:
    units = atoms(relations)
    if depth > 0:
        body = plain_formulas(depth - 1, relations)
        counted = st.tuples(
            st.just("exists"), st.sampled_from(sorted(COMPARE)), st.integers(0, 3), variables, body
        )
        units = st.one_of(units, counted, counted, st.tuples(st.just("forall"), variables, body))
    return st.recursive(
        units,
        lambda parts: (
            st.tuples(st.just("not"), parts)
            | st.tuples(st.just("implies"), parts, parts)
            | wide(parts)
        ),
        max_leaves=5,
    )


def wide(parts: st.SearchStrategy[Plain]) -> st.SearchStrategy[Plain]:
    lists = st.lists(parts, min_size=2, max_size=4)
    return st.builds(lambda kind, some: (kind, *some), st.sampled_from(["and", "or"]), lists)


def mixed_bodies() -> st.SearchStrategy[Plain]:
    """Quantifiers over two levels of connectives that mix conditions on x and on y."""
    literals = atoms((None,)).flatmap(lambda f: st.sampled_from([f, ("not", f)]))
    body = wide(wide(literals))
    count = st.tuples(st.sampled_from(sorted(COMPARE)), st.integers(0, 3), st.sampled_from("xy"))
    return st.builds(lambda how, f: ("exists", *how, f), count, body)


@st.composite
def unary(draw: st.DrawFn) -> Plain:
    f = draw(mixed_bodies() | st.integers(0, 3).flatmap(plain_formulas))
    if free(f) == {"x", "y"}:
        f = ("exists", draw(st.sampled_from(sorted(COMPARE))), draw(st.integers(0, 3)), "y", f)
    assume(plain_depth(f) <= 3)
    return f


def worlds(*, simple: bool = True) -> st.SearchStrategy[list[World]]:
    """Four graphs from one seed: uniform draws tell formulas apart better than small ones."""
    return seeds.map(lambda seed: [random_world(random.Random(seed + i), simple) for i in range(4)])


def random_world(rng: random.Random, simple: bool) -> World:
    n = rng.randint(1, 6)
    chosen: dict[str, set[tuple[int, int]]] = {name: set() for name in RELATIONS}
    density = rng.choice([0.3, 0.5, 0.8])
    for v in range(n):
        for w in range(v + 1 if simple else 0, n):
            if rng.random() < density:
                chosen[rng.choice(RELATIONS)].update({(v, w), (w, v)} if simple else {(v, w)})
    edges: dict[str | None, frozenset[tuple[int, int]]]
    edges = {name: frozenset(pairs) for name, pairs in chosen.items()}
    # A pair has one type, so all types together have no parallel edges.
    edges[None] = frozenset().union(*chosen.values())
    true_at = {name: frozenset(v for v in range(n) if rng.random() < 0.5) for name in PREDICATES}
    return World(n, edges, true_at)


def emlc_formulas(
    *,
    depth: int = 3,
    edges: tuple[Edges, ...] = (Edges(),),
    sets: tuple[str, ...] = SETS,
    ratios: bool = False,
    constants: bool = True,
) -> st.SearchStrategy[Formula]:
    thresholds: st.SearchStrategy[Any] = st.integers(0, 3)
    if ratios:
        shares = ["1/2", "1/3", "2/3", "3/4", "1/7", "39/125"]
        thresholds = thresholds | st.sampled_from(shares).map(Fraction)
    leaves = [predicate(name) for name in PREDICATES]
    units = st.sampled_from([*leaves, TRUE, FALSE] if constants else leaves)
    if depth > 0:
        below = emlc_formulas(
            depth=depth - 1, edges=edges, sets=sets, ratios=ratios, constants=constants
        )
        modalities = st.builds(Modality.from_set, st.sampled_from(sets), st.sampled_from(edges))
        units = units | st.builds(modal, modalities, below, thresholds)
    return st.recursive(
        units,
        lambda parts: (
            st.builds(negation, parts)
            | st.builds(conjunction, st.lists(parts, min_size=2, max_size=3))
            | st.builds(disjunction, st.lists(parts, min_size=2, max_size=3))
        ),
        max_leaves=4,
    )


ALL_EDGES = tuple(Edges(way, name) for way in Direction for name in (None, *RELATIONS))


# C2 to EMLC ----------------------------------------------------------------------------------


@moderate
@given(unary(), worlds())
def test_from_c2_agrees_with_brute_force_at_every_node(f: Plain, some: list[World]) -> None:
    formula = parse_c2(as_text(f))
    translated = from_c2(formula)
    for world in some:
        assert truth(translated, world) == everywhere(f, world)
    batch = GraphBatch.concat([world.batch() for world in some])
    expected = [all(everywhere(f, world)) for world in some]
    assert formula.evaluate(batch).tolist() == expected


@moderate
@given(unary())
def test_modal_depth_never_exceeds_quantifier_depth(f: Plain) -> None:
    formula = parse_c2(as_text(f))
    assert formula.quantifier_depth <= plain_depth(f)
    assert from_c2(formula).modal_depth <= formula.quantifier_depth


@moderate
@given(plain_formulas(2, (None, "r")), worlds(simple=False))
def test_parsed_formulas_mean_what_the_text_says(f: Plain, some: list[World]) -> None:
    formula = parse_c2(as_text(f))
    built = as_plain(formula)
    assert set(formula.free_variables) <= free(f)
    for world in some:
        for v in range(world.n):
            env = {"x": v, "y": (v * v + 1) % world.n}
            assert holds(built, world, env) == holds(f, world, env)


@moderate
@given(plain_formulas(3, (None, "r", "s")))
def test_printed_text_is_read_back_as_the_same_object(f: Plain) -> None:
    formula = parse_c2(as_text(f))
    assert parse_c2(str(formula)) is formula
    assert parse_c2(formula.to_unicode()) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert formula.to_latex().count("{") == formula.to_latex().count("}")


# EMLC to C2 ----------------------------------------------------------------------------------


@moderate
@given(emlc_formulas(), worlds(), st.sampled_from("xy"))
def test_to_c2_agrees_on_simple_graphs(formula: Formula, some: list[World], variable: Any) -> None:
    translated = to_c2(formula, variable=variable)
    assert set(translated.free_variables) <= {variable}
    assert parse_c2(str(translated)) is translated
    for world in some:
        assert everywhere(as_plain(translated), world) == truth(formula, world)


@moderate
@given(emlc_formulas(edges=ALL_EDGES), worlds(simple=False))
def test_to_c2_agrees_on_directed_looped_typed_graphs(formula: Formula, some: list[World]) -> None:
    translated = as_plain(to_c2(formula))
    for world in some:
        assert everywhere(translated, world) == truth(formula, world)


@moderate
@given(emlc_formulas(depth=2, edges=ALL_EDGES, ratios=True), worlds(simple=False))
def test_expanded_ratios_agree_up_to_the_bound(formula: Formula, some: list[World]) -> None:
    translated = as_plain(to_c2(formula, max_size=6))
    for world in some:
        assert everywhere(translated, world) == truth(formula, world)


@moderate
@given(emlc_formulas(), worlds())
def test_there_and_back_is_equivalent(formula: Formula, some: list[World]) -> None:
    returned = from_c2(to_c2(formula))
    assert returned.modal_depth <= formula.modal_depth
    for world in some:
        assert truth(returned, world) == truth(formula, world)


@moderate
@given(emlc_formulas(sets=PROPER_SETS, constants=False))
def test_there_and_back_is_identical_where_nothing_folds(formula: Formula) -> None:
    assert from_c2(to_c2(formula)) is formula


@moderate
@given(emlc_formulas(depth=1, edges=(Edges(), Edges(Direction.IN))), worlds(simple=False), seeds)
def test_what_multi_edges_allows_holds_with_parallel_edges(
    formula: Formula, some: list[World], seed: int
) -> None:
    rng = random.Random(seed)
    try:
        translated = as_plain(to_c2(formula, multi_edges=True))
    except TranslationError:
        reject()
    for world in some:
        simple = world.batch()
        copies = [[rng.randint(1, 3) for _ in range(world.n)] for _ in range(world.n)]
        multi = GraphBatch(simple.predicates, simple.adjacency.toarray() * np.array(copies))
        expected = evaluate(formula, multi, level="node").tolist()
        assert everywhere(translated, world) == expected


def truth(formula: Formula, world: World) -> list[bool]:
    result: list[bool] = evaluate(formula, world.batch(), level="node").tolist()
    return result
