"""ELF files, as far as they are needed: segments, notes, sections."""

import mmap
import os
import struct

from .target import Problem

PT_LOAD = 1
PT_NOTE = 4
ET_CORE = 4
NT_PRSTATUS = 1
NT_FILE = 0x46494C45
NT_GNU_BUILD_ID = 3
MOST_HEADERS = 1 << 20


class Segment:
    def __init__(self, kind, flags, offset, address, file_size, memory_size):
        self.kind = kind
        self.flags = flags
        self.offset = offset
        self.address = address
        self.file_size = file_size
        self.memory_size = memory_size


class ElfFile:
    """Throws Problem if it is none that can be read."""

    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as file:
                if not os.fstat(file.fileno()).st_size:
                    raise Problem(f"{path} is empty: it is no core file and no program")
                self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise Problem(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from error
        if self.data[:4] != b"\x7fELF":
            raise Problem(f"{path} is no core file and no program: give the file that the system wrote when the "
                          "process died, or the number of a process")
        if len(self.data) < 64 or self.data[4] != 2 or self.data[5] != 1:
            raise Problem(f"{path} is cut off, or not of a 64-bit little-endian machine, which is all that is known here")
        (self.type, self.machine, _, _, segments_at, self._sections_at, _, _, segment_size, segments, section_size,
         sections, names) = struct.unpack_from("<HHIQQQIHHHHHH", self.data, 16)
        self._section_size = section_size
        if segments == 0xFFFF:  # there are more: how many is in the first section
            segments = self._unpack("<I", self._sections_at + 44)[0]
        if segments > MOST_HEADERS or (segments and segment_size < 56):
            raise Problem(f"{path} is broken: its headers make no sense. Was it written to its end?")
        self.segments = []
        for i in range(segments):
            kind, flags, offset, address, _, file_size, memory_size, _ = self._unpack("<IIQQQQQQ",
                                                                                       segments_at + i * segment_size)
            self.segments.append(Segment(kind, flags, offset, address, file_size, memory_size))
        self._sections = sections
        self._names = names

    def _unpack(self, form, at):
        if at + struct.calcsize(form) > len(self.data):
            raise Problem(f"{self.path} is cut off: it ends within its headers. Was there no room on the disk, or is there a "
                          "limit (ulimit -c)?")
        return struct.unpack_from(form, self.data, at)

    @property
    def missing_bytes(self):
        """How much of what it says to have is not there."""
        return max([0] + [s.offset + s.file_size - len(self.data) for s in self.segments])

    def notes(self):
        """(name, type, content) of each."""
        for segment in self.segments:
            if segment.kind == PT_NOTE:
                yield from notes_in(self.data[segment.offset:segment.offset + segment.file_size])

    def sections(self):
        """(name, address, size, offset, type) of each; empty if they were stripped, too."""
        if not self._sections_at or not 0 < self._section_size:
            return
        try:
            rows = [struct.unpack_from("<IIQQQQ", self.data, self._sections_at + i * self._section_size)
                    for i in range(self._sections)]
            names = rows[self._names]
        except (struct.error, IndexError):
            return
        for name, kind, _, address, offset, size in rows:
            at = names[4] + name
            end = self.data.find(b"\0", at)
            if 0 <= at < end:
                yield self.data[at:end].decode("latin-1"), address, size, offset, kind

    def build_id(self):
        for name, kind, content in self.notes():
            if name == b"GNU" and kind == NT_GNU_BUILD_ID:
                return content
        return None

    def first_page(self):
        """The address of what is loaded from the beginning of the file."""
        loaded = [s for s in self.segments if s.kind == PT_LOAD]
        return (loaded[0].address - loaded[0].offset) & ~4095 if loaded else 0


def notes_in(data):
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        begin = at + 12 + (name_size + 3 & ~3)
        if begin + size > len(data):
            return
        yield data[at + 12:at + 12 + name_size].rstrip(b"\0"), kind, data[begin:begin + size]
        at = begin + (size + 3 & ~3)
