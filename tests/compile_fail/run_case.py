#!/usr/bin/env python3
"""Checks that a program is refused by the compiler, and for the right reason.

usage: run_case.py COMPILER INCLUDE_DIR CASE.cpp

A case is a .cpp file that holds

    // EXPECT-ERROR: <regex>     the first error's message must match (searched, not anchored)
    // FLAGS: -Wdangling ...     optional: more compiler flags
    // ONLY: clang               optional: clang or gcc; on the other one the case is skipped

and that compiles when FIXED is defined, so that it cannot be refused for a wrong reason:

    #ifndef FIXED
      rouse::spawn(borrower(local));
    #else
      rouse::spawn(borrower, local);
    #endif

Only the text after "error:" is matched: neither the case's own path nor a note can satisfy it.
"""

import re
import shlex
import subprocess
import sys

SKIPPED = 77


def directive(text, name):
    found = re.findall(rf"^\s*// {name}:[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    if len(found) > 1:
        sys.exit(f"more than one '// {name}:' line")
    return found[0] if found else ""


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    compiler, include_dir, case = sys.argv[1:]
    with open(case, encoding="utf-8") as file:
        text = file.read()

    expected = directive(text, "EXPECT-ERROR")
    if not expected:
        sys.exit("the case has no '// EXPECT-ERROR: <regex>' line")
    only = directive(text, "ONLY")
    if only not in ("", "clang", "gcc"):
        sys.exit(f"'// ONLY: {only}': not clang or gcc")
    kind = "clang" if "clang" in compiler.rsplit("/", 1)[-1] else "gcc"
    if only and only != kind:
        print(f"skipped: only for {only}")
        sys.exit(SKIPPED)

    command = [compiler, "-std=c++20", "-fsyntax-only", "-Werror", "-fdiagnostics-color=never",
               "-I", include_dir, *shlex.split(directive(text, "FLAGS"))]

    def compile_case(*extra):
        return subprocess.run([*command, *extra, case], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)

    fixed = compile_case("-DFIXED")
    if fixed.returncode != 0:
        sys.exit(f"does not compile with -DFIXED either:\n{fixed.stdout}")

    broken = compile_case()
    if broken.returncode == 0:
        sys.exit("compiles, and should not")
    first = re.search(r"\berror: (.*)", broken.stdout)
    if first is None:
        sys.exit(f"refused without an error message:\n{broken.stdout}")
    if not re.search(expected, first.group(1)):
        sys.exit(f"refused for another reason\n  expected: {expected}\n"
                 f"  first error: {first.group(1)}\n\n{broken.stdout}")
    print(f"refused as expected: {first.group(1)}")


main()
