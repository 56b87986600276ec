"""Planted formulas: how often the truth is found, how long the rule is, how long it takes.

A formula labels 1000 graphs of 8 to 20 nodes and densities from .1 to .9, and a learner sees the
labels. It has recovered the formula if its rule says the same about 20,000 fresh graphs of the same
sizes and densities. There are two suites: one of formulas that people might mean, and one drawn by
a seeded generator, on which nothing is ever tuned.

Besides labels a learner may be given a network: `--teacher built` makes one of the formula with
exact weights, `--teacher trained` trains a GIN on the labels, and then the rule is compared with
its teacher as well.

A third suite plants scorecards; `planted_cards.py` says how they are compared.

    python benchmarks/recovery.py [--algorithm search|layers] [--suite planted|drawn] [--seeds 10]
        [--teacher labels|built|trained] [--jobs 2]
    python benchmarks/recovery.py --suite scorecards [--targets numbers,labels,logits] [--seeds 5]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import joblib
import numpy as np
import planted_cards
from planted_cards import CARDS, CardFit, card_fit

from gnn2logic import (
    Formula,
    GraphBatch,
    IDTClassifier,
    Modality,
    distill,
    parse,
    predicate,
    random_graphs,
    to_gnn,
)
from gnn2logic.logic.syntax import And, Modal, Not, Or, conjunction, disjunction, modal
from gnn2logic.models import GNNClassifier

N_TRAIN = 1000
N_FRESH = 20_000
SIZES = (8, 20)
DENSITIES = (0.1, 0.9)


@dataclass(frozen=True)
class Source:
    """What graphs look like: their predicates, and how often each holds; their edges."""

    probability: tuple[float, ...]
    directed: bool = False
    relations: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The predicates."""
        return tuple(f"U{number}" for number in range(len(self.probability)))

    def draw(self, n_graphs: int, seed: tuple[int, ...]) -> GraphBatch:
        """Draw graphs."""
        rng = np.random.default_rng(seed)
        return random_graphs(
            n_graphs,
            sizes=rng.integers(SIZES[0], SIZES[1] + 1, n_graphs),
            density=rng.uniform(*DENSITIES, n_graphs),
            names=self.names,
            probability=self.probability,
            directed=self.directed,
            relations=self.relations,
            random_state=rng,
        )


PAPER = Source((1.0, 0.5))
TWO = Source((0.5, 0.5))
FIVE = Source((0.5,) * 5)
DIRECTED = Source((0.5, 0.5), directed=True)
TYPED = Source((0.5, 0.5), relations=("r", "s"))
SOURCES = {"TWO": TWO, "FIVE": FIVE, "DIRECTED": DIRECTED, "TYPED": TYPED}

PLANTED: dict[str, tuple[Source, str]] = {
    "psi_0": (PAPER, "1 U1 > 1/2"),
    "psi_1": (PAPER, "1((A U0 < 4) | (A U0 > 9)) > 0"),
    "psi_2": (PAPER, "1(A(A U0 > 6) > 1/2) > 1/2"),
    "both": (TWO, "1(U0 & U1) > 3"),
    "degree": (TWO, "1(A true > 4) > 7"),
    "half": (TWO, "1(A U0 > 3) > 1/2"),
    "share": (TWO, "1(A U1 > 1/2) > 1/3"),
    "few": (TWO, "1(U0 & A U1 > 1) > 2"),
    "lonely": (TWO, "1(U0 & A U0 = 0) > 0"),
    "or": (TWO, "1(U0 | A U1 > 4) > 2/3"),
    "not": (TWO, "1(!U0 & A U1 > 3) > 1/4"),
    "two_counts": (TWO, "1(A U0 > 4 & A U1 > 4) > 2"),
    "closed": (TWO, "1(I+A U0 > 4) > 5"),
    "interval": (TWO, "1(A U0 > 2) > 3 & 1(A U0 > 2) < 11"),
    "inner_interval": (TWO, "1(A U0 = 3) > 1"),
    "xor": (TWO, "(1 U0 > 6 & 1 U1 <= 6) | (1 U0 <= 6 & 1 U1 > 6)"),
    "xor_deep": (
        TWO,
        "(1(A U0 > 3) > 4 & 1 U1 > 1/2) | !(1(A U0 > 3) > 4 | 1 U1 > 1/2)",
    ),
    "two_conditions": (TWO, "1(U0 & A U1 > 2) > 2 & 1(A true > 9) = 0"),
    "pair_inside": (TWO, "1(A(U0 & U1) > 0) > 1/2"),
    "depth_2": (TWO, "1(U0 & A(U1 & A U0 > 2) > 1) > 3"),
    "depth_2_share": (TWO, "1(A(!U0 & A U1 > 1/2) > 1) > 4"),
    "depth_3": (TWO, "1(A(A(A U0 > 3) > 3) > 4) > 2"),
    "five": (FIVE, "1(U0 & A U3 > 2) > 2"),
    "five_three": (FIVE, "1(U2 & !U4 & A U1 > 2) > 1"),
    "five_pair": (FIVE, "1(A(U0 & U4) > 1) > 4"),
    "five_two": (FIVE, "1 U4 > 1/2 & 1(A U0 > 2) > 4"),
    "directed": (DIRECTED, "1(A U0 > 2 & A^T U1 > 2) > 3"),
    "typed": (TYPED, "1(U0 & A[r] U1 > 1) > 2"),
    "typed_deep": (TYPED, "1(A[r](A[s] U0 > 1) > 2) > 4"),
}


