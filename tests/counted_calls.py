"""How much work a function does, as a number that is the same on every machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called, of Python and of C, until the work is done.

    Seconds depend on the machine and on what else it does; calls do not. A loop in numpy is one
    call however long it is, and a loop in Python is one call or more for each turn.
    """
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before, collecting = sys.getprofile(), gc.isenabled()
    # Otherwise the end of objects of other tests is counted, whenever that is.
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return counted
