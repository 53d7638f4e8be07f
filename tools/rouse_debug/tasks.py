"""The tasks of each scheduler, as its `examine` shows them to a dump of the process itself."""

import struct

from .shapes import Constants, Walk, task_id
from .target import SENSELESS, Broken, in_turn

MOST_WORKERS = 32768
MOST_SLOTS = 1 << 16  # of one part of a table
LONGEST_NAME = 256  # that is shown
TRIES = 5


class Seen:
    """A task."""

    def __init__(self, number, state, name, spawned_at, walk=None, wakers=-1, address=0):
        self.id = number
        self.state = state
        self.name = name  # bytes; None: it has none
        self.spawned_at = spawned_at  # a SpawnPlace's word
        self.steps = walk.steps if walk else []
        self.waits_for_ever = bool(walk) and walk.waits_for_ever
        self.awaited = walk.awaited() if walk else []
        self.wakers = wakers
        self.address = address


class Executor:
    def __init__(self, kind, address):
        self.kind = kind
        self.address = address
        self.why_not = None  # its tasks could not be seen


class Examiner:
    """Of one copy of rouse in the program."""

    def __init__(self, target, layout):
        self.target = target
        self.layout = layout
        self.constants = Constants(target, layout)
        self.problems = {}  # what made no sense: the keys
        self._walks = True

    def executors(self):
        return self._steady(self._executors, "the list of executors")

    def _executors(self):
        layout = self.layout
        head = layout.examinables + layout.Examinables_all
        found = []
        for link in self._ring(head):
            begin = link + layout.RingLink_next
            kind = layout.kinds.get(self.target.u8(begin - layout.Examinable_link + layout.Examinable_kind))
            if kind is None:
                raise Broken(f"there is no executor at {link:#x}")
            to_core = {"pool": layout.PoolCore_link, "local": layout.LocalCore_link, "blocking": layout.BlockingCore_link}
            core = begin - to_core[kind]
            if self._refs(kind, core) != 0:
                found.append(Executor(kind, core))
        return found

    def _ring(self, head):
        """The links of a RingHead; none if it was never made."""

        def after(link):
            found = self.target.word(link + self.layout.RingLink_next)
            return 0 if found == head else found

        return in_turn(after(head), after, "a list")

    def _refs(self, kind, core):
        if kind == "local":
            return self.target.u32(core + self.layout.LocalCore_refs)
        return self.target.word(core + (self.layout.PoolCore_refs if kind == "pool" else self.layout.BlockingCore_refs))

    def tasks(self, executor):
        """A Seen for each; None for one that can't be read."""
        try:
            yield from {"pool": self._pool, "local": self._local, "blocking": self._blocking}[executor.kind](executor)
        except SENSELESS as error:
            executor.why_not = f"its memory makes no sense: {error}"

    def _steady(self, read, what):
        """What `read` gives, of one moment."""
        error = None
        for _ in range(TRIES):
            self.target.begin()
            try:
                result = read()
                if self.target.is_unchanged():
                    return result
                error = Broken("it changes while it is read")
            except SENSELESS as problem:
                error = problem
                if not self.target.is_live:
                    break
        more = ". Try again, or with --stop" if self.target.is_live else ""
        raise Broken(f"{what}: {error}{more}")

    # --- A thread pool: src/exec/pool/pool_examine.cpp. ---

    def _pool(self, executor):
        target, layout, core = self.target, self.layout, executor.address
        if target.u8(core + layout.PoolCore_is_examined_no_more):
            return
        workers = self._steady(lambda: self._pointers(core + layout.PoolCore_workers, MOST_WORKERS), "its workers")
        polled = [worker + layout.Worker_current + layout.CurrentTask_task for worker in workers]
        is_closing = bool(target.u8(core + layout.PoolCore_closing))
        busy = []
        for table in [worker + layout.Worker_table for worker in workers] + [core + layout.PoolCore_outside]:
            for slot in self._slots(table):
                seen = self._one(slot, lambda task: self._pooled(task, polled, is_closing))
                if seen is None or (seen and seen.state in ("idle", "queued")):
                    yield seen
                elif seen:
                    busy.append(seen)  # a dump looks at those again, later
        yield from busy

    def _slots(self, table):
        """Those that are not empty."""
        target, layout = self.target, self.layout
        for chunk in in_turn(target.word(table + layout.TaskTable_first), lambda chunk: target.word(chunk + layout.Chunk_next),
                             "a table of tasks"):
            target.begin()
            slots, size = target.word(chunk + layout.Chunk_slots), target.word(chunk + layout.Chunk_size)
            if size > MOST_SLOTS:
                raise Broken(f"a table of {size} tasks")
            yield from self._full_slots(slots, size)

    def _full_slots(self, slots, size):
        content = struct.unpack(f"<{size}Q", self.target.read(slots, 8 * size))
        return [slots + 8 * i for i, task in enumerate(content) if task]

    def _pooled(self, task, polled, is_closing):
        layout = self.layout
        word = self.target.word(task + layout.TaskHeader_state + layout.TaskState_word)
        if word & layout.TaskState_complete:
            return False
        if word & layout.TaskState_active:
            if word & layout.TaskState_away:
                return self._named(task, "blocking")
            if any(self.target.word(place) == task for place in polled):
                return self._named(task, "running")
            return self._walked(task, "queued")
        return self._walked(task, "idle", -1 if is_closing else self._wakers(word))

    def _wakers(self, word):
        refs = word >> self.layout.TaskState_ref_shift
        if word >> 63:
            refs -= 1 << 64 - self.layout.TaskState_ref_shift
        return refs - 1 - (1 if word & self.layout.TaskState_join_interest else 0)

    # --- A LocalExecutor: src/exec/local/local_examine.cpp. ---

    def _local(self, executor):
        target, layout, core = self.target, self.layout, executor.address
        target.begin()
        if target.u8(core + layout.LocalCore_closed):
            return
        yield from self._steady(lambda: [self._named(task, "queued") for task in self._queue(core + layout.LocalCore_inbox_first)
                                         if target.u8(task + layout.TaskHeader_inbox_marks) & layout.LocalCore_adopt_it],
                                "its inbox")
        target.begin()
        is_closing = bool(target.u8(core + layout.LocalCore_closing))
        contexts = in_turn(target.word(core + layout.LocalCore_run_in),
                           lambda context: target.word(context + layout.ThreadContext_outer), "its thread")
        polled = {target.word(context + layout.ThreadContext_task) for context in contexts}
        tasks = core + layout.LocalCore_tasks
        end, slot = target.word(tasks + layout.vector_end), target.word(tasks + layout.vector_begin)
        if end < slot:
            raise Broken("its table of tasks makes no sense")
        for part in range(slot, end, 8 * MOST_SLOTS):
            for at in self._full_slots(part, min(MOST_SLOTS, (end - part) // 8)):
                seen = self._one(at, lambda task: self._own(task, polled, is_closing))
                if seen is not False:
                    yield seen

    def _own(self, task, polled, is_closing):
        layout = self.layout
        if task in polled:
            return self._named(task, "running")
        word = self.target.word(task + layout.TaskHeader_state + layout.TaskState_word)
        if word & layout.TaskState_active:
            return self._walked(task, "queued")
        touched = self.target.u8(task + layout.TaskHeader_inbox_marks) & layout.InboxMarks_touched
        return self._walked(task, "idle", -1 if is_closing or touched else self._wakers(word))

    # --- Blocking calls: BlockingCore::examine. ---

    def _blocking(self, executor):
        yield from self._steady(lambda: self._calls(executor.address), "its calls")

    def _calls(self, core):
        target, layout = self.target, self.layout
        found = []
        for link in self._ring(core + layout.BlockingCore_running):
            call = link + layout.RingLink_next - layout.Call_link
            name = target.read(call + layout.Call_name, layout.Call_name_size).split(b"\0")[0]
            found.append(Seen(target.word(call + layout.Call_id), "blocking", name or None,
                              target.word(call + layout.Call_spawned_at + layout.SpawnPlace_word)))
        queue = core + layout.BlockingCore_queue + layout.TaskList_first
        return found + [self._named(task, "queued") for task in self._queue(queue)]

    def _queue(self, first):
        return in_turn(self.target.word(first), lambda task: self.target.word(task + self.layout.TaskHeader_queue_next), "a queue")

    # --- A task. ---

    def _one(self, slot, look):
        """Of the task in the slot. False: there is none any more."""

        def read():
            task = self.target.word(slot)
            return look(task) if task else False

        try:
            return self._steady(read, "a task")
        except Broken as error:
            self.problems[str(error)] = True
        self._walks = False
        try:  # it is there, at least
            return self._steady(read, "a task")
        except Broken:
            return None
        finally:
            self._walks = True

    def _named(self, task, state, walk=None, wakers=-1):
        layout = self.layout
        return Seen(task_id(self.target, layout, task), state, self._name(task),
                    self.target.word(task + layout.TaskHeader_spawned_at + layout.SpawnPlace_word), walk, wakers, task)

    def _name(self, task):
        offset = self.target.word(self._vtable(task) + self.layout.TaskVTable_name_offset)
        if not offset:
            return None
        return self.target.text(self.target.word(task + offset + self.layout.string_data))

    def _vtable(self, task):
        return self.target.word(task + self.layout.TaskHeader_vtable)

    def _walked(self, task, state, wakers=-1):
        target, layout = self.target, self.layout
        if not self._walks:
            return self._named(task, state)
        walk = None
        if target.u8(task + layout.TaskHeader_content) == layout.Content_future:
            vtable = self._vtable(task)
            walk = Walk(self.constants)
            walk.walk(target.word(vtable + layout.TaskVTable_shape),
                      task + target.word(vtable + layout.TaskVTable_outcome_offset))
        return self._named(task, state, walk, wakers)

    def _pointers(self, vector, most):
        begin = self.target.word(vector + self.layout.vector_begin)
        count = (self.target.word(vector + self.layout.vector_end) - begin) // 8
        if not 0 <= count <= most:
            raise Broken(f"a list of {count}")
        return [self.target.word(begin + 8 * i) for i in range(count)]

    # --- Names of resources: sight::name. ---

    def names(self):
        """resource -> name."""
        if not self.layout.named:
            return {}
        try:
            return self._steady(self._names, "the names of resources")
        except Broken as error:
            self.problems[str(error)] = True
            return {}

    def _names(self):
        target, layout = self.target, self.layout
        found = {}
        size = 8 * layout.Names_buckets
        for first in struct.unpack(f"<{size // 8}Q", target.read(layout.named + layout.Names_first, size)):
            for named in in_turn(first, lambda named: target.word(named + layout.Named_next), "the list of names"):
                text = target.text(target.word(named + layout.Named_name + layout.string_data), LONGEST_NAME)
                found.setdefault(target.word(named + layout.Named_resource), text)  # the last one that was given
        return found
