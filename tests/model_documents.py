"""A small model document written by hand, and how to sign and load changed ones."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from gnn2logic import load
from gnn2logic._digests import digest_of_document


def good_document() -> dict[str, Any]:
    """A small model with a bit of everything, written by hand."""
    return {
        "format": "gnn2logic.idt",
        "version": 1,
        "level": "graph",
        "classes": ["no", "yes"],
        "encoder": {
            "format": "gnn2logic.predicate_encoder",
            "version": 1,
            "settings": {
                "feature_names": None,
                "kinds": None,
                "max_categories": 32,
                "n_thresholds": 8,
                "edge_types": None,
                "node_attributes": None,
                "edge_attributes": None,
            },
            "columns": [{"kind": "binary", "name": "P"}, {"kind": "binary", "name": "Q"}],
            "relations": ["r", "s"],
        },
        "parameters": {"n_layers": 2, "modalities": ["A", "I"], "class_weight": [["no", 2.0]]},
        "columns": [
            {},
            {"predicate": "P"},
            {"predicate": "Q"},
            {"layer": 0, "tree": 0, "leaves": [1, 2]},
            {"layer": 1, "tree": 1, "leaves": [0]},
        ],
        "layers": [
            [
                [
                    {"weight": 9, "column": 1, "set": "A", "direction": "in", "relation": "r"}
                    | {"more_than": "1/2", "false": 1, "true": 2},
                    {"weight": 4},
                    {"weight": 5, "column": 2, "set": "I", "more_than": 0, "false": 3, "true": 4},
                    {"weight": 3},
                    {"weight": 2},
                ]
            ],
            [
                [{"weight": 9.0}],
                [
                    {"weight": 9, "column": 3, "set": "1-I-A", "more_than": 1}
                    | {"false": 1, "true": 2},
                    {"weight": 4},
                    {"weight": 5},
                ],
            ],
        ],
        "final": [
            {"weight": 9, "values": [4, 5], "column": 4, "set": "1", "more_than": "1/3"}
            | {"false": 1, "true": 2},
            {"weight": 6, "values": [3, 3], "column": 3, "set": "1", "more_than": 2}
            | {"false": 3, "true": 4},
            {"weight": 3.0, "values": [1, 2]},
            {"weight": 4, "values": [3, 1]},
            {"weight": 2, "values": [0, 2.5]},
        ],
        "prunings": [{"alpha": 0, "cut": []}, {"alpha": 0.1, "cut": [1]}, {"alpha": 1, "cut": [0]}],
        "chosen": 0,
    }


def signed(document: Any) -> bytes:
    """The bytes of a document, with the digest that fits."""
    document = copy.deepcopy(document)
    if isinstance(document, dict):
        try:
            document["digest"] = digest_of_document(document)
        except UnicodeEncodeError:
            document["digest"] = ""
    return json.dumps(document).encode()


def load_bytes(data: bytes, folder: Path) -> Any:
    path = folder / "model.json"
    path.write_bytes(data)
    return load(path)
