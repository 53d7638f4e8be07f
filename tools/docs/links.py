"""Links: from names in text and code to what they name; and which links lead nowhere."""

import html
import re
import urllib.parse
import xml.etree.ElementTree as xml

# Where a name without its namespace is looked for, in this order.
NAMESPACES = ("rouse::", "rouse::sync::", "rouse::net::", "rouse::io::", "rouse::time::", "rouse::fs::",
              "rouse::process::", "rouse::signal::", "rouse::task::", "rouse::stream::", "rouse::testing::")
# Members of namespaces that share their name with words of code: only linked when qualified.
COMMON = {"map", "take", "skip", "zip", "once", "empty", "read", "write", "copy", "next", "filter", "fold", "iter",
          "merge", "chain", "rename", "ready", "scope", "run", "resume", "id", "name", "pending", "then", "collect",
          "chunks", "split", "add", "now", "advance", "sink", "repeat", "is_async", "stream", "model", "check"}
NAME = re.compile(r"(?<![\w.>:/#-])(?:rouse::)?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*(?!\w|\.hpp|/)")
HEADER = re.compile(r"(?<![\w/.])(?:rouse/)?((?:[a-z_]+/)*[a-z_]+\.hpp)\b")
# Doxygen takes a variable for a function of its name: only what is written as a name of ours is kept.
CODE_LINK = re.compile(r'<a class="code[^"]*" href="[^"]*">([^<]*)</a>')
OF_OURS = re.compile(r"rouse::|[a-z]+::[A-Z]|[A-Z]")
TOKENS = re.compile(r"<[^>]*>|[^<]+")
CAMEL = re.compile(r"[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$")


class Names:
    """What the reference documents, from Doxygen's tag file."""

    def __init__(self, tag_file):
        self._where = {}  # qualified name: page#anchor
        self._kinds = {}
        self._headers = {}  # path without rouse/: page
        self.layers = {}  # layer: (name, page#anchor), classes first
        self._layer_of_page = {}
        for compound in xml.parse(tag_file).getroot():
            self._read(compound)
        for layer, entries in self.layers.items():
            self.layers[layer] = sorted(dict(entries).items(), key=lambda entry: entry[0].lower())
            for _, where in entries:
                self._layer_of_page.setdefault(where.partition("#")[0], layer)
            self._layer_of_page[f"group__{layer}.html"] = layer

    def _read(self, compound):
        kind, name, page = compound.get("kind"), compound.findtext("name"), compound.findtext("filename")
        if kind == "file":
            path = (compound.findtext("path") or "") + name
            self._headers[path.rpartition("/input/")[2].removeprefix("rouse/")] = f"{page.removesuffix('.html')}.html"
        elif kind in ("class", "struct", "union", "concept"):
            if "<" in name:
                return
            self._add(name, page, kind)
            for member in compound.findall("member"):
                self._add_member(name, member)
        elif kind in ("namespace", "group"):
            for member in compound.findall("member"):
                if kind == "namespace":
                    self._add_member(name, member)
            if kind == "group":
                self._read_group(name, compound)

    def _read_group(self, name, compound):
        entries = self.layers.setdefault(name, [])
        for inner in compound.findall("class") + compound.findall("concept"):
            if inner.text and "<" not in inner.text:
                where = self._where.get(inner.text)
                if where and inner.text.count("::") <= 2:
                    entries.append((inner.text.split("::")[-1], where))
        for member in compound.findall("member"):
            name = member.findtext("name")
            if member.get("kind") == "function" and "group__" in address(member) and not name.startswith("operator"):
                entries.append((f"{name}()", address(member)))

    def _add_member(self, scope, member):
        self._add(f"{scope}::{member.findtext('name')}", address(member), member.get("kind"))

    def _add(self, name, where, kind):
        self._where.setdefault(name, where)
        self._kinds.setdefault(name, kind)

    def all(self):
        return [(name.removeprefix("rouse::"), where, self._kinds[name]) for name, where in self._where.items()
                if "operator" not in name and "~" not in name and name.split("::")[-1] != name.split("::")[-2]]

    def layer_of(self, page):
        return self._layer_of_page.get(page)

    def header(self, path):
        return self._headers.get(path)

    def find(self, name):
        """Where a name is documented, written as users write it."""
        if name.startswith("rouse::"):
            return self._where.get(name)
        if name in COMMON:
            return None
        for namespace in NAMESPACES:
            if namespace + name in self._where:
                return self._where[namespace + name]
        return None


