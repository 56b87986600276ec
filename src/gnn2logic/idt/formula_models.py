"""A predictor that follows given formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from gnn2logic._labels import check_labels
from gnn2logic._validation import check_names, some_of
from gnn2logic.exceptions import (
    LabelError,
    UnknownPredicateError,
    UnknownRelationError,
    UnsupportedInputError,
)
from gnn2logic.graphs.encoded_columns import EncodedColumn
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.idt.building import model_from_formulas
from gnn2logic.idt.model import Prunings
from gnn2logic.idt.predictor import IDTPredictor
from gnn2logic.idt.settings import check_choice
from gnn2logic.logic.parsing import parse
from gnn2logic.logic.syntax import Formula
from gnn2logic.logic.walk import predicate_names, relation_names

__all__ = ["from_formulas"]


def from_formulas(
    formulas: Mapping[Any, Formula | str],
    *,
    otherwise: Any,
    names: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
    level: Literal["graph", "node"] = "graph",
) -> IDTPredictor:
    """Return a model that predicts the class of the first formula that is true.

    It is an Iterated Decision Tree like one that was learned: it predicts, prints and saves.

    Parameters
    ----------
    formulas : mapping of label to Formula or str
        One formula for each class but one. On the graph level a formula is true of a graph iff it
        is true at all of its nodes.
    otherwise : label
        The class of what satisfies none of them.
    names : sequence of str, optional
        All predicates of the graphs that will be given, such as ``graphs.names`` of a batch; by
        default those in the formulas. Like any model it refuses graphs with other ones.
    relations : sequence of str, optional
        All edge relations of those graphs; by default those in the formulas.
    level : {"graph", "node"}
        Whether graphs or nodes are classified.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> model = from_formulas({"large": "1 true > 12"}, otherwise="small", names=["U0"])
    >>> model.predict(gl.random_graphs(3, sizes=[5, 12, 13], names=["U0"], random_state=0))
    array(['small', 'small', 'large'], dtype='<U5')
    >>> print(model.formula("small"))
    1 true < 13
    """
    if not isinstance(formulas, Mapping) or not formulas:
        raise UnsupportedInputError(
            "formulas must map labels to formulas, for one class or more. "
            f"Got {type(formulas).__name__} instead."
        )
    check_choice("level", level, ("graph", "node"))
    given = {label: parse(f) if isinstance(f, str) else f for label, f in formulas.items()}
    labels = [*given, otherwise]
    if otherwise in given:
        raise LabelError(f"otherwise must be a class without a formula. Got {otherwise!r}.")
    classes, order = np.unique(check_labels(labels, len(labels), of="class"), return_index=True)
    vocabulary = _vocabulary(names, predicate_names(*given.values()), "predicate", "names")
    types = _vocabulary(relations, relation_names(*given.values()), "relation", "relations")
    model = model_from_formulas(list(given.values()), level=level)
    # Classes are sorted, as those of estimators are.
    final = replace(model.final, values=model.final.values[:, order])
    encoder = FittedEncoder()
    encoder._set_learned([EncodedColumn(name, "binary") for name in vocabulary], types)
    predictor = IDTPredictor()
    predictor._level = level
    predictor._parameters = {}
    predictor.encoder_ = encoder
    predictor.classes_ = classes
    predictor.model_ = model.with_final(final)
    predictor.prunings_ = Prunings(final, (0.0,), (frozenset(),))
    predictor.chosen_ = 0
    return predictor


def _vocabulary(
    listed: Sequence[str] | None, used: tuple[str, ...], kind: str, argument: str
) -> tuple[str, ...]:
    """Return the names that were listed, or those in use; all that are in use must be there."""
    if listed is None:
        return used
    known = check_names(listed, what=kind.capitalize())
    for name in used:
        if name not in known:
            error = UnknownPredicateError if kind == "predicate" else UnknownRelationError
            raise error(
                f"The formulas must use the {kind}s in {argument}: {some_of(known)}. "
                f"Got {name!r} instead."
            )
    return known
