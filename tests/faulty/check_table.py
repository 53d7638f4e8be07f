#!/usr/bin/env python3
"""Makes the table of faults (call, error, uses, outcome) from the rows that the tests wrote, and
its summary, docs/faults.md, which --fix writes (target faults_summary). Refuses them if something
is missing:

  - what the library calls that is neither wrapped nor known to be harmless,
  - a call by its number that the wrapper of syscall does not know,
  - a wrapped call without documented errors,
  - a documented error of a call that no test has let happen,
  - with --call-sites: a place in the library that calls a wrapped function, where no test let that
    fail with each of its documented errors (unfailing_sites.txt has the exceptions),
  - what the summary says, or does not say.
"""
import argparse
import collections
import errno
import pathlib
import re
import socket
import subprocess
import sys

CALLS_THE_SYSTEM = re.compile(r"std::(filesystem|basic_i?o?fstream|thread\b|random_device|"
                              r"condition_variable|chrono::_V2|mutex\b|this_thread)")


def undefined_symbols(nm, library):
    """Names that the archive needs from elsewhere."""
    text = subprocess.run([nm, "--no-sort", library], capture_output=True, text=True,
                          check=True).stdout
    needed, defined = set(), set()
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[0] in ("U", "w"):
            needed.add(fields[1])
        elif len(fields) == 3:
            defined.add(fields[2])
    return needed - defined


def demangled(names):
    names = sorted(names)
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    return text.splitlines()


def read_harmless(path):
    lines = (line for line in path.read_text().splitlines() if line and not line.startswith("#"))
    return [line.split()[0] for line in lines]


def is_harmless(name, harmless):
    return any(name == each or (each.endswith("*") and name.startswith(each[:-1]))
               for each in harmless)


def unknown_calls(args, wrapped):
    harmless = read_harmless(args.harmless)
    needed = undefined_symbols(args.nm, args.library)
    plain = {name for name in needed if not name.startswith("_Z")}
    problems = [f"the library calls {name}: wrap it (wrapped_calls.txt, wrap_*.cpp), or say in "
                "harmless_calls.txt why it can't fail"
                for name in sorted(plain)
                if name not in wrapped and not is_harmless(name, harmless)]
    prefixes = tuple(each for each in harmless if each.startswith("std::"))
    problems += [f"the library uses {name}, which calls the system: say in harmless_calls.txt what "
                 "happens if that fails"
                 for name in demangled(needed - plain)
                 if CALLS_THE_SYSTEM.search(name) and not any(each in name for each in prefixes)]
    return problems


def unknown_numbers(args):
    used = set()
    for source in args.sources.glob("*.cpp"):
        used |= set(re.findall(r"\bSYS_\w+", source.read_text()))
    known = set(re.findall(r"\bSYS_\w+", args.syscall_wrapper.read_text()))
    return [f"src/sys calls {number}, which __wrap_syscall does not know"
            for number in sorted(used - known)]


def read_documented(path):
    found = re.findall(r'^\s*\{"([^"]+)", \{([A-Z0-9_, ]+)\}\},$', path.read_text(), re.M)
    return {call: errors.split(", ") for call, errors in found}


def read_rows(args):
    newer_than = args.program.stat().st_mtime
    rows = collections.defaultdict(lambda: collections.defaultdict(list))
    for file in sorted(args.rows.glob("*.tsv")):
        if file.stat().st_mtime < newer_than:
            continue  # of a test that is no more
        for line in file.read_text().splitlines():
            call, error, scenario, uses, outcome = line.split("\t")
            rows[call][error].append((scenario, int(uses), outcome))
    return rows


def missing_rows(wrapped, documented, rows):
    bases = {call.split("(")[0] for call in documented}
    problems = [f"{call} is wrapped, but errnos.hpp has no errors of it"
                for call in sorted(wrapped - bases - {"syscall"})]
    for call, errors in sorted(documented.items()):
        for error in errors:
            if not any(uses > 0 for _, uses, _ in rows[call][error]):
                problems.append(f"no test lets {call} fail with {error}")
    return problems


