"""What a task waits for: as src/core/shape_walk.cpp and src/sight/task_walk.hpp do it."""

import struct

from .target import Broken, in_turn

DEEPEST = 256
MOST_ITEMS = 4096
MOST_STEPS = 4096
MOST_VISITS = 1 << 18
INNER_FRAMES = 32
OUTER_FRAMES = 8
MOST_AWAITED = 4096
FOR_A_TASK = ("join", "lock", "shared", "init", "fork", "scope")
NO_MEMORY = 1  # instead of a group


class Shape:

    def __init__(self, kind, label, size, parts):
        self.kind = kind
        self.label = label  # bytes; None: it has none
        self.size = size
        self.parts = parts  # (offset, address of the child's Shape)


class Where:
    """A std::source_location; `key` is what tells it from others."""

    def __init__(self, key, file, line, function):
        self.key = key
        self.file = file
        self.line = line
        self.function = function


class Step:
    __slots__ = ("kind", "shape", "where", "value", "holder", "frame", "detail")

    def __init__(self, kind, shape=None, where=None, frame=0):
        self.kind = kind
        self.shape = shape
        self.where = where
        self.value = 0
        self.holder = 0
        self.frame = frame
        self.detail = None

    def key(self):
        where = self.where.key if self.where and self.kind == "frame" else None
        return self.kind, id(self.shape), where


class Constants:
    """What never changes: shapes and source locations, each read once."""

    def __init__(self, target, layout):
        self.target = target
        self.layout = layout
        self._shapes = {}
        self._places = {}

    def shape(self, address):
        if address not in self._shapes:
            layout = self.layout
            kind = layout.waits.get(self.target.u8(address + layout.Shape_kind))
            if kind is None:
                raise Broken(f"there is no Shape at {address:#x}")
            label = self.target.word(address + layout.Shape_label)
            parts = self.target.word(address + layout.Shape_parts)
            count = self.target.u8(address + layout.Shape_count)
            rows = []
            for i in range(count):
                row = parts + i * layout.Part_bytes
                offset = struct.unpack("<q", self.target.read(row + layout.Part_offset, 8))[0]
                rows.append((offset, self.target.word(row + layout.Part_shape)))
            self._shapes[address] = Shape(kind, self.target.text(label) if label else None,
                                          self.target.u32(address + layout.Shape_size), rows)
        return self._shapes[address]

    def place(self, address):
        """Of a std::source_location, which is a pointer: this one."""
        if address not in self._places:
            if address == 0:
                return Where((0, 0, 0), b"", 0, b"")
            layout = self.layout
            file = self.target.word(address + layout.source_location_file)
            function = self.target.word(address + layout.source_location_function)
            line = self.target.u32(address + layout.source_location_line)
            column = self.target.u32(address + layout.source_location_column)
            self._places[address] = Where((file, line, column), self.target.text(file), line, self.target.text(function))
        return self._places[address]


