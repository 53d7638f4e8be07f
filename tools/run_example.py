#!/usr/bin/env python3
"""Runs an example and compares what it prints with what examples/expected/ says.

usage: run_example.py PROGRAM EXPECTED_DIR

EXPECTED_DIR holds NAME.txt (the exact output) or NAME.regex (each line is a regex for the whole of
the corresponding line of output), and optionally NAME.stdin (the input; else it is empty) and
NAME.args (arguments, quoted as in a shell). The program must end with exit code 0.
"""

import difflib
import pathlib
import re
import shlex
import subprocess
import sys


def read(path):
    return path.read_text(encoding="utf-8") if path.exists() else None


def first_mismatch(patterns, lines):
    for number, (pattern, line) in enumerate(zip(patterns, lines), 1):
        if not re.fullmatch(pattern, line):
            return f"line {number}\n  expected: {pattern}\n  printed:  {line}"
    if len(patterns) != len(lines):
        return f"{len(lines)} lines printed, {len(patterns)} expected"
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1])
    expected = pathlib.Path(sys.argv[2])
    name = program.name

    arguments = shlex.split(read(expected / f"{name}.args") or "")
    run = subprocess.run([program, *arguments], input=read(expected / f"{name}.stdin") or "",
                         stdout=subprocess.PIPE, text=True, errors="replace", check=False)
    if run.returncode != 0:
        sys.exit(f"{run.stdout}\n{name} ended with exit code {run.returncode}")

    exact = read(expected / f"{name}.txt")
    if exact is not None:
        if run.stdout != exact:
            diff = difflib.unified_diff(exact.splitlines(), run.stdout.splitlines(), "expected",
                                        "printed", lineterm="")
            sys.exit("\n".join(diff) or "the output differs in its last line end only")
        return
    patterns = read(expected / f"{name}.regex").splitlines()
    problem = first_mismatch(patterns, run.stdout.splitlines())
    if problem:
        sys.exit(f"{run.stdout}\n{problem}")


main()
