"""`PredicateEncoder`: features of any sort as named Boolean predicates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from gnn2logic._validation import check_choice, check_fitted, check_whole, some_of
from gnn2logic.exceptions import FeatureError, GraphError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.columns import RawColumn, RawGraphs
from gnn2logic.graphs.edge_features import edge_locator, feature_attributes
from gnn2logic.graphs.encoded_columns import FEATURE_TYPES, EncodedColumn, FeatureType, learn_column
from gnn2logic.graphs.fitted_encoder import FittedEncoder
from gnn2logic.graphs.inputs import Where, node_locator

__all__ = ["PredicateEncoder", "graph_tags"]


def graph_tags(tags: Any) -> Any:
    """Say in the tags of scikit-learn that the input is graphs, which are checked here alone."""
    tags.input_tags.two_d_array = False
    tags.no_validation = True
    return tags


class PredicateEncoder(FittedEncoder, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    """Turn the features of graphs into named predicates, learned on training graphs.

    A column of 0 and 1 stays a predicate. A column of whole numbers with few values, or of
    strings, gives one predicate ``name=value`` per value. Any other column of numbers gives
    predicates ``name > t`` with a few thresholds chosen on the training graphs.

    Parameters
    ----------
    feature_names : sequence of str, or mapping of node type to these, optional
        Names of the columns of feature matrices, ``U0, U1, ...`` by default. For ``HeteroData`` a
        list for each type of nodes.
    feature_types : mapping of str to {"binary", "categorical", "continuous"}, optional
        What to make of the named columns, instead of what their values suggest.
    max_categories : int, default=32
        A column of whole numbers with more values than this is cut by thresholds; one of strings
        is refused.
    n_thresholds : int, default=8
        The largest number of thresholds of one column.
    edge_types : str, optional
        For PyG graphs, see `from_pyg`.
    node_attributes, edge_attributes : sequence of str, optional
        For networkx graphs, see `from_networkx`.
    structure : True, str or sequence of str, optional
        Which shapes become predicates and relations as well: rings, bridges, triangles, cores,
        cliques, degrees. The words are those of `structure`, and True is all of them. By default
        none, as in the paper: these go beyond its logic.

    edge_features : str, sequence of str, or mapping of str to names, optional
        Edge attributes whose values become relations as those of nodes become predicates:
        ``A[distance > 1.4]``. For PyG the attribute may have several columns (``edge_attr.0``,
        ...), which a mapping names: ``{"edge_attr": ["distance", "angle"]}``. By default none. Of
        ``HeteroData`` they belong to the edges of one type: ``A[buys.stars > 3.5]``.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        What was learned about each column: name, type, categories or thresholds.
    edge_columns_ : list of EncodedColumn
        The same about each column of `edge_features`.
    n_features_in_ : int
    feature_names_in_ : array of str
        The names of the columns.
    names_ : tuple of str
        The names of the predicates, in the order of their columns.
    relations_ : tuple of str
        The edge relations of the training graphs, then those of `edge_features`, and then those of
        the structure; transformed graphs have exactly these.
    given_relations_ : tuple of str
        Those of the training graphs alone.
    structure_ : tuple of str
        The families of shapes that are added.

    Examples
    --------
    >>> import numpy as np
    >>> triangle = 1 - np.eye(3, dtype=int)
    >>> features = np.array([[7, 0.12], [8, 0.48], [7, 0.97]])
    >>> encoder = PredicateEncoder(feature_names=["atom", "charge"])
    >>> encoder.fit([(triangle, features)]).names_
    ('atom=7', 'atom=8', 'charge > 0.3', 'charge > 0.7')
    >>> encoder.transform([(triangle, features)]).column("charge > 0.3").astype(int)
    array([0, 1, 1])
    """

    def fit(self, graphs: Any, y: object = None) -> PredicateEncoder:
        """Learn categories and thresholds on training graphs; `y` is ignored."""
        self._learn(self._read(graphs))
        return self

    def fit_transform(self, graphs: Any, y: object = None) -> GraphBatch:
        """Fit on `graphs` and return them with the predicates; they are read only once."""
        return self._fit_raw(self._read(graphs))

    def fit_transform_some(self, graphs: Any, chosen: npt.NDArray[np.bool_]) -> GraphBatch:
        """Fit on the `chosen` ones of the graphs, and return these with the predicates."""
        if isinstance(graphs, list | tuple) and len(graphs) == len(chosen):
            # Even the names of their relations are then those of the chosen ones alone.
            learned_from = [
                graph for graph, is_chosen in zip(graphs, chosen, strict=True) if is_chosen
            ]
            return self._fit_raw(self._read(learned_from))
        return self._fit_raw(self._read(graphs).take(chosen))

    def _fit_raw(self, raw: RawGraphs) -> GraphBatch:
        self._learn(raw)
        return self._encode(raw)[0]

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Any:
        """Return the names of the predicates as an array.

        `input_features`, when given, must be the names of the columns seen at fit.
        """
        check_fitted(self, "columns_")
        if input_features is not None:
            expected = tuple(column.name for column in self.columns_)
            if tuple(input_features) != expected:
                raise FeatureError(
                    f"input_features must be the columns seen at fit: {some_of(expected)}. "
                    f"Got {some_of(tuple(input_features))} instead."
                )
        return np.array(self.names_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        return graph_tags(super().__sklearn_tags__())

    # Learning ---------------------------------------------------------------------------------

    def _learn(self, raw: RawGraphs) -> None:
        for option in ("max_categories", "n_thresholds"):
            check_whole(option, getattr(self, option), least=1, error=FeatureError)
        if raw.types is not None:
            raw.types.check_names()
        attributes = () if raw.types is None else raw.types.edge_attributes
        for name in () if raw.types is None else feature_attributes(self.edge_features):
            if name not in attributes:
                raise GraphError(
                    f"Some type of edges must have the edge feature {name!r}. No graph has one."
                )
        every = (*raw.columns, *(raw.edges.columns if raw.edges is not None else ()))
        types = self._checked_types(tuple(column.name for column in every))

        def learn(column: RawColumn, where: Where) -> EncodedColumn:
            return learn_column(
                column,
                types.get(column.name),
                max_categories=self.max_categories,
                n_thresholds=self.n_thresholds,
                where=where,
            )

        where = node_locator(raw.structure.ptr)
        columns = [learn(column, where) for column in raw.columns]
        edges = raw.edges
        edge_columns = (
            []
            if edges is None
            else [
                learn(column, edge_locator(raw.structure.ptr, edges.sources, edges.targets))
                for column in edges.columns
            ]
        )
        self._set_learned(columns, tuple(raw.structure.relations), edge_columns)

    def _checked_types(self, names: Sequence[str]) -> Mapping[str, FeatureType]:
        types = {} if self.feature_types is None else self.feature_types
        if not isinstance(types, Mapping):
            raise FeatureError(
                f"feature_types must map column names to one of {some_of(FEATURE_TYPES)}. "
                f"Got {types!r} instead."
            )
        for name, feature_type in types.items():
            if name not in names:
                raise FeatureError(
                    f"feature_types must name columns of the graphs: {some_of(names)}. "
                    f"Got {name!r} instead."
                )
            check_choice(
                f"The type of column {name!r}", feature_type, FEATURE_TYPES, error=FeatureError
            )
        return cast("Mapping[str, FeatureType]", types)
