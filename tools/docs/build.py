#!/usr/bin/env python3
"""Builds the site: guide, notes and the reference of every public header.

usage: build.py OUTPUT [--check]

OUTPUT is overwritten; OUTPUT.work keeps what Doxygen read and said. --check also fails on public
names without documentation and on links that lead nowhere.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import headers
import links
import pages
import reference
import shell

ROOT = pages.ROOT
HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = ROOT / "include"


def public_headers():
    return [path for path in sorted(INCLUDE.rglob("*.hpp")) if "internal" not in path.parts]


def layer_of(path):
    parts = path.relative_to(INCLUDE / "rouse").parts
    return parts[0] if len(parts) > 1 else "all"


def version():
    text = (INCLUDE / "rouse/version.hpp").read_text(encoding="utf-8")
    return re.search(r'ROUSE_VERSION "([^"]*)"', text)[1]


def write_input(site, work):
    """What Doxygen reads: headers and pages, rewritten."""
    source = work / "input"
    described = set()
    for path in public_headers():
        target, layer = source / path.relative_to(INCLUDE), layer_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = headers.Header(path.read_text(encoding="utf-8"), layer).for_doxygen()
        if layer not in described:  # once, wherever
            text = reference.group_page(layer) + "\n" + text
            described.add(layer)
        target.write_text(text, encoding="utf-8")
    for page in site.all():
        (source / f"{page.name}.md").write_text(site.for_doxygen(page), encoding="utf-8")


def run_doxygen(work):
    source = work / "input"
    settings = f"""
@INCLUDE = {HERE}/Doxyfile
PROJECT_NUMBER = {version()}
INPUT = {source}
STRIP_FROM_PATH = {source}
STRIP_FROM_INC_PATH = {source}
USE_MDFILE_AS_MAINPAGE = {source}/index.md
OUTPUT_DIRECTORY = {work}
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
GENERATE_TAGFILE = {work}/rouse.tag
WARN_LOGFILE = {work}/warnings.txt
HTML_HEADER = {work}/header.html
HTML_FOOTER = {work}/footer.html
LAYOUT_FILE = {HERE}/layout.xml
"""
    (work / "Doxyfile").write_text(settings, encoding="utf-8")
    (work / "header.html").write_text(shell.HEADER, encoding="utf-8")
    (work / "footer.html").write_text(shell.FOOTER, encoding="utf-8")
    subprocess.run(["doxygen", str(work / "Doxyfile")], check=True)


def finish(site, work, output):
    """Doxygen's pages in our frame, with links from names to what they name."""
    names = links.Names(work / "rouse.tag")
    frame = shell.Frame(site, names, version())
    html = work / "html"
    # Lists of members: each class has its own, and there is the search.
    for pattern in ("*-members.html", "functions*.html", "namespacemembers*.html", "pages.html"):
        for path in html.glob(pattern):
            path.unlink()
    for path in sorted(html.glob("*.html")):
        text = path.read_text(encoding="utf-8")
        text = links.link_names(text, names, path.name)
        path.write_text(frame.around(text, path.name), encoding="utf-8")
    (html / "search-index.js").write_text(shell.search_index(site, names), encoding="utf-8")
    for name in ("style.css", "site.js"):
        shutil.copy(HERE / name, html / name)
    shutil.copy(ROOT / "LICENSE", html / "LICENSE.txt")
    shutil.copytree(ROOT / "docs/pictures", html / "pictures")
    (html / "charts").mkdir()
    for picture in (ROOT / "docs/charts").glob("*.svg"):
        # style.css inverts pictures in dark mode; one that does so itself would be inverted twice.
        text = re.sub(r"  @media [^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}\n", "", picture.read_text(encoding="utf-8"))
        (html / "charts" / picture.name).write_text(text, encoding="utf-8")
    shutil.rmtree(output, ignore_errors=True)
    html.rename(output)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    output = pathlib.Path(arguments[0]).resolve()
    work = output.with_name(output.name + ".work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        site = pages.Pages()
        write_input(site, work)
    except pages.DeadLink as dead:
        sys.exit(f"dead link: {dead}")
    run_doxygen(work)
    finish(site, work, output)
    problems = []
    if "--check" in sys.argv:
        problems = [*reference.undocumented(work / "xml"), *reference.with_internals(work / "xml"),
                    *links.dead_links(output)]
        print("\n".join(problems or ["every public name is documented, and none is of an internal type; every link leads "
                                     "somewhere"]))
    else:
        print(output / "index.html")
    sys.exit(1 if problems else 0)


main()
