"""A document as one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
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

__all__ = ["script_json", "to_html"]

# HTML ends a script at "</", and JavaScript once ended lines at the last two.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def to_html(document: dict[str, Any], picture: str) -> str:
    """Return the page; `picture` is the Iterated Decision Tree as SVG."""
    jinja2 = import_optional("jinja2", extra="report", purpose="A report as HTML")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"per_cent": per_cent, "count_of": count_of, "setting": setting}
    environment.globals |= {
        "WHO": WHO,
        "decision_words": decision_words,
        "flip_words": flip_words,
        "label_of": label_of,
        "name_of": name_of,
        "teacher_words": teacher_words,
    }
    script = _file("report.js")
    page: str = environment.from_string(_file("report.html.j2")).render(
        document=document,
        picture=picture,
        natural_width=_width(picture),
        style=_file("report.css"),
        script=script,
        script_hash=_hash(script),
        payload=script_json(_payload(document)),
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
    found = re.match(r'<svg[^>]*\swidth="([\d.]+pt)"', picture)
    return found[1] if found else "100%"


def _hash(script: str) -> str:
    """Return what a Content-Security-Policy calls a script, so that no other one runs."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _file(name: str) -> str:
    return (resources.files("gnn2logic.reporting") / name).read_text(encoding="utf-8")
