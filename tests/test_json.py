"""JSON that is not trusted."""

from __future__ import annotations

import json

import pytest

from gnn2logic._json import strict_json


@pytest.mark.parametrize(
    "text",
    [
        r'"\ud800"',
        r'"\uDFFF"',
        r'["a", {"b": "\ude00\ud83d"}]',
        r'{"\udc80": 1}',
        '"\ud800"',
        r'"\ud83d\\ude00"',
    ],
)
def test_half_characters_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="half of a surrogate pair") as caught:
        strict_json(text)
    assert not isinstance(caught.value, UnicodeError)


@pytest.mark.parametrize("text", ["\U0001f600", r"\ud800", "größe", "\ue000", r"\\uDC00"])
def test_other_texts_are_read(text: str) -> None:
    for ascii_only in (False, True):
        written = json.dumps([text, {text: 1}], ensure_ascii=ascii_only)
        assert strict_json(written) == [text, {text: 1}]
        assert strict_json(written.encode()) == [text, {text: 1}]


def test_deep_nesting_is_said() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        strict_json("[" * 100_000 + r'"\ud83d\ude00"' + "]" * 100_000)
