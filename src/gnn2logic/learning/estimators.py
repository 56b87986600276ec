"""scikit-learn estimators on graphs."""

from __future__ import annotations

from typing import Self

from gnn2logic._labels import check_mask
from gnn2logic.graphs.reading import read_once
from gnn2logic.learning.base import IDTEstimator
from gnn2logic.learning.data import checked_rows
from gnn2logic.storage import ShardStore

__all__ = ["IDTClassifier", "IDTNodeClassifier"]


class IDTClassifier(IDTEstimator):
    """Classify graphs with an Iterated Decision Tree.

    Parameters
    ----------
    n_layers : int, optional
        Inner layers, 3 by default. With activations there are as many as arrays. A search nests
        at most so many modal parameters, below the count of a graph or the last look of a node.
    algorithm : {"search", "layers"}
        ``"search"``: short rules whose counts tell whole graphs apart; `rules_` then goes from one
        symbol to the longest rule that paid, with its accuracy on held-out data. Columns that
        activations suggest take part. ``"layers"``: the paper's, layer by layer.
    max_size : int, optional
        Search: the most symbols of the chosen rule, 40 by default. A longer one is taken, with a
        warning, if it is more accurate on held-out data by more than 0.02 and one standard error.
    max_time : float, optional
        Search: the seconds after which nothing new is begun; what was found is the answer.
    width : int
        Trees per inner layer.
    layer_depth : int
        The depth of inner trees.
    modalities : "auto" or list
        Modal parameters of the inner layers, such as ``["I", "A", "I+A"]``, or one such list for
        each layer. ``"auto"``: the paper's I, A, I+A, along both directions on directed graphs and
        along each relation of typed ones.
    absolute, relative : bool
        Whether splits may compare counts (``A U0 > 6``) and shares (``A U0 > 1/2``).
    max_features : float
        The share of features that each inner tree sees, dealt at random.
    max_samples : float, optional
        The share of graphs that each inner tree learns from, or that are searched; what rules say
        is counted on all data. By default all, of very large data as many as there is room for.
    random_thresholds : bool
        Whether inner trees draw one threshold per feature at random and take the best of those.
    leaf_sets : {"nested", "merge", "all"}
        Which sets of leaves become columns: ``"merge"``, the paper's 2k-1 sets of agglomerative
        merging; ``"nested"``, these and the two sides of every split; ``"all"``, every set.
    min_samples_leaf : int
        The fewest training rows of a leaf.
    max_depth : int, optional
        The depth of the final tree; not limited by default.
    ccp_alpha : float or "auto"
        The price of a leaf of the final tree. ``"auto"``: the smallest tree whose accuracy in a
        seeded cross-validation is within one standard error of the best.
    projection : int or None
        The split search of inner layers sees wider activations in at most so many principal
        directions, fewer where these explain 99 % of the variance. None means all targets, the
        exact criterion.
    class_weight : "balanced" or dict, optional
    encoder : PredicateEncoder, optional
        How features become predicates; a fresh `PredicateEncoder` by default.
    n_shards : int
        The number of parts that the data is summed in. It never changes the model.
    engine : Engine or dask.distributed.Client, optional
        Who does the work, see `gnn2logic.engines`; this process by default. It never changes the
        model.
    checkpoint : path, optional
        A file that is written after every layer, or every stage of a search. A fit that was killed
        goes on from it when it is called again; in the end it is removed.
    n_jobs : int, optional
        Threads; all there are by default. It never changes the model.
    random_state : int, RandomState, Generator or None
    verbose : int, optional
        1 shows progress: on a terminal, in a notebook, in lines of a log. 0 shows nothing. By
        default a fit of more than five seconds shows it on a terminal.

    Attributes
    ----------
    classes_ : array
    model_ : IDT
        The model as a plain value: columns, layers, final tree.
    layers_ : tuple of LayerView
        The inner layers: their trees, their leaf sets, and the columns that these are.
    rules_ : RuleTable
        Rules from small to large, with formulas and accuracy: those of a search, or all prunings
        of the final tree.
    prunings_, chosen_, ccp_alpha_
        The pruning path, the place on it, and the price it was chosen by.
    encoder_ : PredicateEncoder
    n_features_in_, feature_names_in_
        The columns of the graphs that the model reads: their number, and their names.
    n_layers_ : int

    Examples
    --------
    >>> import gnn2logic as gl
    >>> truth = gl.parse("1(A U0 > 2) > 1/2")
    >>> graphs = gl.random_graphs(300, sizes=10, density=0.4, random_state=0)
    >>> model = IDTClassifier(n_layers=1, random_state=0).fit(graphs, truth.evaluate(graphs))
    >>> print(model.formula(True))
    1(A U0 > 2) > 5
    >>> model.score(graphs, truth.evaluate(graphs))
    1.0
    """

    _level = "graph"

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        activations: object = None,
        scores: object = None,
        sample_weight: object = None,
        classes: object = None,
    ) -> Self:
        """Learn from graphs with labels, guided by a network's node representations if given.

        `graphs` may be a `ShardStore`; `y` may then be left out if the store has labels, and
        ``activations="stored"`` means those in the store. `scores`, one row of numbers for each
        graph, are what a network says: a search explains these instead of the classes.
        Of `sample_weight` only the proportions matter; a graph of weight 0 is as if it were not
        there. `classes` lists all classes there are, also those that no label has.
        """
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = self._encode(given)
        rows = checked_rows(
            self._given_labels(y, batch),
            batch.n_graphs,
            sample_weight,
            level="graph",
            classes=classes,
            class_weight=self.class_weight,
        )
        self._learn((encoder, batch), given, activations, scores, rows)
        return self


class IDTNodeClassifier(IDTEstimator):
    """Classify nodes with an Iterated Decision Tree.

    Parameters and attributes are those of `IDTClassifier`; the final tree is local as well, along
    the same modal parameters as the last inner layer.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> graph = gl.random_graphs(1, sizes=400, density=0.01, random_state=0)
    >>> labels = gl.parse("A U0 > 2").evaluate(graph, level="node")
    >>> model = IDTNodeClassifier(n_layers=0, random_state=0).fit(graph, labels)
    >>> print(model.formula(True))
    A U0 > 2
    """

    _level = "node"

    def fit(
        self,
        graphs: object,
        y: object = None,
        *,
        mask: object = None,
        activations: object = None,
        scores: object = None,
        sample_weight: object = None,
        classes: object = None,
    ) -> Self:
        """Learn from the labels of nodes, in batch order; `mask` chooses the training nodes.

        Labels outside of the mask are not looked at. `scores`, one row of numbers for each node,
        are what a network says: a search explains these instead of the classes.
        Of `sample_weight` only the proportions matter; a node of weight 0 is as if it were outside
        of the mask, and a graph without any other nodes as if it were not there.
        `classes` lists all classes there are, also those that no label has.
        """
        given = graphs if isinstance(graphs, ShardStore) else read_once(graphs)
        encoder, batch = self._encode(given)
        chosen = check_mask(mask, batch.n_nodes)
        rows = checked_rows(
            self._given_labels(y, batch),
            batch.n_nodes,
            sample_weight,
            level="node",
            classes=classes,
            class_weight=self.class_weight,
            among=chosen,
        )
        self._learn((encoder, batch), given, activations, scores, rows)
        return self
