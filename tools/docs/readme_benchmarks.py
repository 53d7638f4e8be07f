#!/usr/bin/env python3
"""Copies a few rows of docs/benchmarks.md into README.md, as a table and as a picture.

usage: readme_benchmarks.py [--check]

Writes the table between the `benchmarks` markers of README.md, and docs/charts/readme.svg.
--check changes nothing and fails if one of them is not what docs/benchmarks.md says.
`./dev bench --peers` runs this after it has measured.
"""

import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs/benchmarks.md"
README = ROOT / "README.md"
PICTURE = ROOT / "docs/charts/readme.svg"
START, END = "<!-- benchmarks -->\n", "<!-- /benchmarks -->"

# Row of docs/benchmarks.md, all with 2 workers: what the README calls it.
ROWS = {
    "fib(27), a call": "fork/join: a call of fib(27)",
    "spawn a million, then await all, each": "spawn a million tasks, await all: each",
    "round trip over two mpsc channels": "round trip over two mpsc channels",
    "create + cancel, a million live": "create and cancel a timer among a million",
    "echo, 1,000 connections: CPU of the server": "echo, 1,000 connections: CPU a request",
}
WORKERS = "2 workers"
RUNTIMES = ("rouse", "Tokio", "Tokio, mimalloc", "Go", "Asio", "TBB")
UNITS = {"us/request": "µs"}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(figure):
    return float(figure.replace(",", ""))


def measured():
    """(what it is called, unit, {runtime: figure as text}) for each of ROWS."""
    found, columns = {}, []
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| row |"):
            columns = cells(line)
        elif line.startswith("| "):
            row = dict(zip(columns, cells(line)))
            if row.get("row") in ROWS and row["workers"] == WORKERS:
                figures = {name: row[name] for name in RUNTIMES if row.get(name)}
                found[row["row"]] = (ROWS[row["row"]], UNITS.get(row["unit"], row["unit"]), figures)
    missing = [row for row in ROWS if row not in found]
    if missing:
        sys.exit(f"{SOURCE.name} has no row {missing} with {WORKERS}")
    return [found[row] for row in ROWS]


def table(rows):
    runtimes = [name for name in RUNTIMES if any(name in figures for _, _, figures in rows)]
    lines = ["| less is better | " + " | ".join(runtimes) + " |",
             "| --- |" + " ---: |" * len(runtimes)]
    for title, unit, figures in rows:
        best = min(figures.values(), key=number)
        shown = [f"{figures[name]} {unit}" if name in figures else "" for name in runtimes]
        shown = [f"**{cell}**" if cell == f"{best} {unit}" else cell for cell in shown]
        lines.append(f"| {title} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


# --- The picture: a group of bars a row, each group with its own scale. -----------------------------

STYLE = """<style>
  text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; } .title { font-weight: 600; } .name { fill: #59636e; }
  .peer { fill: #b4bcc6; } .rouse { fill: #c2410c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ee; } .page { fill: #14171c; } .name { fill: #9aa4b2; }
    .peer { fill: #4b5563; } .rouse { fill: #fb923c; }
  }
</style>"""
WIDTH, BAR, STEP, LEFT, RIGHT, GAP = 760, 14, 20, 150, 90, 22


def bars(top, title, unit, figures):
    parts = [f'<text class="title" x="16" y="{top + 12}">{escape(title)}</text>']
    longest = max(map(number, figures.values()))
    y = top + 22
    for name, figure in figures.items():
        width = max(2, (WIDTH - LEFT - RIGHT) * number(figure) / longest)
        kind = "rouse" if name == "rouse" else "peer"
        parts += [f'<text class="name" x="{LEFT - 10}" y="{y + 12}" text-anchor="end">{escape(name)}</text>',
                  f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2"/>',
                  f'<text x="{LEFT + width + 8:.1f}" y="{y + 12}">{figure} {unit}</text>']
        y += STEP
    return parts, y


def picture(rows):
    parts, y = [], 16
    for row in rows:
        group, y = bars(y, *row)
        parts += group
        y += GAP
    height = y - GAP + 12
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        STYLE, '<rect class="page" width="100%" height="100%" rx="8"/>', *parts, "</svg>", ""])


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    rows = measured()
    before, found, rest = README.read_text(encoding="utf-8").partition(START)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        sys.exit(f"README.md lacks {START.strip()} or {END}")
    wanted = {README: before + START + table(rows) + END + after, PICTURE: picture(rows)}
    stale = [path for path, text in wanted.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what docs/benchmarks.md says: "
                  "tools/docs/readme_benchmarks.py")
        sys.exit(1 if stale else 0)
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")


main()
