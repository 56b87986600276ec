"""What a sample says about all that it was drawn from."""

from __future__ import annotations

from scipy.stats import beta

from gnn2logic._validation import check_whole, is_number
from gnn2logic.exceptions import ParameterError

__all__ = ["agreement_bound", "check_confidence"]


def agreement_bound(n_agreements: int, n_compared: int, confidence: float = 0.95) -> float:
    """Return the exact one-sided bound of Clopper and Pearson.

    The share of all graphs on which two agree is at least this, but for a chance of
    ``1 - confidence`` that the sample was unusual. The sample must be drawn independently.

    >>> round(agreement_bound(200, 200), 4), round(agreement_bound(197, 200), 4)
    (0.9851, 0.9617)
    """
    check_whole("n_compared", n_compared, least=1)
    check_whole("n_agreements", n_agreements, least=0)
    if n_agreements > n_compared:
        raise ParameterError(
            f"n_agreements must be at most n_compared. Got {n_agreements} of {n_compared}."
        )
    check_confidence(confidence)
    if n_agreements == 0:
        return 0.0
    return float(beta.ppf(1 - confidence, n_agreements, n_compared - n_agreements + 1))


def check_confidence(confidence: object) -> None:
    """Refuse what is no chance between 0 and 1."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise ParameterError(
            f"confidence must be a number between 0 and 1, such as 0.95. Got {confidence!r}."
        )