# The second suite ------------------------------------------------------------------------------

DRAWN_SEED = 20_240_607
# Longer than what people say, and than what 1000 labels can tell.
LONGEST = 14
# A class that is rarer than this says too little about a formula in 1000 graphs.
RARE = 0.2
# Each condition must decide about this share of the graphs, or no labels show that it is there.
NEEDED = 0.02


def drawn(n_formulas: int) -> Iterator[tuple[str, Source, Formula]]:
    """Give random formulas, balanced enough to learn; each depends on its number alone."""
    for number in range(n_formulas):
        rng = np.random.default_rng([DRAWN_SEED, number])
        while True:
            source = TWO if rng.random() < 0.6 else FIVE
            truth = _random_rule(rng, source).simplify()
            if truth.size <= LONGEST and _can_be_learned(truth, source, number):
                yield f"drawn_{number}", source, truth
                break


def _can_be_learned(truth: Formula, source: Source, number: int) -> bool:
    graphs = source.draw(N_TRAIN, (DRAWN_SEED, number))
    labels = truth.evaluate(graphs)
    return bool(RARE <= labels.mean() <= 1 - RARE) and all(
        np.mean(shorter.evaluate(graphs) != labels) >= NEEDED for shorter in _without_one(truth)
    )


def _without_one(formula: Formula) -> Iterator[Formula]:
    """Give the formula with one conjunct or disjunct left out, anywhere in it."""
    if isinstance(formula, Modal):
        for counted in _without_one(formula.child):
            yield modal(formula.modality, counted, formula.threshold)
    elif isinstance(formula, Not):
        for negated in _without_one(formula.child):
            yield ~negated
    elif isinstance(formula, And | Or):
        join = conjunction if isinstance(formula, And) else disjunction
        for place, child in enumerate(formula.children):
            others = formula.children[:place] + formula.children[place + 1 :]
            yield join(others)
            for shorter in _without_one(child):
                yield join((*others, shorter))


def _random_rule(rng: np.random.Generator, source: Source) -> Formula:
    depth = int(rng.choice([0, 1, 2, 3], p=[0.1, 0.4, 0.35, 0.15]))
    counted = _random_node_formula(rng, source, depth)
    rule = _more_than(rng, "1", counted, 12)
    if rng.random() < 0.25:
        other = _more_than(rng, "1", _random_node_formula(rng, source, min(depth, 1)), 12)
        rule = rule & other if rng.random() < 0.5 else rule | other
    return rule


def _random_node_formula(rng: np.random.Generator, source: Source, depth: int) -> Formula:
    literals = [_random_literal(rng, source, depth)]
    if rng.random() < 0.5:
        literals.append(_random_literal(rng, source, int(rng.integers(0, depth + 1))))
    if len(literals) == 1:
        return literals[0]
    return literals[0] & literals[1] if rng.random() < 0.7 else literals[0] | literals[1]


def _random_literal(rng: np.random.Generator, source: Source, depth: int) -> Formula:
    if depth == 0:
        literal = predicate(str(rng.choice(source.names)))
    else:
        counted = _random_node_formula(rng, source, depth - 1)
        literal = _more_than(rng, "A" if rng.random() < 0.85 else "I+A", counted, 5)
    return ~literal if rng.random() < 0.25 else literal


def _more_than(rng: np.random.Generator, which: str, counted: Formula, most: int) -> Formula:
    shares = [Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4)]
    threshold: int | Fraction = int(rng.integers(0, most))
    if rng.random() < 0.25:
        threshold = shares[int(rng.integers(len(shares)))]
    return modal(Modality.from_set(which), counted, threshold)


# Running ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What one fit gave; `teacher` is the accuracy of the network that it learned from, if any."""

    recovered: bool
    accuracy: float
    size: int
    seconds: float
    rule: Formula
    teacher: float | None


def outcome(
    algorithm: str, teacher: str, n_jobs: int | None, source: Source, truth: Formula, seed: int
) -> Outcome:
    train, fresh = source.draw(N_TRAIN, (seed, 1)), source.draw(N_FRESH, (seed, 2))
    labels, expected = truth.evaluate(train), truth.evaluate(fresh)
    settings: dict[str, Any] = {"algorithm": algorithm, "n_jobs": n_jobs, "random_state": seed}
    network: Any = None
    if teacher == "built":
        network = to_gnn(truth, relations=source.relations or None)
    elif teacher == "trained":
        network = GNNClassifier("gin", random_state=seed).fit(train, labels)
    started = time.perf_counter()
    if network is None:
        learner = IDTClassifier(**settings).fit(train, labels)
    else:
        learner = distill(network, train, **settings)
    seconds = time.perf_counter() - started
    positive = learner.classes_.tolist()[-1]
    rule = learner.formula(positive)
    accuracy = float(np.mean((learner.predict(fresh) == positive) == expected))
    score = None
    if teacher == "trained":
        score = float(np.mean(network.predict(fresh) == expected))
    return Outcome(accuracy == 1.0, accuracy, rule.size, seconds, rule, score)


