"""Runs the rows: strictly one program at a time, round by round for every runtime in turn, so that
noise hits all alike."""

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import servers
from runtimes import NOT_WITH_SO_MANY_WORKERS


class Series:
    """What one runtime with so many workers gave for one value of a row."""

    def __init__(self, row, value, runtime, workers, runs):
        self.row, self.value, self.runtime, self.workers = row, value, runtime, workers
        self.bench = row.name + value.suffix
        self.runs = runs
        self.median = statistics.median(runs)

    def as_json(self):
        return {"bench": self.bench, "runtime": self.runtime.name, "workers": self.workers,
                "unit": self.value.unit, "median": self.median, "min": min(self.runs),
                "max": max(self.runs), "runs": len(self.runs)}


class Progress:
    """One line on stderr: what runs now, and how far it is."""

    def __init__(self, steps):
        self._steps, self._done, self._start = steps, 0, time.monotonic()

    def step(self, text):
        self._done += 1
        elapsed = time.monotonic() - self._start
        line = f"[{self._done}/{self._steps}, {elapsed:.0f} s] {text}"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif self._done % 100 == 0 or self._done == self._steps:
            print(line, file=sys.stderr, flush=True)

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def raise_file_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def run_program(runtime, row, workers, n):
    done = subprocess.run([runtime.program(row.native), row.program_row(), str(workers), str(n)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    if done.returncode == NOT_WITH_SO_MANY_WORKERS:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"{runtime.name} {row.name} {workers} {n}: exit code {done.returncode}\n{done.stderr}")
    return [float(word) * row.factor(n) for word in done.stdout.split()]


def compile_time(runtime):
    with tempfile.TemporaryDirectory() as folder:
        commands = runtime.compile_commands(Path(folder), time.monotonic_ns())
        if not commands:
            return None
        start = time.monotonic()
        for command in commands:
            subprocess.run([str(part) for part in command], check=True)
        return [time.monotonic() - start]


def run_once(runtime, row, workers, quick):
    if row.kind == "server":
        return servers.measure(runtime, row, workers)
    if row.kind == "compile":
        return compile_time(runtime)
    return run_program(runtime, row, workers, row.quick_n if quick else row.n)


def takes_part(runtime, row):
    if row.kind == "server":
        return runtime.serves
    if row.kind == "compile":
        return not runtime.is_reference
    return row.program_row() in runtime.rows() and runtime.name not in row.without


def measure(rows, runtimes, rounds, quick, on_row):
    """Calls on_row(row, series) for every row when it is done. Returns what went wrong: one program
    that fails is not to cost the others their half hour."""
    raise_file_limit()
    plan = []
    for row in rows:
        who = [(runtime, workers) for workers in row.workers for runtime in runtimes
               if takes_part(runtime, row)]
        plan.append((row, who))
    failures = []
    progress = Progress(rounds * sum(len(who) for _, who in plan))
    for row, who in plan:
        runs = {pair: [] for pair in who}
        for number in range(rounds):
            # Each round begins with another: nobody always comes after the same.
            first = number * len(who) // rounds
            for runtime, workers in who[first:] + who[:first]:
                progress.step(f"{row.name}, round {number + 1} of {rounds}: {runtime.label} {workers}")
                try:
                    values = run_once(runtime, row, workers, quick)
                except (RuntimeError, ValueError, OSError, subprocess.SubprocessError) as error:
                    failures.append(f"{runtime.label}, {row.name}, {workers} workers: {error}")
                    continue
                if values is not None:
                    runs[runtime, workers].append(values)
        series = [Series(row, value, runtime, workers, [values[i] for values in found])
                  for (runtime, workers), found in runs.items() if found
                  for i, value in enumerate(row.values)]
        progress.end()
        on_row(row, series)
    return failures
