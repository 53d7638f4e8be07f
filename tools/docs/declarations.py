"""As much of C++ as is needed to see what a line of a header declares.

clang-format has put what is in a namespace into column 0, and the members of a class into column 2.
"""

import re

CLASS = r"(?:class|struct|enum class|enum|concept|union)"
NO_DECLARATION = re.compile(
    r"\s*(#|//|public:|private:|protected:|\}|$|using [\w:]+;|"
    r"(return|co_\w+|if|for|while|else|throw|static_assert|case|switch|delete|do|friend)\b)")
NO_NAME = ("requires", "if", "while", "for", "return", "switch", "decltype", "static_assert", "noexcept", "explicit",
           "alignas", "sizeof", "ROUSE_ASSERT")


# --- What a reader of the reference does not need. --------------------------------------------------

def without_model(text):
    """Without what holds in a model-checked build only."""
    kept, guards = [], []  # of each open #if: "" for any, else whether its lines are kept
    for line in text.split("\n"):
        if line.startswith("#if"):
            guards.append(False if "ROUSE_MODEL" in line else "")
        is_of_guard = bool(guards) and guards[-1] != "" and line.startswith(("#if", "#else", "#endif"))
        if line.startswith("#else") and is_of_guard:
            guards[-1] = True
        if not is_of_guard and False not in guards:
            kept.append(line)
        if line.startswith("#endif"):
            guards.pop()
    return "\n".join(kept)


def without_internals(text):
    """Without what is in a namespace `internal`: the public line."""
    return re.sub(r"(?ms)^namespace (?:[\w:]+::)?internal \{\n.*?^\}  // namespace (?:[\w:]+::)?internal\n", "", text)


def without_announcements(text):
    """Without namespaces in which something is only announced: `namespace rouse::sys { class Fd; }`."""
    return re.sub(r"(?m)^namespace [\w:]+ \{\n((?:(?:class|struct|enum class)\b[^{}]*;\n)+)\}.*\n", "", text)


def without_guides(text):
    """Without deduction guides: who reads `Mutex m(1);` needs none."""
    return re.sub(r"(?m)^template <.*>\n(?: +requires.*\n)?(?:explicit )?\w+\(.*\) -> .*;\n", "", text)


def without_attributes(text):
    """Without [[...]] and the macros that stand for it."""
    # What a future tells of itself to a dump: the macro is documented, and not each use.
    text = re.sub(r"(?m)^( *///[^\n]*see base/shape\.hpp[^\n]*\n)? *ROUSE_SHAPE(?:_OF)?\((?:[^()]|\([^()]*\))*\)\n", "", text)
    text = re.sub(r"(?m)^#define ROUSE_SHAPE_OF.*\\\n(?:.*\\\n)*.*\n", "", text)
    text = re.sub(r"(?m)^(?!#)(.*?) ?\b(?:ROUSE_LIFETIMEBOUND|ROUSE_API|ROUSE_TRIVIAL_ABI)\b", r"\1", text)
    text = re.sub(r"\[\[(?:[^\[\]\"]|\"[^\"]*\"|\[[^\]]*\])*\]\](?: |\n *(?=\w))?", "", text)
    return re.sub(r"(?m)^(class .*::)\n +", r"\1", text)  # what clang-format has broken


def without_internal_arguments(text):
    """`Closed` for `Closed<internal::ChannelCore>`: what it is made of is no matter."""
    return re.sub(r"<internal::\w+>", "", text)


def without_library_members(text):
    """Without functions that only the library can call or use: they take or give something internal. And without variables
    of such a type."""
    lines, kept, i = text.split("\n"), [], 0
    while i < len(lines):
        at = i
        while at + 1 < len(lines) and lines[at].strip().startswith("///"):
            at += 1
        if begins_declaration(lines, at) and re.match(r"(?:  )?\S", lines[at]) and not is_class(lines, at):
            head, end = function_at(lines, at)
            if is_for_library(head):
                i = end
                continue
        kept.append(lines[i])
        i += 1
    return "\n".join(kept)


def function_at(lines, start):
    """The declaration that begins at a line without its `requires`, and the line behind it and its body."""
    head = ""
    for i in range(start, len(lines)):
        line = lines[i].rstrip()
        if line.strip().startswith("requires"):
            continue
        head += line.strip() + " "
        if line.endswith((";", "}")):
            return head, i + 1
        if line.endswith("{"):
            close = re.match(r" *", lines[start])[0] + "}"
            ends = [j for j in range(i + 1, len(lines)) if lines[j].startswith(close)]
            return head, ends[0] + 1 if ends else len(lines)
    return head, len(lines)


