"""A document as a page: one HTML file that needs nothing else, or Markdown without pictures.

What a page says and in which order is in the templates beside this module.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from gnn2logic._optional import import_optional
from gnn2logic.graphs.structure_names import RELATIONS
from gnn2logic.plotting.graph_drawing import category_colours
from gnn2logic.plotting.graph_edges import relation_lines

__all__ = [
    "WHO",
    "count_of",
    "decision_words",
    "figure",
    "flip_words",
    "label_of",
    "measures_of",
    "name_of",
    "per_cent",
    "scores_to_markdown",
    "script_json",
    "setting",
    "targets_to_html",
    "teacher_words",
    "to_html",
    "to_markdown",
]

WHO = {"rule": "Rule", "teacher": "Teacher", "baseline": "Most common class"}
_CLASS_MEASURES = [
    ("Accuracy", "accuracy"),
    ("Macro F1", "macro_f1"),
    ("AUROC", "auroc"),
    ("Fidelity", "fidelity"),
]
_NUMBER_MEASURES = [
    ("R2", "r2"),
    ("MAE", "mae"),
    ("R2 to the teacher", "fidelity_r2"),
    ("MAE to the teacher", "fidelity_mae"),
]
# Of these the table of the trade-off has no columns.
_NOT_OF_TRADE_OFF = ("macro_f1", "auroc")

_AMONG = {
    "0": "nodes of none",
    "1": "nodes",
    "I": "nodes, the node itself",
    "A": "neighbours",
    "I+A": "nodes, the node and its neighbours",
    "1-I": "other nodes",
    "1-A": "nodes that are not neighbours",
    "1-I-A": "other nodes that are not neighbours",
}


def per_cent(share: float | None) -> str:
    """Return a share in per cent with one digit; 0% and 100% mean exactly that.

    >>> per_cent(0.9123), per_cent(0.99999), per_cent(1.0), per_cent(None)
    ('91.2%', '>99.9%', '100%', '-')
    """
    if share is None:
        return "-"
    if share in (0, 1):
        return f"{share:.0%}"
    text = f"{share:.1%}"
    return {"100.0%": ">99.9%", "0.0%": "<0.1%"}.get(text, text)


def figure(value: float | None, key: str) -> str:
    """Return a figure as people read it: shares in per cent, R2 and errors as numbers.

    >>> figure(0.5, "accuracy"), figure(0.5, "r2"), figure(0.01234, "mae"), figure(None, "mae")
    ('50.0%', '0.50', '0.01234', '-')
    """
    if value is None:
        return "-"
    if key.endswith("mae"):
        return f"{value:.4g}"
    return f"{value:.2f}" if key.endswith("r2") else per_cent(value)


def measures_of(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what is measured, as titles and keys of the scores: against truth, then teacher."""
    is_number, first = document["target"] is not None, document["scores"][0]
    known = _NUMBER_MEASURES if is_number else _CLASS_MEASURES
    return [(title, key) for title, key in known if first[key] is not None]


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_of(1, "graph"), count_of(1200, "node")
    ('1 graph', '1,200 nodes')
    """
    many = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def name_of(formula: dict[str, Any]) -> str:
    """Return what a formula is called: by its name, or by itself if it has none.

    >>> name_of({"name": "a", "short": "A (b) > 2"}), name_of({"name": None, "short": "U0"})
    ('(a)', 'U0')
    """
    return str(formula["short"]) if formula["name"] is None else f"({formula['name']})"


def label_of(formula: dict[str, Any]) -> str:
    """Return a formula after its name, if it has one."""
    return (
        str(formula["short"]) if formula["name"] is None else "({name}) {short}".format(**formula)
    )


def decision_words(decision: dict[str, Any]) -> str:
    """Return what a decision counted, to follow the formula that it counts.

    >>> decision = {"count": 3, "size": 13, "threshold": "1/2", "is_share": True, "met": False}
    >>> decision_words({**decision, "among": "A", "modality": "A"})
    'holds at 3 of 13 neighbours, not more than 1/2 of them'
    >>> decision_words({**decision, "among": "I", "modality": "I"})
    'does not hold here'
    """
    if decision["among"] == "I" and not (decision["met"] and decision["count"] == 0):
        return "holds here" if decision["met"] else "does not hold here"
    text = f"holds at {decision['count']} of {decision['size']} {_AMONG[decision['among']]}"
    if decision["modality"] != decision["among"]:
        # Directions and kinds of edges are best read in logic.
        text += f" along {decision['modality']}"
    limit = f"more than {decision['threshold']}{' of them' if decision['is_share'] else ''}"
    return f"{text}, {limit if decision['met'] else f'not {limit}'}"


def flip_words(flip: dict[str, Any]) -> str:
    """Return what would have to be otherwise for another class, to follow its name.

    >>> change = {"words": "exactly 10 nodes are in group (a)", "before": 11, "after": 10}
    >>> flip_words({"changes": [change]})
    'if exactly 10 nodes are in group (a) (now 11)'
    """
    changes = [f"{change['words']} (now {change['before']})" for change in flip["changes"]]
    return f"if {', and '.join(changes)}"


def teacher_words(teacher: dict[str, Any] | None) -> str:
    """Return what the teacher is called."""
    if teacher is None:
        return "none given"
    return "known by its labels" if teacher["name"] is None else str(teacher["name"])


def setting(value: object) -> str:
    """Return the value of a setting.

    >>> setting(None), setting(1 / 3), setting(["I", "A"])
    ('none', '0.3333', 'I, A')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(setting(entry) for entry in value)
    return str(value)


