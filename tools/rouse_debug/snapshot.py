"""What was seen of all tasks, those with equal chains as one group; and who waits for whom. As src/sight/snapshot.cpp and
src/sight/deadlocks.cpp do it, so that what is said of a core file is what the process would have said."""

from .target import SENSELESS, Broken, Problem
from .tasks import LONGEST_NAME, Examiner

MOST_IDS = 4
MOST_SUSPECTS = 1 << 16
MOST_DEADLOCKS = 64
MOST_IN_ONE = 4096


class Group:
    def __init__(self, seen, is_forgotten):
        self.state = seen.state
        self.is_forgotten = is_forgotten
        self.count = 0
        self.ids = []
        self.wakers = seen.wakers
        self.name = None if seen.name is None else seen.name[:LONGEST_NAME]
        self.spawned = None  # a Where
        self.spawned_code = None  # (module, offset)
        self.steps = seen.steps

    def add(self, number):
        if self.count < MOST_IDS:
            self.ids.append(number)
        elif number < self.ids[0]:
            self.ids[:2] = number, self.ids[0]
        self.count += 1
        lowest = self.ids.index(min(self.ids))
        self.ids[0], self.ids[lowest] = self.ids[lowest], self.ids[0]


class SeenExecutor:
    def __init__(self, kind):
        self.kind = kind
        self.tasks = 0
        self.why_not = None
        self.groups = []


class Snapshot:

    def __init__(self, target, layouts, only=None):
        """`only`: the id of the one task that is to be shown."""
        self.target = target
        self._only = only
        self.executors = []
        self.deadlocks = []  # each a list of Seen
        self.tasks = 0
        self.forgotten = 0
        self.left_out = 0
        self.now_ns = target.now_ns()
        self.problems = {}
        for layout in layouts:
            self._examine(Examiner(target, layout))

    def _examine(self, examiner):
        self._names = examiner.names()
        try:
            executors = examiner.executors()
        except Broken as error:
            raise Problem(f"the tasks can't be found: {error}. Was memory overwritten, or is the core file not whole?") from error
        for executor in executors:
            seen_executor = SeenExecutor(executor.kind)
            self.executors.append(seen_executor)
            suspects = {}
            groups = {}
            for seen in examiner.tasks(executor):
                if self._only is not None and (seen is None or seen.id != self._only):
                    continue
                self.tasks += 1
                if seen is None:
                    self.left_out += 1
                    continue
                seen_executor.tasks += 1
                if seen.state == "idle" and seen.awaited and len(suspects) < MOST_SUSPECTS:
                    suspects[seen.id] = seen
                self._group(examiner, seen_executor, groups, seen)
            seen_executor.why_not = executor.why_not
            for ids in find_deadlocks(suspects):
                self.deadlocks.append(in_a_row([suspects[i] for i in suspects if i in ids]))
                for task in self.deadlocks[-1]:
                    self._describe(task.steps)
        self.problems.update(examiner.problems)

    def told_problems(self):
        """What made no sense, once each."""
        told = list(self.problems)
        return told[:5] + ([f"and {len(told) - 5} more such problems"] if len(told) > 5 else [])

    def _group(self, examiner, executor, groups, seen):
        is_forgotten = seen.wakers == 0 and not seen.waits_for_ever
        self.forgotten += is_forgotten
        layout = examiner.layout
        where = code = None
        is_code = layout.SpawnPlace_is_code & (1 << 64) - 1
        if seen.spawned_at & is_code:
            code = seen.spawned_at & ~is_code
        else:
            try:
                where = examiner.constants.place(seen.spawned_at)
            except SENSELESS:
                where = None
        key = (seen.state, is_forgotten, where and where.key, code, seen.name or b"", tuple(s.key() for s in seen.steps))
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(seen, is_forgotten)
            if code:
                group.spawned_code = self.target.place_of_code(code)
            elif where and where.line:
                group.spawned = where
            self._describe(group.steps)
            executor.groups.append(group)
        group.add(seen.id)

    def _describe(self, steps):
        for step in steps:
            if step.kind != "leaf" or not step.shape.parts:
                continue
            if step.shape.kind == "descriptor":
                told = self.target.describe_fd(step.value)
                step.detail = None if told is None else told.encode(errors="surrogateescape")
            elif step.shape.kind not in ("join", "sleep"):
                step.detail = self._names.get(step.value)


def find_deadlocks(suspects):
    """Sets of ids of tasks that wait for each other, and for nobody else."""
    by_tag = {}
    for number in suspects:
        by_tag.setdefault(number & 0xFFFFFFFF, number)
    targets = {}  # of each task: whom it waits for; None: somebody who is not here
    waiters = {number: [] for number in suspects}
    goes_on = []
    for number in sorted(suspects, key=lambda n: n & 0xFFFFFFFF):
        targets[number] = []
        for awaited, is_tag in suspects[number].awaited:
            found = by_tag.get(awaited & 0xFFFFFFFF)
            if found is None or (not is_tag and found != awaited):
                goes_on.append(number)
            else:
                targets[number].append(found)
                waiters[found].append(number)
    free = set(goes_on)
    for number in goes_on:  # which grows meanwhile
        for waiter in waiters[number]:
            if waiter not in free:
                free.add(waiter)
                goes_on.append(waiter)
    taken = set(free)
    found = 0
    for number in targets:
        cycle = [] if number in taken else _cycle(number, targets, taken)
        if cycle:
            yield set(cycle)
            found += 1
            if found == MOST_DEADLOCKS:
                return


def in_a_row(tasks):
    """Each waits for the next one, as far as that can be said of them in a row."""
    for at in range(1, len(tasks)):
        awaited, is_tag = tasks[at - 1].awaited[0]
        for other in range(at, len(tasks)):
            if awaited == (tasks[other].id & 0xFFFFFFFF if is_tag else tasks[other].id):
                tasks[at], tasks[other] = tasks[other], tasks[at]
                break
    return tasks


def _cycle(number, targets, taken):
    """One that this task leads to, and all that those in it wait for."""
    seen = {number}
    at = targets[number][0]
    while at not in seen and at not in taken:  # each waits for one of them, so that is a cycle
        seen.add(at)
        at = targets[at][0]
    taken.add(number)
    if at in taken and at != number:
        return []
    cycle = [at]
    found = {at}
    for member in cycle:  # which grows meanwhile
        for other in targets[member]:
            if other not in found:
                if len(cycle) == MOST_IN_ONE:
                    taken.update(cycle)
                    return []
                cycle.append(other)
                found.add(other)
    taken.update(cycle)
    return cycle
