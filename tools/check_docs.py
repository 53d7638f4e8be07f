#!/usr/bin/env python3
"""Keeps the C++ in the documentation equal to code that is compiled and run.

usage: check_docs.py [--fix]

Directly before every ```cpp block in a *.md file stands where its text comes from:

    <!-- snippet: examples/echo.cpp#serve -->

The block must equal what stands between `// [serve]` and `// [/serve]` (or `// [/]`) in that file,
without its common indentation. --fix rewrites the blocks. Other languages are free.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILED = ("examples/", "tests/docs/")
SKIPPED = {"build", ".git"}
MARKER = re.compile(r"\s*<!-- snippet: (?P<file>[^#\s]+)#(?P<name>[\w.-]+) -->\s*$")
FENCE = re.compile(r"(?P<indent>\s*)(?P<fence>`{3,}|~{3,})\s*(?P<language>[\w+#-]*)")
REGION = re.compile(r"\s*// \[/?[\w.-]*\]\s*$")


def snippet(file, name):
    """The lines of a region, or a ValueError that says why there is none."""
    if not file.startswith(COMPILED):
        raise ValueError(f"{file} is in none of {', '.join(COMPILED)}, so nothing compiles it")
    path = ROOT / file
    if not path.is_file():
        raise ValueError(f"{file} does not exist")
    lines = path.read_text(encoding="utf-8").splitlines()
    stripped = [line.strip() for line in lines]
    if stripped.count(f"// [{name}]") != 1:
        raise ValueError(f"{file} has {stripped.count(f'// [{name}]')} lines '// [{name}]'")
    start = stripped.index(f"// [{name}]") + 1
    end = next((i for i in range(start, len(lines)) if stripped[i] in (f"// [/{name}]", "// [/]")),
               None)
    if end is None:
        raise ValueError(f"{file}: '// [{name}]' is not closed")
    region = [line for line in lines[start:end] if not REGION.match(line)]
    return textwrap.dedent("\n".join(region)).strip("\n").splitlines()


def check(path, fix):
    """The problems of one document; with fix, rewrites it."""
    name = path.relative_to(ROOT)
    lines = path.read_text(encoding="utf-8").splitlines()
    problems, result, i = [], [], 0
    while i < len(lines):
        fence = FENCE.match(lines[i])
        result.append(lines[i])
        i += 1
        if not fence:
            continue
        start = i
        closing = re.compile(r"\s*" + re.escape(fence["fence"]) + r"[`~]*\s*$")
        while i < len(lines) and not closing.match(lines[i]):
            i += 1
        block = lines[start:i]
        if fence["language"].lower() in ("cpp", "c++", "cxx", "cc"):
            marker = MARKER.match(lines[start - 2]) if start >= 2 else None
            try:
                if not marker:
                    raise ValueError("a C++ block without '<!-- snippet: file#name -->' before it")
                wanted = [(fence["indent"] + line).rstrip()
                          for line in snippet(marker["file"], marker["name"])]
                if block != wanted and not fix:
                    raise ValueError(f"differs from {marker['file']}#{marker['name']} "
                                     "(tools/check_docs.py --fix)")
                block = wanted
            except ValueError as problem:
                problems.append(f"{name}:{start}: {problem}")
        result += block + lines[i:i + 1]
        i += 1
    if fix and result != lines:
        path.write_text("\n".join(result) + "\n", encoding="utf-8")
        print(f"rewritten: {name}")
    return problems


def main():
    if sys.argv[1:] not in ([], ["--fix"]):
        sys.exit(__doc__)
    documents = [path for path in sorted(ROOT.rglob("*.md"))
                 if not SKIPPED & set(path.relative_to(ROOT).parts)]
    problems = [problem for path in documents for problem in check(path, fix=bool(sys.argv[1:]))]
    print("\n".join(problems or [f"{len(documents)} documents"]))
    sys.exit(1 if problems else 0)


main()
