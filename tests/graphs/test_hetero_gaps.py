"""``HeteroData`` that lacks types which others have, and attributes of its edges."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

import gnn2logic as gl
from gnn2logic.exceptions import FeatureError, GraphError

BUYS, BACK = ("user", "to", "item"), ("item", "to", "user")


def shop(seed: int, stars: bool = True) -> HeteroData:
    rng = torch.Generator().manual_seed(seed)
    data = HeteroData()
    data["user"].num_nodes = 4
    data["item"].x = (torch.rand(5, 1, generator=rng) < 0.5).float()
    edges = (torch.rand(4, 5, generator=rng) < 0.6).nonzero().T
    data[BUYS].edge_index = edges
    data[BACK].edge_index = edges.flip(0)
    if stars:
        data[BUYS].stars = torch.randint(1, 6, (edges.shape[1],), generator=rng)
    return data


SHOPS = [shop(seed) for seed in range(80)]
ENCODER = gl.PredicateEncoder(
    feature_names={"item": ["new"]},
    edge_features="stars",
    feature_types={"user.to.item.stars": "continuous"},
)


def generous(data: HeteroData) -> bool:
    """Whether a user has given more than three stars to more than two items."""
    givers = data[BUYS].edge_index[0][data[BUYS].stars > 3]
    return bool((givers.bincount() > 2).any())


def test_attributes_of_one_type_of_edges_are_relations_of_it(tmp_path: Path) -> None:
    batch = ENCODER.fit_transform(SHOPS)
    assert batch.relation_names[:3] == ("user.to.item", "item.to.user", "user.to.item.stars > 1")
    for number, data in enumerate(SHOPS[:5]):
        count = int((data[BUYS].stars > 3).sum())
        assert batch[number : number + 1].relations["user.to.item.stars > 3"].nnz == count
    y = np.array([generous(data) for data in SHOPS])
    assert 0.1 < y.mean() < 0.9
    for kind in (gl.IDTClassifier, gl.ScorecardClassifier):
        model = kind(n_layers=1, encoder=ENCODER, random_state=0).fit(SHOPS, y)
        assert str(model.formula(True)) == '1(A["user.to.item.stars > 3"] true > 2) > 0'
        model.save(tmp_path / "shops.json")
        loaded: Any = gl.load(tmp_path / "shops.json")
        assert (loaded.predict(SHOPS) == y).all()
        assert loaded.predict(SHOPS[:1]) == y[:1]


def test_one_graph_is_encoded_as_it_is_among_others() -> None:
    batch = ENCODER.fit_transform(SHOPS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Without the edges that lead back, "to" is no longer a name of two types.
        one_way = shop(0)
        del one_way[BACK]
        encoded = ENCODER.transform([one_way])
        assert encoded.relation_names == batch.relation_names
        for name in batch.relation_names:
            expected = 0 if name == "item.to.user" else batch[:1].relations[name].nnz
            assert encoded.relations[name].nnz == expected
        no_edges = shop(0, stars=False)
        del no_edges[BUYS], no_edges[BACK]
        assert ENCODER.transform([no_edges]).n_edges == 0
        users = HeteroData()
        users["user"].num_nodes = 3
        encoded = ENCODER.transform([users])
        assert encoded.names == batch.names
        assert encoded.column("user").all()
        assert not encoded.column("item.new").any()


def test_what_is_missing_is_told() -> None:
    fitted = gl.PredicateEncoder(edge_features="stars").fit(SHOPS)
    with pytest.raises(FeatureError, match="must have the feature 'user.to.item.stars'"):
        fitted.transform([shop(0, stars=False)])
    with pytest.raises(GraphError, match=r"'item'\) of graph 0.* missing|missing in \('user'"):
        fitted.transform([shop(0, stars=False), shop(1)])
    with pytest.raises(GraphError, match="Some type of edges must have the edge feature 'price'"):
        gl.PredicateEncoder(edge_features="price").fit(SHOPS)
    gap = shop(0)
    gap[BUYS].stars = gap[BUYS].stars.float()
    gap[BUYS].stars[2] = torch.nan
    with pytest.raises(FeatureError, match=r"Got nan at edge \(\d, \d\) of graph 0"):
        fitted.transform([gap])
    featureless = shop(0)
    del featureless["item"].x
    featureless["item"].num_nodes = 5
    with pytest.raises(FeatureError, match="Got 2 \\('user', 'item'\\)"):
        fitted.transform([featureless])
    mall = shop(0)
    mall["guard"].num_nodes = 1
    with pytest.raises(FeatureError, match="Got 4 "):
        fitted.transform([mall])