class Walk:
    """The steps of one task:

    waiting := begin_waiting, [leaf | node], frame..., end_waiting       frames: innermost first
    node    := begin_node, waiting..., end_node
    """

    def __init__(self, constants):
        self.constants = constants
        self.target = constants.target
        self.layout = constants.layout
        self.steps = []
        self.waits_for_ever = False
        self._may_go_on = False
        self._awaited = []
        self._depth = 0
        self._items = 0
        self._visits = 0
        self._frames = 0

    def awaited(self):
        """(id, whether it is a tag) of the tasks that it waits for; none, if it waits for anything else, too."""
        return [] if self._may_go_on or self._hides_something() else self._awaited

    def walk(self, shape, future):
        self._in_waiting(False, lambda: self._visit(self.constants.shape(shape), future, True))

    # --- What is visited. ---

    def _cut(self):
        self.waits_for_ever = self._may_go_on = True

    def _in_waiting(self, is_open, visit):
        if self._items == MOST_ITEMS:
            return self._cut()
        self._items += 1
        if not is_open:
            self._add("begin_waiting")
        visit()
        if not is_open:
            self._add("end_waiting")
        return None

    def _visit(self, shape, future, is_open):
        if self._depth == DEEPEST:
            return self._cut()
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise Broken("it waits for more than there can be")
        self._depth += 1
        self._visit_as_its_kind(shape, future, is_open)
        self._depth -= 1
        return None

    def _visit_as_its_kind(self, shape, future, is_open):
        kind = shape.kind
        if kind in ("all_of", "any_of") or (kind == "one" and shape.label is not None):
            self._in_waiting(is_open, lambda: self._node(shape, future))
        elif kind == "one":
            self._children(shape, future, is_open)
        elif kind == "chain":
            root = self.target.word(future)
            if root:
                self._in_waiting(is_open, lambda: self._chain(root))
        elif kind == "branch":
            root = self._field(shape, future, 0)
            if root:
                group = self._field(shape, future, 1)
                self._in_waiting(is_open, lambda: self._branch(group, root))
        elif kind == "pointer":
            pointee = self.target.word(future)
            if pointee:
                self._visit(self.constants.shape(shape.parts[0][1]), pointee, is_open)
        elif kind == "maybe":
            if self.target.u8(future + shape.parts[1][0]):
                self._part(shape, future, 0, is_open)
        elif kind == "erased":
            table = self._field(shape, future, 0)
            if table:
                self._visit(self.constants.shape(self.target.word(table)), future + shape.parts[1][0], is_open)
        elif kind == "array":
            self._array(shape, future)
        elif kind == "list":
            for node in in_turn(future, lambda node: self._field(shape, node, 1), "a list of futures"):
                if self._items == MOST_ITEMS:
                    return self._cut()
                self._part(shape, node, 0, False)
        else:
            self._in_waiting(is_open, lambda: self._leaf(shape, future))
        return None

    def _node(self, shape, future):
        self._add("begin_node", shape)
        self._children(shape, future, False)
        self._add("end_node", shape)

    def _branch(self, group, root):
        if group and not self.target.u8(group + self.layout.BranchGroup_cancelled):
            self._chain(root)
        else:
            self._cut()

    def _array(self, shape, future):
        child = self._field(shape, future, 0)
        # The first part is a pointer to the children.
        of_child = self.constants.shape(self.constants.shape(shape.parts[0][1]).parts[0][1])
        for _ in range(self._field(shape, future, 1)):
            if self._items == MOST_ITEMS:
                return self._cut()
            self._visit(of_child, child, False)
            child += shape.size
        return None

    def _part(self, shape, future, index, is_open):
        offset, child = shape.parts[index]
        self._visit(self.constants.shape(child), future + offset, is_open)

    def _children(self, shape, future, is_open):
        for i in range(len(shape.parts)):
            self._part(shape, future, i, is_open)

    def _field(self, shape, future, index):
        return self.target.word(future + shape.parts[index][0])

    def _chain(self, root):
        target, layout = self.target, self.layout
        is_root = target.u8(root + layout.Frame_state) == layout.Frame_State_root
        link = target.word(root + layout.Frame_link)
        if is_root and link:
            leaf = target.word(link + layout.Frame_awaited)
            if leaf:
                kind = target.word(leaf + layout.Leaf_type)
                offset = target.word(kind + layout.LeafType_future_offset)
                shape = self.constants.shape(target.word(kind + layout.LeafType_shape))
                self._visit(shape, target.word(leaf + offset) if offset else leaf, True)
        if not is_root:
            return self._frame(root)

        def child_of(frame):
            awaited = target.word(frame + layout.Frame_awaited)
            return target.word(awaited - 1) if awaited & 1 else 0

        def parent_of(frame):
            return target.word(frame + layout.Frame_link) if frame != root else 0

        *_, innermost = in_turn(link or root, child_of, "a chain of coroutines")
        for frame in in_turn(innermost, parent_of, "a chain of coroutines"):
            self._frame(frame)
        return None

    # --- What is found. ---

    def _add(self, kind, shape=None):
        if kind != "frame":
            self._frames = 0
        if len(self.steps) == MOST_STEPS:
            self._may_go_on = True
            return None
        self.steps.append(Step(kind, shape))
        return self.steps[-1]

    def _frame(self, frame):
        """The innermost ones as they come; of the rest the last few."""
        where = self.constants.place(self.target.word(frame + self.layout.Frame_where))
        steps = self.steps
        if self._frames < INNER_FRAMES + OUTER_FRAMES:
            step = self._add("frame")
            if step:
                step.where, step.frame = where, frame
            self._frames += 1
            return
        if self._frames == INNER_FRAMES + OUTER_FRAMES:
            if len(steps) == MOST_STEPS:
                return
            steps.insert(-OUTER_FRAMES, Step("left_out"))
            self._frames += 1
        steps[-OUTER_FRAMES - 1].value += 1
        del steps[-OUTER_FRAMES]
        steps.append(Step("frame", None, where, frame))

    def _leaf(self, shape, future):
        kind = shape.kind
        self.waits_for_ever |= kind == "never"
        self._may_go_on |= kind not in FOR_A_TASK
        step = self._add("leaf", shape)
        if step is None or not shape.parts:
            return
        target, layout = self.target, self.layout
        if kind == "descriptor":
            step.value = target.i32(future + shape.parts[0][0]) & (1 << 64) - 1
            return
        step.value = self._field(shape, future, 0)
        if kind == "join":
            task = step.value
            step.value = task_id(target, layout, task) if task else 0
            self._await(step.value, False)
        elif kind == "init":
            step.holder = target.u32(step.value) if step.value else 0
            self._await(step.holder, True)
        elif kind in ("lock", "shared"):
            if step.value and target.word(step.value + layout.Permits_state) >> layout.Permits_shift == 0:
                step.holder = target.u32(step.value + layout.Permits_holder)
            self._await(step.holder, True)
        elif kind in ("fork", "scope"):
            group = target.word(step.value) if kind == "scope" and step.value else step.value
            if group <= NO_MEMORY or not self._await_children(group):
                self._may_go_on = True

    def _await_children(self, group):
        """As BranchGroup::show_awaited."""
        target, layout = self.target, self.layout
        enrolled, awaited = target.u32(group + layout.BranchGroup_enrolled), target.u32(group + layout.BranchGroup_awaited)
        if target.u8(group + layout.BranchGroup_cancelled) or target.u8(group + layout.BranchGroup_is_lost) or \
                not target.word(group + layout.BranchGroup_waker + layout.RawWaker_vtable):
            return False
        if (awaited != layout.BranchGroup_all and enrolled < awaited) or target.word(group + layout.BranchGroup_promised):
            return False
        left = enrolled - target.u32(group + layout.BranchGroup_ended)
        tasks = group + layout.BranchGroup_tasks
        at, end = target.word(tasks + layout.vector_begin), target.word(tasks + layout.vector_end)
        if not 0 <= end - at <= 8 * MOST_AWAITED:
            return False
        for slot in range(at, end, 8):
            task = target.word(slot)
            if not task or target.word(task + layout.TaskHeader_state + layout.TaskState_word) & layout.TaskState_complete:
                continue
            if left == 0:
                return False
            left -= 1
            self._await(task_id(target, layout, task), False)
        return left == 0

    def _await(self, task, is_tag):
        if task == 0 or len(self._awaited) == MOST_AWAITED:
            self._may_go_on = True
        else:
            self._awaited.append((task, is_tag))

    def _hides_something(self):
        """Whether something waits, and nobody says for what."""
        for step, after in zip(self.steps, self.steps[1:]):
            if step.kind == "begin_waiting" and after.kind not in ("leaf", "begin_node"):
                return True
            if step.kind == "begin_node" and after.kind == "end_node":
                return True
        return False


def task_id(target, layout, task):
    return target.u16(task + layout.TaskHeader_id_high) << 32 | target.u32(task + layout.TaskHeader_id_low)
