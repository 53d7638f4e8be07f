"""The table that the library has in its section .rouse_debug: src/sight/debug_layout.cpp."""

import struct

from .target import Problem, Unreadable

MAGIC = b"rouse layout\xff\0\r\n"
VERSION = 1
HEAD = 40
MOST_VALUES = 4096
OTHER_VERSION = "use the rouse-debug that was installed with that version of rouse"


class Layout:
    """`layout.PoolCore_workers` is what the table says of that name."""

    def __init__(self, target, address):
        head = target.read(address, HEAD)
        version, count = struct.unpack_from("<II", head, 16)
        self.library = head[24:40].split(b"\0")[0].decode("latin-1")
        if version != VERSION:
            raise Problem(f"the program has rouse {self.library}, whose memory is laid out in another way (version {version}; "
                          f"known here: {VERSION}): {OTHER_VERSION}")
        if count > MOST_VALUES:
            raise Problem("the table of rouse in the program makes no sense: it was overwritten, or the core file is not of "
                          "this program")
        values = struct.unpack(f"<{count}q", target.read(address + HEAD, 8 * count))
        names = target.text(address + HEAD + 8 * count).decode("latin-1").split()
        if len(names) != count:
            raise Problem("the table of rouse in the program makes no sense: its names are missing")
        self._values = dict(zip(names, values))
        # Not yet relocated, or a copy of the file's.
        self.is_in_place = self._values.get("self") == address
        self.waits = {value: name[5:] for name, value in self._values.items() if name.startswith("Wait_")}
        self.kinds = {value: name[5:] for name, value in self._values.items() if name.startswith("Kind_")}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise Problem(f"the program has rouse {self.library}, which does not say where {name} is: "
                          f"{OTHER_VERSION}") from None


def find_layouts(target):
    """Of each copy of rouse in the program, mostly one."""
    found = _layouts_at(target, target.find_tables()) or _layouts_at(target, target.search_tables(MAGIC))
    if not found:
        raise Problem("no rouse is in this program, or the memory that says where its tasks are can't be read. Is it linked with "
                      "a rouse that has rouse_debug_layout? Is the core file whole, and the program still where it was, or "
                      "given with --exe?")
    return found


def _layouts_at(target, addresses):
    found = []
    for address in dict.fromkeys(addresses):
        try:
            if target.read(address, 16) != MAGIC:
                continue
            layout = Layout(target, address)
        except Unreadable:
            continue
        if layout.is_in_place:
            found.append(layout)
    return found
