"""The mini-redis of the tutorial under redis-benchmark, beside the same program on Tokio and the real
redis-server: the server's CPU time a request."""

import json
import os
import shutil
import statistics
import subprocess
import sys

from report import machine, versions
from runtimes import PEER_RUNTIMES, ROOT, Rouse
from servers import cpu_seconds

TOKIO = PEER_RUNTIMES[0]
# Arguments of redis-benchmark, and how many requests of each kind a round makes.
LOADS = (("-P 1 -c 50", 200_000), ("-P 16 -c 512", 2_000_000))
KINDS = ("get", "set")
KEYS = 100_000


def rouse(workers):
    return [ROOT / "build/release/examples/tutorial/mini_redis", "127.0.0.1:0", str(workers)]


def tokio(workers):
    return [ROOT / "build/peers/tokio/release/mini_redis", "127.0.0.1:0", str(workers)]


def redis(port):
    return [shutil.which("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--loglevel", "warning"]


# Name, workers, command. The real server has one thread for commands: it is measured once a round.
SERVERS = (("rouse", 1, rouse), ("Tokio", 1, tokio), ("redis-server", 1, redis), ("rouse", 2, rouse),
           ("Tokio", 2, tokio))


def load(port, arguments, requests):
    command = ["redis-benchmark", "-p", str(port), "-t", ",".join(KINDS), "-n", str(requests), "-r", str(KEYS), "-q",
               *arguments.split()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)


def start(make, workers):
    """The server and its port."""
    if make is not redis:
        server = subprocess.Popen(make(workers), stdout=subprocess.PIPE, text=True)
        return server, int(server.stdout.readline().rsplit(":", 1)[1])
    port = 20_000 + os.getpid() % 10_000
    server = subprocess.Popen(make(port), stdout=subprocess.DEVNULL)
    for _ in range(100):
        asked = subprocess.run(["redis-cli", "-p", str(port), "ping"], check=False, capture_output=True, text=True)
        if asked.stdout == "PONG\n":
            return server, port
    raise RuntimeError("redis-server does not start")


def measure(make, workers, arguments, requests):
    """Microseconds of CPU a request."""
    server, port = start(make, workers)
    try:
        load(port, arguments, requests // 20)  # the keys exist, the memory is there
        before = cpu_seconds(server.pid)
        load(port, arguments, requests)
        return (cpu_seconds(server.pid) - before) / (requests * len(KINDS)) * 1e6
    finally:
        server.kill()
        server.wait()


def build():
    TOKIO.build_binary("mini_redis")
    for program in ("redis-server", "redis-benchmark"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed (Debian: redis-server)")


def table(found):
    rows = ["| CPU a request, µs | workers | rouse | Tokio | redis-server |", "| --- | ---: | ---: | ---: | ---: |"]
    for arguments, _ in LOADS:
        for workers in (1, 2):
            cells = [statistics.median(found[arguments, name, workers]) for name in ("rouse", "Tokio")]
            cells.append(statistics.median(found[arguments, "redis-server", 1]))
            texts = [f"**{cell:.2f}**" if cell == min(cells) else f"{cell:.2f}" for cell in cells]
            rows.append(f"| `{arguments}` | {workers} | {' | '.join(texts)} |")
    return rows


def run(rounds, quick, as_json):
    build()
    found = {}
    print("\n".join([*machine(), versions((Rouse(), TOKIO)), f"median of {rounds} interleaved rounds, load average "
                     f"before: {os.getloadavg()[0]:.1f}"]), file=sys.stderr, flush=True)
    for turn in range(rounds):
        for arguments, requests in LOADS:
            for name, workers, make in SERVERS:
                value = measure(make, workers, arguments, requests // 10 if quick else requests)
                found.setdefault((arguments, name, workers), []).append(value)
                print(f"round {turn + 1}: {arguments}, {name}, {workers}: {value:.2f}", file=sys.stderr, flush=True)
    if as_json:
        for (arguments, name, workers), values in found.items():
            print(json.dumps({"load": arguments, "server": name, "workers": workers, "unit": "us of CPU a request",
                              "median": statistics.median(values), "min": min(values), "max": max(values)}))
    else:
        print("\n".join(table(found)))
    return 0
