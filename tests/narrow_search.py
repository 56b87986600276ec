"""A search that looks at little: quick enough for tests of what must not matter to it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gnn2logic.learning.search import fit
from gnn2logic.learning.search.rounds import RoundSettings
from gnn2logic.learning.search.rule_search import SearchSettings

_NARROW: dict[str, Any] = {"beam": 5, "pair_work": 200_000, "kept_pairs": 30}


def narrow_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fits by search in this process look at few columns, pairs and trees."""
    below = RoundSettings(depth=1, **_NARROW)
    few: dict[str, Any] = {"most_conditions": 200, "polishing": 1, "most_leaves": 3, "below": below}
    monkeypatch.setattr(fit, "RoundSettings", partial(RoundSettings, **_NARROW))
    monkeypatch.setattr(fit, "SearchSettings", partial(SearchSettings, **few))


def learned_by_search(model: Any, folder: Path) -> dict[str, Any]:
    """Return all that is in the file of a model, but for how it was learned."""
    path = folder / "model.json"
    model.save(path)
    document: dict[str, Any] = json.loads(path.read_bytes())
    return {key: document[key] for key in document if key not in ("parameters", "digest")}
