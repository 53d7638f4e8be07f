"""The formats of a dump: as src/sight/write_text.cpp, write_json.cpp and formats.cpp write them."""

import json

MOST_OF_DEADLOCK = 16
MOST_ALIKE = 8
MOST_SHOWN = 4  # of more than those
NODES = ("all_of", "any_of", "one")
# What a leaf or node is called in JSON; of others nobody speaks.
KINDS = ("lock", "shared", "permits", "receive", "send", "notify", "cell", "init", "join", "sleep", "descriptor", "blocking",
         "turn", "never", "fork", "scope", *NODES)


def characters(data):
    """(bytes, whether they are a character): one character of UTF-8, or a byte that is none."""
    at = 0
    while at < len(data):
        first = data[at]
        length = 1 if first < 0x80 else 0 if first < 0xC2 else 2 if first < 0xE0 else 3 if first < 0xF0 else \
            4 if first < 0xF5 else 0
        try:
            one = data[at:at + length]
            is_one = length != 0 and len(one) == length and len(one.decode("utf-8")) == 1
        except UnicodeDecodeError:
            is_one = False
        length = length if is_one else 1
        yield data[at:at + length], is_one
        at += length


def for_people(data):
    """Control bytes, and what is no UTF-8, as \\xNN: it may come from a peer."""
    told = ""
    for one, is_character in characters(data):
        text = one.decode("utf-8") if is_character else ""
        if is_character and not (text < " " or "\x7f" <= text < "\xa0"):
            told += text
        else:
            told += "".join(f"\\x{byte:02x}" for byte in one)
    return told


def for_json(data):
    return "".join(one.decode("utf-8") if is_character else "\ufffd" for one, is_character in characters(data))


def kind_of(shape):
    return shape.kind if shape.kind in KINDS else "opaque"


def label_of(shape):
    if shape.kind == "opaque":
        text = shape.label or b""
        at = text.find(b"F = ")
        if at < 0:
            return text
        text = text[at + 4:]
        end = text.rfind(b"]")
        return text if end < 0 else text[:end]
    return kind_of(shape).encode() if shape.label is None else shape.label


# --- JSON. ---


def write_json(snapshot):
    top = {"format": 1, "tasks": snapshot.tasks, "nobody_can_wake": snapshot.forgotten, "left_out": snapshot.left_out,
           "executors": [_executor(executor) for executor in snapshot.executors]}
    if snapshot.deadlocks:
        top["deadlocks"] = [[_deadlocked(task) for task in deadlock] for deadlock in snapshot.deadlocks]
    return json.dumps(top, ensure_ascii=False) + "\n"


def _executor(executor):
    made = {"kind": executor.kind, "tasks": executor.tasks}
    if executor.why_not is not None:
        made["not_seen"] = executor.why_not
    made["groups"] = [_group(group) for group in executor.groups]
    return made


def _deadlocked(task):
    made = {"id": task.id}
    if task.name is not None:
        made["name"] = for_json(task.name)
    made["waits"] = Tree(task.steps).waiting()
    return made


def _group(group):
    made = {"count": group.count, "ids": group.ids, "state": group.state}
    if group.name is not None:
        made["name"] = for_json(group.name)
    if group.wakers >= 0:
        made["wakers"] = group.wakers
    if group.is_forgotten:
        made["nobody_can_wake"] = True
    if group.spawned is not None:
        made["spawned"] = _source(group.spawned)
    elif group.spawned_code is not None:
        module, offset = group.spawned_code
        made["spawned"] = {"module": module or "", "offset": f"{offset:#x}"}
    if group.steps:
        made["waits"] = Tree(group.steps).waiting()
    return made


def _source(where):
    return {"file": for_json(where.file), "line": where.line, "function": for_json(where.function)}


class Tree:
    """What the steps of a task are in JSON."""

    def __init__(self, steps):
        self.steps = steps
        self.at = 0

    def waiting(self):
        """From a begin_waiting to behind its end."""
        made = {}
        self.at += 1
        while self.at < len(self.steps) and self.steps[self.at].kind != "end_waiting":
            step = self.steps[self.at]
            if step.kind == "leaf":
                made["for"] = self._leaf(step)
            elif step.kind == "begin_node":
                made["for"] = self._node(step.shape)
            elif step.kind == "frame":
                made.setdefault("at", []).append(_source(step.where))
            elif step.kind == "left_out":
                made.setdefault("at", []).append({"left_out": step.value})
            self.at += 1
        self.at += 1
        return made

    def _node(self, shape):
        self.at += 1
        made = {"kind": kind_of(shape), "label": for_json(label_of(shape)), "of": []}
        while self.at < len(self.steps) and self.steps[self.at].kind == "begin_waiting":
            made["of"].append(self.waiting())
        return made

    def _leaf(self, step):
        shape = step.shape
        made = {"kind": kind_of(shape), "label": for_json(label_of(shape))}
        if shape.parts:
            key = {"join": "task", "descriptor": "fd", "sleep": "deadline_ns"}.get(shape.kind)
            if key:
                made[key] = step.value
            else:
                made["address"] = f"{step.value:#x}"
        if step.holder:
            made["held_by"] = step.holder
        if step.detail is not None:
            made["is" if shape.kind == "descriptor" else "name"] = for_json(step.detail)
        return made