def calls_in(program, wrapped):
    """For each call of a wrapped function, by the address behind it: the function, and its own
    address."""
    text = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", str(program)],
                          capture_output=True, text=True, check=True).stdout
    calls, open_call = {}, None
    for line in text.splitlines():
        address = line.partition(":")[0].strip()
        if open_call and address:
            calls[int(address, 16)] = open_call
            open_call = None
        found = re.match(r" *([0-9a-f]+):\s+(?:callq?|jmpq?|bl?)\s+[0-9a-f]+ <__wrap_(\w+)>", line)
        if found and found[2] in wrapped:
            open_call = (found[2], found[1])
    return calls


def in_tree(root, where):
    """FILE:LINE in this tree; None if it is of none of its sources. A compiler cache may have kept
    the name that the file has in another clone."""
    path = where.split(" ")[0]
    for part in re.finditer("/(?=(?:src|include)/)", path):
        short = path[part.end():]
        if (root / short.partition(":")[0]).exists():
            return short
    return None


def sites_in_library(args, wrapped):
    """For each such address in the library: (function, FILE:LINE). What is inlined in many places
    is one site."""
    calls = calls_in(args.program, wrapped)
    own = [address for _, address in calls.values()]
    text = subprocess.run(["addr2line", "-e", str(args.program)], input="\n".join(own),
                          capture_output=True, text=True, check=True).stdout
    root = args.sources.resolve().parents[2]
    sites = {}
    for (behind, (function, _)), where in zip(calls.items(), text.splitlines()):
        if short := in_tree(root, where):
            sites[behind] = (function, short)
    return sites


def number_of(error):
    return getattr(errno, error, None) or getattr(socket, error)


def failed_at(args, sites):
    """For each site: the names of its faults ("fcntl(F_GETFL)"), and the errors of each."""
    file = args.rows / f"{int(args.program.stat().st_mtime)}.sites"
    for each in args.rows.glob("*.sites"):
        if each != file:
            each.unlink()  # of a program that is no more
    failed = collections.defaultdict(lambda: collections.defaultdict(set))
    for line in set(file.read_text().splitlines() if file.exists() else []):
        call, error, *addresses = line.split(" ")
        behind = next((int(each, 16) for each in addresses if int(each, 16) in sites), None)
        if behind is not None:
            failed[sites[behind]][call].add(int(error))
    return failed


def read_unfailing(path):
    """For each (FILE, call): the errors that need not happen there, or "tail", or "child"."""
    lines = (line.partition("#")[0].split() for line in path.read_text().splitlines())
    return {(line[0], line[1]): line[2:] for line in lines if line}


def sites_that_never_failed(args, wrapped, documented):
    sites = sites_in_library(args, wrapped)
    failed = failed_at(args, sites)
    unfailing = read_unfailing(args.unfailing)
    used, problems = set(), []

    def excepted(where, call):
        key = (where.partition(":")[0], call)
        used.add(key)
        return unfailing.get(key, [])

    for function, where in sorted(set(sites.values())):
        if (function, where) not in failed and excepted(where, function) not in (["tail"], ["child"]):
            problems.append(f"no test lets {function} fail where {where} calls it")
        for call, errors in failed[function, where].items():
            missing = [error for error in documented[call] if number_of(error) not in errors]
            if missing and sorted(missing) != sorted(excepted(where, call)):
                problems.append(f"no test lets {call} fail where {where} calls it, with "
                                + ", ".join(missing))
    problems += [f"{args.unfailing.name}: {' '.join(key)} is no exception any more"
                 for key in sorted(set(unfailing) - used)]
    return problems