def one_card(name: str, targets: Any, seed: int, n_jobs: int | None) -> CardFit:
    source, planted = SOURCES[CARDS[name][0]], CARDS[name][1]
    train = source.draw(planted_cards.N_TRAIN, (seed, 1))
    fresh = source.draw(planted_cards.N_FRESH, (seed, 2))
    return card_fit(planted, targets, train, fresh, seed, n_jobs)


def report_cards(names: list[str], targets: list[str], seeds: range, jobs: int, show: bool) -> None:
    """Print how often planted scorecards are recovered."""
    print(f"{'':16}{'targets':>8}{'recovered':>11}{'same lines':>12}{'lines':>7}{'seconds':>9}")
    pool = joblib.Parallel(n_jobs=jobs, return_as="generator")
    tasks = [(name, which) for name in names for which in targets]
    fits = pool(
        joblib.delayed(one_card)(*task, seed, None if jobs == 1 else 1)
        for task in tasks
        for seed in seeds
    )
    total = 0
    for name, which in tasks:
        runs = [next(fits) for _ in seeds]
        total += sum(run.recovered for run in runs)
        print(
            f"{name:16}{which:>8}{sum(run.recovered for run in runs):>6} of {len(runs):<2}"
            f"{sum(run.same_lines for run in runs):>7} of {len(runs):<2}"
            f"{np.median([run.n_lines for run in runs]):7.0f}"
            f"{np.median([run.seconds for run in runs]):9.2f}",
            flush=True,
        )
        for run in runs if show else ():
            if not run.recovered:
                print(run.card)
    print(f"recovered {total} of {len(tasks) * len(seeds)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", choices=["planted", "drawn", "scorecards"], default="planted")
    parser.add_argument("--targets", default="numbers,labels,logits", help="what cards learn from")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=10, help="fits for each planted formula")
    parser.add_argument("--formulas", type=int, default=500, help="how many are drawn")
    parser.add_argument("--only", default="", help="names of planted formulas, with commas")
    parser.add_argument("--algorithm", choices=["search", "layers"], default="search")
    parser.add_argument("--teacher", choices=["labels", "built", "trained"], default="labels")
    parser.add_argument("--jobs", type=int, default=1, help="fits side by side")
    parser.add_argument("--show", action="store_true", help="print the rules that miss the truth")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    if given.suite == "scorecards":
        names = given.only.split(",") if given.only else list(CARDS)
        report_cards(names, given.targets.split(","), seeds, given.jobs, given.show)
        return 0
    if given.suite == "planted":
        wanted = given.only.split(",") if given.only else list(PLANTED)
        tasks = [(name, PLANTED[name][0], parse(PLANTED[name][1])) for name in wanted]
    else:
        tasks, seeds = list(drawn(given.formulas)), range(1)
    everything: list[tuple[Outcome, Formula]] = []
    taught = given.teacher == "trained"
    print(
        f"{'':16}{'recovered':>10}{'accuracy':>10}{'size':>7}{'truth':>7}{'seconds':>9}"
        f"{'teacher':>9}{'beaten':>8}"[: None if taught else -17]
    )
    pool = joblib.Parallel(n_jobs=given.jobs, return_as="generator")
    one_thread = None if given.jobs == 1 else 1
    fits = pool(
        joblib.delayed(outcome)(given.algorithm, given.teacher, one_thread, source, truth, seed)
        for _, source, truth in tasks
        for seed in seeds
    )
    for name, _, truth in tasks:
        runs = [next(fits) for _ in seeds]
        everything += [(run, truth) for run in runs]
        line = (
            f"{name:16}{sum(run.recovered for run in runs):>6} of {len(runs):<2}"
            f"{np.mean([run.accuracy for run in runs]):9.4f}"
            f"{np.median([run.size for run in runs]):7.0f}{truth.size:7}"
            f"{np.median([run.seconds for run in runs]):9.2f}"
        )
        if taught:
            teachers = [run.teacher or 0.0 for run in runs]
            beaten = sum(run.accuracy > (run.teacher or 0.0) for run in runs)
            line += f"{np.mean(teachers):9.4f}{beaten:>5} of {len(runs)}"
        print(line, flush=True)
        if given.show:
            for run in runs:
                if not run.recovered:
                    print(f"    {run.accuracy:.4f} {str(run.rule)[:160]}")
    recovered = sum(run.recovered for run, _ in everything)
    ratios = [run.size / truth.size for run, truth in everything]
    seconds = [run.seconds for run, _ in everything]
    print(
        f"recovered {recovered} of {len(everything)} ({recovered / len(everything):.1%}), median "
        f"size {np.median(ratios):.2f} times the truth's, median {np.median(seconds):.2f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
