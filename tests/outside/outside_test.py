#!/usr/bin/env python3
"""usage: outside_test.py PROGRAM STRIPPED [TEST...]

What tools/rouse-debug, gdb and lldb say of a program from outside, against what it said of itself: see many_shapes.cpp.
What is not installed is skipped, which ctest shows.
"""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / "tools/rouse-debug"
SKIPPED = 77
PATIENCE = 60  # seconds: what takes longer has failed

sys.path.insert(0, str(ROOT / "tools"))
from rouse_debug import core as core_file  # noqa: E402
from rouse_debug.layout import MAGIC, find_layouts  # noqa: E402
from rouse_debug.snapshot import Snapshot  # noqa: E402
from rouse_debug.target import Problem  # noqa: E402
from rouse_debug.write import for_json, for_people, write_json, write_text  # noqa: E402


class Program:
    """It runs until the test ends."""

    def __init__(self, test, path, *arguments):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="outside."))
        add_cleanup = getattr(test, "addClassCleanup", None) if isinstance(test, type) else test.addCleanup
        add_cleanup(shutil.rmtree, self.folder)
        self.process = subprocess.Popen([path, self.folder, *arguments], cwd=self.folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=let_it_dump)
        add_cleanup(self.end)
        line = self.process.stdout.readline()
        if line != b"ready\n":
            raise AssertionError(f"the program says {line!r}")

    @property
    def pid(self):
        return self.process.pid

    def said(self, what="json"):
        return (self.folder / what).read_text(encoding="utf-8")

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def abort(self):
        """Gives the core file. Where the system has another use for it, gdb makes it, of the process as it is."""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").strip()
        if "/" in pattern or pattern.startswith("|") or resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            return self.let_gdb_dump()
        self.process.stdin.write(b"abort\n")
        self.process.stdin.flush()
        self.process.wait(PATIENCE)
        return next(path for path in self.folder.iterdir() if path.name.startswith(("core", pattern.split("%")[0] or "core")))

    def let_gdb_dump(self):
        if not shutil.which("gcore"):
            raise unittest.SkipTest("core files go elsewhere on this system, and there is no gdb to make one")
        path = self.folder / "made_by_gdb"
        subprocess.run(["gcore", "-o", path, str(self.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=PATIENCE)
        return pathlib.Path(f"{path}.{self.pid}")


def let_it_dump():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)


class RecordingCore(core_file.CoreFile):
    """Remembers from where words were read."""

    def __init__(self, path):
        self.addresses = set()
        super().__init__(path)

    def read(self, address, size):
        if size == 8 and address % 8 == 0:
            self.addresses.add(address)
        return super().read(address, size)

    def place_in_file(self, address):
        for segment in self.file.segments:
            if segment.address <= address <= segment.address + segment.file_size - 8:
                return segment.offset + address - segment.address
        return None


def rouse_debug(*arguments):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False)


def settled(text, has_descriptors=True):
    """JSON without what can't be the same.

    Tasks that are polled come last, in an order that depends on how often the dump looked at them again. What a descriptor
    is, the kernel knows: after the death of the process nobody does.
    """

    def walk(value):
        if isinstance(value, dict):
            return {key: walk(part) for key, part in value.items() if key != "is" or has_descriptors}
        return [walk(part) for part in value] if isinstance(value, list) else value

    report = walk(json.loads(text))
    for executor in report["executors"]:
        groups = executor["groups"]
        still = [group for group in groups if group["state"] in ("idle", "queued")]
        executor["groups"] = still + sorted((g for g in groups if g not in still), key=lambda g: g["ids"][0])
    return report


def settled_text(text, has_descriptors=True):
    """Its paragraphs, in any order; without times, of which a core file knows only when they are over."""
    text = re.sub(r"sleep, (for another|until) .*", "sleep", text)
    if not has_descriptors:
        text = re.sub(r"(descriptor \d+), .*", r"\1", text)
    return sorted(text.split("\n\n"))


