#!/usr/bin/env python3
"""The public line (docs/stability.md): contents pages reach every public header, and nothing else.

A header stands on its layer's page, which rouse.hpp includes, or on all.hpp, which is for those that few programs need.
The page of a component stands alone: not every rouse has it.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ROOT / "include" / "rouse"
# Pages that rouse.hpp leaves out: what only tests need.
FOR_TESTS = {"testing.hpp", "model.hpp"}
# Pages of layers that few programs need: all.hpp shows them.
FOR_FEW = {"sight.hpp"}
# Headers that stand on the page of another layer.
ELSEWHERE = {"base/atomic.hpp": "model.hpp", "base/cell.hpp": "model.hpp", "base/thread.hpp": "model.hpp"}


def components():
    cmake = (ROOT / "cmake" / "components.cmake").read_text(encoding="utf-8")
    names = re.search(r"^set\(rouse_known_components ([^)]*)\)", cmake, re.M).group(1)
    return {name + ".hpp" for name in names.split()}


def included(page):
    return set(re.findall(r'^#include "rouse/([^"]+)"', page.read_text(encoding="utf-8"), re.M))


def difference(page, expected):
    found = included(HEADERS / page)
    return [f"include/rouse/{page}: does not include rouse/{h}" for h in sorted(expected - found)] + [
        f"include/rouse/{page}: includes rouse/{h}, which is not its to show"
        for h in sorted(found - expected)
    ]


def main():
    layers = sorted(p.name for p in HEADERS.iterdir() if p.is_dir())
    pages = {layer + ".hpp": set() for layer in layers}
    for layer in layers:
        for header in (HEADERS / layer).glob("*.hpp"):
            name = f"{layer}/{header.name}"
            pages[ELSEWHERE.get(name, layer + ".hpp")].add(name)
    for_few = included(HEADERS / "all.hpp") - {"rouse.hpp"} - FOR_FEW
    unknown = for_few - set().union(*pages.values())
    for headers in pages.values():
        headers -= for_few
    pages["rouse.hpp"] = {*pages, "version.hpp"} - FOR_TESTS - FOR_FEW - components()
    pages["all.hpp"] = {"rouse.hpp", *for_few, *FOR_FEW} - unknown
    problems = [p for page, expected in pages.items() for p in difference(page, expected)]
    print("\n".join(problems or [f"{len(pages)} pages, {sum(map(len, pages.values()))} headers"]))
    sys.exit(1 if problems else 0)


main()
