"""All the shards of a fit, as the one who learns sees them."""

from __future__ import annotations

from typing import Any

from gnn2logic.engines.protocol import Crew

__all__ = ["Shards"]


class Shards:
    """Asks all shards. What they are only told goes along with the next question.

    On a cluster every request takes some hundredths of a second, however little there is to do, and
    a quarter of them would have no answer.

    Parameters
    ----------
    crew : Crew
    """

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._told: list[tuple[str, tuple[Any, ...]]] = []
        self.cells = crew.cells

    def tell(self, request: str, *arguments: Any) -> None:
        """Have all shards do something before they answer the next question."""
        self._told.append((request, arguments))

    def ask(self, request: str, *arguments: Any) -> Any:
        """Ask all shards and return the sum of their answers."""
        if not self._told:
            return self._crew.ask(request, *arguments)
        requests, self._told = [*self._told, (request, arguments)], []
        return self._crew.ask("in_turn", requests)
