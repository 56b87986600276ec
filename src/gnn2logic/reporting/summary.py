"""From a model and graphs to a document of plain data. What it looks like is decided elsewhere."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from gnn2logic.graphs.structure_names import structure_in_use
from gnn2logic.logic.printing.steps import ShortNames
from gnn2logic.logic.syntax import Formula
from gnn2logic.reporting.cards import CardStory
from gnn2logic.reporting.examples import (
    choose_rows,
    count_edges,
    describe_examples,
    furthest_rows,
)
from gnn2logic.reporting.formulas import cut_text, logic_text, short_text, short_words
from gnn2logic.reporting.number_comparison import NumberComparison
from gnn2logic.reporting.subject import ReportLimits, ReportSubject
from gnn2logic.reporting.trees import TreeStory
from gnn2logic.scorecards import ScorecardPredictor

__all__ = ["summarise"]

# Settings that never change the model.
_QUIET_SETTINGS = frozenset({"verbose", "n_jobs", "n_shards"})


def story_of(subject: ReportSubject, limits: ReportLimits) -> TreeStory | CardStory:
    """Return what there is to say about a model of either form."""
    if isinstance(subject.predictor, ScorecardPredictor):
        return CardStory(subject, subject.predictor, limits)
    return TreeStory(subject, subject.predictor, limits)


def summarise(subject: ReportSubject, limits: ReportLimits, random_state: int) -> dict[str, Any]:
    """Return the document: everything that a report says, ready for JSON."""
    notes: list[str] = []
    story = story_of(subject, limits)
    short_names, roles = story.short_names, story.formulas()
    shown = list(roles)[: limits.max_formulas]
    if len(shown) < len(roles):
        notes.append(
            f"{len(shown)} of the {len(roles)} formulas of the model can be chosen in the pictures."
        )
    positions = choose_rows(
        subject.comparison, limits.n_examples, limits.n_differences, random_state
    )
    examples = describe_examples(
        subject,
        positions,
        shown,
        story,
        max_nodes=limits.max_nodes,
        random_state=random_state,
    )
    notes = [*_example_notes(subject, limits, examples), *_structure_notes(story), *notes]
    return {
        "format": "gnn2logic-report",
        "version": 1,
        "gnn2logic": version("gnn2logic"),
        "title": subject.title,
        "level": subject.level,
        "target": None if subject.target is None else subject.target.to_dict(),
        "data": _data(subject),
        "teacher": None if subject.comparison.teacher is None else {"name": subject.teacher_name},
        "model": _model(subject, story),
        "scores": subject.comparison.scores(),
        "baseline": _baseline(subject),
        **_tables(subject),
        **story.entries(shown),
        "groups": [
            _named_subformula(
                subformula, short_names, shown.index(subformula) if subformula in shown else None
            )
            for subformula in short_names.names
        ],
        "formulas": [_formula(formula, roles[formula], short_names) for formula in shown],
        "roles": dict(story.roles),
        "examples": examples,
        "notes": notes,
    }


# What was distilled ---------------------------------------------------------------------------


def _data(subject: ReportSubject) -> dict[str, Any]:
    batch, comparison = subject.batch, subject.comparison
    sizes = batch.sizes

    def counts(labels: Any) -> dict[str, int] | None:
        # How often a number is exactly true says nothing.
        if labels is None or (subject.target is not None and labels is not comparison.predicted):
            return None
        return {name: int((labels == label).sum()) for label, name in subject.class_names.items()}

    true, rule, theirs = map(counts, (comparison.truth, comparison.predicted, comparison.teacher))
    return {
        "name": subject.dataset_name,
        "n_graphs": batch.n_graphs,
        "n_nodes": batch.n_nodes,
        "n_edges": count_edges(batch),
        "n_rows": len(comparison.rows),
        "nodes_per_graph": {
            "smallest": int(sizes.min()),
            "mean": round(float(sizes.mean()), 2),
            "largest": int(sizes.max()),
        },
        "predicates": list(batch.names),
        "relations": list(batch.relations),
        "directed": not batch.is_symmetric,
        "loops": batch.has_loops,
        "multi_edges": batch.has_multi_edges,
        "classes": [
            {
                "name": name,
                "n_true": true and true[name],
                "n_predicted": rule and rule[name],
                "n_teacher": theirs and theirs[name],
            }
            for name in subject.class_names.values()
        ],
    }


def _model(subject: ReportSubject, story: TreeStory | CardStory) -> dict[str, Any]:
    settings = subject.predictor._parameters_to_save()
    return {
        "kind": type(subject.predictor).__name__,
        **story.model(),
        "settings": {
            name: settings[name]
            for name in story.parameters
            if name in settings and name not in _QUIET_SETTINGS
        },
    }


# How good it is -------------------------------------------------------------------------------


def _baseline(subject: ReportSubject) -> dict[str, Any] | None:
    comparison = subject.comparison
    if comparison.reference is None:
        return None
    constant = (
        comparison.mean if isinstance(comparison, NumberComparison) else comparison.most_common
    )
    return {
        "class": subject.said(constant),
        "of": "teacher" if comparison.truth is None else "truth",
    }


def _tables(subject: ReportSubject) -> dict[str, Any]:
    comparison = subject.comparison
    if isinstance(comparison, NumberComparison):
        return {"confusion": None, "agreement": None}
    return {
        "confusion": _table(subject, comparison.confusion()),
        "agreement": _table(subject, comparison.agreement()),
    }


def _table(subject: ReportSubject, counts: list[list[int]] | None) -> dict[str, Any] | None:
    if counts is None:
        return None
    return {"classes": list(subject.class_names.values()), "counts": counts}


# Pictures -------------------------------------------------------------------------------------


def _named_subformula(
    formula: Formula, short_names: ShortNames, number: int | None
) -> dict[str, Any]:
    return {
        "name": short_names.names[formula],
        "formula": number,
        "words": short_names.meaning(formula),
        "logic": short_text(formula, short_names),
    }


def _formula(
    formula: Formula, roles: list[tuple[str, str]], short_names: ShortNames
) -> dict[str, Any]:
    return {
        "kind": roles[0][0],
        "roles": [role for _, role in roles],
        "name": short_names.names.get(formula),
        "short": cut_text(short_text(formula, short_names), 400),
        "words": cut_text(short_words(formula, short_names), 600),
        "logic": cut_text(logic_text(formula).replace("\n", " "), 400),
        "text": cut_text(str(formula).replace("\n", " "), 2000),
        "size": formula.size,
    }


def _structure_notes(story: TreeStory | CardStory) -> list[str]:
    """Say which shapes the model speaks of, because these are no logic of the paper."""
    predicates, relations = story.terms()
    in_use = structure_in_use(predicates, sorted(relations))
    if not in_use:
        return []
    return [
        f"The {story.speaks} the structure of graphs beyond two-variable logic: "
        f"{', '.join(in_use)}. It is measured from the edges of each graph."
    ]


def _example_notes(
    subject: ReportSubject, limits: ReportLimits, examples: list[dict[str, Any]]
) -> list[str]:
    level, comparison = subject.level, subject.comparison
    noun = "scorecard" if isinstance(subject.predictor, ScorecardPredictor) else "rule"
    notes = [f"Shown are {len(examples)} of {len(comparison.rows)} {level}s: "]
    if isinstance(comparison, NumberComparison):
        by = "predicted" if comparison.truth is None else "true"
        notes[0] += f"up to {limits.n_examples} of each third by {by} number, drawn at random"
        n_furthest = len(furthest_rows(comparison, limits.n_differences))
        other = "the truth" if comparison.teacher is None else "the teacher"
        notes[0] += (
            f", and the {n_furthest} on which the {noun} is furthest from {other}."
            if n_furthest
            else "."
        )
        return [*notes, *_picture_notes(subject, limits, examples)]
    by = "predicted class" if comparison.truth is None else "class"
    notes[0] += f"up to {limits.n_examples} of each {by}, drawn at random"
    n_differing = int(comparison.differs.sum())
    n_shown = sum(example["differs"] for example in examples)
    if comparison.teacher is None and comparison.truth is None:
        notes[0] += "."
    else:
        what = (
            f"the {noun} is wrong" if comparison.teacher is None else f"{noun} and teacher differ"
        )
        if not n_differing:
            notes[0] += f". There is none on which {what}."
        elif n_differing == 1:
            notes[0] += f", and the only one on which {what}."
        else:
            among = "all" if n_shown == n_differing else f"{n_shown} of the"
            notes[0] += f", and {among} {n_differing} on which {what}."
    return [*notes, *_picture_notes(subject, limits, examples)]


def _picture_notes(
    subject: ReportSubject, limits: ReportLimits, examples: list[dict[str, Any]]
) -> list[str]:
    notes, level = [], subject.level
    if level == "node":
        notes.append(
            f"The model {'classifies' if subject.target is None else 'is about'} nodes: each "
            "example is one node in its graph, with a ring."
        )
    n_cut = sum(len(example["drawing"]["nodes"]) < example["n_nodes"] for example in examples)
    if n_cut:
        where = "node in question" if level == "node" else "node with most neighbours"
        notes.append(
            f"{n_cut} of the pictures show only the {limits.max_nodes} nodes nearest to the "
            f"{where}. Formulas are evaluated on whole graphs, and all counts are of whole graphs."
        )
    if subject.batch.has_multi_edges:
        notes.append("Parallel edges are drawn once. Formulas count each of them.")
    return notes
