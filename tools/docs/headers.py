"""Turns a public header into what Doxygen reads: its plain comments become Doxygen's.

The headers are written for readers: a file opens with a `//` comment that says what it is, and `///`
comments are prose with indented code (prose.py). Here

- the opening comment documents the file, and what it names first ("select(f...): runs ...");
- an overload without a comment has that of the overload before it;
- what follows from something beside it gets a sentence that says so: the members of every future
  (`poll`, `Output`), the class that a function gives, the getter of a setter;
- what a layer declares is put into a group of its name.
"""

import re

import declarations
import prose

# What a future, a stream, a reader, a coroutine or a container has because it is one.
PROTOCOL = {
    "poll": "The poll of a Future. co_await and executors call it.",
    "poll_result": "The poll behind co_await and `result()`: gives errors instead of throwing them.",
    "poll_next": "The poll of a Stream.",
    "poll_read": "The poll of an AsyncRead.",
    "poll_readv": "The poll of an AsyncRead, for several buffers.",
    "poll_write": "The poll of an AsyncWrite.",
    "poll_writev": "The poll of an AsyncWrite, for several buffers.",
    "poll_flush": "The poll of an AsyncWrite that sends what is buffered.",
    "poll_shutdown": "The poll of an AsyncWrite that ends it.",
    "poll_fill": "The poll of an AsyncBufRead.",
    "poll_fill_buf": "The poll of an AsyncBufRead.",
    "consume": "Of an AsyncBufRead: so many bytes of its buffer have been used.",
    "borrows": "Whether it refers to something that it does not own: `spawn` refuses it then.",
    "begin": "The first element.",
    "end": "Behind the last element.",
    "size": "How many there are.",
    "empty": "Whether there are none.",
    "spawner": "A handle that puts tasks on this executor, from any thread.",
    "scheduler": "What runs its tasks. For the library.",
    "metrics": "What it has done and holds. Any thread.",
    "fd": "The descriptor, which is still owned here.",
    "await_ready": "What the compiler calls at a co_await.",
    "await_suspend": "What the compiler calls at a co_await.",
    "await_resume": "What the compiler calls at a co_await.",
    "await_transform": "What the compiler calls at a co_await.",
    "initial_suspend": "What the compiler calls in a coroutine.",
    "final_suspend": "What the compiler calls in a coroutine.",
    "get_return_object": "What the compiler calls in a coroutine.",
    "unhandled_exception": "What the compiler calls in a coroutine.",
    "return_void": "What the compiler calls at a co_return.",
    "return_value": "What the compiler calls at a co_return.",
    "yield_value": "What the compiler calls at a co_yield.",
}
# Of these also in a class inside of a class, which is not told apart from the body of a function.
NESTED = ("poll", "await_ready", "await_suspend", "await_resume")
PROTOCOL_TYPES = {
    "Output": "What it gives when it is ready.",
    "Item": "What the stream gives.",
    "promise_type": "What the compiler makes a coroutine of.",
}
NOT_NAMES = ("and", "The", "the", "concept", "of", "a", "What", "in", "to")


# --- What a comment is about. -----------------------------------------------------------------------

def head_names(comment):
    """What the opening comment of a file is about: the names before a colon in its first paragraph."""
    paragraph = " ".join(comment[:comment.index("")] if "" in comment else comment)
    names = []
    for sentence in re.split(r"(?<=\.) ", paragraph):
        head, colon, _ = sentence.replace("::", "\0").partition(":")
        head = re.sub(r"\([^()]*\)|<[^<>]*>", "", head.replace("\0", "::"))
        if colon and len(head.split()) <= 10:
            names += [word.split("::")[-1] for word in re.findall(r"[A-Za-z_][\w:]*", head)]
    return [name for name in names if name not in NOT_NAMES]


def without_head(opening):
    """"Mutex<T>: a value that ..." says of Mutex: "A value that ..."."""
    match = re.match(r"[\w:]+(?:<[\w, .]*>)?(?:\([^()]*\))?: (\w)", opening[0])
    return [match[1].upper() + opening[0][match.end():], *opening[1:]] if match else opening