class Outside(unittest.TestCase):
    maxDiff = 4000

    def expect_same(self, program, told, has_descriptors=True):
        self.assertGreater(json.loads(program.said())["tasks"], 1000)
        self.assertEqual(settled(told, has_descriptors), settled(program.said(), has_descriptors))

    def expect_problem(self, done, *words):
        """It says what happened and what to do, and is no traceback."""
        self.assertEqual(done.returncode, 1, done.stdout[:1000] + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("mistake in rouse-debug", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)


class CoreFile(Outside):
    """Of a stripped program that aborted."""

    @classmethod
    def setUpClass(cls):
        cls.program = Program(cls, STRIPPED)
        cls.core = cls.program.abort()

    def test_says_in_json_what_the_process_said(self):
        done = rouse_debug("tasks", self.core, "--json")
        self.assertEqual(done.stderr, "")
        self.expect_same(self.program, done.stdout, has_descriptors=False)

    def test_says_in_text_what_the_process_said(self):
        done = rouse_debug("tasks", self.core)
        self.assertEqual(settled_text(done.stdout, False), settled_text(self.program.said("text"), False))
        self.assertIn('"accounts \\x1b", acquired by task', done.stdout)

    def test_says_in_folded_stacks_what_the_process_said(self):
        done = rouse_debug("tasks", self.core, "--folded")
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(self.program.said("folded").splitlines()))

    def test_shows_who_is_stuck(self):
        told = rouse_debug("stuck", self.core).stdout
        for number in range(1, 11):
            self.assertIn(f"DEADLOCK {number}: ", told)
        self.assertIn("  ... 54 more tasks\n", told)
        self.assertEqual(told.count("NOBODY CAN WAKE IT"), 3)
        self.assertEqual(told.count("forget()"), 3)
        self.assertNotIn("sleep", told)

    def test_shows_one_task(self):
        group = next(g for e in json.loads(self.program.said())["executors"] for g in e["groups"] if g["count"] == 1)
        told = rouse_debug("task", group["ids"][0], self.core)
        self.assertTrue(told.stdout.startswith(f"task {group['ids'][0]}"), told)
        self.expect_problem(rouse_debug("task", 99999999, self.core), "there is no task 99999999")

    def test_finds_the_program_that_was_moved(self):
        # A file of another inode, and the one at the old path is gone for this test: a copy of the core file that names
        # another path of the same length.
        content = self.core.read_bytes()
        moved = self.program.folder / "moved"
        other = os.fsencode(STRIPPED)[:-1] + b"X"
        moved.write_bytes(content.replace(os.fsencode(STRIPPED) + b"\0", other + b"\0"))
        lost = rouse_debug("tasks", moved, "--json")
        self.assertNotIn("Traceback", lost.stderr)
        self.assertIn("give the program with --exe", lost.stderr)
        self.assertTrue(rouse_debug("stuck", moved).stdout.startswith("of the tasks that could be read none is stuck"))
        found = rouse_debug("tasks", moved, "--json", "--exe", STRIPPED)
        self.assertEqual(found.stderr, "")
        report = found.stdout.replace(os.fsdecode(other), os.fsdecode(STRIPPED))
        self.expect_same(self.program, report, has_descriptors=False)
        wrong = rouse_debug("tasks", moved, "--json", "--exe", shutil.which("sleep"))
        self.assertIn("another build", wrong.stderr)
        moved.unlink()

    def test_that_is_cut_off_says_so(self):
        cut = self.program.folder / "cut"
        content = self.core.read_bytes()
        for size in (0, 3, 63, 64, 1000, 5000, len(content) // 3, len(content) // 2, len(content) - 5000):
            cut.write_bytes(content[:size])
            done = rouse_debug("tasks", cut, "--json")
            self.assertNotIn("Traceback", done.stderr)
            self.assertNotIn("mistake in rouse-debug", done.stderr)
            self.assertNotEqual(done.stderr, "", f"of {size} bytes")
            if done.returncode == 0:
                json.loads(done.stdout)
        cut.unlink()

    def test_of_another_layout_says_which_tool_reads_it(self):
        content = bytearray(self.core.read_bytes())
        other = self.program.folder / "other"
        at = content.find(MAGIC)
        content[at + 16] += 1
        other.write_bytes(content)
        self.expect_problem(rouse_debug("tasks", other), "laid out in another way", "use the rouse-debug that was installed with")
        other.unlink()

    def test_of_overwritten_memory_ends_with_a_message(self):
        """Memory as a program leaves it that wrote where it should not: whatever is there, there is an end."""
        target = RecordingCore(str(self.core))
        Snapshot(target, find_layouts(target))
        # What is not in the core is constant, and read from the program.
        places = [address for address in sorted(target.addresses) if target.place_in_file(address) is not None]
        self.assertGreater(len(places), 10_000)
        target.file.data = bytearray(self.core.read_bytes())
        shown = 0
        for seed in range(24):
            chance = random.Random(seed)
            overwritten = {}
            for address in chance.sample(places, (1, 10, 100, 1000)[seed % 4]):
                at = target.place_in_file(address)
                overwritten[at] = bytes(target.file.data[at:at + 8])
                # A pointer to somewhere else, or anything.
                value = chance.choice((chance.choice(places), chance.getrandbits(8), chance.getrandbits(64)))
                target.file.data[at:at + 8] = value.to_bytes(8, "little")
            began = time.monotonic()
            try:
                snapshot = Snapshot(target, find_layouts(target))
                json.loads(write_json(snapshot))
                write_text(snapshot)
                shown += 1
            except Problem:
                pass
            self.assertLess(time.monotonic() - began, PATIENCE)
            for at, content in reversed(overwritten.items()):
                target.file.data[at:at + 8] = content
        self.assertGreater(shown, 12)


class Process(Outside):

    @classmethod
    def setUpClass(cls):
        cls.program = Program(cls, STRIPPED)

    def test_is_read_while_it_goes_on(self):
        done = rouse_debug("tasks", self.program.pid, "--json")
        self.assertEqual(done.stderr, "")
        self.expect_same(self.program, done.stdout)

    def test_is_read_while_it_stands_still_and_goes_on_then(self):
        done = rouse_debug("tasks", self.program.pid, "--json", "--stop")
        if "can't be stopped" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.stderr, "")
        self.expect_same(self.program, done.stdout)
        for thread in pathlib.Path(f"/proc/{self.program.pid}/task").iterdir():
            status = (thread / "status").read_text(encoding="utf-8")
            self.assertNotRegex(status, r"State:\s*[tT]")
            self.assertRegex(status, r"TracerPid:\s*0")

    def test_tells_how_long_a_sleep_lasts(self):
        told = rouse_debug("tasks", self.program.pid).stdout
        self.assertEqual(settled_text(told), settled_text(self.program.said("text")))
        self.assertRegex(told, r"sleep, for another 7\d\d\d\d\.\d\d\d s")

    def test_whose_tasks_never_rest_is_seen_as_it_may_be(self):
        program = Program(self, PROGRAM, "restless")
        known = {"never_rest", "lock_and_yield"}
        for options in ([],) * 3 + (["--stop"],) * 2:
            done = rouse_debug("tasks", program.pid, "--json", *options)
            if "can't be stopped" in done.stderr:
                continue
            self.assertNotIn("Traceback", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(report["tasks"], 50, done.stderr)
            for group in (g for e in report["executors"] for g in e["groups"]):
                self.assertNotIn("nobody_can_wake", group)
                chain = [at["function"] for at in group.get("waits", {}).get("at", [])]
                for function in chain:
                    self.assertTrue(any(name in function for name in known), chain)
                if chain:
                    self.assertIn("never_rest", chain[-1])
                    self.assertLessEqual(len(chain), 6)
        self.assertIsNone(program.process.poll())

    def test_whose_thread_is_in_a_long_poll_is_seen_all_the_same(self):
        program = Program(self, PROGRAM, "busy")
        executors = json.loads(rouse_debug("tasks", program.pid, "--json").stdout)["executors"]
        seen = [{group["name"]: group["state"] for group in executor["groups"]} for executor in executors]
        self.assertEqual(seen, [{"waits": "idle", "outer": "running"}, {"waits": "idle", "long": "running"}])

    def test_without_rouse_says_so(self):
        with subprocess.Popen(["sleep", "100"]) as sleeps:
            done = rouse_debug("tasks", sleeps.pid)
            sleeps.kill()
        self.expect_problem(done, "no rouse is in this program")

    def test_that_is_not_there_says_so(self):
        self.expect_problem(rouse_debug("tasks", 4194305), "there is no process 4194305")


class WrongFile(Outside):

    def test_says_what_it_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "text")
            text.write_text("no core file, but long enough for its head: " * 20, encoding="utf-8")
            broken = pathlib.Path(folder, "broken")
            broken.write_bytes(pathlib.Path(STRIPPED).read_bytes()[:20] + b"\xff" * 2000)
            self.expect_problem(rouse_debug("tasks", text), "is no core file")
            self.expect_problem(rouse_debug("tasks", broken), "broken")
            self.expect_problem(rouse_debug("tasks", folder), "can't read")
            self.expect_problem(rouse_debug("tasks", folder + "/nothing"), "No such file")
            self.expect_problem(rouse_debug("tasks", STRIPPED), "is a program or a library, no core file")
            self.expect_problem(rouse_debug("tasks", text, "--stop"), "--stop is for processes")


