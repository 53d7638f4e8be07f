"""HTTP/1.1 and HTTPS servers made with libraries, beside the bare HTTP row of ./dev bench: CPU time of the server a
request, a handshake, and the memory of an idle connection."""

import glob
import json
import os
import shutil
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import measure
from report import machine, versions
from runtimes import OUT, PEER_RUNTIMES, PEERS, PROGRAMS, Rouse, locked_version, output
from servers import cpu_seconds, wrk_load

TOKIO, GO, ASIO = PEER_RUNTIMES[0], PEER_RUNTIMES[2], PEER_RUNTIMES[3]
WORKERS = (1, 2)
HANDSHAKES = 1000
IDLE = 1000

NGINX = """
daemon off;
worker_processes {workers};
pid {folder}/pid;
error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path {folder};
  proxy_temp_path {folder};
  fastcgi_temp_path {folder};
  uwsgi_temp_path {folder};
  scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port}{ssl};
    {certificate}
    location / {{ default_type text/plain; return 200 "Hello, World!"; }}
  }}
}}
"""


class Program:
    """One that prints its port."""

    def __init__(self, name, command, with_tls=True):
        self.name, self._command, self.with_tls = name, command, with_tls

    def start(self, workers, pair, _folder):
        server = subprocess.Popen([*map(str, self._command(workers)), *map(str, pair)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        port = server.stdout.readline()
        if not port:
            raise RuntimeError(f"{self.name} does not serve: exit code {server.wait()}")
        return server, int(port)


class Nginx:
    name = "nginx"
    with_tls = True

    def start(self, workers, pair, folder):
        port = free_port()
        config = Path(folder) / f"nginx-{port}.conf"
        certificate = f"ssl_certificate {pair[0]}; ssl_certificate_key {pair[1]};" if pair else ""
        config.write_text(NGINX.format(workers=workers, folder=folder, port=port, ssl=" ssl" if pair else "",
                                       certificate=certificate))
        server = subprocess.Popen(["nginx", "-c", config], stderr=subprocess.DEVNULL)
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return server, port
            except ConnectionRefusedError:
                if server.poll() is not None:
                    break
                subprocess.run(["sleep", "0.01"], check=True)
        raise RuntimeError("nginx does not start")


# The first is no library: what the others add is beside it.
SERVERS = (
    Program("bare", lambda workers: [PROGRAMS / "rouse", "serve", "http", workers], with_tls=False),
    Program("rouse", lambda workers: [PROGRAMS / "rouse_service", workers]),
    Program("hyper", lambda workers: [OUT / "tokio-service/release/service", workers]),
    Program("Go", lambda workers: [OUT / "go/service", workers]),
    Program("Beast", lambda workers: [OUT / "asio/asio_service", workers], with_tls=False),
    Nginx(),
)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def processes(pid):
    """The server, and those that it started."""
    found = [pid]
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        for child in Path(path).read_text(encoding="ascii").split():
            found += processes(int(child))
    return found


def cpu_of(server):
    return sum(cpu_seconds(pid) for pid in processes(server.pid))


def memory_of(server):
    total = 0
    for pid in processes(server.pid):
        status = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Private_Dirty"))
    return total * 1024


def make_certificate(folder):
    pair = Path(folder) / "cert.pem", Path(folder) / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2", "-keyout",
                    pair[1], "-out", pair[0]], check=True, stderr=subprocess.DEVNULL)
    return pair


