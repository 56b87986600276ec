from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from gnn2logic import load
from gnn2logic.exceptions import ModelFileError
from model_documents import good_document, load_bytes, signed


def refused(data: bytes, folder: Path) -> str:
    """Load a file that must be refused; return what is said about it."""
    with pytest.raises(ModelFileError) as caught:
        load_bytes(data, folder)
    text = str(caught.value)
    assert text.startswith(f"Cannot load {str(folder / 'model.json')!r}. ")
    return text


# Files that are no documents -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "This is not a gnn2logic model: Expecting value"),
        (b"{}", "it has no format 'gnn2logic.idt'"),
        (b"[1, 2]", "it has no format 'gnn2logic.idt'"),
        (pickle.dumps({"format": "gnn2logic.idt"}), "the file is not UTF-8 text"),
        (pickle.dumps({"format": "gnn2logic.idt"}, protocol=0), "Expecting value"),
        ("{}".encode("utf-16"), "the file is not UTF-8 text"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"\x00" * 100, "Expecting value"),
        (b'{"format": "gnn2logic.idt", "format": "gnn2logic.idt"}', "the key 'format' twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"format": "gnn2logic.idt", "version": NaN}', "holds NaN"),
        (b'{"format": "gnn2logic.idt", "version": -Infinity}', "holds -Infinity"),
        (b'{"format": "gnn2logic.idt", "version": 1e999}', "holds 1e999, which is too large"),
        (b'{"format": "\\ud800"}', "half of a surrogate pair"),
        (b"1" * 5000, "This is not a gnn2logic model"),
    ],
)
def test_files_that_are_no_documents(data: bytes, message: str, tmp_path: Path) -> None:
    assert message in refused(data, tmp_path)


@pytest.mark.parametrize("depth", [50, 400, 800, 900, 950, 970, 980, 990])
@pytest.mark.parametrize("place", ["version", "chosen", "encoder", "parameters"])
def test_nesting_near_the_limit_of_python(depth: int, place: str, tmp_path: Path) -> None:
    """Reading, printing and writing nested data reach the limit at different depths."""
    deep = b'{"a":' * depth + b"1" + b"}" * depth
    text = json.dumps(good_document() | {place: "HERE", "digest": ""}).encode()
    refused(text.replace(b'"HERE"', deep), tmp_path)


def test_truncated_files(tmp_path: Path) -> None:
    data = signed(good_document())
    for length in range(0, len(data), 97):
        assert "This is not a gnn2logic model" in refused(data[:length], tmp_path)


def test_flipped_bytes(tmp_path: Path) -> None:
    data = signed(good_document())
    place = data.index(b'"more_than": 0') + len(b'"more_than": ')
    flipped = data[:place] + b"1" + data[place + 1 :]
    assert "The digest of the model does not fit its content" in refused(flipped, tmp_path)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.json")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


# Documents with wrong content, rightly signed ------------------------------------------------

