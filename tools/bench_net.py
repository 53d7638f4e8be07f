#!/usr/bin/env python3
"""Server CPU time a request, rouse beside a hand-written epoll loop, over loopback.

usage: tools/bench_net.py [--programs DIR] [--seconds S] [--rounds N] [--only TEXT] [--server NAME=CMD]...

Each row is run round by round for every server in turn, so that noise hits all alike; the table
gives the median over the rounds. --server adds one more: a command that gets "echo" or "http" as
its last argument, serves on a port of loopback, and prints that port first.
"""

import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

PIPELINE = """
local depth = 16
init = function(args)
  local r = {}
  for i = 1, depth do r[i] = wrk.format() end
  request_ = table.concat(r)
end
request = function() return request_ end
"""


def cpu_seconds(pid):
    """Of all threads, from the scheduler: exact to the nanosecond."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def echo_load(programs, pid, port, connections, seconds):
    load = subprocess.Popen(
        [f"{programs}/net_load", str(port), str(connections), str(seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if load.stdout.readline().strip() != "ready":
        raise RuntimeError("net_load could not connect")
    before = cpu_seconds(pid)
    load.stdin.write("\n")
    load.stdin.flush()
    requests, taken, p50, p99 = load.stdout.readline().split()
    cpu = cpu_seconds(pid) - before
    load.wait()
    return int(requests), float(taken), cpu, int(p50), int(p99)


def wrk_latency(text):
    for unit, factor in (("us", 1), ("ms", 1000), ("s", 1000000)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    return float("nan")


def wrk_load(script, pid, port, connections, seconds):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", f"http://127.0.0.1:{port}/"]
    if script:
        command[1:1] = ["-s", script]
    before = cpu_seconds(pid)
    report = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    cpu = cpu_seconds(pid) - before
    found = {}
    for line in report.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in ("50%", "99%"):
            found[words[0]] = wrk_latency(words[1])
        if "requests in" in line:
            found["requests"] = int(words[0])
            found["seconds"] = float(words[3].rstrip("s,"))
        if "Non-2xx" in line or "Socket errors" in line:
            print(f"    wrk: {line.strip()}", file=sys.stderr)
    return found["requests"], found["seconds"], cpu, found["50%"], found["99%"]


def measure(command, kind, load):
    server = subprocess.Popen([*command[:-1], *[part.format(kind=kind) for part in command[-1:]]],
                              stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline())
        return load(server.pid, port)
    finally:
        server.kill()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", default="build/release/benchmarks")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--server", action="append", default=[])
    args = parser.parse_args()

    program = f"{args.programs}/net_server"
    servers = {
        "epoll loop": lambda kind: [program, "epoll", kind, "1"],
        "rouse, 1 worker": lambda kind: [program, "rouse", kind, "1"],
        "rouse, current": lambda kind: [program, "rouse", kind, "0"],
        "rouse, 2 workers": lambda kind: [program, "rouse", kind, "2"],
    }
    for extra in args.server:
        name, command = extra.split("=", 1)
        servers[name] = lambda kind, command=command: [*command.split(), kind]

    with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
        lua.write(PIPELINE)
        lua.flush()
        rows = []
        for connections in (50, 1000, 5000):
            rows.append((f"echo, {connections}", "echo",
                         lambda pid, port, c=connections: echo_load(args.programs, pid, port, c, args.seconds)))
        if shutil.which("wrk"):
            for connections in (64, 512):
                rows.append((f"HTTP, {connections}", "http",
                             lambda pid, port, c=connections: wrk_load(None, pid, port, c, int(args.seconds) or 1)))
                rows.append((f"HTTP pipelined, {connections}", "http",
                             lambda pid, port, c=connections: wrk_load(lua.name, pid, port, c, int(args.seconds) or 1)))
        else:
            print("wrk is not installed: no HTTP rows (apt-get install wrk)", file=sys.stderr)
        print(f"{'':22}{'server':20}{'us CPU/request':>15}{'of the loop':>12}{'requests/s':>12}{'p50 us':>9}{'p99 us':>9}")
        for name, kind, load in rows:
            if args.only not in name:
                continue
            results = {server: [] for server in servers}
            for number in range(args.rounds):
                for server, command in servers.items():
                    if sys.stderr.isatty():
                        print(f"\r{name}: round {number + 1} of {args.rounds}, {server}   ", end="", file=sys.stderr)
                    results[server].append(measure(command(kind), kind, load))
            if sys.stderr.isatty():
                print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
            base = None
            for server, runs in results.items():
                cost = statistics.median(cpu / requests * 1e6 for requests, _, cpu, _, _ in runs)
                base = base or cost
                rate = statistics.median(requests / taken for requests, taken, *_ in runs)
                p50 = statistics.median(run[3] for run in runs)
                p99 = statistics.median(run[4] for run in runs)
                print(f"{name:22}{server:20}{cost:15.2f}{cost / base:12.2f}{rate:12.0f}{p50:9.0f}{p99:9.0f}", flush=True)


if __name__ == "__main__":
    main()
