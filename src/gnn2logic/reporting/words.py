"""Numbers and names as people read them, the same in HTML and Markdown."""

from __future__ import annotations

from typing import Any

__all__ = [
    "WHO",
    "count_of",
    "decision_words",
    "flip_words",
    "label_of",
    "name_of",
    "per_cent",
    "setting",
    "teacher_words",
]

WHO = {"rule": "Rule", "teacher": "Teacher", "baseline": "Most common class"}

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

    >>> change = {"words": "exactly 10 nodes are of kind (a)", "before": 11, "after": 10}
    >>> flip_words({"changes": [change]})
    'if exactly 10 nodes are of kind (a) (now 11)'
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
