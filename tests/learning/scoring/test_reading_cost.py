"""What is hard to read is dear: nesting, shares and "itself and its neighbours"."""

from __future__ import annotations

import pytest

from gnn2logic import parse, random_graphs
from gnn2logic.learning.scoring.reading import ReadingSpace, reading_cost
from gnn2logic.learning.search.opposites import opposite
from gnn2logic.learning.settings import local_modalities


@pytest.mark.parametrize(
    ("simple", "hard"),
    [
        # The same number of symbols each.
        ("A U0 > 1", "A U0 > 1/2"),
        ("A U0 > 1", "I+A U0 > 1"),
        ("U0 & A U1 > 1", "A(A(A U0 > 1) > 1) > 1"),
        ("A(A U0 > 1) > 1", "A(A U0 > 1) > 1/2"),
    ],
)
def test_of_formulas_of_one_size_some_are_harder_to_read(simple: str, hard: str) -> None:
    one, other = parse(simple), parse(hard)
    assert one.size == other.size
    assert reading_cost(one) < reading_cost(other)


def test_counts_in_graphs_are_one_symbol_whatever_is_counted() -> None:
    for text in ("U0", "A(A U0 > 1) > 1/2", "U0 & I+A U1 > 1/3"):
        for threshold in ("3", "1/2"):
            whole = parse(f"1({text}) > {threshold}")
            assert reading_cost(whole) == reading_cost(parse(text)) + 1


def test_columns_cost_what_their_names_and_opposites_do_also_when_they_are_renamed() -> None:
    graphs = random_graphs(40, sizes=8, density=0.4, random_state=0)
    space = ReadingSpace(graphs, local_modalities(graphs))
    (number,) = space.add_formulas([parse("!(!U0 | !U1) & (U0 | A(U0 & U1) > 5)")])
    long = space.sizes([number])[0, 0]
    # On all graphs the same as a shorter formula, which comes later.
    assert space.add_formulas([parse("U0 & U1")]) == [number]
    space.literals(space.literals(space.inputs)[:20])
    for each, formula in enumerate(space.formulas):
        costs = space.sizes([each])[0].tolist()
        assert costs == [reading_cost(formula), reading_cost(opposite(formula))]
    assert space.sizes([number])[0, 0] < long
