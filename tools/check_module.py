#!/usr/bin/env python3
"""`import rouse;` gives what `#include <rouse/all.hpp>` gives, without its internals.

include/rouse/rouse.cppm lists every name. The compiler says which there are, so none is forgotten. --fix writes the
list.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = ROOT / "include" / "rouse" / "rouse.cppm"
HIDDEN = ("internal", "sys")
# What the model checker takes the place of, told by a macro: who models includes <rouse/model.hpp>.
SEAM = "rouse::native::"


def compiler_says(text, *flags, check=True):
    command = ["clang++-19", "-std=c++20", f"-I{ROOT / 'include'}", "-x", "c++", "-fsyntax-only", *flags, "-"]
    return subprocess.run(command, input="#include <rouse/all.hpp>\n" + text, text=True, check=check,
                          stdout=subprocess.PIPE, stderr=None if check else subprocess.PIPE)


def declared():
    """What is declared in rouse's namespaces, also without a name to use: parameters of concepts, friends."""
    listed = compiler_says("", "-Xclang", "-ast-list").stdout.splitlines()
    headers = "".join(header.read_text(encoding="utf-8") for header in ROOT.glob("include/rouse/**/*.hpp"))
    spaces = {"rouse"} | {f"rouse::{name}" for name in re.findall(r"^namespace (?:rouse::)?([\w:]+) \{", headers, re.M)}
    spaces -= {f"rouse::{name}" for name in HIDDEN}
    return {name for name in listed if name.rpartition("::")[0] in spaces and "::<" not in name}


def nameable(names):
    names = sorted(names)
    uses = "".join(f"namespace n{i} {{ using {name}; }}\n" for i, name in enumerate(names))
    errors = compiler_says(uses, "-ferror-limit=0", check=False).stderr
    wrong = {int(line) for line in re.findall(r"^<stdin>:(\d+):\d+: error", errors, re.M)}
    return {name for line, name in enumerate(names, start=2) if line not in wrong}


def public_names():
    names = declared()
    twins = {name: name.replace("rouse::", SEAM, 1) for name in names}
    found = nameable(names | set(twins.values()))
    return {name for name in names & found if twins[name] not in found}


def section(space, names):
    uses = "".join(f"using {name};\n" for name in sorted(names))
    return f"export namespace {space} {{\n{uses}}}  // namespace {space}\n"


def main():
    text, names = MODULE.read_text(encoding="utf-8"), public_names()
    spaces = sorted({name.rpartition("::")[0] for name in names})
    if "--fix" in sys.argv:
        lists = "\n".join(section(s, [n for n in names if n.rpartition("::")[0] == s]) for s in spaces)
        MODULE.write_text(text.partition("export namespace rouse {")[0] + lists, encoding="utf-8")
        return 0
    listed = set(re.findall(r"^using (rouse::\S+);$", text, re.M))
    problems = [f"does not export {name}" for name in sorted(names - listed)]
    problems += [f"exports {name}, which is not public" for name in sorted(listed - names)]
    for problem in problems:
        print(f"{MODULE.relative_to(ROOT)}: {problem}: tools/check_module.py --fix")
    print(f"{len(listed)} names")
    return 1 if problems else 0


sys.exit(main())
