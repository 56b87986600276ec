"""What was shown about a rule and its network, as reports repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gnn2logic.exceptions import ParameterError

__all__ = ["HOW_SHOWN", "certificate_entries"]

# The grades, in the words of people who read reports.
HOW_SHOWN = {
    "statistical": "A sample",
    "exhaustive": "Every small graph",
    "symbolic": "A proof",
}
_VERDICTS = {True: "they agree", False: "they differ", None: "not settled"}


def certificate_entries(certificates: object) -> list[dict[str, Any]]:
    """Return certificates, or what their `to_dict` gave, as parts of a document.

    Examples
    --------
    >>> plain = {"grade": "statistical", "holds": None, "statement": "They agree on at least 98 %."}
    >>> certificate_entries([plain])[0]["how"]
    'A sample'
    """
    if certificates is None:
        return []
    if isinstance(certificates, str | Mapping) or not isinstance(certificates, Iterable):
        raise ParameterError(
            "certificates must be a list of what certify returned. "
            f"Got {type(certificates).__name__} instead."
        )
    return [_entry(each) for each in certificates]


def _entry(certificate: Any) -> dict[str, Any]:
    plain = certificate.to_dict() if hasattr(certificate, "to_dict") else certificate
    right = (
        isinstance(plain, Mapping)
        and plain.get("grade") in HOW_SHOWN
        and isinstance(plain.get("statement"), str)
        and (plain.get("holds") is None or isinstance(plain.get("holds"), bool))
    )
    if not right:
        raise ParameterError(
            "certificates must hold what certify returned, or its to_dict(): grade, holds and "
            f"statement. Got {type(certificate).__name__} instead."
        )
    how = HOW_SHOWN[plain["grade"]]
    return {**plain, "how": how, "verdict": _verdict(plain)}


def _verdict(plain: Mapping[str, Any]) -> str:
    if plain["grade"] == "statistical" and plain.get("holds") is None:
        return "no difference was seen"
    return _VERDICTS[plain.get("holds")]
