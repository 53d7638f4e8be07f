"""tools/rouse-debug."""

import argparse
import os
import signal
import sys

from .core import CoreFile
from .layout import find_layouts
from .process import Process
from .snapshot import Snapshot
from .target import Problem
from .write import write_folded, write_group, write_json, write_stuck, write_text

DESCRIPTION = """What the tasks of a rouse program wait for: of a process, or of a core file. The program needs no debug
information, may be stripped, and does nothing for it."""
EPILOG = """A process is read while it goes on: a task that changes meanwhile is looked at again. With --stop it stands still for
that time. In gdb: source this program's folder's rouse_debug/gdb_commands.py, then: rouse tasks, rouse task ID, rouse stuck,
rouse frame N. In lldb: command script import .../rouse_debug/lldb_commands.py."""


def parse(arguments):
    parser = argparse.ArgumentParser(prog="rouse-debug", description=DESCRIPTION, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, told in (("tasks", "all tasks, those that wait alike as one group"),
                       ("task", "one task"),
                       ("stuck", "deadlocks, and tasks that nobody can wake")):
        command = commands.add_parser(name, help=told, description=told)
        if name == "task":
            command.add_argument("id", type=int, metavar="ID")
        command.add_argument("target", metavar="PID|CORE", help="the number of a process, or a core file")
        command.add_argument("--exe", metavar="FILE", help="the program, if it is not where it was")
        command.add_argument("--stop", action="store_true", help="stop the process while it is read")
        if name == "tasks":
            form = command.add_mutually_exclusive_group()
            form.add_argument("--json", action="store_true", help="as docs/sight.schema.json says")
            form.add_argument("--folded", action="store_true", help="for flame graphs")
    return parser.parse_args(arguments)


def open_target(options):
    if options.target.isdigit() and not os.path.exists(options.target):
        process = Process(int(options.target))
        if options.stop:
            process.stop()
        return process
    if options.stop:
        raise Problem("--stop is for processes: a core file stands still")
    return CoreFile(options.target, options.exe)


def run(options):
    target = open_target(options)
    only = options.id if options.command == "task" else None
    try:
        layouts = find_layouts(target)
        snapshot = Snapshot(target, layouts, only)
    except Problem:
        for note in target.notes_for_people:
            print(f"rouse-debug: {note}", file=sys.stderr)
        raise
    finally:
        if options.stop:
            target.go_on()
    for note in target.notes_for_people + snapshot.told_problems():
        print(f"rouse-debug: {note}", file=sys.stderr)
    if options.command == "stuck":
        return write_stuck(snapshot)
    if options.command == "task":
        return write_one(snapshot, options.id)
    if options.json:
        return write_json(snapshot)
    return write_folded(snapshot) if options.folded else write_text(snapshot)


def write_one(snapshot, number):
    for executor in snapshot.executors:
        for group in executor.groups:
            return write_group(snapshot, group)
    raise Problem(f"there is no task {number}: it has ended, or never was")


def main(arguments=None):
    # Deep chains of futures; and who reads the output may stop early.
    sys.setrecursionlimit(10_000)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        sys.stdout.write(run(parse(arguments)))
        sys.stdout.flush()
    except Problem as problem:
        print(f"rouse-debug: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except MemoryError:
        print("rouse-debug: there is not enough memory to read all tasks", file=sys.stderr)
        return 1
    except Exception as error:  # pylint: disable=broad-except
        if os.environ.get("ROUSE_DEBUG_TRACEBACK"):
            raise
        print(f"rouse-debug: a mistake in rouse-debug itself: {error!r}. With ROUSE_DEBUG_TRACEBACK=1 in the environment it "
              "shows where: please report that", file=sys.stderr)
        return 1
    return 0
