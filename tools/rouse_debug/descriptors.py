"""What the descriptors of a process are, as sys::describe_fd tells it inside of the process."""

import os
import re
import socket
import struct


def link_of(pid, name):
    """In /proc; empty if there is none."""
    try:
        return os.readlink(f"/proc/{pid}/{name}").removesuffix(" (deleted)")
    except OSError:
        return ""


class Descriptors:

    def __init__(self, pid):
        self._pid = pid
        self._sockets = None

    def describe(self, number):
        link = link_of(self._pid, f"fd/{number}")
        found = re.fullmatch(r"socket:\[(\d+)\]", link)
        if not found:
            return link
        if self._sockets is None:
            self._sockets = self._read_sockets()
        return self._sockets.get(int(found[1]), link)

    def _read_sockets(self):
        sockets = {}
        for name, kind in (("tcp", "tcp"), ("tcp6", "tcp"), ("udp", "udp"), ("udp6", "udp")):
            for fields in self._table(name):
                if len(fields) < 10:
                    continue
                peer = address_of(fields[2])
                told = f"{kind} {address_of(fields[1])}"
                sockets[int(fields[9])] = told if peer.endswith(":0") else f"{told} peer {peer}"
        for fields in self._table("unix"):
            if len(fields) > 7 and fields[7].startswith("/"):
                sockets[int(fields[6])] = f"unix {fields[7]}"
        return sockets

    def _table(self, name):
        try:
            with open(f"/proc/{self._pid}/net/{name}", encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read().splitlines()[1:]
        except OSError:
            return []
        return [line.split(None, 7 if name == "unix" else -1) for line in lines]


def address_of(text):
    """Of /proc/net: words of the machine's byte order, in hex."""
    host, port = text.split(":")
    raw = b"".join(struct.pack("=I", int(host[i:i + 8], 16)) for i in range(0, len(host), 8))
    if len(raw) == 4:
        return f"{socket.inet_ntop(socket.AF_INET, raw)}:{int(port, 16)}"
    return f"[{socket.inet_ntop(socket.AF_INET6, raw)}]:{int(port, 16)}"
