"""A document as a page: one HTML file that needs nothing else, or Markdown without pictures.

What a page says and in which order is in the templates beside this module.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from gnn2logic._optional import import_optional
from gnn2logic.plotting.graph_drawing import category_colours
from gnn2logic.plotting.graph_edges import relation_lines
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

__all__ = ["script_json", "to_html", "to_markdown"]


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
    environment.filters |= filters
    environment.globals |= {
        "WHO": WHO,
        "decision_words": decision_words,
        "flip_words": flip_words,
        "label_of": label_of,
        "name_of": name_of,
        "teacher_words": teacher_words,
    }
    page: str = environment.from_string(_file(template)).render(values)
    return page


def _file(name: str) -> str:
    return (resources.files("gnn2logic.reporting") / name).read_text(encoding="utf-8")


# HTML -----------------------------------------------------------------------------------------

# HTML ends a script at "</", and JavaScript once ended lines at the last two.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def to_html(document: dict[str, Any], picture: str) -> str:
    """Return the page; `picture` is the Iterated Decision Tree as SVG."""
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


def script_json(value: object) -> str:
    r"""Return plain data as JSON that can stand in a script element, whatever its texts are.

    >>> script_json({"name": "</script>"})
    '{"name":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(_UNSAFE)


def _payload(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the pictures need."""
    names = document["data"]["relations"]
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
        "rule_says": lambda name: f"Rule says {_plain(name)}",
    }
    text = _rendered(
        "report.md.j2",
        autoescape=False,
        filters=filters,
        document=document,
        node_numbers=_node_numbers,
    )
    return f"{text}\n"


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
