#!/usr/bin/env python3
"""Checks that freestanding code is: no symbol and no header that needs a hosted library or an OS.

usage: check_freestanding.py symbols [--must-refuse] NM FILE...
       check_freestanding.py includes [--must-refuse] COMPILER ARGUMENT...

`symbols` reads the symbol tables of objects and programs. `includes` asks the compiler which
headers a source pulls in. Both print what they refuse. --must-refuse is the test of this test:
it succeeds only if every rule below refuses something.
"""

import re
import subprocess
import sys

SYMBOLS = {
    "heap": r"(malloc|calloc|realloc|free|aligned_alloc|posix_memalign)$",
    # The placement forms, operator new(size_t, void*) and its delete, are no heap.
    "operator new or delete": r"_Z(nw|na)(?!\wPv$)|_Z(dl|da)(?!PvS_$)",
    "threads": r"pthread_",
    "exceptions": r"__cxa_(throw|rethrow|allocate_exception|begin_catch)|__gxx_personality",
    "unwinder": r"_Unwind_",
    "run-time type information": r"_ZT[IS]|__dynamic_cast$",
    "locked static initialisation": r"__cxa_guard",
    "destructors of globals": r"__cxa_atexit$",
    "thread-locals": r"__tls_get_addr$|_ZTW",
    "atomics with a lock": r"__atomic_",
}
# sys/cdefs.h is allowed: glibc's macros for compilers, which libstdc++'s c++config.h includes.
INCLUDES = {
    "POSIX": r"/unistd\.h$",
    "threads": r"/pthread\.h$",
    "signals": r"/signal\.h$",
    "kernel": r"/sys/(?!cdefs\.h$)[^/]*\.h$",
}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def symbols(nm, *files):
    """Pairs of file and symbol name, undefined ones included."""
    for file in files:
        for line in run(nm, "-P", file).splitlines():
            yield file, line.split()[0].split("@")[0]  # without the version: write@GLIBC_2.2.5


def includes(compiler, *arguments):
    """Pairs of source and header."""
    words = run(compiler, "-M", *arguments).replace("\\\n", " ").split()
    for header in words[2:]:
        yield words[1], header


def main():
    kinds = {"symbols": (symbols, SYMBOLS), "includes": (includes, INCLUDES)}
    kind, *arguments = sys.argv[1:] or [""]
    if kind not in kinds or len(arguments) < 2:
        sys.exit(__doc__)
    must_refuse = arguments[0] == "--must-refuse"
    look, rules = kinds[kind]

    seen, broken = 0, set()
    for file, name in look(*arguments[must_refuse:]):
        seen += 1
        for rule, pattern in rules.items():
            if re.match(pattern, name) if kind == "symbols" else re.search(pattern, name):
                print(f"{file}: refused ({rule}): {name}")
                broken.add(rule)
    if seen == 0:
        sys.exit(f"found no {kind}: this checks nothing")
    print(f"{seen} {kind}, {len(broken)} of {len(rules)} rules broken")
    if must_refuse:
        if missed := rules.keys() - broken:
            sys.exit(f"should have been refused and was not: {', '.join(sorted(missed))}")
    elif broken:
        sys.exit(1)


main()
