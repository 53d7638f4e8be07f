"""The command `rouse` in gdb: source this file, or let the shared library of rouse load it.

    (gdb) source /usr/local/share/rouse/rouse_debug/gdb_commands.py
    (gdb) rouse tasks
"""

import os
import re
import sys
import time

import gdb

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from rouse_debug.debugger import Commands, StoppedTarget, no_types, variable_of  # noqa: E402
from rouse_debug.descriptors import Descriptors  # noqa: E402
from rouse_debug.elf import ElfFile  # noqa: E402
from rouse_debug.target import Module, Problem  # noqa: E402


class GdbTarget(StoppedTarget):

    def __init__(self):
        super().__init__()
        self._inferior = gdb.selected_inferior()
        if not self._inferior.pid and not self._inferior.threads():
            raise Problem("the program does not run: run it, attach to it, or load a core file")
        connection = getattr(self._inferior, "connection", None)
        self._is_here = connection is not None and connection.type == "native"
        self._descriptors = Descriptors(self._inferior.pid)
        self._modules = None
        # (begin, end, section, path)
        self._sections = []
        main = gdb.current_progspace().filename or ""
        for begin, end, section, path in re.findall(r"(0x[0-9a-f]+) - (0x[0-9a-f]+) is (\S+)(?: in (.*))?",
                                                    gdb.execute("info files", to_string=True)):
            self._sections.append((int(begin, 16), int(end, 16), section, path or main))

    def fetch(self, address, size):
        try:
            return bytes(self._inferior.read_memory(address, size))
        except gdb.error:
            return None

    def find_tables(self):
        for begin, _, section, _ in self._sections:
            if section == ".rouse_debug":
                yield begin
        try:
            yield int(gdb.parse_and_eval("(unsigned long)&rouse_debug_layout"))
        except gdb.error:
            pass

    def modules(self):
        if self._modules is None:
            self._modules = []
            for path in dict.fromkeys(row[3] for row in self._sections):
                mine = {section: (begin, end) for begin, end, section, of in self._sections if of == path}
                try:
                    in_file = {name: address for name, address, _, _, _ in ElfFile(path).sections()}
                except Problem:
                    continue
                if ".text" in mine and ".text" in in_file:
                    self._modules.append(Module(path, mine[".text"][0] - in_file[".text"], list(mine.values())))
        return self._modules

    def now_ns(self):
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) if self._is_here else None

    def describe_fd(self, number):
        return self._descriptors.describe(number) if self._is_here else None


def frame_type(resume):
    """The compiler's type of the frame that this function resumes; None if there is none."""
    block = gdb.block_for_pc(resume)
    while block is not None and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.name == "__coro_frame":  # clang
                return symbol.type.strip_typedefs()
            if symbol.name == "frame_ptr":  # GCC
                return symbol.type.strip_typedefs().target()
        block = block.superblock
    return None


class Rouse(gdb.Command):
    """What the tasks of a rouse program wait for: rouse tasks, rouse task ID, rouse stuck, rouse frame N."""

    def __init__(self):
        super().__init__("rouse", gdb.COMMAND_STATUS)
        self._commands = Commands()

    def invoke(self, argument, _from_tty):
        words = gdb.string_to_argv(argument)
        try:
            if words and words[0] == "frame":
                self._frame(words)
            else:
                gdb.write(self._commands.run(words, GdbTarget() if words else None))
        except Problem as problem:
            raise gdb.GdbError(f"rouse: {problem}") from problem

    def complete(self, text, word):
        return [name for name in ("tasks", "task", "stuck", "frame") if name.startswith(word)] if " " not in text.strip() else []

    def _frame(self, words):
        address, resume, where = self._commands.frame(words, GdbTarget())
        function = where.function.decode(errors="replace")
        kind = frame_type(resume)
        if kind is None:
            raise Problem(no_types(function))
        value = gdb.Value(address).cast(kind.pointer())
        gdb.set_convenience_variable("rouse_frame", value)
        gdb.write(f"{function}\n  at {where.file.decode(errors='replace')}:{where.line}\n")
        for field in kind.fields():
            name = variable_of(field.name or "__")
            if name is not None:
                gdb.write(f"  {name} = {value.dereference()[field]}\n")
        gdb.write("All of it: print *$rouse_frame\n")


Rouse()