class Text(unittest.TestCase):
    """As tests/sight/json_test.cpp expects it of the process itself."""

    def test_stays_what_it_is(self):
        for given, in_json, in_text in ((b"plain", "plain", "plain"), (b"\x1b[31m\x07", "\x1b[31m\x07", "\\x1b[31m\\x07"),
                                        (b"\x7f", "\x7f", "\\x7f"), (b"\xff\xfe", "\ufffd\ufffd", "\\xff\\xfe"),
                                        (b"cut \xe2\x82", "cut \ufffd\ufffd", "cut \\xe2\\x82"),
                                        (b"\xc0\xaf", "\ufffd\ufffd", "\\xc0\\xaf"), (b"\xc2\x85", "\x85", "\\xc2\\x85"),
                                        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd", "\\xed\\xa0\\x80"),
                                        ("é水😀".encode(), "é水😀", "é水😀")):
            self.assertEqual(for_json(given), in_json)
            self.assertEqual(for_people(given), in_text)


class Debugger(Outside):
    """What gdb and lldb have in common; `run(program, commands)` gives what is told of the process."""
    __test__ = False

    def numbered_task(self, told):
        return re.search(r"#(\d+) at .*dig", told)

    def expect_frames(self, run, path):
        program = Program(self, path)
        task = next(g["ids"][0] for e in json.loads(program.said())["executors"] for g in e["groups"]
                    if g["count"] == 1 and "dig" in g.get("waits", {}).get("at", [{}])[0].get("function", ""))
        return run(program, f"rouse task {task}", "rouse frame 3", "rouse frame 1000", "rouse frame x")


