"""The pages of the site that are not reference: which there are, and what Doxygen reads for each.

GitHub's Markdown becomes Doxygen's: headings get the anchors that GitHub gives them, and links
between files become links between pages.
"""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEADING = re.compile(r"(#+) (.*)$")
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]*)\)")


class Page:
    """A page: the name of its file, its title, and its Markdown."""

    def __init__(self, name, title, text, source=None):
        self.name, self.title, self.text, self.source = name, title, text, source

    @property
    def html(self):
        return f"{self.name}.html"


class DeadLink(Exception):
    pass


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def page_name(path):
    """docs/guide/07_sync.md: guide_07_sync. Lower case: file names are the same everywhere."""
    if str(path) == "README.md":
        return "index"
    parts = path.with_suffix("").parts
    return "_".join(parts[1:] if parts[0] == "docs" else parts).lower().replace("-", "_")


class Pages:
    """All pages, by the path of what they are made from."""

    def __init__(self):
        self.sections = {}  # title: pages in the order in which one reads them
        self._targets = {}  # path relative to ROOT: file of the site
        self._anchors = {}  # page name: anchors
        self.front = self._markdown(ROOT / "README.md")
        self._section("Guide", sorted((ROOT / "docs/guide").glob("*.md")))
        cookbook = ROOT / "docs/cookbook.md"
        self._section("Tutorial", [*sorted((ROOT / "docs/tutorial").glob("*.md")), cookbook])
        examples = sorted((ROOT / "examples").glob("*.cpp"))
        steps = [*sorted((ROOT / "examples/tutorial").glob("*.cpp")), *sorted((ROOT / "examples/tutorial/mini").glob("*.hpp"))]
        self.sections["Examples"] = [self._example(path) for path in [*examples, *steps]]
        inside = ["architecture", "performance", "benchmarks", "testing", "faults"]
        known = [ROOT / f"docs/{name}.md" for name in inside]
        others = [path for path in sorted((ROOT / "docs").glob("*.md")) if path not in [*known, cookbook]]
        self._section("Inside", [*others, *(path for path in known if path.exists()), ROOT / "benchmarks/README.md",
                                 ROOT / "src/sys/README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])
        self._section("Decisions", sorted((ROOT / "docs/design").glob("*.md")))
        self._index("guide", "Guide", "docs/guide", "Guide")
        self._index("tutorial", "Tutorial", "docs/tutorial", "Tutorial")
        self._index("examples", "Examples", "examples", "Examples")
        self._index("design", "Decisions", "docs/design", "Decisions")
        self._targets["LICENSE"] = "LICENSE.txt"
        self._targets["include/rouse"] = "modules.html"

    def all(self):
        return [self.front, *(page for pages in self.sections.values() for page in pages), *self.indexes()]

    def indexes(self):
        return [page for page in (self.guide, self.tutorial, self.examples, self.design)]

    def _section(self, title, paths):
        self.sections[title] = [self._markdown(path) for path in paths if path.exists()]

    def _index(self, attribute, title, folder, section):
        rows = "\n".join(f"- <a href=\"{page.html}\">{page.title}</a>" for page in self.sections[section])
        page = Page(f"all_{attribute}", title, f"# {title} {{#all_{attribute}}}\n\n{rows}\n")
        self._targets[folder] = page.html
        setattr(self, attribute, page)

    def _markdown(self, path):
        relative = path.relative_to(ROOT)
        name, anchors, title = page_name(relative), {}, None
        lines, fence = path.read_text(encoding="utf-8").split("\n"), None
        for i, line in enumerate(lines):
            mark = FENCE.match(line)
            if mark:
                fence = None if fence else mark[1]
            heading = None if fence or mark else HEADING.match(line)
            if heading:
                anchor = slug(heading[2])
                while anchor in anchors:
                    anchor += "-1"
                anchors[anchor] = f"{name}_{anchor}"
                if title is None:
                    title = heading[2].replace("`", "")
                    label = "mainpage" if name == "index" else name
                    anchors[anchor] = ""
                    lines[i] = f"# {heading[2]} {{#{label}}}"
                else:
                    lines[i] = f"{heading[1]} {heading[2]} {{#{anchors[anchor]}}}"
        self._anchors[name] = anchors
        self._targets[str(relative)] = f"{name}.html"
        return Page(name, re.sub(r"^(?:Guide, part|Tutorial, chapter) (\d+): ", r"\1. ", title), "\n".join(lines), relative)

    def _example(self, path):
        relative = path.relative_to(ROOT)
        parts = relative.with_suffix("").parts[1:]
        name = "example_" + "_".join(parts)
        lines = path.read_text(encoding="utf-8").split("\n")
        about = []
        while lines and lines[0].startswith("//") and not lines[0].startswith("// ["):
            about.append(lines.pop(0)[2:].removeprefix(" "))
        code = [line for line in lines if not re.match(r"\s*// \[/?[\w.-]*\]\s*$", line)]
        about = [f"\n`{line}`" if line.startswith("usage:") else line for line in about]
        text = "\n".join([f"# {'/'.join(parts)} {{#{name}}}", "", *about, "", "```cpp", *code, "```", ""])
        self._targets[str(relative)] = f"{name}.html"
        return Page(name, "/".join(parts), text, relative)

    # --- What Doxygen reads. ---

    def for_doxygen(self, page):
        if page.source is None or page.source.suffix in (".cpp", ".hpp"):
            return page.text
        parts = re.split(r"(?ms)^([ \t]*(?:```|~~~).*?^[ \t]*(?:```|~~~)[ \t]*$)", page.text)
        for i in range(0, len(parts), 2):  # those between are code
            parts[i] = LINK.sub(lambda match: self._link(page, match), parts[i]).replace("\\|", "&#124;")
        text = "".join(parts)
        if page.name == "index" or "\n## " not in page.text:
            return text
        title, _, rest = text.partition("\n")
        return f"{title}\n\n@tableofcontents{{HTML:1}}\n{rest}"

    def _link(self, page, match):
        is_picture, text, address = match.groups()
        if re.match(r"[a-z]+:", address) or not address:
            return match[0]
        path, _, anchor = address.partition("#")
        target = page.source if not path else pathlib.Path(os.path.normpath(page.source.parent / path))
        if is_picture:
            if not (ROOT / target).exists():
                raise DeadLink(f"{page.source}: no picture {address}")
            return f'<img src="{"/".join(target.parts[1:])}" alt="{text}"/>'
        html = self._targets.get(str(target))
        if html is None:
            raise DeadLink(f"{page.source}: {address} is no page of the site")
        if anchor:
            anchors = self._anchors.get(html.removesuffix(".html"), {})
            if anchor not in anchors:
                raise DeadLink(f"{page.source}: {target} has no heading #{anchor}")
            html += f"#{anchors[anchor]}" if anchors[anchor] else ""
        return f'<a href="{html}">{text}</a>'
