"""The frame around each page: the bar with search, the navigation, the page itself."""

import html
import json
import re

import prose
import reference

# What Doxygen writes before and after the contents of a page; it closes #top itself.
HEADER = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>$title - $projectname</title>
<script src="$relpath^site.js"></script>
<link href="$relpath^$stylesheet" rel="stylesheet"/>
<link href="$relpath^style.css" rel="stylesheet"/>
</head>
<body>
<!--frame-->
<main>
<div id="top">
"""
FOOTER = """</main>
</body>
</html>
"""
BAR = """<header class="bar">
<button id="menu" type="button" aria-label="Menu">&#9776;</button>
<a class="brand" href="index.html">rouse <small>{version}</small></a>
<div class="search"><input id="search" type="search" placeholder="Search: press /" autocomplete="off" aria-label="Search"/>
<div id="results" hidden></div></div>
<button id="theme" type="button" aria-label="Light or dark">&#9681;</button>
</header>
"""
REFERENCE = r"(?:(Class|Struct|Union|Concept|Namespace|File)(?: Template)?|Module) Reference"
KINDS = re.compile(rf'(<div class="title">.*?) {REFERENCE}')
SUMMARY = re.compile(r'  <div class="summary">.*?</div>\n', re.DOTALL)
START = ('<p class="start"><a href="guide_01_futures.html">Start with the guide</a> '
         '<a href="modules.html">Reference</a> <a href="all_examples.html">Examples</a></p>')
MORE = re.compile(r'\s*<a href="[^"]*">More\.\.\.</a>')


class Frame:
    def __init__(self, site, names, version):
        self._names = names
        self._bar = BAR.format(version=version)
        self._sections = [(title, index, [(page.title, page.html) for page in site.sections[title]])
                          for title, index in (("Guide", "all_guide.html"), ("Tutorial", "all_tutorial.html"),
                                               ("Examples", "all_examples.html"), ("Inside", None),
                                               ("Decisions", "all_design.html"))]
        self._site = site

    def around(self, text, name):
        text = text.replace("<!--frame-->", self._bar + self._navigation(name), 1)
        text = MORE.sub("", SUMMARY.sub("", text, 1))
        text = re.sub(rf"\s*</p>\s*<p ?>{prose.JOINED}", " ", text).replace(prose.JOINED, "")
        text = "\n".join(without_spaces(line) for line in text.split("\n"))
        text = re.sub(rf"(<title>.*?) {REFERENCE}", r"\1", text, count=1)
        text = text.replace("<h3>Table of Contents</h3>", "<h3>On this page</h3>", 1)
        if name == "index.html":
            text = text.replace('<div class="contents">', f'<div class="contents">\n{START}', 1)
        return KINDS.sub(lambda match: f'{match[1]} <span class="kind">{(match[2] or "").lower()}</span>', text, 1)

    def _navigation(self, current):
        parts = ['<nav class="side" aria-label="Contents">']
        for title, index, entries in self._sections[:3]:
            parts.append(self._folder(title, index, entries, current))
        parts.append(self._reference(current))
        for title, index, entries in self._sections[3:]:
            parts.append(self._folder(title, index, entries, current))
        return "\n".join([*parts, "</nav>\n"])

    def _folder(self, title, index, entries, current):
        is_open = current == index or any(target == current for _, target in entries) or (
            current == "index.html" and title == "Guide")
        rows = "".join(self._entry(text, target, current) for text, target in entries)
        head = f'<a href="{index}">{title}</a>' if index else title
        return f'<details{" open" if is_open else ""}><summary>{head}</summary><ul>{rows}</ul></details>'

    def _reference(self, current):
        """The layers; of the one that is read, its names."""
        here = self._names.layer_of(current)
        rows = []
        for layer, (title, _) in reference.LAYERS.items():
            target = f"group__{layer}.html"
            if layer not in self._names.layers:
                continue
            rows.append(self._entry(title, target, current))
            if layer == here:
                inner = "".join(self._entry(name, where, current) for name, where in self._names.layers[layer])
                rows.append(f'<li><ul class="names">{inner}</ul></li>')
        rows.append(self._entry("All classes", "classes.html", current))
        rows.append(self._entry("All headers", "files.html", current))
        is_open = here is not None or current in ("modules.html", "classes.html", "files.html", "index.html")
        return (f'<details{" open" if is_open else ""}><summary><a href="modules.html">Reference</a></summary>'
                f'<ul>{"".join(rows)}</ul></details>')

    @staticmethod
    def _entry(text, target, current):
        here = ' class="here" aria-current="page"' if target == current else ""
        return f'<li><a{here} href="{target}">{html.escape(text)}</a></li>'


def without_spaces(line):
    """Mutex<T> instead of Mutex< T >, but for what is code as somebody wrote it."""
    if line.startswith('<div class="line">') or "&lt; " not in line and " &gt;" not in line:
        return line
    return re.sub(r"(?<=[\w>])&lt; ", "&lt;", re.sub(r" &gt;", "&gt;", line))


def search_index(site, names):
    """A script with [what it is called, where it is, what it is] for all pages, headings and names."""
    rows = []
    for page in site.all():
        rows.append([page.title, page.html, "page"])
        for heading, anchor in re.findall(r"(?m)^##+ (.*?) \{#(\S+)\}$", page.text):
            rows.append([heading.replace("`", ""), f"{page.html}#{anchor}", page.title])
    rows += [[name, where, kind] for name, where, kind in names.all()]
    return f"window.searchIndex = {json.dumps(rows, ensure_ascii=False, separators=(',', ':'))};\n"
