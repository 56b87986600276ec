"""What a scorecard is fitted to: how sure a network is of every class, and true labels too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._validation import to_numpy

__all__ = ["log_shares"]

FloatArray = npt.NDArray[np.float64]

# A network may be surer than numbers can tell; the logarithm of 0 would be infinite.
_LEAST_SHARE = 1e-30


def log_shares(
    classes: npt.NDArray[Any], probabilities: FloatArray, labels: object = None
) -> FloatArray:
    """Return logarithms of probabilities, by the classes in their sorted order.

    Parameters
    ----------
    classes : array
        The classes in the order of the columns.
    probabilities : array, shape (n_rows, n_classes)
    labels : array, optional
        True labels: the target of a row is then the mean of its label and of the probabilities.
        Rows whose label is no class are left as they are.

    Examples
    --------
    >>> chances = np.array([[0.25, 0.75], [0.5, 0.5]])
    >>> np.exp(log_shares(np.array(["yes", "no"]), chances)).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    >>> np.exp(log_shares(np.array(["yes", "no"]), chances, ["no", "yes"])).round(3).tolist()
    [[0.875, 0.125], [0.25, 0.75]]
    """
    order = np.argsort(classes)
    shares = probabilities[:, order]
    if labels is not None:
        number_of = {label: number for number, label in enumerate(classes[order].tolist())}
        listed: Any = np.asarray(to_numpy(labels)).tolist()
        for row, label in enumerate(listed[: len(shares)]):
            if label in number_of:
                shares[row] /= 2
                shares[row, number_of[label]] += 0.5
    return np.asarray(np.log(np.maximum(shares, _LEAST_SHARE)))