def _rendered(template: str, *, autoescape: bool, filters: dict[str, Any], **values: Any) -> str:
    """Return a template of this folder, filled."""
    jinja2 = import_optional("jinja2", extra="report", purpose="A report")
    environment = jinja2.Environment(
        autoescape=autoescape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"per_cent": per_cent, "count_of": count_of, "setting": setting}
    environment.filters["figure"] = figure
    environment.filters |= filters
    environment.globals |= {
        "WHO": WHO if values["document"]["target"] is None else WHO | {"baseline": "Mean"},
        "decision_words": decision_words,
        "flip_words": flip_words,
        "label_of": label_of,
        "name_of": name_of,
        "teacher_words": teacher_words,
    }
    values |= _task_values(values["document"])
    page: str = environment.from_string(_file(template)).render(values)
    return page


def _task_values(document: dict[str, Any]) -> dict[str, Any]:
    """Return what templates ask about the task: classes, or numbers with their name and unit."""
    measures, target = measures_of(document), document["target"]
    held_out = any(row["held_out"] is not None for row in document["trade_off"]["rows"])
    columns = [pair for pair in measures if pair[1] not in _NOT_OF_TRADE_OFF]
    name = "class" if target is None else target["name"] or "number"
    return {
        "measures": measures,
        # Titles, keys, and the measure that the figure is one of.
        "trade_measures": [(title, key, key) for title, key in columns]
        + ([("Held out", "held_out", "accuracy" if target is None else "r2")] if held_out else []),
        "has_truth": document["baseline"] is not None and document["baseline"]["of"] == "truth",
        "has_teacher": document["teacher"] is not None,
        "is_number": target is not None,
        "answer": name,
        "unit": "" if target is None or target["unit"] is None else f" {target['unit']}",
        "quality": "accuracy" if target is None else "R2",
    }


def _file(name: str) -> str:
    return (resources.files("gnn2logic.reporting") / name).read_text(encoding="utf-8")


# HTML -----------------------------------------------------------------------------------------

# HTML ends a script at "</", and JavaScript once ended lines at the last two.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def to_html(document: dict[str, Any], picture: str) -> str:
    """Return the page; `picture` is the model as SVG."""
    script = _file("report.js")
    return _rendered(
        "report.html.j2",
        autoescape=True,
        filters={},
        document=document,
        picture=picture,
        natural_width=_width(picture),
        style=_file("report.css"),
        script=script,
        script_hash=_hash(script),
        payload=script_json(_payload(document)),
    )