def is_for_library(head):
    if head.startswith("template") and end_of_brackets(head) is not None:
        head = head[end_of_brackets(head) + 1:].strip()
    result, bracket, rest = head.partition("(")
    if head.startswith(("using", "namespace", "inline namespace", "friend", "return")):
        return False
    if not bracket:
        return "internal::" in head.partition("=")[0]
    if "=" in result:
        return False
    depth, parameters = 1, ""
    for char in rest:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            break
        parameters += char
    gives = re.match(r"(?:(?:static|inline|constexpr|virtual|const|explicit) )*(?:Poll<)?(?:const )?internal::", result)
    return bool(gives) or "internal::" in re.sub(r"= *internal::", "", parameters)  # a default is no matter


def public_part(text):
    for without in (without_model, without_internals, without_announcements, without_guides, without_attributes,
                    without_library_members, without_internal_arguments):
        text = without(text)
    return text


# --- What a line declares. --------------------------------------------------------------------------

def is_continuation(lines, i):
    """Whether a line goes on with the declaration of the line before."""
    before = lines[i - 1].strip() if i > 0 else ""
    if not before or before.startswith(("//", "#")):
        return False
    return before.startswith("requires") or not before.endswith((";", "{", "}", ":"))


def begins_declaration(lines, i):
    """Whether a declaration begins at a line; or a statement that looks like one."""
    return bool(lines[i].strip()) and not NO_DECLARATION.match(lines[i]) and not is_continuation(lines, i)


def declared_name(line):
    """The name that a line declares, if it looks like that: a class, a function, a type, a constant."""
    for pattern in (r"\s*" + CLASS + r" (?:\w+(?:<[^<>]*>)?::)*(\w+)(?!\w*;)",
                    r"\s*using (\w+) ="):
        match = re.match(pattern, line)
        if match:
            return match[1]
    match = re.match(r"\s*(?:[\w:<>,&*~ .()]*?[\s&*>])??((?:operator\s*\S+?|~?\w+))\(", line)
    if match and match[1] not in NO_NAME:
        return match[1]
    match = re.match(r"\s*(?:inline |static |constexpr |const )+[\w:<>, ]+ (\w+)(?: =|\{)", line)
    return match[1] if match else None


def end_of_brackets(text):
    """Where the first <...> ends; None if it does not."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "<") - (char == ">")
        if char == ">" and depth == 0:
            return i
    return None


def name_at(lines, start):
    """The name of the declaration that begins at a line, behind `template <...>` and `requires ...`."""
    text = ""
    for line in lines[start:start + 12]:
        if line.strip().startswith("requires"):
            continue
        text += " " + line.strip()
        rest = text.strip()
        while rest.startswith("template") and end_of_brackets(rest) is not None:
            rest = rest[end_of_brackets(rest) + 1:].strip()
        if rest.startswith("template") or not rest:
            continue  # the head goes on in the next line
        name = declared_name(rest)
        if name or rest.endswith((";", "{")):
            return name
    return None


def is_class(lines, i):
    for line in lines[i:i + 6]:
        if not line.strip().startswith(("template", "requires")):
            return bool(re.match(r"\s*" + CLASS + r"\b", line))
    return False


def is_forward(lines, i):
    """Whether a class is only announced here: `template <class T> class Mutex;`."""
    for line in lines[i:i + 4]:
        if line.rstrip().endswith(";"):
            return bool(re.match(r"\s*(class|struct)\b[^({=]*;$", line))
        if line.rstrip().endswith("{"):
            return False
    return False


def is_member(lines, i):
    """Whether a member of a class is defined here, outside of it: `inline Recv Signal::recv() {`."""
    text = ""
    for line in lines[i:i + 6]:
        if not line.strip().startswith(("template", "requires", "using")):
            text += line.strip() + " "
        if line.rstrip().endswith((";", "{", "}")):
            break
    head = re.split(r"[({;]", text, maxsplit=1)[0].strip()
    return bool(re.search(r"\w(?:<[^<>]*>)?::~?\w+$", head)) and "=" not in head
