"""Shared by the peers' scripts: repeated timing, and a JSON line as `tboost bench` prints it."""

import json
import os
import resource
import statistics
import time


def limit_threads(count):
    """For OpenMP, MKL and OpenBLAS; to be called before numpy is imported."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(count)


def repeat(work, budget_s, most=100):
    """Milliseconds of each repetition, after one that warms up: at least one, within the budget."""
    work()
    times = []
    start = time.perf_counter()
    while not times or (len(times) < most and time.perf_counter() - start < budget_s):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def emit(job, case, threads, unit, values, who=resource.RUSAGE_SELF):
    """Prints one record; unit is med_ms or tok_s, of which the median of values is given."""
    print(
        json.dumps(
            {
                "job": job,
                "case": case,
                "threads": threads,
                unit: round(statistics.median(values), 3),
                "min": round(min(values), 3),
                "max": round(max(values), 3),
                "peak_rss_mb": round(resource.getrusage(who).ru_maxrss / 1024),
            }
        ),
        flush=True,
    )
