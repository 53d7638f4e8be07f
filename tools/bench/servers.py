"""A server under load over loopback: its CPU time a request, the number of requests a second, and
the latency that clients see; or, with a fixed number of requests a second, only the latency."""

import glob
import subprocess
import tempfile

from runtimes import NOT_WITH_SO_MANY_WORKERS, PROGRAMS

PIPELINE = """
init = function(args)
  local requests = {}
  for i = 1, %d do requests[i] = wrk.format() end
  all = table.concat(requests)
end
request = function() return all end
"""


def cpu_seconds(pid):
    """Of all threads, from the scheduler: exact to the nanosecond."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as stat:
            total += int(stat.read().split()[0])
    return total / 1e9


def echo_load(pid, port, load, seconds):
    command = ["timeout", "120", PROGRAMS / "echo_load", str(port), str(load["connections"]), str(seconds)]
    if "rate" in load:
        command.append(str(load["rate"]))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as clients:
        if clients.stdout.readline().strip() != "ready":
            raise RuntimeError("the load could not connect: is the limit of open files high enough?")
        before = cpu_seconds(pid)
        clients.stdin.write("\n")
        clients.stdin.flush()
        values = clients.stdout.readline().split()
        cpu = cpu_seconds(pid) - before
    if len(values) != 5:
        raise RuntimeError("the load ended before its time: did the server close a connection?")
    requests, taken, *latencies = values
    return int(requests), float(taken), cpu, [float(latency) for latency in latencies]


def wrk_microseconds(text):
    for unit, factor in (("us", 1), ("ms", 1000), ("s", 1_000_000)):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * factor
    raise ValueError(f"wrk says {text}")


def wrk_load(pid, port, connections, depth, seconds, scheme="http"):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", f"{scheme}://127.0.0.1:{port}/"]
        if depth > 1:
            script.write(PIPELINE % depth)
            script.flush()
            command[1:1] = ["-s", script.name]
        before = cpu_seconds(pid)
        report = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                                timeout=120).stdout
        cpu = cpu_seconds(pid) - before
    found = {}
    for line in report.splitlines():
        words = line.split()
        if "Non-2xx" in line or "Socket errors" in line:
            raise RuntimeError(f"wrk: {line.strip()}")
        if len(words) == 2 and words[0] == "99%":
            found["p99"] = wrk_microseconds(words[1])
        if "requests in" in line:
            found["requests"] = int(words[0])
            found["seconds"] = wrk_microseconds(words[3].rstrip(",")) / 1e6
    return found["requests"], found["seconds"], cpu, [None, found["p99"], None]


def measure(runtime, row, workers):
    """The values of the row, or none if the runtime has no such server."""
    seconds = row.load.get("seconds", 1)
    kind = "http" if row.load.get("http") else "echo"
    server = subprocess.Popen([runtime.program(), "serve", kind, str(workers)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        port = server.stdout.readline()
        if not port:
            if server.wait() == NOT_WITH_SO_MANY_WORKERS:
                return None
            raise RuntimeError(f"its {kind} server ended with exit code {server.returncode}")
        if kind == "http":
            load = wrk_load(server.pid, int(port), row.load["connections"], row.load.get("depth", 1), seconds)
        else:
            load = echo_load(server.pid, int(port), row.load, seconds)
    finally:
        server.kill()
        server.wait()
    requests, taken, cpu, latencies = load
    if "rate" in row.load:
        return latencies
    return [cpu / requests * 1e6, requests / taken, latencies[1]][: len(row.values)]
