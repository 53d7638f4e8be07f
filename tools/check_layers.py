#!/usr/bin/env python3
"""Holds every #include of our own headers in include/ and src/ against tools/layers.txt."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def read_rules(path):
    rules = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if not line:
            continue
        layer, colon, allowed = line.partition(":")
        if not colon or layer.strip() in rules:
            sys.exit(f"{path}:{number}: not 'layer: allowed ...', or said twice")
        rules[layer.strip()] = allowed.split()
    for layer, allowed in rules.items():
        for entry in allowed:
            if entry != "*" and entry.split("/")[0] not in rules:
                sys.exit(f"{path}: {layer} may include {entry}, which is no layer")
            if "/" in layer and entry not in rules:
                sys.exit(f"{path}: {layer} may include {entry}, which is no room")
    return rules


def find_cycle(rules):
    done = set()

    def visit(layer, path):
        if layer in path:
            return path[path.index(layer):] + [layer]
        if layer in done:
            return None
        for entry in rules[layer]:
            # A single header is no dependency on its layer.
            cycle = visit(entry, path + [layer]) if entry in rules else None
            if cycle:
                return cycle
        done.add(layer)
        return None

    return next((cycle for layer in rules if (cycle := visit(layer, []))), None)


def parts_of(path):
    """The place of one of our files within its layers: ('exec', 'task.hpp'), or None."""
    for top in (ROOT / "include" / "rouse", ROOT / "src"):
        if path.is_relative_to(top):
            return path.relative_to(top).parts
    return None


def included(file, quote, target):
    """The parts of what an #include names, or None if it is not ours."""
    if target.startswith("rouse/"):
        return tuple(target.split("/")[1:])
    if quote == '"':  # a private header: beside the file, or from src/
        for place in (file.parent, ROOT / "src"):
            path = (place / target).resolve()
            if path.exists():
                return parts_of(path)
    return None


def room_of(rules, parts):
    """The room of a private file: 'exec/pool', or None in a layer without rooms."""
    room = "/".join(parts[:2])
    return room if len(parts) > 2 and room in rules else None


def is_allowed(rules, file_parts, parts):
    layer = file_parts[0]
    if parts[0] == layer:
        room, target = room_of(rules, file_parts), room_of(rules, parts)
        return room is None or target in (None, room) or target in rules[room]
    header = "/".join(parts).rsplit(".", 1)[0]
    return any(entry in ("*", parts[0], header) for entry in rules[layer])


def main():
    rules = read_rules(ROOT / "tools" / "layers.txt")
    problems = []
    if cycle := find_cycle(rules):
        problems.append("tools/layers.txt: cycle: " + " -> ".join(cycle))
    with_rooms = {layer.split("/")[0] for layer in rules if "/" in layer}
    files = [f for top in ("include", "src") for f in sorted((ROOT / top).rglob("*.[hc]pp"))]
    for file in files:
        name = file.relative_to(ROOT)
        parts = parts_of(file)
        if parts is None or parts[0] not in rules:
            problems.append(f"{name}: belongs to no layer of tools/layers.txt")
            continue
        if name.parts[0] == "src" and parts[0] in with_rooms and not room_of(rules, parts):
            problems.append(f"{name}: belongs to no room of {parts[0]} in tools/layers.txt")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = included(file, *match.groups()) if match else None
            if target and not is_allowed(rules, parts, target):
                place = room_of(rules, parts) or parts[0]
                problems.append(f"{name}:{number}: {place} must not include {'/'.join(target)}")
    print("\n".join(problems or [f"{len(files)} files"]))
    sys.exit(1 if problems else 0)


main()
