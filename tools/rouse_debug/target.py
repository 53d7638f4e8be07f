"""What memory is read from, and what can go wrong."""

import struct


class Problem(Exception):
    """What happened and what to do about it, for people."""


class Unreadable(Exception):
    """Nothing is known of this address."""

    def __init__(self, address, size=1):
        super().__init__(f"nothing is known of the memory at {address:#x}")
        self.address = address
        self.size = size


class Broken(Exception):
    """What is in memory can't be: it is overwritten, or changes while it is read."""


def in_turn(first, following, what):
    """A list in memory: `following(link)` until that is 0. It has an end."""
    seen = set()
    while first:
        if first in seen:
            raise Broken(f"{what} makes no sense: it has no end")
        seen.add(first)
        yield first
        first = following(first)


# What comes of memory that is not what it was taken for.
SENSELESS = (Unreadable, Broken, struct.error, IndexError, OverflowError, RecursionError, ValueError)


class Module:
    """An executable or shared library in memory: `bias` is its address less that in its file."""

    def __init__(self, path, bias, ranges):
        self.path = path
        self.bias = bias
        self.ranges = ranges

    def has(self, address):
        return any(begin <= address < end for begin, end in self.ranges)


class Target:
    """Where memory is read from. Derived classes have `read`."""

    is_live = False  # whether it changes while it is read

    def read(self, address, size):
        raise NotImplementedError

    def modules(self):
        """The Modules in memory."""
        return []

    def find_tables(self):
        """Addresses at which a table of the library is, as the sections of programs say."""
        return []

    def search_tables(self, _magic):
        """The same without sections: where this is in memory."""
        return []

    def now_ns(self):
        """Of the monotonic clock; None: nobody knows when that was."""
        return None

    def describe_fd(self, _fd):
        """None: nobody knows what it was."""
        return None

    # For a target that changes.

    def begin(self):
        """What is read from now on is to be of one moment."""

    def is_unchanged(self):
        """Whether it was."""
        return True

    # Of a value.

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]

    def u32(self, address):
        return struct.unpack("<I", self.read(address, 4))[0]

    def u16(self, address):
        return struct.unpack("<H", self.read(address, 2))[0]

    def u8(self, address):
        return self.read(address, 1)[0]

    def i32(self, address):
        return struct.unpack("<i", self.read(address, 4))[0]

    def text(self, address, longest=65536):
        """Up to its NUL, as bytes; cut after `longest`."""
        found = b""
        size = 256
        while len(found) < longest:
            # What is behind it may be unreadable.
            try:
                part = self.read(address, min(size, 4096 - address % 4096))
            except Unreadable:
                if size == 1:
                    raise
                size //= 2
                continue
            end = part.find(b"\0")
            if end >= 0:
                return found + part[:end]
            found += part
            address += len(part)
        return found[:longest]

    def place_of_code(self, address):
        """(path, offset) as addr2line wants it."""
        for module in self.modules():
            if module.has(address):
                return module.path, address - module.bias
        return None, address
