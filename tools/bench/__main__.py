"""What `./dev bench` does, once everything of ours is built. See --help."""

import argparse
import json
import subprocess
import sys

import instructions
import measure
import redis
import report
import service
import table
import weight
from rows import ROWS
from runtimes import OURS, PEER_RUNTIMES


def peers_named(names):
    known = {runtime.name: runtime for runtime in PEER_RUNTIMES}
    try:
        return tuple(known[name] for name in names.split(","))
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"no peer is called {error}: there are {', '.join(known)}") from None


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench", allow_abbrev=False,
                                     description="Measures rouse, beside what the machine can do.")
    parser.add_argument("--peers", nargs="?", type=peers_named, default=(), const=PEER_RUNTIMES, metavar="NAMES",
                        help="beside Tokio, Go, Asio, libuv and TBB, too, or some (tbb,go); all of them and all rows "
                             "with 5 rounds or more: writes docs/benchmarks.md")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of a table")
    parser.add_argument("--report", metavar="FILE",
                        help="measure nothing: write docs/benchmarks.md from what --peers --json printed")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="rows whose name contains NAME")
    parser.add_argument("--quick", action="store_true", help="smaller work, one round: to see that all works")
    parser.add_argument("--rounds", type=int, help="how often each is measured (default: 5)")
    parser.add_argument("--instructions", action="store_true",
                        help="count instructions and compare them with the stored ones")
    parser.add_argument("--store", action="store_true", help="with --instructions: store them as the baseline")
    parser.add_argument("--weight", action="store_true",
                        help="what the headers cost a compiler: seconds, lines, size of programs")
    parser.add_argument("--redis", action="store_true",
                        help="the tutorial's mini-redis beside Tokio's and the real server: CPU a request")
    parser.add_argument("--service", action="store_true",
                        help="HTTP and HTTPS servers beside hyper, Go, Beast and nginx: CPU a request, a handshake")
    parser.add_argument("--list", action="store_true", help="the names of the rows")
    args = parser.parse_args()
    if args.rounds is not None and args.rounds < 1:
        parser.error("--rounds must be at least 1")
    if args.store and not args.instructions:
        parser.error("--store goes with --instructions")
    return args


def selected(rows, only):
    rows = [row for row in rows if not only or any(text in row.name for text in only)]
    if not rows:
        sys.exit(f"no row has {' or '.join(only)} in its name; ./dev bench --list shows them")
    return rows


def built(runtimes, rows, failures):
    """Those that could be built."""
    found = []
    for runtime in runtimes:
        print(f"building {runtime.label}", file=sys.stderr, flush=True)
        try:
            runtime.build()
            if any(row.native and measure.takes_part(runtime, row) for row in rows):
                runtime.build(native=True)
            found.append(runtime)
        except (OSError, subprocess.SubprocessError) as error:
            failures.append(f"{runtime.label} could not be built and is left out: {error}")
    return found


def write_report(lines, runtimes, head):
    report.write(lines, runtimes, head)
    print(f"wrote {report.DOCUMENT.relative_to(report.ROOT)}", file=sys.stderr)
    return 0


def main():
    args = arguments()
    if args.list:
        print("\n".join(row.name for row in ROWS))
        return 0
    if args.report:
        return write_report(*report.read(args.report))
    if args.instructions:
        return instructions.run(selected(instructions.ROWS, args.only), args.store, args.json)
    if args.weight:
        return weight.run_rows(args.rounds or (1 if args.quick else 5), args.json)
    if args.service:
        return service.run(args.rounds or (1 if args.quick else 5), args.quick, args.json, args.only)
    if args.redis:
        return redis.run(args.rounds or (1 if args.quick else 5), args.quick, args.json)
    rows = selected(ROWS, args.only)
    rouse, reference = OURS
    failures = []
    runtimes = built([rouse, *args.peers, reference], rows, failures)

    rounds = args.rounds or (1 if args.quick else 5)
    head = report.header(runtimes, rounds, args.quick)
    out = sys.stderr if args.json else sys.stdout
    print("\n".join(head), file=out, flush=True)
    printed = table.TextTable(runtimes)
    if args.json:
        print(json.dumps({"header": head}), flush=True)
    else:
        printed.start()
    lines = []

    def on_row(row, series):
        row_lines = table.lines(row, series)
        lines.extend(row_lines)
        if args.json:
            for one in series:
                print(json.dumps(one.as_json()), flush=True)
        else:
            printed.add(row_lines)

    failures += measure.measure(rows, runtimes, rounds, args.quick, on_row)
    if failures:
        print("\n".join(["", "what went wrong:", *failures]), file=sys.stderr)
        return 1
    if args.peers:
        if args.only or args.quick or rounds < 5 or args.peers != PEER_RUNTIMES:
            print("docs/benchmarks.md is left as it is: only a run of all rows and peers with 5 rounds writes it",
                  file=sys.stderr)
        else:
            write_report(lines, runtimes, head)
    return 0


if __name__ == "__main__":
    sys.exit(main())
