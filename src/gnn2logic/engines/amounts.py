"""Amounts of memory as people write them."""

from __future__ import annotations

import re

from gnn2logic._validation import is_whole
from gnn2logic.exceptions import ParameterError

__all__ = ["bytes_from"]

_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def bytes_from(name: str, amount: object) -> int:
    """Return a number of bytes from a number, or a text such as ``"1 GiB"`` or ``"500 MB"``.

    Examples
    --------
    >>> bytes_from("max_memory", "1.5 GiB"), bytes_from("max_memory", "500MB")
    (1610612736, 500000000)
    """
    if is_whole(amount) and amount > 0:
        return int(amount)
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]i?|)B?\s*", amount)
        if found is not None:
            size = int(float(found[1]) * {**_UNITS, **_BINARY}[found[2]])
            if size > 0:
                return size
    raise ParameterError(
        f"{name} must be a number of bytes above 0, or a text such as '1 GiB' or '500 MB'. "
        f"Got {amount!r} instead."
    )
