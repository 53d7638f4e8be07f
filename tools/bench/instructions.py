"""Instructions an operation, counted by callgrind on the current thread: they repeat exactly, so a
change that costs something is seen on any machine, however busy."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

from runtimes import CLANG, ROOT, Rouse, output

BASELINE = ROOT / "benchmarks/instructions.json"
LIMIT = 1.05

Counted = namedtuple("Counted", ("name", "n", "operations"))

# With the operations in one run of size n. Small: callgrind is fifty times slower.
ROWS = tuple(Counted(*row) for row in (
    ("child_await", 1000, 1000),
    ("ready_await", 1000, 1000),
    ("pending_poll", 1000, 1000),
    ("generator_next", 1000, 1000),
    ("fib", 15, 1973),
    ("skynet", 1000, 1111),
    ("nqueens", 6, 153),
    ("spawn_await", 1000, 1000),
    ("spawn_batch", 1000, 1000),
    ("yield", 10, 10_000),
    ("yield_watched", 10, 10_000),
    ("ping_pong_oneshot", 1000, 1000),
    ("ping_pong_mpsc", 1000, 1000),
    ("mpsc_1x1", 5000, 5000),
    ("mpsc_4x1", 5000, 5000),
    ("mutex", 8000, 8000),
    ("timer_cancel", 1000, 500_000),
))


def total(row, n, runs):
    with tempfile.NamedTemporaryFile() as out:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}",
                   Rouse().program(), row, "0", str(n)]
        done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env={**os.environ, "ROUSE_BENCH_RUNS": str(runs)})
    if done.returncode != 0:
        sys.exit(f"callgrind on {row}: exit code {done.returncode}\n{done.stderr}")
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def count(row, n, operations):
    """The first runs fill caches and pools; what a later one takes is what counts."""
    warm, more = (1, 2) if operations > 100_000 else (4, 8)
    return (total(row, n, more) - total(row, n, warm)) / (more - warm) / operations


def run(rows, store, as_json):
    compiler = output(CLANG, "--version").splitlines()[0]
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    known = baseline.get("instructions", {})
    found, worse = {}, []
    if not as_json:
        print(f"{'instructions each':24}{'now':>10}{'baseline':>10}{'ratio':>8}")
    for row, n, operations in rows:
        found[row] = round(count(row, n, operations), 2)
        ratio = found[row] / known[row] if known.get(row) else None
        if as_json:
            print(json.dumps({"bench": row, "runtime": "rouse", "workers": 0, "unit": "instructions",
                              "median": found[row], "min": found[row], "max": found[row], "runs": 1}), flush=True)
        else:
            texts = (f"{known[row]:10.2f}{ratio:8.3f}") if ratio else f"{'none':>10}"
            print(f"{row:24}{found[row]:10.2f}{texts}", flush=True)
        if ratio and ratio > LIMIT:
            worse.append(f"{row}: {known[row]} -> {found[row]} instructions, {100 * (ratio - 1):.1f}% more")
    if store:
        merged = {**known, **found}
        BASELINE.write_text(json.dumps({"compiler": compiler, "instructions": merged}, indent=2) + "\n")
        print(f"stored in {BASELINE.relative_to(ROOT)}", file=sys.stderr)
        return 0
    if baseline and baseline["compiler"] != compiler:
        print(f"the baseline is of another compiler ({baseline['compiler']}): not compared", file=sys.stderr)
        return 0
    if worse:
        print(f"\nmore than {100 * (LIMIT - 1):.0f}% above the baseline of {BASELINE.relative_to(ROOT)}:", file=sys.stderr)
        print("\n".join(f"  {text}" for text in worse), file=sys.stderr)
        print("if that is the price of something better, store it: ./dev bench --instructions --store", file=sys.stderr)
        return 1
    return 0
