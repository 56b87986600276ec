from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnn2logic import GraphBatch, IDTPredictor, load, random_graphs
from gnn2logic.exceptions import Gnn2LogicError, ModelFileError
from gnn2logic.idt.formulas import class_formula, leaf_classes
from gnn2logic.idt.predict import final_leaves
from model_documents import good_document, load_bytes, signed


def check_model(model: Any) -> None:
    """A model from a file must predict, print and agree with its formulas on any graphs."""
    encoder = model.encoder_
    options: dict[str, Any] = {"names": encoder.names_, "relations": encoder.relations_}
    batch = random_graphs(12, sizes=range(1, 13), directed=True, random_state=0, **options)
    leaves = final_leaves(model.model_, batch)
    predicted = np.array(leaf_classes(model.model_.final))[leaves]
    for number, label in enumerate(model.classes_.tolist()):
        formula = class_formula(model.model_, number)
        assert model.formula(label) is formula
        truth = formula.evaluate(batch, level=model.model_.level)
        assert truth.tolist() == (predicted == number).tolist()
    assert str(model)
    assert repr(model)
    assert model.prune().rules_.chosen.formulas.keys() == set(model.classes_.tolist())
    # Columns of other kinds want other graphs, and say so.
    columns = [column.name for column in encoder.columns_]
    if all(column.feature_type == "binary" for column in encoder.columns_):
        raw = GraphBatch(batch.predicates, batch.adjacency, ptr=batch.ptr, names=columns)
        try:
            proba = model.predict_proba(raw)
        except Gnn2LogicError:
            return
        assert np.allclose(proba.sum(axis=1), 1.0)


def test_the_good_document_is_good(tmp_path: Path) -> None:
    model = load_bytes(signed(good_document()), tmp_path)
    assert isinstance(model, IDTPredictor)
    assert model.classes_.tolist() == ["no", "yes"]
    check_model(model)


def spots(document: Any) -> list[tuple[Any, Any]]:
    """All places in a document, as container and key."""
    found: list[tuple[Any, Any]] = []
    stack = [document]
    while stack:
        value = stack.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], dict | list):
                stack.append(value[key])
    return found


_WORDS = (
    "0 1 I A 1-A I+A 1/2 2/3 5/4 P Q r s in either node yes no binary continuous balanced auto é"
)
_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 6),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([*_WORDS.split(), "", "\ud800", "\0"]),
    st.sampled_from([10**400, 2**63, -(2**63), 1e308, 5e-324, f"1/{10**30}", 10**20]),
    st.text(max_size=3),
    st.lists(st.integers(-1, 5) | st.sampled_from(["A", "P", "r"]), max_size=3),
    st.dictionaries(
        st.sampled_from(["predicate", "weight", "kind", "x"]), st.integers(), max_size=2
    ),
)


def _replace(draw: st.DrawFn, container: Any, key: Any) -> None:
    container[key] = draw(_VALUES)


def _delete(draw: st.DrawFn, container: Any, key: Any) -> None:
    del container[key]


def _insert(draw: st.DrawFn, container: Any, key: Any) -> None:
    if isinstance(container, list):
        container.insert(key, draw(_VALUES))
    else:
        container[draw(st.sampled_from(["column", "set", "values", "relation", "tree", "x"]))] = (
            draw(_VALUES)
        )


def _repeat(draw: st.DrawFn, container: Any, key: Any) -> None:
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))


def _move(draw: st.DrawFn, container: Any, key: Any) -> None:
    """Put what stands elsewhere here: values of the right kind in the wrong place."""
    container[key] = copy.deepcopy(draw(st.sampled_from([c[k] for c, k in spots(container)])))


_CHANGES: list[Callable[[st.DrawFn, Any, Any], None]] = [_replace, _delete, _insert, _repeat, _move]


@st.composite
def changed_documents(draw: st.DrawFn) -> dict[str, Any]:
    document = good_document()
    for _ in range(draw(st.integers(1, 4))):
        container, key = draw(st.sampled_from(spots(document)))
        draw(st.sampled_from(_CHANGES))(draw, container, key)
    return document


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=changed_documents())
def test_changed_documents_are_refused_or_good(
    document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    try:
        model = load_bytes(signed(document), folder)
    except ModelFileError:
        return
    check_model(model)
    model.save(folder / "again.json")
    again = load(folder / "again.json")
    check_model(again)
    again.save(folder / "twice.json")
    assert (folder / "twice.json").read_bytes() == (folder / "again.json").read_bytes()


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_changed_bytes_are_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    good = signed(good_document())
    start = data.draw(st.integers(0, len(good) - 1))
    length = data.draw(st.integers(0, 4))
    other = data.draw(st.binary(max_size=4) | st.sampled_from([b'"', b"{", b"]", b",", b"\\u00"]))
    changed = good[:start] + other + good[start + length :]
    try:
        model = load_bytes(changed, tmp_path_factory.getbasetemp())
    except ModelFileError:
        return
    # Spaces between the parts are all that may differ.
    assert json.loads(changed) == json.loads(good)
    check_model(model)
