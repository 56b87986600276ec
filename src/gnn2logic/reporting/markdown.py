"""A document as Markdown: the content of the page, but for what is only to be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from gnn2logic.reporting.words import (
    WHO,
    count_of,
    decision_words,
    flip_words,
    label_of,
    name_of,
    per_cent,
    setting,
    teacher_words,
)

__all__ = ["to_markdown"]

# Signs that mean something anywhere in a line; our own words begin every line.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def to_markdown(document: dict[str, Any]) -> str:
    """Return the report as Markdown; all texts of the user are escaped."""
    parts = [
        _introduction(document),
        _rules(document),
        _quality(document),
        _trade_off(document),
        _section("The Iterated Decision Tree", _block(document["tree"])),
        _examples(document),
        _details(document),
    ]
    return "\n\n".join(parts) + "\n"


# Pieces ---------------------------------------------------------------------------------------


def _plain(text: object) -> str:
    """Return a text that Markdown and HTML show as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _block(text: str, language: str = "") -> str:
    """Return a text in a box; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *([_plain(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _section(title: str, *parts: str) -> str:
    return "\n\n".join([f"## {title}", *(part for part in parts if part)])


# Sections -------------------------------------------------------------------------------------


def _introduction(document: dict[str, Any]) -> str:
    data, teacher = document["data"], document["teacher"]
    rows = count_of(data["n_rows"], document["level"])
    what = (
        "The rules of a model,"
        if teacher is None
        else f"{_network(teacher)}, distilled into rules and"
    )
    where = "" if data["name"] is None else f" of {_plain(data['name'])}"
    return f"# {_plain(document['title'])}\n\n{what} measured on {rows}{where}."


def _network(teacher: dict[str, Any]) -> str:
    return "A network" if teacher["name"] is None else f"The network {_plain(teacher['name'])}"


def _rules(document: dict[str, Any]) -> str:
    parts = []
    for rule in document["rules"]:
        name = _plain(rule["class"])
        parts.append(f"### Otherwise class {name}" if rule["is_rest"] else f"### Class {name} if")
        parts.append("\n".join(_plain(line) for line in rule["short_words"].split("\n")))
        parts.append(_block(rule["short_logic"]))
        support = f"Given to {count_of(rule['n_predicted'], document['level'])}"
        support += f" of {document['data']['n_rows']}"
        if rule["n_right"] is not None:
            support += f"; right for {rule['n_right']} of them, and {rule['n_true']} truly are of "
            support += "this class"
        parts.append(f"{support}.")
        if document["kinds"]:
            parts.append("All in one formula:")
            parts.append(_block(rule["text"]))
        parts.append(_block(rule["latex"], "latex"))
    if document["kinds"]:
        parts.append("### Kinds of nodes")
        rows = [[f"({own['name']})", own["words"], own["logic"]] for own in document["kinds"]]
        parts.append(_table(["Kind", "Words", "Logic"], rows))
    return _section("The rules", *parts)


def _columns(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the figures that are known: their titles and keys."""
    found = []
    if document["confusion"] is not None:
        found += [("Accuracy", "accuracy"), ("Macro F1", "macro_f1")]
    if document["teacher"] is not None:
        found.append(("Fidelity", "fidelity"))
    return found


def _quality(document: dict[str, Any]) -> str:
    columns = _columns(document)
    if not columns:
        return _section(
            "How good they are",
            "No true labels and no teacher were given, so nothing can be compared.",
        )
    rows = []
    for row in document["scores"]:
        who = WHO[row["who"]]
        if row["who"] == "baseline":
            who = f"{who} ({document['baseline']['class']})"
        rows.append([who, *(per_cent(row[key]) for _, key in columns)])
    parts = [_table(["", *(title for title, _ in columns)], rows)]
    for key, title, first in (
        ("confusion", "Rule against truth", "True class"),
        ("agreement", "Rule against teacher", "Teacher says"),
    ):
        table = document[key]
        if table is not None:
            parts.append(f"### {title}")
            head = [first, *(f"Rule says {_plain(name)}" for name in table["classes"])]
            pairs = zip(table["classes"], table["counts"], strict=True)
            parts.append(_table(head, ([name, *counts] for name, counts in pairs)))
    return _section("How good they are", *parts)


