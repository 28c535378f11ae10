"""Shared by the peers' scripts: repeated timing, and JSON lines as `tboost bench` prints them."""

import json
import os
import resource
import statistics
import sys
import time


def add_arguments(parser):
    """The arguments that all scripts have."""
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of repetitions")
    parser.add_argument(
        "--serve",
        action="store_true",
        help="measure whenever a line arrives on standard input, until it ends",
    )


def limit_threads(count):
    """For OpenMP, MKL and OpenBLAS; to be called before numpy is imported."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(count)


def repeat(work, budget_s, most=100):
    """Milliseconds of each repetition: at least one, within the budget."""
    times = []
    start = time.perf_counter()
    while not times or (len(times) < most and time.perf_counter() - start < budget_s):
        begin = time.perf_counter()
        work()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def report(args, job, case, unit, values, who=resource.RUSAGE_SELF):
    """Prints a record, or one for every line of input. unit is med_ms or tok_s; values() measures,
    and the median of what it returns is given."""
    if args.serve:
        print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin if args.serve else (None,):
        found = values()
        record = {
            "job": job,
            "case": case,
            "threads": args.threads,
            unit: round(statistics.median(found), 3),
            "min": round(min(found), 3),
            "max": round(max(found), 3),
            "peak_rss_mb": round(resource.getrusage(who).ru_maxrss * 1024 / 1e6, 1),
        }
        print(json.dumps(record), flush=True)


def time_and_report(args, job, case, work):
    """The same of the milliseconds of work(), which runs once beforehand to warm up."""
    work()
    report(args, job, case, "med_ms", lambda: repeat(work, args.budget))