def derived(name, text, indent):
    """A sentence for what follows from something beside it in the header. None: there is no such thing."""
    if not name.isidentifier():  # an operator, a destructor
        return None
    if name in (PROTOCOL if len(indent) == 2 else NESTED):
        return PROTOCOL[name]
    if indent and name in PROTOCOL_TYPES:
        return PROTOCOL_TYPES[name]
    if name == "error_category":
        return "The category of the error codes of this header."
    if name == "make_error_code":
        return "Makes the errors of this header convert to a std::error_code."
    if name[0].isupper():
        function = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
        is_there = len(indent) <= 2 and re.search(rf"\b{function}\(", text)
        return f"What `{function}` gives: see there." if is_there else None
    if len(indent) > 2:
        return None
    if indent and re.search(rf"\bset_{name}\(", text):
        return f"What `set_{name}` sets."
    polled = name.removeprefix("poll_")
    if polled != name and re.search(rf"\b{polled}\(", text):
        return f"The poll of `{polled}`, for poll functions of your own."
    type_name = "".join(word.capitalize() for word in name.split("_"))
    if re.search(rf"(?m)^(?:  )?(?:class|struct)\b[^;{{(]*\b{type_name}\b[^;]*\{{$", text):
        return f"Gives a {type_name}: see there."
    return None


# --- The whole header. ------------------------------------------------------------------------------

class Header:
    def __init__(self, text, layer):
        lines = text.split("\n")
        self._opening = []
        while lines and lines[0].startswith("//"):
            self._opening.append(lines.pop(0)[2:].removeprefix(" "))
        self._text = declarations.public_part("\n".join(lines))
        self._lines = self._text.split("\n")
        self._layer = layer
        self._subjects = head_names(self._opening)
        self._about_first = self._opening  # until its subject has come
        self._scope = None  # the class whose members are read
        self._comments = {}  # by scope, indentation and name: what further overloads have, too
        self._depth = 0  # of namespaces
        self._is_in_group = False
        self._out = []

    def for_doxygen(self):
        opening = prose.documentation(self._opening) if self._opening else ["/**", "*/"]
        self._out = ["/** @file", *opening[1:]]
        i = 0
        while i < len(self._lines):
            i = self._read(i)
        return "\n".join(self._out)

    def _read(self, i):
        """Reads a line, or a comment and the line it is about; gives the next one."""
        line = self._lines[i]
        if line == "#pragma once":
            return i + 1
        if re.match(r"(?:inline )?namespace\b.*\{$|\}  // (?:inline )?namespace", line):
            self._leave_group()
            self._depth += 1 if line.endswith("{") else -1
            self._out.append(line)
            return i + 1
        comment = []
        while i < len(self._lines) and re.match(r"\s*///(?!/)( |$)", self._lines[i]):
            comment.append(self._lines[i].strip()[3:].removeprefix(" "))
            i += 1
        if i == len(self._lines):
            return i
        line = self._lines[i]
        indent = re.match(r" *", line)[0]
        if declarations.begins_declaration(self._lines, i):
            comment = self._comment_of_declaration(i, indent, comment)
        if comment:
            self._out += prose.documentation(comment, indent)
        self._out.append(line)
        return i + 1

    def _comment_of_declaration(self, i, indent, comment):
        lines, name = self._lines, declarations.name_at(self._lines, i)
        is_class = declarations.is_class(lines, i)
        if not indent:
            self._scope = name if is_class else None
        key = (self._scope, indent, name)
        # A constructor that moves is not explained by the one before it.
        is_overloadable = bool(name) and name.isidentifier() and name != self._scope
        if name and not comment and len(indent) <= 4:
            sentence = derived(name, self._text, indent)
            comment = self._comments.get(key, []) if is_overloadable else []
            comment = comment or ([sentence] if sentence else [])
        if not indent and name in self._subjects and self._about_first and not declarations.is_forward(lines, i):
            comment = self._with_opening(comment)
        if not indent and self._depth > 0:
            self._enter_or_leave_group(declarations.is_member(lines, i))
        if name and comment and not is_class:
            self._comments[key] = comment
        return comment

    def _with_opening(self, comment):
        opening, self._about_first = self._about_first, []
        first = without_head(opening)
        parts = [first, comment] if first != opening else [comment, opening]  # else it is about several
        return [line for part in parts if part for line in [*part, ""]]

    def _enter_or_leave_group(self, is_member):
        """What is a member of a class is in the class's page, and in no group."""
        if is_member:
            self._leave_group()
        elif not self._is_in_group:
            self._out += [f"/** @addtogroup {self._layer}", "@{ */"]
            self._is_in_group = True

    def _leave_group(self):
        if self._is_in_group:
            self._out.append("/** @} */")
        self._is_in_group = False
