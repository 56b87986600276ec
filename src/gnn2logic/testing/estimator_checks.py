"""Checks of estimators whose input is graphs.

scikit-learn's own ``check_estimator`` feeds matrices, so it has nothing to say about estimators on
graphs. These checks ask for the same manners, and for what is special here: any kind of graphs, one
prediction per graph whatever its company, and formulas that agree with the predictions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from sklearn.base import clone

from gnn2logic._validation import check_choice
from gnn2logic.testing import checks
from gnn2logic.testing.requirements import Level, gives_probabilities, predicts_numbers

__all__ = ["check_graph_estimator", "graph_estimator_checks"]

Check = Callable[[Any, Level], None]

# In the order of an estimator's life, so that the first failure is the most basic one.
_CHECKS: tuple[Check, ...] = (
    checks.check_constructor_only_stores_parameters,
    checks.check_parameters_can_be_read_set_and_cloned,
    checks.check_use_before_fit_raises,
    checks.check_fit_returns_self,
    checks.check_fitted_attributes_end_in_underscore,
    checks.check_fit_is_deterministic,
    checks.check_refit_forgets,
    checks.check_inputs_are_not_modified,
    checks.check_classes_are_sorted,
    checks.check_string_labels,
    checks.check_wrong_number_of_labels_raises,
    checks.check_sample_weight_of_ones_is_none,
    checks.check_sample_weight_matters,
    checks.check_global_randomness_is_left_alone,
    checks.check_order_of_graphs_does_not_matter,
    checks.check_a_graph_alone_is_predicted_alike,
    checks.check_numbering_of_nodes_does_not_matter,
    checks.check_probabilities,
    checks.check_score_is_accuracy,
    checks.check_score_is_r2,
    checks.check_formulas_agree_with_predictions,
    checks.check_pickle_round_trip,
    checks.check_list_of_batches,
    checks.check_networkx_graphs,
    checks.check_pyg_graphs,
)

# Checks that speak of something optional: of a package, or of an ability of the estimator.
_NEEDS: dict[Check, Callable[[Any], bool]] = {
    checks.check_networkx_graphs: lambda _: find_spec("networkx") is not None,
    checks.check_pyg_graphs: lambda _: find_spec("torch_geometric") is not None,
    checks.check_classes_are_sorted: lambda estimator: not predicts_numbers(estimator),
    checks.check_string_labels: lambda estimator: not predicts_numbers(estimator),
    checks.check_score_is_accuracy: lambda estimator: not predicts_numbers(estimator),
    checks.check_score_is_r2: predicts_numbers,
    checks.check_probabilities: gives_probabilities,
    checks.check_formulas_agree_with_predictions: lambda estimator: hasattr(estimator, "formula"),
}


def graph_estimator_checks(
    estimator: Any, level: Level = "graph"
) -> list[tuple[str, Callable[[], None]]]:
    """Return the name of every check and a function that runs it.

    The functions raise an AssertionError that says what is wrong. The estimator itself is never
    fitted or changed. Checks of networkx and PyTorch Geometric input are left out when these are
    not installed, those of probabilities and formulas when the estimator has no such method.

    Parameters
    ----------
    estimator : estimator
        With small settings: it is fitted on 40 graphs about thirty times.
    level : {"graph", "node"}
        Whether it has a label for every graph or for every node.

    Examples
    --------
    >>> from gnn2logic import IDTClassifier
    >>> name, check = graph_estimator_checks(IDTClassifier())[0]
    >>> name
    'check_constructor_only_stores_parameters'
    >>> check()

    With pytest::

        @pytest.mark.parametrize(("name", "check"), graph_estimator_checks(IDTClassifier()))
        def test_manners(name, check):
            check()
    """
    check_choice("level", level, ("graph", "node"))
    return [
        (check.__name__, partial(_run, check, estimator, level))
        for check in _CHECKS
        if check not in _NEEDS or _NEEDS[check](estimator)
    ]


def check_graph_estimator(estimator: Any, level: Level = "graph") -> None:
    """Run all checks of an estimator whose input is graphs; the first that fails raises.

    Parameters
    ----------
    estimator : estimator
        With small settings: it is fitted on 40 graphs about thirty times.
    level : {"graph", "node"}
        Whether it has a label for every graph or for every node.

    Raises
    ------
    AssertionError
        If a check fails; the message names the check and says what was expected.

    Examples
    --------
    >>> from gnn2logic import IDTClassifier
    >>> check_graph_estimator(IDTClassifier(0))
    """
    for _, check in graph_estimator_checks(estimator, level):
        check()


def _copied(estimator: Any) -> Any:
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy


def _run(check: Check, estimator: Any, level: Level) -> None:
    """Run one check on a copy; whatever goes wrong becomes an AssertionError with its name.

    Copying needs a good constructor, so the check of that does without.
    """
    title = f"{check.__name__} of {type(estimator).__name__}"
    try:
        check(_copied(estimator) if check is not _CHECKS[0] else estimator, level)
    except AssertionError as error:
        raise AssertionError(f"{title}: {error}") from None
    except Exception as error:
        raise AssertionError(
            f"{title}: there must be no error. Got {type(error).__name__}: {error}"
        ) from error
