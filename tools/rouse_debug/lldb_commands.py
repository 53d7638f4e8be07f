"""The command `rouse` in lldb:

    (lldb) command script import /usr/local/share/rouse/rouse_debug/lldb_commands.py
    (lldb) rouse tasks
"""

import os
import shlex
import sys
import time

import lldb

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

from rouse_debug.debugger import Commands, StoppedTarget, no_types, variable_of  # noqa: E402
from rouse_debug.descriptors import Descriptors  # noqa: E402
from rouse_debug.target import Module, Problem  # noqa: E402


class LldbTarget(StoppedTarget):

    def __init__(self, debugger):
        super().__init__()
        self.target = debugger.GetSelectedTarget()
        self._process = self.target.GetProcess()
        if not self._process.IsValid() or self._process.GetState() not in (lldb.eStateStopped, lldb.eStateCrashed,
                                                                           lldb.eStateSuspended):
            raise Problem("the program does not run, or is not stopped: run it, attach to it, or load a core file")
        self._is_here = self._process.GetPluginName() != "elf-core" and os.path.exists(
            f"/proc/{self._process.GetProcessID()}")
        self._descriptors = Descriptors(self._process.GetProcessID())
        self._modules = None

    def fetch(self, address, size):
        error = lldb.SBError()
        content = self._process.ReadMemory(address, size, error)
        return content if error.Success() and len(content) == size else None

    def find_tables(self):
        for module in self.target.module_iter():
            section = module.FindSection(".rouse_debug")
            if section.IsValid():
                yield section.GetLoadAddress(self.target)

    def modules(self):
        if self._modules is None:
            self._modules = []
            for module in self.target.module_iter():
                text = module.FindSection(".text")
                if not text.IsValid():
                    continue
                bias = text.GetLoadAddress(self.target) - text.GetFileAddress()
                ranges = [(section.GetLoadAddress(self.target), section.GetLoadAddress(self.target) + section.GetByteSize())
                          for section in module.section_iter()]
                self._modules.append(Module(module.file.fullpath, bias, ranges))
        return self._modules

    def now_ns(self):
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) if self._is_here else None

    def describe_fd(self, number):
        return self._descriptors.describe(number) if self._is_here else None


def frame_type(target, resume):
    """The compiler's type of the frame that this function resumes; None if there is none."""
    block = target.ResolveLoadAddress(resume).GetBlock()
    while block.IsValid():
        for variable in block.GetVariables(target, True, True, False):
            if variable.GetName() == "__coro_frame":  # clang
                return variable.GetType()
            if variable.GetName() == "frame_ptr":  # GCC
                return variable.GetType().GetPointeeType()
        block = block.GetParent()
    return None


class Rouse:
    """What the tasks of a rouse program wait for: rouse tasks, rouse task ID, rouse stuck, rouse frame N."""

    commands = Commands()

    def __init__(self, debugger, _session):
        self._debugger = debugger

    def __call__(self, _debugger, command, _context, result):
        words = shlex.split(command)
        try:
            target = LldbTarget(self._debugger) if words else None
            if words and words[0] == "frame":
                result.AppendMessage(self._frame(words, target))
            else:
                result.AppendMessage(self.commands.run(words, target).rstrip("\n"))
        except Problem as problem:
            result.SetError(f"rouse: {problem}")

    def get_short_help(self):
        return self.__doc__

    def _frame(self, words, target):
        address, resume, where = self.commands.frame(words, target)
        function = where.function.decode(errors="replace")
        kind = frame_type(target.target, resume)
        if kind is None:
            raise Problem(no_types(function))
        value = target.target.CreateValueFromAddress("rouse_frame", lldb.SBAddress(address, target.target), kind)
        told = f"{function}\n  at {where.file.decode(errors='replace')}:{where.line}"
        for field in value:
            name = variable_of(field.GetName() or "__")
            if name is not None:
                told += f"\n  {name} = {field.GetSummary() or field.GetValue() or str(field)}"
        return told


def __lldb_init_module(debugger, _session):
    debugger.HandleCommand(f"command script add --overwrite --class {__name__}.Rouse rouse")
