"""What the commands in gdb and lldb have in common."""

import re
import sys

from .layout import find_layouts
from .snapshot import Snapshot
from .target import SENSELESS, Problem, Target, Unreadable
from .write import write_folded, write_group, write_json, write_stuck, write_text

USAGE = """\
rouse tasks [--json | --folded]   all tasks, those that wait alike as one group
rouse task ID                     one task, with the numbers of its coroutines
rouse stuck                       deadlocks, and tasks that nobody can wake
rouse frame N                     the variables of the N-th coroutine of the task that was shown last
"""
PAGE = 4096


class StoppedTarget(Target):
    """The program of a debugger: it stands still for a command. `fetch` reads; None: it can't."""

    def __init__(self):
        self._pages = {}

    def fetch(self, address, size):
        raise NotImplementedError

    def read(self, address, size):
        if not 0 < address < 1 << 56 or not 0 <= size < 1 << 24:
            raise Unreadable(address, size)
        page = address & ~(PAGE - 1)
        if address + size <= page + PAGE:
            if page not in self._pages:
                self._pages[page] = self.fetch(page, PAGE)
            if self._pages[page] is not None:
                return self._pages[page][address - page:address - page + size]
        found = self.fetch(address, size)
        if found is None:
            raise Unreadable(address, size)
        return found


class Commands:
    """One for each session."""

    def __init__(self):
        self._frames = []  # of the task that was shown last: (address, Where)

    def run(self, words, target):
        """What is to be shown. Throws Problem."""
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
        command = words[0] if words else "help"
        if command == "tasks" and words[1:] in ([], ["--json"], ["--folded"]):
            writes = {"--json": write_json, "--folded": write_folded}.get("".join(words[1:]), write_text)
            return self._with_problems(Snapshot(target, find_layouts(target)), writes)
        if command == "stuck" and len(words) == 1:
            return self._with_problems(Snapshot(target, find_layouts(target)), write_stuck)
        if command == "task" and len(words) == 2 and words[1].isdigit():
            return self._task(int(words[1]), target)
        return USAGE

    def _with_problems(self, snapshot, writes):
        return writes(snapshot) + "".join(f"rouse: {told}\n" for told in snapshot.told_problems())

    def _task(self, number, target):
        layouts = find_layouts(target)
        snapshot = Snapshot(target, layouts, number)
        for executor in snapshot.executors:
            for group in executor.groups:
                self._frames = [(step.frame, step.where) for step in group.steps if step.kind == "frame"]
                self._layout = layouts[0]
                return self._with_problems(snapshot, lambda shown: write_group(shown, group, numbered=True))
        raise Problem(f"there is no task {number}: it has ended, or never was")

    def frame(self, words, target):
        """(address of the compiler's frame, of its function that resumes, Where) of a coroutine. Throws Problem."""
        if len(words) != 2 or not words[1].isdigit():
            raise Problem("usage: rouse frame N, with the number that rouse task shows before the coroutine")
        if not self._frames:
            raise Problem("choose a task first, one that waits in a coroutine: rouse task ID")
        number = int(words[1])
        if number >= len(self._frames):
            raise Problem(f"the task has {len(self._frames)} coroutines that are shown: 0 to {len(self._frames) - 1}")
        promise, where = self._frames[number]
        frame = promise - self._layout.Frame_behind_functions
        try:
            return frame, target.word(frame), where
        except SENSELESS as error:
            raise Problem(f"the coroutine is gone: {error}") from error


def no_types(function):
    return (f"nothing is known of the variables of {function}: compile the program with -g (not -g1), and with clang without "
            "optimisation (-O0): it drops the type of a coroutine's frame otherwise. GCC keeps it")


def variable_of(field):
    """The name of the variable that a field of a coroutine's frame is; None if it is the compiler's own."""
    if re.match(r"__|_Coro_|D\.|(class|struct|PointerType|union|enum)_?.*_\d+$|(Aw|Yd|Is|Fs)\d*_\d", field):
        return None
    return re.sub(r"(_\d+_\d+)$", "", field)  # GCC: with the number of its block
