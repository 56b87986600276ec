"""What compiled loops are worth: the sums of the split search with numba and with scipy.

The hottest loop adds up weighted targets by feature and code. Without a compiler the quickest way
that was found is one sparse product per feature: a matrix with a one at (code, row) times the sums
of the rows. Both must give the same numbers. numba stays as long as it is at least twice as fast.

    python benchmarks/kernels.py [--rows 30000] [--features 500] [--targets 16] [--repeats 5]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from timing import median_seconds

from gnn2logic.learning.kernels import add_histograms

GOAL = 2.0
N_CODES = 32


def with_scipy(codes: npt.NDArray[np.uint8], sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    n_features, n_rows = codes.shape
    out = np.empty((n_features * N_CODES, sums.shape[1]), dtype=np.int64)
    ones, ends = np.ones(n_rows, dtype=np.int64), np.arange(n_rows + 1)
    for feature in range(n_features):
        # A matrix in column order: row i of the data has its one at codes[feature, i].
        picks = sp.csc_array((ones, codes[feature], ends), shape=(N_CODES, n_rows))
        out[feature * N_CODES : (feature + 1) * N_CODES] = picks @ sums
    return out


def with_numba(codes: npt.NDArray[np.uint8], sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    n_features, n_rows = codes.shape
    out = np.zeros((n_features * N_CODES, sums.shape[1]), dtype=np.int64)
    features = np.arange(n_features)
    add_histograms(codes, features, features * N_CODES, np.arange(n_rows), sums, out)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--targets", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    # Counts are mostly small.
    codes = np.minimum(rng.geometric(0.3, size=(options.features, options.rows)), N_CODES) - 1
    codes = codes.astype(np.uint8)
    sums = rng.integers(-(2**30), 2**30, size=(options.rows, options.targets + 2))
    if not np.array_equal(with_numba(codes, sums), with_scipy(codes, sums)):
        print("The two ways disagree.")
        return 1
    compiled = median_seconds(lambda: with_numba(codes, sums), options.repeats)
    sparse = median_seconds(lambda: with_scipy(codes, sums), options.repeats)
    print(f"{options.rows} rows, {options.features} features, {options.targets} targets")
    print(f"{'scipy':8}{sparse:9.4f} s\n{'numba':8}{compiled:9.4f} s")
    ratio = sparse / compiled
    print(f"{ratio:.1f} times faster (goal {GOAL:.0f})")
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