_Place = tuple[str | int, ...]
_ROOT: _Place = ("layers", 0, 0, 0)
_BAD: list[tuple[_Place, Any, str]] = [
    (("format",), "gnn2logic.formula", "it has no format"),
    (("version",), 4, "Got version 4; a newer gnn2logic may read it"),
    (("version",), 2, "A model of version 2 or 3 has the rules that a search found"),
    (("answer",), "number", "Got version 1 with answer 'number'"),
    (("answer",), "word", "Invalid enum value 'word'"),
    (("version",), True, "Got version True"),
    (("version",), "1", "Got version '1'"),
    (("surprise",), 1, "unknown field `surprise`"),
    (("level",), "\ud800", "not valid Unicode"),
    (("level",), "edge", "Invalid enum value 'edge' - at `$.level`"),
    (("classes",), [], "at least one. Got []"),
    (("classes",), ["no", "no"], "must be distinct"),
    (("classes",), ["no", 1], "all of one kind"),
    (("classes",), [0, True], "all of one kind"),
    (("classes",), [0.5, 1.5], "must be distinct whole numbers, strings or truth values"),
    (("classes",), [None, "no"], "got `null` - at `$.classes[0]`"),
    (("classes",), [0, 10**30], "at most 64 bits"),
    (("classes",), [-1, 2**63], "at most 64 bits"),
    (("classes",), ["a", "a\0"], "null character"),
    (("classes",), ["a", "\ud800"], "not valid Unicode"),
    (("classes",), ["a", "b", "c"], "must have 3 values"),
    (("columns", 0), {"predicate": "P", "layer": 0}, "Column 0 must be a predicate or a leaf set"),
    (("columns", 1, "predicate"), 5, "Expected `str | null`, got `int`"),
    (("columns", 1, "predicate"), "Z", "The encoder does not make the predicate 'Z'"),
    (("columns", 3, "leaves"), None, "Column 3 must be a predicate or a leaf set"),
    (("columns", 3, "leaves"), [2, 1], "distinct and ascending"),
    (("columns", 3, "leaves"), [1, 1], "distinct and ascending"),
    (("columns", 3, "leaves"), [1, 3], "Column 3 names a leaf that is not there"),
    (("columns", 3, "leaves"), [-1, 1], "Column 3 names a leaf that is not there"),
    (("columns", 3, "tree"), 1, "Column 3 names a tree that is not there"),
    (("columns", 3, "layer"), 2, "Column 3 names a tree that is not there"),
    (("columns", 3, "layer"), -1, "Column 3 names a tree that is not there"),
    (("columns", 3, "layer"), 1, "Column 3 names a leaf that is not there"),
    (
        ("columns", 3),
        {"layer": 1, "tree": 0, "leaves": [0]},
        "A split in layer 1 must use a column",
    ),
    (("columns", 4, "layer"), 0, "Column 4 names a tree that is not there"),
    (("columns", 0), {"layer": 0, "tree": 0, "leaves": [0]}, "in the order of the layers"),
    (("layers",), {}, "Expected `array`, got `object`"),
    (("layers", 1, 0), [], "tree 0 of layer 1 must have at least one node"),
    (("final",), [], "the final tree must have at least one node"),
    ((*_ROOT, "column"), 3, "must use a column of an earlier layer. Got column 3"),
    ((*_ROOT, "column"), 99, "must use a column of an earlier layer. Got column 99"),
    ((*_ROOT, "column"), -1, "must use a column of an earlier layer. Got column -1"),
    ((*_ROOT, "column"), None, "must have all parts of a split or none"),
    ((*_ROOT, "set"), "2", "Invalid enum value '2'"),
    ((*_ROOT, "direction"), "up", "Invalid enum value 'up'"),
    ((*_ROOT, "relation"), "", "Relation name must not be empty"),
    ((*_ROOT, "relation"), "t", "The encoder does not make the relation 't'"),
    ((*_ROOT, "more_than"), "3/2", "A ratio must be between 0 and 1"),
    ((*_ROOT, "more_than"), "0/2", "A ratio must be between 0 and 1"),
    ((*_ROOT, "more_than"), "1/0", "'1/0' is not a fraction"),
    ((*_ROOT, "more_than"), "-1/2", "must be written as 'a/q'"),
    ((*_ROOT, "more_than"), "½", "must be written as 'a/q'"),
    ((*_ROOT, "more_than"), f"1/{'9' * 5000}", "is not a fraction"),
    ((*_ROOT, "more_than"), -1, "must be a whole number >= 0. Got -1"),
    ((*_ROOT, "more_than"), True, "got `bool`"),
    ((*_ROOT, "more_than"), 0.5, "got `float`"),
    ((*_ROOT, "true"), 0, "children of node 0 of tree 0 of layer 0 must come after it"),
    ((*_ROOT, "true"), 5, "children of node 0 of tree 0 of layer 0 must come after it"),
    ((*_ROOT, "true"), 1, "must have exactly one parent"),
    ((*_ROOT, "true"), 3, "must have exactly one parent"),
    (("layers", 0, 0, 2, "false"), 1, "children of node 2 of tree 0 of layer 0 must come after"),
    (("layers", 0, 0, 2, "false"), 2, "children of node 2 of tree 0 of layer 0 must come after"),
    (("layers", 0, 0, 4, "relation"), "r", "must have all parts of a split or none"),
    (("layers", 0, 0, 4, "weight"), 6, "must not be more than its parent's"),
    (("layers", 0, 0, 4, "weight"), -1, "weight of node 4 of tree 0 of layer 0 must be at least 0"),
    (("layers", 0, 0, 4, "weight"), "2", "Expected `float`, got `str`"),
    (("layers", 0, 0, 4, "weight"), 10**400, "out of range"),
    (("layers", 0, 0, 4, "values"), [1], "must have 0 values"),
    (("final", 0, "weight"), 0, "must not be more than its parent's"),
    (("final",), [{"weight": 0, "values": [1, 1]}], "node 0 of the final tree must be above 0"),
    (("final", 2, "values"), [1], "Node 2 of the final tree must have 2 values"),
    (("final", 2, "values"), [1, -1], "all at least 0"),
    (("final", 2, "values"), [0, 0], "must have a sum above 0 and finite"),
    (("final", 2, "values"), [1e308, 1e308], "must have a sum above 0 and finite"),
    (("final", 0, "set"), "A", "The final tree of a graph model must look along 1 only"),
    (("prunings",), [], "must rise from 0"),
    (("prunings", 0, "alpha"), 0.05, "must rise from 0"),
    (("prunings", 1, "alpha"), 0, "must rise from 0"),
    (("prunings", 1, "alpha"), 2, "must rise from 0"),
    (("prunings", 1, "cut"), [5], "A pruning cuts a node that is not there"),
    (("prunings", 1, "cut"), [-1], "A pruning cuts a node that is not there"),
    (("chosen",), 3, "chosen must be the number of a rule. Got 3"),
    (("chosen",), -1, "chosen must be the number of a rule. Got -1"),
    (("chosen",), True, "Expected `int`, got `bool`"),
    (("parameters", "depth"), 3, "unknown parameter 'depth'"),
    (("parameters", "encoder"), None, "unknown parameter 'encoder'"),
    (("parameters", "width"), [3], "'width' of the model has a value that cannot be read"),
    (("parameters", "modalities"), ["B"], "'modalities' of the model has a value that cannot"),
    (("parameters", "modalities"), [["A"], 3], "'modalities' of the model has a value that cannot"),
    (("parameters", "class_weight"), [["no"]], "pairs of a class and a number"),
    (("parameters", "class_weight"), {"no": 2.0}, "'class_weight' of the model has a value"),
    (("encoder",), {}, "The encoder of the model is not valid"),
    (("encoder", "version"), 4, "An encoder document must have version 3"),
    (("encoder", "columns", 0, "kind"), "magic", "The encoder of the model is not valid"),
    (("encoder", "columns", 0, "name"), "Q", "The encoder of the model is not valid"),
    (("encoder", "columns", 0, "name"), "", "must not be empty"),
    (
        ("encoder", "columns", 0),
        {"kind": "categorical", "name": "P", "categories": [10**400, 1]},
        "must be rising numbers",
    ),
    (("encoder", "relations"), ["s"], "The encoder does not make the relation 'r'"),
    (("encoder", "settings", "kinds"), {"P": "magic"}, "The encoder of the model is not valid"),
]


@pytest.mark.parametrize(("place", "value", "message"), _BAD)
def test_wrong_content(place: _Place, value: Any, message: str, tmp_path: Path) -> None:
    document = good_document()
    spot: Any = document
    for step in place[:-1]:
        spot = spot[step]
    spot[place[-1]] = value
    assert message in refused(signed(document), tmp_path)


@pytest.mark.parametrize("field", [*good_document(), "digest"])
def test_missing_fields(field: str, tmp_path: Path) -> None:
    document = json.loads(signed(good_document()))
    del document[field]
    data = signed(document) if field != "digest" else json.dumps(document).encode()
    text = refused(data, tmp_path)
    assert f"missing required field `{field}`" in text or field in ("format", "version")


# Files that have no end ----------------------------------------------------------------------


def test_only_regular_files_of_a_sensible_size_are_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with path.open("wb") as file:
        file.truncate(100 * 10**9)
    with pytest.raises(ModelFileError, match="at most 268,435,456 bytes. It has 100,000,000,000"):
        load(path)
    path.unlink()
    os.mkfifo(path)
    for endless in (path, "/dev/zero"):
        with pytest.raises(ModelFileError, match="Cannot load '.*'. It must be a regular file"):
            load(endless)
