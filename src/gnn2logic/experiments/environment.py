"""What a run was made with: versions, machine and command; no names of hosts, users or folders."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gnn2logic._version import __version__

__all__ = ["describe_environment"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch", "torch_geometric", "joblib")


def describe_environment() -> dict[str, Any]:
    """Return the versions of what matters and the kind of machine.

    Examples
    --------
    >>> sorted(describe_environment())
    ['machine', 'versions']
    """
    versions = {"gnn2logic": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    machine = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory(),
    }
    return {"versions": versions, "machine": machine}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _memory() -> float | None:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return round(total / 2**30, 1)
