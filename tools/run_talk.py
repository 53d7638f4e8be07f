#!/usr/bin/env python3
"""Runs a server of the tutorial and talks to it.

usage: run_talk.py PROGRAM TALK

The server is started at a free port of loopback, says "listening on ADDRESS", and is killed in the end. TALK is a file
of lines; NAME is a client, which connects when it is named first:

    NAME> bytes     sends them
    NAME.> bytes    sends them one by one
    NAME< bytes     these come next
    NAME<           nothing more comes: the server has closed the connection
    NAME.           closes the connection
    stop            SIGTERM: the server ends by itself, with exit code 0
    # a remark

Bytes are written as in C: \\r\\n and so on; `\\x41*1000` at the end of a line repeats its last character.
"""

import pathlib
import re
import signal
import socket
import subprocess
import sys

PATIENCE = 20  # seconds
LINE = re.compile(r"(?P<name>\w+)(?P<kind>\.>|>|<|\.)(?: (?P<bytes>.*))?$")


def decoded(text):
    repeated = re.fullmatch(r"(.*?)(\\x[0-9a-f]{2}|.)\*(\d+)", text or "")
    if repeated:
        text = repeated[1] + repeated[2] * int(repeated[3])
    return (text or "").encode("latin-1").decode("unicode_escape").encode("latin-1")


def connect(address):
    host, port = address.rsplit(":", 1)
    client = socket.create_connection((host, int(port)), PATIENCE)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return client


def receive(client, size):
    """As many bytes, or those that come before the end."""
    got = b""
    while len(got) < size:
        try:
            some = client.recv(size - len(got))
        except ConnectionResetError:
            some = b""
        if not some:
            break
        got += some
    return got


def talk(address, server, lines):
    clients = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        if line == "stop":
            server.send_signal(signal.SIGTERM)
            if server.wait(PATIENCE) != 0:
                sys.exit(f"line {number}: the server ended with exit code {server.returncode}")
            continue
        match = LINE.match(line)
        if not match:
            sys.exit(f"line {number} is none of run_talk.py's: {line}")
        if match["name"] not in clients:
            clients[match["name"]] = connect(address)
        client, wanted = clients[match["name"]], decoded(match["bytes"])
        if match["kind"] == ">":
            client.sendall(wanted)
        elif match["kind"] == ".>":
            for byte in wanted:
                client.sendall(bytes([byte]))
        elif match["kind"] == ".":
            client.close()
        else:
            got = receive(client, len(wanted) or 1)
            if got != wanted:
                sys.exit(f"line {number}: expected {wanted!r}\n{' ' * len(str(number))}     but there came {got!r}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
    server = subprocess.Popen([sys.argv[1], "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        first = server.stdout.readline()
        if not first.startswith("listening on "):
            sys.exit(f"the server says {first!r}")
        talk(first.split()[-1], server, lines)
    except (OSError, subprocess.TimeoutExpired) as error:
        sys.exit(f"the talk broke off: {error!r}")
    finally:
        server.kill()
        server.wait()


main()