# --- Folded stacks: outermost first. ---


def _folded(data):
    return data.replace(b";", b",").replace(b"\n", b",").decode("utf-8", "replace")


def write_folded(snapshot):
    lines = []
    for executor in snapshot.executors:
        for group in executor.groups:
            parts = [group.state]
            depth = 0
            for step in reversed(group.steps):
                depth += (step.kind == "end_waiting") - (step.kind == "begin_waiting")
                if step.kind == "frame" and depth == 1:
                    parts.append(f"{_folded(step.where.function)}:{step.where.line}")
            if group.steps:
                parts.append(next((_folded(label_of(step.shape)) for step in group.steps if step.kind == "leaf" or
                                   (step.kind == "begin_node" and step.shape.kind != "one")), ""))
            lines.append(f"{';'.join(parts)} {group.count}\n")
    return "".join(lines)


# --- Text. ---


def write_text(snapshot):
    text = Text(snapshot)
    text.put(f"{snapshot.tasks} {_tasks(snapshot.tasks)}")
    if snapshot.forgotten:
        text.put(f", {snapshot.forgotten} that nobody can wake")
    text.put("\n")
    if snapshot.left_out:
        text.put(f"{snapshot.left_out} of them are not shown: their memory could not be read\n")
    for number, deadlock in enumerate(snapshot.deadlocks, 1):
        text.deadlock(deadlock, number)
    for forgotten in (True, False):
        for number, executor in enumerate(snapshot.executors, 1):
            if not forgotten and (executor.tasks or executor.why_not is not None):
                text.put(f"\n== {executor.kind} {number}: {executor.tasks} {_tasks(executor.tasks)}")
                text.put("\n" if executor.why_not is None else f"; not seen: {executor.why_not}\n")
            for group in executor.groups:
                if group.is_forgotten == forgotten:
                    text.group(group)
    return text.told()


def write_stuck(snapshot):
    text = Text(snapshot)
    for number, deadlock in enumerate(snapshot.deadlocks, 1):
        text.deadlock(deadlock, number)
    for executor in snapshot.executors:
        for group in executor.groups:
            if group.is_forgotten:
                text.group(group)
    if told := text.told().lstrip("\n"):
        return told
    is_whole = not snapshot.problems and all(executor.why_not is None for executor in snapshot.executors)
    return "no task is stuck for certain\n" if is_whole else "of the tasks that could be read none is stuck for certain\n"


def write_group(snapshot, group, numbered=False):
    """`numbered`: with the numbers of its coroutines."""
    text = Text(snapshot, numbered)
    text.group(group)
    return text.told().lstrip("\n")


def _tasks(count):
    return "task" if count == 1 else "tasks"