class Gdb(Debugger):

    def setUp(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")

    def run_gdb(self, program, *commands):
        arguments = [part for command in commands for part in ("-ex", command)]
        return subprocess.run(["gdb", "-batch", "-nx", "-iex", "set debuginfod enabled off", "-p", str(program.pid), "-ex",
                               f"source {ROOT}/tools/rouse_debug/gdb_commands.py", *arguments], capture_output=True,
                              text=True, errors="replace", timeout=PATIENCE, check=False)

    def test_says_what_the_process_said(self):
        program = Program(self, STRIPPED)
        told = self.run_gdb(program, "rouse tasks --json").stdout
        self.expect_same(program, next(line for line in told.splitlines() if line.startswith('{"format"')))

    def test_reads_a_core_file_that_it_made(self):
        program = Program(self, STRIPPED)
        done = rouse_debug("tasks", program.let_gdb_dump(), "--json")
        self.expect_same(program, done.stdout, has_descriptors=False)

    def test_shows_the_variables_of_a_coroutine(self):
        done = self.expect_frames(self.run_gdb, PROGRAM)
        self.assertTrue(self.numbered_task(done.stdout), done)
        self.assertIn("depth = 3\n", done.stdout)
        self.assertIn("the task has ", done.stderr)
        self.assertIn("usage: rouse frame N", done.stderr)

    def test_says_what_it_needs_to_show_them(self):
        done = self.expect_frames(self.run_gdb, STRIPPED)
        self.assertIn("nothing is known of the variables of", done.stderr)
        self.assertIn("compile the program with -g", done.stderr)


class Lldb(Debugger):

    def setUp(self):
        self.lldb = shutil.which("lldb-19") or shutil.which("lldb")
        if not self.lldb:
            self.skipTest("lldb is not installed")

    def run_lldb(self, program, *commands):
        arguments = [part for command in commands for part in ("-o", command)]
        return subprocess.run([self.lldb, "-b", "--no-lldbinit", "-p", str(program.pid), "-o",
                               f"command script import {ROOT}/tools/rouse_debug/lldb_commands.py", *arguments, "-o", "detach"],
                              capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)

    def test_says_what_the_process_said(self):
        program = Program(self, STRIPPED)
        told = self.run_lldb(program, "rouse tasks --json").stdout
        self.expect_same(program, next(line for line in told.splitlines() if line.startswith('{"format"')))

    def test_shows_the_variables_of_a_coroutine(self):
        done = self.expect_frames(self.run_lldb, PROGRAM)
        self.assertTrue(self.numbered_task(done.stdout), done)
        self.assertIn("depth = 3\n", done.stdout)
        self.assertIn("the task has ", done.stdout + done.stderr)


def main():
    global PROGRAM, STRIPPED
    PROGRAM, STRIPPED = sys.argv[1:3]
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.skipped:
        sys.exit(SKIPPED)


main()
