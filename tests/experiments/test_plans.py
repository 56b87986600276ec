"""The hyper-parameter files: readable, complete, and part of the digest."""

from __future__ import annotations

import pytest

from gnn2logic.experiments import plans
from gnn2logic.experiments.catalogue import DATASETS
from gnn2logic.experiments.plans import RunSettings, combinations, plan_for
from gnn2logic.learning import IDTClassifier
from gnn2logic.models import GNNClassifier


@pytest.mark.parametrize("smoke", [False, True])
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_setting_is_a_parameter_of_its_model(dataset: str, smoke: bool) -> None:
    plan = plan_for(dataset, RunSettings(smoke=smoke))
    tuned = {name for table in plan.gnn_grid for name in table}
    assert {*plan.gnn, *plan.gcn, *plan.gin, *tuned} <= set(GNNClassifier().get_params())
    known = set(IDTClassifier().get_params())
    guided = {*plan.idt, *(name for table in plan.guided_grid for name in table)}
    assert guided <= known
    assert {name for table in plan.true_grid for name in table} <= known
    # The network says how many layers a guided tree has.
    assert "n_layers" not in guided
    assert combinations(plan.guided_grid)
    assert combinations(plan.true_grid)
    assert combinations(plan.gnn_grid)


def test_a_data_set_changes_the_defaults_and_smoke_changes_both() -> None:
    usual, other = plan_for("AIDS", RunSettings()), plan_for("BZR", RunSettings())
    assert other.gnn["patience"] > usual.gnn["patience"]
    assert other.gnn["hidden"] == usual.gnn["hidden"]
    assert plan_for("BZR", RunSettings(smoke=True)).gnn["max_epochs"] == 5


def test_a_grid_is_replaced_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "defaults": {
            "version": 1,
            "inner_splits": 1,
            "inner_share": 0.2,
            "gnn": {"lr": 0.1, "hidden": 3},
            "idt": {},
            "guided_grid": [{"width": [1, 2]}],
            "true_grid": [{}],
        },
        "AIDS": {"gnn": {"lr": 0.2}, "guided_grid": [{"relative": [True]}]},
    }
    monkeypatch.setattr(plans, "_read", texts.__getitem__)
    plan = plan_for("AIDS", RunSettings())
    assert plan.gnn == {"lr": 0.2, "hidden": 3}
    assert plan.guided_grid == [{"relative": [True]}]


def test_the_digest_follows_everything_that_matters() -> None:
    runs = [RunSettings(), RunSettings(folds=5), RunSettings(seed=1), RunSettings(smoke=True)]
    digests = {run.digest(name) for run in runs for name in ("AIDS", "psi_0")}
    assert len(digests) == 8
    assert RunSettings().digest("AIDS") == RunSettings(folds=10, seed=0).digest("AIDS")
