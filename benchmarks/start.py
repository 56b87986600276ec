"""How long a newcomer waits before any work is done: imports and the first fit, in fresh processes.

The time of the processor is measured, so that other work on the machine does not count. "On top" is
the first fit of a process less the second one, which is the same work. A cold cache is what the
first fit after an installation meets: compiled loops are kept beside the package, or where
NUMBA_CACHE_DIR says.

    python benchmarks/start.py [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

# The aims, in seconds: what is imported, and the first fit on top of its work.
IMPORT, FIRST_FIT = 0.5, 1.0

SCRIPT = """
import json, time
begin = time.process_time()
import gnn2logic as gl
package = time.process_time()
graphs = gl.random_graphs(200, sizes=10, density=0.4, random_state=0)
y = gl.parse("1(A U0 > 2) > 3").evaluate(graphs)
ready = time.process_time()
gl.IDTClassifier
estimator = time.process_time()
gl.IDTClassifier(random_state=0).fit(graphs, y)
first = time.process_time()
gl.IDTClassifier(random_state=0).fit(graphs, y)
second = time.process_time()
print(json.dumps({
    "import gnn2logic": package - begin,
    "graphs and a formula": ready - package,
    "import the estimator": estimator - ready,
    "first fit, on top": (first - estimator) - (second - first),
    "the fit itself": second - first,
}))
"""


def measured(cache: str, repeats: int) -> dict[str, float]:
    """Return the median of every step over fresh processes."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_WAIT_POLICY": "passive"}
    runs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            ).stdout
        )
        for _ in range(repeats)
    ]
    return {step: statistics.median(run[step] for run in runs) for step in runs[0]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        cold = measured(cache, 1)
        warm = measured(cache, options.repeats)
    print(f"{'':22}  cold cache  warm cache")
    for step, seconds in warm.items():
        print(f"{step:22}  {cold[step]:8.2f} s  {seconds:8.2f} s")
    imports = warm["import gnn2logic"] + warm["import the estimator"]
    is_fine = imports <= IMPORT and warm["first fit, on top"] <= FIRST_FIT
    print(
        f"aims: {IMPORT} s for the imports ({imports:.2f} s), {FIRST_FIT} s on top of a first fit"
    )
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
