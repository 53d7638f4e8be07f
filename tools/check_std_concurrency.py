#!/usr/bin/env python3
"""Finds std atomics, locks and threads used past the seam, base/atomic.hpp.

Code that names them directly is invisible to the model checker. Only base/ and sys/ may.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORBIDDEN = re.compile(
    r"\bstd::(atomic\w*|mutex|timed_mutex|recursive_mutex|recursive_timed_mutex|shared_mutex|"
    r"shared_timed_mutex|condition_variable\w*|thread|jthread|call_once|once_flag|latch|barrier|"
    r"counting_semaphore|binary_semaphore)\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def main():
    problems = []
    for top in (ROOT / "include" / "rouse", ROOT / "src"):
        for file in sorted(top.rglob("*.[hc]pp")):
            if file.relative_to(top).parts[0] in ("base", "sys"):
                continue
            text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"),
                               file.read_text(encoding="utf-8"))
            for number, line in enumerate(text.splitlines(), 1):
                for match in FORBIDDEN.finditer(line):
                    problems.append(f"{file.relative_to(ROOT)}:{number}: {match.group()}: "
                                    "use what base/atomic.hpp offers")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
