"""The prose of a comment in a header, as Doxygen reads it.

Indented code becomes a block of code, what Doxygen would take for a command is escaped, and the lines
of the contract (`Cancel safety:`, `Threads:`, `Errors:`) become a list.
"""

import re

# The contract of an async function: each on a line of its own.
LABEL = re.compile(r"(Cancel safety|Threads|Errors): ")
CODE_SPAN = re.compile(r"(`[^`]*`)")
EMPHASIS = re.compile(r"\*\w[\w' -]*\*")
BULLET = re.compile(r"^( *(?:- |\d+\. )?)(.*)$")
# Before what goes on in the paragraph of the brief sentence: shell.py joins them again.
JOINED = "\u2060"


def escape(text):
    """Prose in which nothing is a command of Doxygen's, and only `code` and *emphasis* are marked."""
    parts = CODE_SPAN.split(text)
    for i in range(0, len(parts), 2):
        kept = EMPHASIS.findall(parts[i])
        pieces = EMPHASIS.split(parts[i])
        pieces = [re.sub(r"([\\@<>#%&*~|$])", r"\\\1", piece).replace("\\*", "&#42;").replace("\\|", "&#124;")
                  for piece in pieces]
        parts[i] = "".join(piece + (kept[j] if j < len(kept) else "") for j, piece in enumerate(pieces))
    return "".join(parts)


def contract(lines):
    """Lines that begin with labels, as a list."""
    items = []
    for line in lines:
        if LABEL.match(line):
            items.append(line)
        else:
            items[-1] += " " + line.strip()
    items = [f"- **{LABEL.match(item)[1]}**: {escape(item[LABEL.match(item).end():])}" for item in items]
    return ["", '<div class="contract">', "", *items, "", "</div>", ""]


def markdown(lines):
    """The text of a comment, as Doxygen's Markdown."""
    result, i = [], 0
    while i < len(lines):
        line = lines[i]
        if not line.strip():
            result.append("")
            i += 1
        elif line.startswith("  "):
            start = i
            while i < len(lines) and (not lines[i].strip() or lines[i].startswith("  ")):
                i += 1
            code = lines[start:i]
            while code and not code[-1].strip():
                code.pop()
            indent = min(len(line) - len(line.lstrip()) for line in code if line.strip())
            # A paragraph that goes on below code ends above it.
            result += ["", "```cpp", *[line[indent:].replace("*/", "*\u2215") for line in code], "```", ""]
        elif re.match(r"(- |\* |\d+\. |[|])", line):
            start = i
            while i < len(lines) and lines[i].strip() and not (i > start and lines[i].startswith("   ")):
                i += 1
            result += [BULLET.sub(lambda match: match[1] + escape(match[2]), line) for line in lines[start:i]]
        else:
            start, is_label = i, bool(LABEL.match(line))
            i += 1
            while i < len(lines) and lines[i].strip() and not lines[i].startswith(("  ", "- ")):
                if not is_label and LABEL.match(lines[i]):
                    break
                i += 1
            prose = lines[start:i]
            result += contract(prose) if is_label else [escape(" ".join(line.strip() for line in prose))]
    return result


def first_sentence_apart(lines):
    """Doxygen takes the first sentence as the brief one; it must not be in a list."""
    text = next((i for i, line in enumerate(lines) if line.strip()), None)
    if text is None or lines[text].startswith("  "):
        return lines
    end = text
    while end < len(lines) and lines[end].strip() and not lines[end].startswith("  ") and not LABEL.match(lines[end]):
        end += 1
    if end == text:
        return lines
    paragraph = " ".join(line.strip() for line in lines[text:end])
    match = re.match(r"(.*?\.|.*:)(?= [A-Z`(\[]|$)", paragraph)
    while match and re.search(r"\b(e\.g|i\.e|etc|vs)\.$", match[0]):
        match = re.match(re.escape(match[0]) + r".+?\.(?= [A-Z`]|$)", paragraph)
    if not match:
        return [paragraph + ("" if paragraph.endswith(".") else "."), "", *lines[end:]]
    brief, rest = match[0], paragraph[match.end():].strip()
    return [brief, "", *([JOINED + rest] if rest else []), *lines[end:]]


def documentation(lines, indent=""):
    """A comment of Doxygen's."""
    apart = first_sentence_apart(lines)
    brief = [line for line in apart[:1] if line.strip()]
    text = [f"@brief {escape(brief[0])}", ""] + markdown(apart[1:]) if brief else markdown(apart)
    return [f"{indent}/**", *[f"{indent}{line}".rstrip() for line in text], f"{indent}*/"]
