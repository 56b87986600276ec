"""All the shards of a fit, as the one who learns sees them: requests to them, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from gnn2logic.engines.protocol import Crew
from gnn2logic.learning.shard.state import ShardState

__all__ = ["Request", "Shards", "in_turn"]

P = ParamSpec("P")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Request:
    """A method of the state of a shard, and what it is called with."""

    method: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]


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
        self._told: list[Request] = []
        self.cells = crew.cells

    def tell(
        self,
        method: Callable[Concatenate[ShardState, P], None],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> None:
        """Have all shards do something before they answer the next question."""
        self._told.append(Request(method, arguments, named))

    def ask(
        self,
        method: Callable[Concatenate[ShardState, P], Answer],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> Answer:
        """Ask all shards and return the sum of their answers."""
        if not self._told:
            return self._crew.ask(method, *arguments, **named)
        requests, self._told = [*self._told, Request(method, arguments, named)], []
        answer: Answer = self._crew.ask(in_turn, requests)
        return answer


def in_turn(state: ShardState, requests: Sequence[Request]) -> Any:
    """Do several things one after the other; return the answer to the last."""
    for request in requests:
        answer = request.method(state, *request.arguments, **request.named)
    return answer
