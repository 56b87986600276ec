"""Set-up of all tests, before anything is imported."""

import os
import signal

# Tests run in one process per core; with more threads than cores torch is slower by far.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Threads that wait for each other must not keep a core busy that another process needs: on two
# busy cores small searches take seven times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Pictures are written to files; else matplotlib looks for a window when it first draws.
os.environ.setdefault("MPLBACKEND", "Agg")

# A shell that starts the tests in the background lets them ignore Ctrl-C, and so would every
# program that they start; some tests are about Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
