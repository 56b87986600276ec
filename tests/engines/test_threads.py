"""Threads of linear algebra: limited while work is done, and afterwards as they were."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pytest
import scipy.linalg  # noqa: F401 - with its libraries, before they are counted
from threadpoolctl import ThreadpoolController, threadpool_limits

from gnn2logic.engines.threads import limited_threads, one_blas_thread, one_thread

LIMITS: list[Callable[[], contextlib.AbstractContextManager[None]]] = [
    one_blas_thread,
    one_thread,
    lambda: limited_threads(1),
]


def blas_threads() -> set[int]:
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.num_threads for library in libraries}


class Overlapping(threading.Thread):
    """Is inside of a limit from `start` to `leave`."""

    def __init__(self, limit: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        super().__init__()
        self._limit = limit
        self._entered, self._may_leave = threading.Event(), threading.Event()

    def run(self) -> None:
        with self._limit():
            self._entered.set()
            self._may_leave.wait(60)

    def enter(self) -> None:
        self.start()
        assert self._entered.wait(60)

    def leave(self) -> None:
        self._may_leave.set()
        self.join(60)
        assert not self.is_alive()


@pytest.mark.parametrize("first", LIMITS)
@pytest.mark.parametrize("second", LIMITS)
def test_limits_that_overlap_end_with_the_last_of_them(
    first: Callable[[], contextlib.AbstractContextManager[None]],
    second: Callable[[], contextlib.AbstractContextManager[None]],
) -> None:
    with threadpool_limits(2, user_api="blas"):
        early, late = Overlapping(first), Overlapping(second)
        assert blas_threads() == {2}
        early.enter()
        assert blas_threads() == {1}
        late.enter()
        early.leave()
        assert blas_threads() == {1}
        late.leave()
        assert blas_threads() == {2}


def test_limits_inside_of_each_other() -> None:
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread(), limited_threads(2), one_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {2}


def test_errors_inside_and_limits_of_others() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            _ = 1 // 0
        assert blas_threads() == {2}
        other = Overlapping(one_blas_thread)
        other.enter()
        threadpool_limits(3, user_api="blas")
        other.leave()
        assert blas_threads() == {3}