def targets_to_html(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], pages: Mapping[str, str]
) -> str:
    """Return one page of many, one for each row of a table, of which one is picked."""
    jinja2 = import_optional("jinja2", extra="report", purpose="A report")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    script = _file("targets.js")
    page: str = environment.from_string(_file("targets.html.j2")).render(
        title=title,
        heads=heads,
        rows=rows,
        style=_file("report.css"),
        script=script,
        # The pages inside obey the rules of this one, and run a script as well.
        script_hashes=[_hash(script), _hash(_file("report.js"))],
        payload=script_json(list(pages.values())),
    )
    return page


def script_json(value: object) -> str:
    r"""Return plain data as JSON that can stand in a script element, whatever its texts are.

    >>> script_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_UNSAFE)


def _payload(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the pictures need."""
    names = [name for name in document["data"]["relations"] if name not in RELATIONS]
    lines = relation_lines(names)
    categories = sorted(
        {
            category
            for example in document["examples"]
            for category in example["drawing"]["categories"] or ()
            if category is not None
        }
    )
    return {
        "level": document["level"],
        "predicates": document["data"]["predicates"],
        "relations": [
            {"name": name, "strands": lines[name].strands, "colour": number % 5}
            for number, name in enumerate(names)
        ],
        "is_chemical": bool(names) and len({lines[name].colour for name in names}) == 1,
        "colours": dict(zip(categories, category_colours(categories), strict=True)),
        "formulas": [
            {"name": name_of(formula), "words": formula["words"], "text": formula["text"]}
            for formula in document["formulas"]
        ],
        "examples": [
            {key: example[key] for key in ("name", "node", "n_nodes", "counts", "truth", "drawing")}
            for example in document["examples"]
        ],
    }


def _width(picture: str) -> str:
    """Return how wide a picture would like to be."""
    width = re.match(r'<svg[^>]*\swidth="([\d.]+pt)"', picture)
    return width[1] if width else "100%"


def _hash(script: str) -> str:
    """Return what a Content-Security-Policy calls a script, so that no other one runs."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


# Markdown -------------------------------------------------------------------------------------

# Signs that mean something anywhere in a line; our own words begin every line.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def to_markdown(document: dict[str, Any]) -> str:
    """Return the report as Markdown; all texts of the user are escaped."""
    filters = {
        "plain": _plain,
        "block": _block,
        "heads": _heads,
        "cells": _cells,
        "signed": lambda number: f"{number:+d}" if number else "",
        "rule_says": lambda name, noun: f"{noun.capitalize()} says {_plain(name)}",
    }
    text = _rendered(
        "report.md.j2",
        autoescape=False,
        filters=filters,
        document=document,
        node_numbers=_node_numbers,
    )
    return f"{text}\n"


def scores_to_markdown(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a heading and a table, as they begin a report of several targets."""
    return "\n".join([f"# {_plain(title)}\n", _heads(heads), *map(_cells, rows)])


def _plain(text: object) -> str:
    """Return a text that Markdown and HTML show as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _block(text: str, language: str = "") -> str:
    """Return a text in a box; the fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _heads(titles: Sequence[str]) -> str:
    """Return the first two lines of a table."""
    return f"| {' | '.join(titles)} |\n| {' | '.join(['---'] * len(titles))} |"


def _cells(values: Sequence[object]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(_plain, values))} |"


def _node_numbers(example: dict[str, Any], formula: int) -> str:
    """Return at which nodes a formula is true, unless that is all of them or some are not drawn."""
    count = example["counts"][formula]
    if count == example["n_nodes"]:
        return ""
    nodes, truth = example["drawing"]["nodes"], example["truth"][formula]
    true_nodes = [str(node) for node, bit in zip(nodes, truth, strict=True) if bit == "1"]
    return f": {', '.join(true_nodes)}" if len(true_nodes) == count else ""
