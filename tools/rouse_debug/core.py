"""A core file. What is not in it, because nobody changed it, is read from the files that were mapped."""

import bisect
import os
import struct

from .elf import ET_CORE, NT_FILE, NT_PRSTATUS, PT_LOAD, ElfFile, notes_in
from .target import Module, Problem, Target, Unreadable


class CoreFile(Target):

    def __init__(self, path, executable=None):
        self.file = ElfFile(path)
        if self.file.type != ET_CORE:
            raise Problem(f"{path} is a program or a library, no core file: give the core file, and this one with --exe")
        self.path = path
        self.notes_for_people = []
        self._segments = sorted((s for s in self.file.segments if s.kind == PT_LOAD and s.memory_size),
                                key=lambda s: s.address)
        self._starts = [s.address for s in self._segments]
        mapped = self._read_notes()
        self._files = {}
        self._modules = []
        self._make_modules(mapped, executable)
        # (begin, end, file, offset): what the core may lack.
        self._from_disk = sorted((begin, end, offset, path) for path, parts in mapped.items()
                                 for begin, end, offset in parts)
        self._disk_starts = [row[0] for row in self._from_disk]
        if self.file.missing_bytes:
            self.notes_for_people.append(
                f"{path} is cut off: {self.file.missing_bytes} bytes are missing at its end, so some tasks may be, too. "
                "Was there no room on the disk, or is there a limit (ulimit -c)?")

    def _read_notes(self):
        """Which files were mapped: path -> [(begin, end, offset)]."""
        mapped = {}
        self.threads = 0
        for name, kind, content in self.file.notes():
            if name != b"CORE":
                continue
            self.threads += kind == NT_PRSTATUS
            if kind != NT_FILE or len(content) < 16:
                continue
            count, page = struct.unpack_from("<QQ", content, 0)
            paths = content[16 + 24 * count:].split(b"\0")
            if len(paths) < count:
                continue
            for i in range(count):
                begin, end, offset = struct.unpack_from("<QQQ", content, 16 + 24 * i)
                mapped.setdefault(os.fsdecode(paths[i]), []).append((begin, end, offset * page))
        return mapped

    def _make_modules(self, mapped, executable):
        first = next(iter(mapped), None)
        for path, parts in mapped.items():
            begin = min(b for b, _, offset in parts if offset == 0) if any(o == 0 for _, _, o in parts) else None
            if begin is None:
                continue
            on_disk = executable if executable and self._is_executable(path, first, executable) else path
            try:
                file = ElfFile(on_disk)
            except Problem as problem:
                if self._is_elf(begin):
                    self.notes_for_people.append(f"{problem}. It was mapped when the process died: "
                                                 "put the same file there, or give the program with --exe")
                continue
            # Its first page is in the core, as a rule: so a file of another build is found out.
            theirs = self._build_id_in_memory(begin)
            if theirs is not None and theirs != file.build_id():
                self.notes_for_people.append(f"{on_disk} is of another build than the one that was mapped when the process "
                                             "died, so it is not used: give the right program with --exe")
                continue
            self._files[path] = file
            self._modules.append(Module(path, begin - file.first_page(), [(b, e) for b, e, _ in parts]))

    def _is_executable(self, path, first, executable):
        return os.path.basename(path) == os.path.basename(executable) or path == first

    def _is_elf(self, address):
        try:
            return self._from_core(address, 4) == b"\x7fELF"
        except Unreadable:
            return False

    def _build_id_in_memory(self, begin):
        try:
            head = self._from_core(begin, 64)
            if head[:4] != b"\x7fELF":
                return None
            at, size, count = struct.unpack_from("<Q14xHH", head, 32)
            for i in range(min(count, 64)):
                kind, _, offset, _, _, bytes_in_file = struct.unpack("<IIQQQQ", self._from_core(begin + at + i * size, 40))
                if kind == 4 and bytes_in_file < 4096:
                    for name, note, content in notes_in(self._from_core(begin + offset, bytes_in_file)):
                        if name == b"GNU" and note == 3:
                            return content
        except (Unreadable, struct.error):
            pass
        return None

    def _from_core(self, address, size):
        i = bisect.bisect_right(self._starts, address) - 1
        if i >= 0:
            segment = self._segments[i]
            at = address - segment.address
            if at + size <= segment.file_size and segment.offset + at + size <= len(self.file.data):
                return bytes(self.file.data[segment.offset + at:segment.offset + at + size])
        raise Unreadable(address, size)

    def read(self, address, size):
        try:
            return self._from_core(address, size)
        except Unreadable:
            pass
        i = bisect.bisect_right(self._disk_starts, address) - 1
        if i >= 0:
            begin, end, offset, path = self._from_disk[i]
            file = self._files.get(path)
            at = offset + address - begin
            if file is not None and address + size <= end and at + size <= len(file.data):
                return file.data[at:at + size]
        if size > 1:  # over the end of a segment
            half = 4096 - address % 4096
            if half < size:
                return self.read(address, half) + self.read(address + half, size - half)
        raise Unreadable(address, size)

    def modules(self):
        return self._modules

    def find_tables(self):
        for module in self._modules:
            for name, address, _, _, _ in self._files[module.path].sections():
                if name == ".rouse_debug":
                    yield module.bias + address

    def search_tables(self, magic):
        # It was relocated when the program began, so it is in the core.
        for segment in self._segments:
            end = min(segment.offset + segment.file_size, len(self.file.data))
            at = self.file.data.find(magic, segment.offset, end)
            while at >= 0:
                yield segment.address + at - segment.offset
                at = self.file.data.find(magic, at + 1, end)
