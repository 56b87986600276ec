"""Amounts of memory."""

from __future__ import annotations

import pytest

from gnn2logic.engines import LocalEngine
from gnn2logic.engines.amounts import bytes_from
from gnn2logic.exceptions import ParameterError


@pytest.mark.parametrize(
    ("text", "size"),
    [(5, 5), ("5", 5), ("2 kB", None), ("2 KB", 2000), ("1GiB", 2**30), (" 0.5 MiB ", 2**19)],
)
def test_amounts(text: object, size: int | None) -> None:
    if size is None:
        with pytest.raises(ParameterError, match="max_memory must be a number of bytes"):
            bytes_from("max_memory", text)
    else:
        assert bytes_from("max_memory", text) == size


@pytest.mark.parametrize(
    "amount", [0, -1, True, 1.5, "0", "GiB", "1e9", "1 GiB or so", b"1", "1 XB"]
)
def test_what_is_no_amount(amount: object) -> None:
    with pytest.raises(ParameterError, match="'1 GiB' or '500 MB'"):
        LocalEngine(max_memory=amount)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_threads", [0, -1, True, "2", 1.5])
def test_threads_are_counted(n_threads: object) -> None:
    with pytest.raises(ParameterError, match="n_threads"):
        LocalEngine(n_threads)  # type: ignore[arg-type]
