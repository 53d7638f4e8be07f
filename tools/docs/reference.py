"""The reference: its groups, and which public names lack documentation."""

import re
import xml.etree.ElementTree as xml

# What the layers are called in the reference, in the order in which one meets them.
LAYERS = {
    "core": ("The poll model", "Futures, wakers, coroutines: what all others are made of."),
    "future": ("Futures and combinators", "What combines futures: all, the first, one after another."),
    "runtime": ("The runtime", "What a program starts: threads, timers, I/O and blocking calls together."),
    "exec": ("Tasks and executors", "Spawning, joining, fork/join, blocking calls, thread-bound tasks."),
    "sync": ("Channels and locks", "How tasks wait for each other."),
    "stream": ("Streams", "Values that come one after another, and what is done with them."),
    "time": ("Time", "Sleeping, deadlines, intervals, and a clock for tests."),
    "io": ("Bytes", "Reading, writing, buffers, framing, descriptors."),
    "net": ("Network", "TCP, UDP, Unix sockets, addresses, name lookup."),
    "http": ("HTTP", "HTTP/1.1: a component of its own."),
    "tls": ("TLS", "Encrypted connections over any stream: a component of its own."),
    "fs": ("Files", "Files and directories, on blocking threads."),
    "process": ("Processes", "Starting other programs, and talking to them."),
    "signal": ("Signals", "Signals of the system as something to await."),
    "thread": ("System threads", "Threads of their own, and their end as a future."),
    "sight": ("Sight", "What every task of a running program waits for."),
    "embedded": ("Small systems", "An executor without heap and operating system."),
    "testing": ("For tests", "Polling by hand, dropping at each poll, counting wakes."),
    "model": ("Model checker", "Every interleaving of a small multi-threaded program."),
    "base": ("Vocabulary", "Results, shared owners, assertions: without async."),
    "all": ("Contents page and version", "The header that includes all others."),
}

CHECKED = ("function", "enum")
# These do what they do in every class.
SPECIAL = re.compile(r"operator|~")


def group_page(layer):
    title, about = LAYERS.get(layer, (layer, ""))
    return f"/** @defgroup {layer} {title}\n@brief {about}\n*/"


def is_documented(node):
    return any("".join(node.find(part).itertext()).strip() for part in ("briefdescription", "detaileddescription")
               if node.find(part) is not None)


def is_special(member, class_name):
    """A constructor, a destructor, an assignment or another operator; or what the compiler makes."""
    name = member.findtext("name")
    bare = re.sub(r"<.*", "", class_name).split("::")[-1]
    arguments = member.findtext("argsstring") or ""
    return bool(name in (bare, "explicit") or SPECIAL.match(name) or arguments.endswith(("=delete", "=default")))


def is_deduction_guide(member):
    return not member.findtext("type") and "->" in (member.findtext("argsstring") or "")


def is_specialisation(compound):
    return "<" in compound.findtext("compoundname")


def undocumented(folder):
    """The public names that have no documentation: 'include/...: kind name'."""
    problems = []
    for path in sorted(folder.glob("*.xml")):
        if path.name in ("index.xml", "Doxyfile.xml"):
            continue
        compound = xml.parse(path).getroot().find("compounddef")
        kind, name = compound.get("kind"), compound.findtext("compoundname")
        if kind not in ("class", "struct", "union", "concept", "group"):
            continue
        if compound.get("prot") in ("private", "protected") or is_specialisation(compound) or name.startswith("std::"):
            continue
        if kind != "group" and not is_documented(compound):
            problems.append(describe(compound, kind, name))
        for member in compound.iter("memberdef"):
            if member.get("prot") != "public" or member.get("kind") not in CHECKED:
                continue
            if member.findtext("name") == "" or member.findtext("name").startswith("@") or is_documented(member):
                continue
            if kind != "group" and is_special(member, name):
                continue
            if kind == "group" and (SPECIAL.match(member.findtext("name")) or is_deduction_guide(member)):
                continue
            if "<" in member.findtext("name"):
                continue  # a specialisation
            qualified = member.findtext("qualifiedname") or member.findtext("definition")
            problems.append(describe(member, member.get("kind"), qualified))
    return sorted(set(problems))


def with_internals(folder):
    """The public functions and variables whose types a user can't name: 'include/...: kind name'."""
    problems = []
    for path in sorted(folder.glob("*.xml")):
        if path.name in ("index.xml", "Doxyfile.xml"):
            continue
        compound = xml.parse(path).getroot().find("compounddef")
        if compound.get("prot") in ("private", "protected"):
            continue
        for member in compound.iter("memberdef"):
            if member.get("prot") != "public" or member.get("kind") not in ("function", "variable"):
                continue
            types = [member.find("type"), *(parameter.find("type") for parameter in member.findall("param"))]
            if any("internal::" in "".join(node.itertext()) for node in types if node is not None):
                qualified = member.findtext("qualifiedname") or member.findtext("definition")
                problems.append(describe(member, member.get("kind"), qualified, "mentions something internal"))
    return sorted(set(problems))


def describe(node, kind, name, what="is not documented"):
    location = node.find("location")
    return f"include/{location.get('file')}: {kind} {name} {what}"
