"""A process. It goes on while it is read, unless it is stopped: so what is read of one task is read again, and counts only
if it is the same then."""

import ctypes
import errno
import os
import re
import time

from .descriptors import Descriptors, link_of
from .elf import ElfFile
from .target import Module, Problem, Target, Unreadable

PAGE = 4096
MOST_PAGES = 1 << 14  # that are kept of a process that stands still
PTRACE_DETACH = 17
PTRACE_SEIZE = 0x4206
PTRACE_INTERRUPT = 0x4207
WALL = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long



def _not_allowed(pid):
    return Problem(f"reading process {pid} is not allowed: be its user or root (sudo). If you are, tracing may be restricted: "
                   "kernel.yama.ptrace_scope must be 0 or you root, a container needs the capability SYS_PTRACE, and a "
                   "program that gave up privileges must be read by root")


class Process(Target):
    is_live = True

    def __init__(self, pid):
        self.pid = pid
        self.notes_for_people = []
        self._constant = {}
        self._pages = {}
        self._read = []
        self._descriptors = Descriptors(pid)
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="surrogateescape") as file:
                maps = file.read()
        except FileNotFoundError as error:
            raise Problem(f"there is no process {pid}") from error
        except OSError as error:
            raise _not_allowed(pid) from error
        if not maps:
            raise Problem(f"process {pid} has no memory: it has ended, or is a thread of the kernel")
        try:
            self._memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
        except OSError as error:
            raise _not_allowed(pid) from error
        self._files = {}
        self._modules = []
        self._constant_ranges = []
        self._written_ranges = []
        self._parse(maps)

    def _parse(self, maps):
        mapped = {}
        for line in maps.splitlines():
            found = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ *(.*)", line)
            if not found:
                continue
            begin, end, offset = int(found[1], 16), int(found[2], 16), int(found[4], 16)
            path = found[5].removesuffix(" (deleted)")
            if not path.startswith("/"):
                continue
            mapped.setdefault(path, []).append((begin, end, offset))
            if "w" not in found[3] and "p" in found[3]:
                self._constant_ranges.append((begin, end))
            elif "p" in found[3]:
                self._written_ranges.append((begin, end))
        self._path_of_exe = link_of(self.pid, "exe")
        for path, parts in mapped.items():
            begin = next((b for b, _, offset in parts if offset == 0), None)
            if begin is None or self.read(begin, 4) != b"\x7fELF":
                continue
            file = self._open(path)
            if file is None:
                self.notes_for_people.append(f"{path} can't be read, which process {self.pid} has mapped")
                continue
            self._files[path] = file
            self._modules.append(Module(path, begin - file.first_page(), [(b, e) for b, e, _ in parts]))

    def _open(self, path):
        # A replaced program and one in a container have another file at this path.
        places = [f"/proc/{self.pid}/exe"] if path == self._path_of_exe else []
        for place in (*places, f"/proc/{self.pid}/root{path}", path):
            try:
                return ElfFile(place)
            except Problem:
                continue
        return None

    # --- Memory. ---

    def _fetch(self, address, size):
        """None if it can't be read."""
        try:
            content = os.pread(self._memory, size, address)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES):
                raise _not_allowed(self.pid) from error
            return None
        if not content:
            raise Problem(f"process {self.pid} has ended meanwhile")
        return content if len(content) == size else None

    def read(self, address, size):
        if not 0 < address < 1 << 56 or not 0 <= size < 1 << 24:
            raise Unreadable(address, size)
        found = b""
        while size:
            page = address & ~(PAGE - 1)
            part = min(size, page + PAGE - address)
            pages = self._constant
            if page not in pages:
                pages = self._pages
                self._read.append((address, part))
                if page not in pages:
                    content = self._fetch(page, PAGE)
                    if content is None:
                        raise Unreadable(address, size)
                    if any(begin <= page < end for begin, end in self._constant_ranges):
                        pages = self._constant
                        self._read.pop()
                    pages[page] = content
            found += pages[page][address - page:address - page + part]
            address += part
            size -= part
        return found

    def begin(self):
        if self.is_live or len(self._pages) > MOST_PAGES:
            self._pages.clear()
        self._read.clear()

    def is_unchanged(self):
        if not self.is_live:
            return True
        now = {page: self._fetch(page, PAGE) for page in self._pages}
        if None in now.values():
            return False
        return all(now[address & -PAGE][address % PAGE:address % PAGE + size] ==
                   self._pages[address & -PAGE][address % PAGE:address % PAGE + size]
                   for address, size in set(self._read))

    def modules(self):
        return self._modules

    def find_tables(self):
        for module in self._modules:
            for name, address, _, _, _ in self._files[module.path].sections():
                if name == ".rouse_debug":
                    yield module.bias + address

    def search_tables(self, magic):
        for begin, end in self._written_ranges + self._constant_ranges:
            content = self._fetch(begin, end - begin) if end - begin < 1 << 28 else None
            at = content.find(magic) if content else -1
            while at >= 0:
                yield begin + at
                at = content.find(magic, at + 1)

    def now_ns(self):
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC)

    def describe_fd(self, number):
        return self._descriptors.describe(number)

    # --- Stopping. ---

    def stop(self):
        """Until `go_on`, or this process ends, however that happens."""
        self._stopped = []
        seen = None
        while seen != self._threads():
            seen = self._threads()
            for thread in seen - set(self._stopped):
                if _libc.ptrace(PTRACE_SEIZE, thread, None, None) != 0:
                    why = ctypes.get_errno()
                    if why == errno.ESRCH:
                        continue
                    self.go_on()
                    raise Problem(f"process {self.pid} can't be stopped: it has a debugger already, or it is not yours. "
                                  "Leave --stop out, then it is read while it goes on") if why == errno.EPERM else \
                        Problem(f"process {self.pid} can't be stopped: {os.strerror(why)}")
                self._stopped.append(thread)
                if _libc.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0:
                    try:
                        os.waitpid(thread, WALL)
                    except ChildProcessError:
                        pass
        self.is_live = False

    def _threads(self):
        try:
            return {int(name) for name in os.listdir(f"/proc/{self.pid}/task")}
        except OSError as error:
            raise Problem(f"process {self.pid} has ended meanwhile") from error

    def go_on(self):
        for thread in self._stopped:
            _libc.ptrace(PTRACE_DETACH, thread, None, None)
        self._stopped = []
