"""Blocks of graphs as predicates, with one encoder for the whole store."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._labels import check_labels
from gnn2logic.exceptions import (
    FeatureError,
    GraphError,
    LabelError,
    ParameterError,
    UnseenCategoryWarning,
    UnsupportedInputError,
)
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.storage.label_codes import Level
from gnn2logic.storage.sources import Item

__all__ = ["BlockEncoder", "labels_of"]

_ADVICE = (
    "The encoder has seen the first graphs only. Fit a PredicateEncoder on graphs that show all "
    "there is, and give it as write_shards(..., encoder=...)"
)


class BlockEncoder:
    """Makes predicates of the features of graphs.

    Parameters
    ----------
    encoder : PredicateEncoder or None
        If it is fitted it is used as it is. If not, a copy is fitted on the first block.
    """

    def __init__(self, encoder: object) -> None:
        if encoder is not None and not isinstance(encoder, FittedEncoder):
            raise ParameterError(
                f"encoder must be a PredicateEncoder or None. Got {encoder!r} instead."
            )
        self._given = encoder
        self._is_ours = not hasattr(encoder, "columns_")
        self.fitted: FittedEncoder | None = None if self._is_ours else encoder

    def encode(self, block: Sequence[Item], first_graph: int) -> GraphBatch:
        """Return the graphs of a block with predicates."""
        graphs = [item.graphs for item in block]
        where = f"In the graphs from number {first_graph} on"
        try:
            if self.fitted is None:
                own = self._unfitted()
                batch: GraphBatch = own.fit_transform(graphs)
                self.fitted = own
                return batch
            batch, unseen = self.fitted._encode(self.fitted._read(graphs))
        except (GraphError, FeatureError, UnsupportedInputError) as error:
            advice = f" {_ADVICE}." if self._is_ours and first_graph else ""
            raise type(error)(f"{where}: {error}{advice}") from error
        for message in unseen:
            if self._is_ours:
                raise FeatureError(f"{where}: {message} {_ADVICE}.")
            warnings.warn(f"{where}: {message}", UnseenCategoryWarning, stacklevel=2)
        return batch

    def _unfitted(self) -> Any:
        # scikit-learn is needed to fit, and not to read a store.
        from gnn2logic.graphs.encoder import PredicateEncoder

        if self._given is None:
            return PredicateEncoder()
        if not isinstance(self._given, PredicateEncoder):
            raise ParameterError("encoder must be fitted, or a PredicateEncoder that can be.")
        return PredicateEncoder(**self._given.get_params())


def labels_of(block: Sequence[Item], level: Level) -> npt.NDArray[Any] | None:
    """Return the labels of a block of items, all of which have some, or none of which has."""
    having = [item for item in block if item.labels is not None]
    if not having:
        return None
    if len(having) < len(block):
        raise LabelError("All graphs must have labels, or none. Got some with and some without.")
    found = [label for item in block for label in item.labels or ()]
    labels = check_labels(found, len(found), of=level)
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    return labels