def address(member):
    return f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"


def link_names(text, names, page):
    """A page of Doxygen's with links from `names` in text and code. Pages of the reference do not link
    to themselves."""
    start = text.find('<div class="contents">')
    if start < 0:
        return text
    result, inside, in_code = [text[:start]], [], 0
    body = CODE_LINK.sub(lambda match: match[0] if is_ours(match[1], names) else match[1], text[start:])
    for token in TOKENS.findall(body):
        if token.startswith("<"):
            tag = re.match(r"</?(\w+)", token)
            if tag and tag[1] in ("a", "code", "pre", "h1", "h2", "h3", "script", "title") and not token.endswith("/>"):
                if token.startswith("</"):
                    if tag[1] in inside:
                        inside.remove(tag[1])
                else:
                    inside.append(tag[1])
            if 'class="fragment"' in token:
                in_code = 1
            elif in_code:
                in_code += token.startswith("<div")
                in_code -= token.startswith("</div")
            result.append(token)
        elif {"a", "h1", "h2", "h3", "script", "title", "pre"} & set(inside):
            result.append(token)
        elif in_code:
            result.append(NAME.sub(lambda m: linked(m[0], names, page) if m[0].startswith("rouse::") else m[0], token))
        elif "code" in inside:
            result.append(link_code(token, names, page))
        else:
            token = HEADER.sub(lambda m: header_link(m, names, page), token)
            result.append(token if "<a" in token else
                          NAME.sub(lambda m: linked(m[0], names, page) if is_a_name(m[0]) else m[0], token))
    return "".join(result)


def link_code(token, names, page):
    found = HEADER.search(token)
    if found:
        return HEADER.sub(lambda m: header_link(m, names, page), token)
    # Of an expression only what it begins with: `tx.send(v)` is nothing of the reference.
    match = NAME.match(html.unescape(token).lstrip())
    if not match or "&" in match[0]:
        return token
    return token.replace(match[0], linked(match[0], names, page), 1)


def is_ours(code, names):
    name = NAME.match(code) if OF_OURS.match(code) else None
    return name is not None and names.find(name[0]) is not None


def is_a_name(word):
    return "::" in word and not word.startswith("std::") or bool(CAMEL.match(word))


def linked(name, names, page):
    where = names.find(name)
    if where is None or where.partition("#")[0] == page and "#" not in where:
        return name
    return f'<a class="el" href="{where}">{name}</a>'


def header_link(match, names, page):
    where = names.header(match[1])
    return match[0] if where is None or where == page else f'<a class="el" href="{where}">{match[0]}</a>'


# --- Dead links -------------------------------------------------------------------------------------

ATTRIBUTE = re.compile(r'\s(href|src|id|name)="([^"]*)"')  # in text a quote is written &quot;


def dead_links(site):
    """Links inside of the site that lead to no page, or to no place in it."""
    targets, places = {}, {}
    for path in sorted(site.glob("*.html")):
        found = [(name, html.unescape(value)) for name, value in ATTRIBUTE.findall(path.read_text(encoding="utf-8"))]
        targets[path.name] = {value for name, value in found if name in ("href", "src") and value}
        places[path.name] = {value for name, value in found if name in ("id", "name")}
    files = {str(path.relative_to(site)) for path in site.rglob("*")}
    dead = []
    for page, addresses in targets.items():
        for address in sorted(addresses):
            if re.match(r"[a-z]+:|//", address):
                continue
            path, _, anchor = urllib.parse.unquote(address).partition("#")
            path = path or page
            if path not in files:
                dead.append(f"{page}: dead link {address}")
            elif anchor and path in places and anchor not in places[path]:
                dead.append(f"{page}: dead link {address}: no such anchor")
    return dead