def write_table(path, rows):
    kinds = sum(len(errors) for errors in rows.values())
    tried = sum(uses for errors in rows.values() for all_ in errors.values()
                for _, uses, _ in all_)
    lines = ["# Faults", "",
             f"Made by tests/faulty: {len(rows)} calls, {kinds} pairs of a call and an error, "
             f"{tried} uses that failed.", "",
             "| call | error | uses | outcome | where |", "| --- | --- | --- | --- | --- |"]
    for call in sorted(rows):
        for error in sorted(rows[call]):
            by_outcome = collections.defaultdict(lambda: [0, []])
            for scenario, uses, outcome in rows[call][error]:
                entry = by_outcome[outcome]
                entry[0] += uses
                if scenario not in entry[1]:
                    entry[1].append(scenario)
            for outcome, (uses, scenarios) in sorted(by_outcome.items()):
                lines.append(f"| {call} | {error} | {uses} | {outcome} | {'; '.join(scenarios)} |")
    path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(rows)} calls, {kinds} pairs of a call and an error, {tried} uses failed")


SUMMARY_HEAD = """\
# Faults

What happens when a system call fails, or memory is short. `tests/faulty` makes each of these faults
happen, at every use of the call in its scenarios. It generates this file: `ctest -L faulty` checks
it, `cmake --build --preset dev --target faults_summary` rewrites it. `build/PRESET/faulty.md` says how
often and where each was tried. [design/0013](design/0013-fault-injection.md) says why this way.

*Reported* means that the operation fails with that error. After each fault nothing has leaked
(descriptors, threads, children, tasks; memory under AddressSanitizer), and the same runtime continues.
"""
ALLOCATION = "an allocation"


def summary_of(rows):
    lines = [SUMMARY_HEAD, "## Calls", "", "| call | error | what happens |", "| --- | --- | --- |"]
    for call in sorted(set(rows) - {ALLOCATION}):
        by_outcome = collections.defaultdict(set)
        for error, tried in rows[call].items():
            by_outcome["; ".join(sorted({outcome for _, _, outcome in tried}))].add(error)
        for outcome, errors in sorted(by_outcome.items(), key=lambda item: sorted(item[1])):
            lines.append(f"| `{call}` | {' '.join(sorted(errors))} | {outcome} |")
    scenarios = sorted({scenario for tried in rows[ALLOCATION].values()
                        for scenario, _, _ in tried})
    lines += ["", "## Memory", "",
              "Each allocation of these fails, alone and together with all later ones. The failure is "
              "reported", "as `std::bad_alloc` or `not_enough_memory`, or the work is done without it:",
              ""]
    lines += [f"- {scenario}" for scenario in scenarios]
    return "\n".join(lines) + "\n"


def check_summary(args, rows):
    wanted = summary_of(rows)
    if args.fix:
        args.summary.write_text(wanted)
        return []
    if args.summary.exists() and args.summary.read_text() == wanted:
        return []
    return [f"{args.summary.name} is not what the tests say: build the target faults_summary"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", required=True)
    for name in ("library", "program", "sources", "rows", "out", "summary"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    parser.add_argument("--call-sites", action="store_true",
                        help="the program has line numbers, and few tail calls")
    parser.add_argument("--fix", action="store_true", help="write the summary")
    args = parser.parse_args()
    here = pathlib.Path(__file__).parent
    args.harmless = here / "harmless_calls.txt"
    args.unfailing = here / "unfailing_sites.txt"
    args.syscall_wrapper = here / "wrap_socket.cpp"
    wrapped = set((here / "wrapped_calls.txt").read_text().split())
    documented = read_documented(here / "errnos.hpp")
    rows = read_rows(args)
    write_table(args.out, rows)
    problems = (unknown_calls(args, wrapped) + unknown_numbers(args) +
                missing_rows(wrapped, documented, rows))
    if args.call_sites:
        problems += sites_that_never_failed(args, wrapped, documented)
    problems = problems or check_summary(args, rows)
    for problem in problems:
        print("error:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
