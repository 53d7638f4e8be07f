#!/usr/bin/env python3
"""Keeps the headers light: none of ours includes a standard header that costs every user's compiler
more than it gives, and rouse.hpp stays below a number of preprocessed lines.

What the standard library's headers include themselves can't be helped.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "rouse"
MOST_LINES = 45_000
HEAVY = {
    "algorithm": "write the loop, or move it to src/",
    "atomic": "base/atomic.hpp",
    "chrono": "base/internal/durations.hpp",
    "condition_variable": "src/",
    "deque": "base/internal/stable_vector.hpp",
    "functional": "base/function.hpp, base/internal/invoke.hpp",
    "iostream": "src/",
    "istream": "src/",
    "iterator": "<span> has begin, end, data and size",
    "locale": "src/",
    "map": "a sorted vector, or src/",
    "memory": "base/internal/box.hpp, base/ref_ptr.hpp, base/internal/construct.hpp",
    "mutex": "src/",
    "ostream": "<iosfwd>",
    "ranges": "<span> has enable_view, data and size",
    "regex": "src/",
    "sstream": "src/",
    "thread": "src/",
    "unordered_map": "src/",
    "unordered_set": "src/",
}
# The two seams and the model checker, which no other header includes in a user's program; and names for those who have
# a std::shared_ptr anyway.
EXEMPT = {"base/thread.hpp", "base/atomic.hpp", "base/internal/durations.hpp", "sync/owned.hpp"}
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)


def heavy_includes():
    for file in sorted(HEADERS.rglob("*.hpp")):
        name = file.relative_to(HEADERS)
        if name.as_posix() in EXEMPT or name.parts[0] == "model":
            continue
        for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
            if included in HEAVY:
                yield f"include/rouse/{name}: <{included}> is heavy; instead: {HEAVY[included]}"


def preprocessed_lines(compiler):
    done = subprocess.run([compiler, "-std=c++20", "-E", "-P", "-x", "c++", f"-I{ROOT / 'include'}", "-"],
                          input="#include <rouse/rouse.hpp>\n", text=True, capture_output=True, check=True)
    return sum(1 for line in done.stdout.splitlines() if line.strip())


def main():
    problems = list(heavy_includes())
    lines = preprocessed_lines("clang++-19")
    if lines > MOST_LINES:
        problems.append(f"rouse.hpp has {lines} preprocessed lines, {MOST_LINES} at most: "
                        "what was included that is so large?")
    print("\n".join(problems) or f"rouse.hpp: {lines} preprocessed lines")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