def _trade_off(document: dict[str, Any]) -> str:
    table = document["trade_off"]
    columns = [(title, key) for title, key in _columns(document) if key != "macro_f1"]
    titles = [title for title, _ in columns]
    head = ["Index", "Leaves", "Size", "Depth", *titles, "Class", "Its rule"]
    rows = [
        [
            f"{row['index']}{' (chosen)' if row['chosen'] else ''}",
            row["n_leaves"],
            row["size"],
            row["modal_depth"],
            *(per_cent(row[key]) for _, key in columns),
            row["class"],
            row["logic"],
        ]
        for row in table["rows"]
    ]
    note = ""
    if len(rows) < table["n_rules"]:
        note = (
            f"Shown are {len(rows)} of {table['n_rules']}: those with at most "
            f"{table['max_leaves']} leaves, and the chosen one."
        )
    return _section("Size against accuracy", _table(head, rows), note)


def _examples(document: dict[str, Any]) -> str:
    formulas = document["formulas"]
    parts = ["\n\n".join(_plain(note) for note in document["notes"])]
    if formulas:
        rows = [
            [number, label_of(own), own["words"], "; ".join(own["roles"])]
            for number, own in enumerate(formulas)
        ]
        parts.append(_table(["Formula", "Logic", "Words", "Where"], rows))
    for example in document["examples"]:
        parts.append(f"### {_plain(example['name'])}")
        answers = [
            f"{who} {_plain(example[key])}"
            for who, key in (("true", "true"), ("rule", "predicted"), ("teacher", "teacher"))
            if example[key] is not None
        ]
        size = f"{count_of(example['n_nodes'], 'node')}, {count_of(example['n_edges'], 'edge')}"
        parts.append(f"{'; '.join(answers)}. {size}.")
        parts.append("\n".join(f"1. {_decision(own, formulas)}" for own in example["decisions"]))
        parts.append(
            "\n".join(
                f"- otherwise {_plain(flip['class'])} {_plain(flip_words(flip))}"
                for flip in example["flips"]
            )
        )
        lit = [
            f"- formula {number} is true at {count} of {example['n_nodes']} nodes"
            f"{_nodes(example, number)}"
            for number, count in enumerate(example["counts"])
            if count
        ]
        parts.append("\n".join(lit))
    return _section("Examples", *parts)


def _decision(decision: dict[str, Any], formulas: list[dict[str, Any]]) -> str:
    number = decision["counted"] if decision["counted"] is not None else decision["decision"]
    what = "a condition" if number is None else _plain(name_of(formulas[number]))
    return f"{what} {_plain(decision_words(decision))}"


def _nodes(example: dict[str, Any], number: int) -> str:
    if example["counts"][number] == example["n_nodes"]:
        return ""
    nodes, truth = example["drawing"]["nodes"], example["truth"][number]
    lit = [str(node) for node, bit in zip(nodes, truth, strict=True) if bit == "1"]
    return f": {', '.join(lit)}" if len(lit) == example["counts"][number] else ""


def _details(document: dict[str, Any]) -> str:
    data, model = document["data"], document["model"]
    sizes = data["nodes_per_graph"]
    facts = [
        ("Data set", data["name"] or "not named"),
        ("Graphs", data["n_graphs"]),
        (
            "Nodes",
            f"{data['n_nodes']}; {sizes['smallest']} to {sizes['largest']} per graph, "
            f"{sizes['mean']} on average",
        ),
        ("Edges", f"{data['n_edges']}, {'directed' if data['directed'] else 'undirected'}"),
        ("Predicates", ", ".join(data["predicates"])),
        ("Kinds of edges", ", ".join(data["relations"])),
        ("Model", f"{model['kind']}, classifies {document['level']}s"),
        ("Teacher", teacher_words(document["teacher"])),
        ("Inner layers", f"{model['n_layers']}, of which {model['used']['n_layers']} are in use"),
        ("Inner trees", f"{model['n_trees']}, of which {model['used']['n_trees']} are in use"),
        ("Leaves", f"{model['n_leaves']}, of which {model['used']['n_leaves']} are in use"),
        *((f"Setting {name}", setting(value)) for name, value in model["settings"].items()),
    ]
    counts = [
        ("True", "n_true", document["confusion"]),
        ("Rule", "n_predicted", data),
        ("Teacher", "n_teacher", document["teacher"]),
    ]
    known = [(title, key) for title, key, own in counts if own is not None]
    classes = _table(
        ["Class", *(title for title, _ in known)],
        ([own["name"], *(own[key] for _, key in known)] for own in data["classes"]),
    )
    return _section(
        "What was distilled",
        classes,
        _table(["", ""], facts),
        f"Made with gnn2logic {_plain(document['gnn2logic'])}.",
    )
