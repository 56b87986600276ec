"""The table of names: what it says of parameters is so, and words that many take are in it."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

import gnn2logic as gl

PAGE = Path(__file__).parents[2] / "docs" / "names.md"
ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \|[^|]*\|(.*)\|$")
# A word that so many take has to be explained once for all of them.
MANY = 6
# What scikit-learn and matplotlib call so, and what says itself what it is.
WELL_KNOWN = {"ax", "title", "engine", "encoder", "formula", "absolute", "relative", "modalities"}


def parameters_of(name: str) -> set[str]:
    """Return the words of a public function; of a class also those of its methods."""
    value = getattr(gl, name)
    words = set(inspect.signature(value).parameters)
    if isinstance(value, type):
        for _, method in inspect.getmembers(value, inspect.isfunction):
            words |= set(inspect.signature(method).parameters)
    return words


def table() -> dict[str, set[str]]:
    """Return the public names that the first table gives for each parameter."""
    text = PAGE.read_text(encoding="utf-8").split("## What reads")[0]
    rows = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match is not None:
            places = set(re.findall(r"`(\w+)`", match[2]))
            for word in re.findall(r"`(\w+)`", match[1]):
                rows[word] = places & set(gl.__all__)
    return rows


@pytest.mark.parametrize("word", table())
def test_what_the_table_says_is_so(word: str) -> None:
    for name in table()[word]:
        # These two pass everything else on.
        passed_on = {"implies": "equivalent", "disjoint": "equivalent"}.get(name, name)
        assert word in parameters_of(passed_on), f"{name} has no {word}"


def test_words_that_many_take_are_in_the_table() -> None:
    takers = defaultdict(set)
    for name in gl.__all__:
        value = getattr(gl, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, Exception)):
            for word in inspect.signature(value).parameters:
                takers[word].add(name)
    assert len(takers["graphs"]) > MANY
    known = table().keys() | WELL_KNOWN
    for word, names in takers.items():
        if len(names) >= MANY and not word.startswith("n_"):
            assert word in known, f"{word}, which {len(names)} take, is not in docs/names.md"