def ask(port, context=None, session=None):
    """A connection that has been answered once."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    if context:
        connection = context.wrap_socket(connection, server_hostname="localhost", session=session)
        if (session is not None) != connection.session_reused:
            raise RuntimeError("a session was not resumed" if session else "a session was resumed")
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while not answer.endswith(b"Hello, World!"):
        more = connection.recv(4096)
        if not more:
            raise RuntimeError(f"the server ended the connection after {answer!r}")
        answer += more
    return connection


def load(connections, depth=1):
    def take(server, port, context, seconds):
        before = cpu_of(server)
        requests = wrk_load(server.pid, port, connections, depth, seconds, "https" if context else "http")[0]
        return (cpu_of(server) - before) / requests * 1e6

    return take


def handshakes(resumed):
    def take(server, port, context, _):
        first = ask(port, context)
        before = cpu_of(server)
        for _ in range(HANDSHAKES):
            ask(port, context, first.session if resumed else None).close()
        return (cpu_of(server) - before) / HANDSHAKES * 1e6

    return take


def idle_bytes(server, port, context, _):
    held = [ask(port, context) for _ in range(IDLE // 10)]  # what is made once is there
    before = memory_of(server)
    held += [ask(port, context) for _ in range(IDLE)]
    return (memory_of(server) - before) / IDLE


# Name, what is measured, with TLS, unit.
ROWS = (
    ("keep-alive, 64 connections", load(64), False, "us"),
    ("keep-alive, 512 connections", load(512), False, "us"),
    ("16 pipelined, 64 connections", load(64, 16), False, "us"),
    ("an idle connection", idle_bytes, False, "bytes"),
    ("HTTPS keep-alive, 64 connections", load(64), True, "us"),
    ("HTTPS, new connection and handshake", handshakes(False), True, "us"),
    ("HTTPS, new connection, resumed", handshakes(True), True, "us"),
    ("HTTPS, an idle connection", idle_bytes, True, "bytes"),
)


def take(row, server, workers, pair, folder, seconds):
    _, measured, with_tls, _ = row
    process, port = server.start(workers, pair if with_tls else (), folder)
    context = ssl.create_default_context(cafile=pair[0]) if with_tls else None
    try:
        return measured(process, port, context, seconds)
    finally:
        process.terminate()
        process.wait()


def build():
    for program in ("nginx", "openssl", "wrk"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed (Debian: nginx-light, openssl, wrk)")
    output("cargo", "build", "--quiet", "--release", "--features", "service", "--bin", "service", "--target-dir",
           OUT / "tokio-service", "--manifest-path", PEERS / "tokio/Cargo.toml")
    output("go", "build", "-o", OUT / "go/service", "./service", cwd=PEERS / "go")
    ASIO.build()


def table(found, workers):
    names = [server.name for server in SERVERS]
    rows = [f"| {workers} worker{'s' if workers > 1 else ''} | | {' | '.join(names)} |", f"| --- | --- |{' ---: |' * len(names)}"]
    for row in ROWS:
        cells = [found.get((row[0], name, workers)) for name in names]
        medians = [statistics.median(cell) if cell else None for cell in cells]
        best = min(value for value in medians[1:] if value is not None)
        texts = ["" if value is None else f"{value:,.0f}" if row[3] == "bytes" else f"{value:.2f}" for value in medians]
        texts = [f"**{text}**" if value == best else text for text, value in zip(texts, medians)]
        rows.append(f"| {row[0]} | {row[3]} | {' | '.join(texts)} |")
    return rows


def run(rounds, quick, as_json, only):
    build()
    measure.raise_file_limit()
    rows = [row for row in ROWS if not only or any(text in row[0] for text in only)]
    found = {}
    nginx = subprocess.run(["nginx", "-v"], check=True, capture_output=True, text=True).stderr.split("/")[-1].strip()
    print("\n".join([*machine(), f"{versions((Rouse(), TOKIO, GO, ASIO))}, hyper {locked_version('hyper')}, nginx {nginx}",
                     f"median of {rounds} interleaved rounds, load average before: {os.getloadavg()[0]:.1f}"]),
          file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pair = make_certificate(folder)
        for turn in range(rounds):
            for row in rows:
                for workers in WORKERS:
                    for server in SERVERS:
                        if row[2] and not server.with_tls:
                            continue
                        value = take(row, server, workers, pair, folder, 1 if quick else 3)
                        found.setdefault((row[0], server.name, workers), []).append(value)
                        print(f"round {turn + 1}: {row[0]}, {server.name}, {workers}: {value:.2f}", file=sys.stderr,
                              flush=True)
    for workers in WORKERS:
        if as_json:
            for (name, server, count), values in found.items():
                if count == workers:
                    print(json.dumps({"row": name, "server": server, "workers": count,
                                      "median": statistics.median(values), "min": min(values), "max": max(values)}))
        else:
            print("\n".join(table({key: value for key, value in found.items()}, workers)) + "\n")
    return 0