class Text:

    def __init__(self, snapshot, numbered=False):
        self._now_ns = snapshot.now_ns
        self._next_number = 0 if numbered else None
        self._parts = []
        self._is_item = False
        self._is_cut_told = False  # of this group

    def put(self, text):
        self._parts.append(text)
        return self

    def told(self):
        return "".join(self._parts)

    def deadlock(self, tasks, number):
        self.put(f"\nDEADLOCK {number}: ")
        self.put("a task waits for itself\n" if len(tasks) == 1 else "tasks that wait for each other\n")
        for task in tasks[:MOST_OF_DEADLOCK]:
            name = "" if task.name is None else f' "{for_people(task.name)}"'
            self.put(f"  task {task.id}{name}\n")
            self.steps(task.steps, 4)
        more = len(tasks) - MOST_OF_DEADLOCK
        if more > 0:
            self.put(f"  ... {more} more {_tasks(more)}\n")

    def group(self, group):
        self._is_cut_told = False
        if group.count == 1:
            self.put(f"\ntask {group.ids[0]}")
        else:
            more = ", ...)" if group.count > len(group.ids) else ")"
            self.put(f"\n{group.count} tasks ({', '.join(map(str, group.ids))}{more}")
        if group.name is not None:
            self.put(f' "{for_people(group.name)}"')
        self.put(f"  {group.state}")
        if group.wakers >= 0:
            self.put(f", {group.wakers} {'waker' if group.wakers == 1 else 'wakers'}")
        if group.spawned is not None:
            self.put(f"  spawned at {_place(group.spawned)}")
        elif group.spawned_code is not None:
            module, offset = group.spawned_code
            self.put(f"  spawned at {for_people((module or '?').encode(errors='surrogateescape'))}+{offset:#x}")
        self.put("  -> NOBODY CAN WAKE IT\n" if group.is_forgotten else "\n")
        self.steps(group.steps, 2)

    def steps(self, steps, indent):
        if steps:
            self._all = steps
            self._waiting(0, indent)

    def _waiting(self, at, indent):
        """From a begin_waiting to behind its end."""
        steps = self._all
        at += 1
        while at < len(steps) and steps[at].kind != "end_waiting":
            step = steps[at]
            if step.kind == "leaf":
                self._line(indent, f"waits for {self._leaf(step)}")
            elif step.kind == "begin_node":
                at = self._node(at, indent)
            elif step.kind == "frame":
                at = self._frames(at, indent)
            elif step.kind == "left_out":
                self._line(indent, f"... {step.value} more")
            at += 1
        return at + 1

    def _frames(self, at, indent):
        """A coroutine that awaits itself at the same place is one line."""
        steps, where, times = self._all, self._all[at].where, 1
        while at + 1 < len(steps) and steps[at + 1].kind == "frame" and steps[at + 1].where.line == where.line and \
                steps[at + 1].where.function == where.function:
            times += 1
            at += 1
        more = "" if times == 1 else f"  ({times} times)"
        number = ""
        if self._next_number is not None:
            number = f"#{self._next_number} "
            self._next_number += times
        self._line(indent, f"{number}at {_place(where)}  {for_people(where.function)}{more}")
        return at

    def _node(self, at, indent):
        steps, shape = self._all, self._all[at].shape
        begin = f"waits for {for_people(label_of(shape))}"
        at += 1
        kinds = [step.kind for step in steps[at:at + 4]]
        # What one operation waits for, such as a descriptor, is told in its line.
        if kinds[1:3] == ["leaf", "end_waiting"] and kinds[3:] != ["begin_waiting"]:
            self._line(indent, f"{begin}: {self._leaf(steps[at + 1])}")
            return at + 3
        self._line(indent, begin + {"all_of": ", all of", "any_of": ", one of"}.get(shape.kind, " of"))
        while at < len(steps) and steps[at].kind == "begin_waiting":
            length = self._end_of_waiting(at) - at
            alike = self._count_alike(at, length)
            shown = MOST_SHOWN if alike > MOST_ALIKE else alike
            for _ in range(shown):
                self._is_item = True
                at = self._waiting(at, indent + 4)
            if shown != alike:
                at += (alike - shown) * length
                self._is_item = True
                self._line(indent + 4, f"... {alike - shown} more")
        self._is_item = False
        if at >= len(steps) and not self._is_cut_told:
            self._is_cut_told = self._is_item = True
            self._line(indent + 4, "... and others, for which a dump has no room")
        return at

    def _count_alike(self, at, length):
        """How many that wait at the same place for the same kind of thing come one after another, at least 1."""

        def looks(begin):
            return [(step.kind, step.shape, step.where and (step.where.line, step.where.function))
                    for step in self._all[begin:begin + length]]

        first, count = looks(at), 1
        while looks(at + count * length) == first:
            count += 1
        return count

    def _end_of_waiting(self, at):
        depth = 0
        while True:
            depth += (self._all[at].kind == "begin_waiting") - (self._all[at].kind == "end_waiting")
            at += 1
            if depth == 0 or at >= len(self._all):
                return at

    def _line(self, indent, text):
        self.put(" " * (indent - 2) + "- " if self._is_item else " " * indent)
        self._is_item = False
        self.put(text + "\n")

    def _leaf(self, step):
        shape, told = step.shape, for_people(label_of(step.shape))
        if shape.kind == "opaque" or not shape.parts:
            return told
        if shape.kind in ("join", "descriptor"):
            told += f" {step.value}"
        elif shape.kind == "sleep":
            told += self._time(step.value)
        else:
            told += f" {step.value:#x}"
            if step.detail is not None:
                told += f' "{for_people(step.detail)}"'
        if step.holder:
            told += f"{', made by task' if shape.kind == 'init' else ', acquired by task'} {step.holder}"
        if shape.kind == "descriptor" and step.detail:
            told += f", {for_people(step.detail)}"
        return told

    def _time(self, deadline):
        """Of a core file nobody knows how late it was."""
        if self._now_ns is None:
            return f", until {deadline // 1_000_000_000}.{deadline // 1_000_000 % 1000:03} s of the monotonic clock"
        if deadline <= self._now_ns:
            return ", which is over"
        ms = (deadline - self._now_ns) // 1_000_000
        return f", for another {ms // 1000}.{ms % 1000:03} s"


def _place(where):
    return f"{for_people(where.file)}:{where.line}"
