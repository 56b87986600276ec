from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ["MPLBACKEND"] = "Agg"

matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra 'plot'")
pytest.importorskip("networkx", reason="pictures need the extra 'plot'")


@pytest.fixture(autouse=True)
def clean_pyplot() -> Iterator[None]:
    """Every test starts without figures, and no picture changes the user's settings."""
    from matplotlib import pyplot

    pyplot.close("all")
    before = matplotlib.rcParams.copy()
    yield
    assert matplotlib.rcParams == before
    pyplot.close("all")
