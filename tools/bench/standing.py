"""Where rouse stands: a bar for each row that a peer has, from the best peer's figure to rouse's. To the left of the
line rouse is better. Readable on light and on dark pages."""

import itertools
from xml.sax.saxutils import escape

from charts import Scale

STYLE = """<style>
  text { font: 12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; } .group { font-weight: 600; } .title { font-size: 17px; } .tick { fill: #59636e; }
  .grid { stroke: #e4e7eb; } .best { stroke: #1f2328; stroke-width: 2; }
  .better { fill: #2563eb; } .worse { fill: #c2410c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e9ee; } .page { fill: #14171c; } .tick { fill: #9aa4b2; }
    .grid { stroke: #2b313a; } .best { stroke: #e6e9ee; }
    .better { fill: #60a5fa; } .worse { fill: #fb923c; }
  }
</style>"""
WIDTH, LEFT, RIGHT, TOP, STEP, BAR = 1000, 450, 165, 76, 18, 11


def text(x, y, content, kind="", anchor="start"):
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(content)}</text>'


def vertical(x, bottom, kind):
    return f'<line class="{kind}" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}"/>'


def axis(scale, bottom):
    ticks = scale.ticks()
    parts = [vertical(scale.x(tick), bottom, "grid") for tick in ticks]
    for tick in ticks[ticks.index(1) % 2 :: 2]:  # the 1 among them
        parts.append(text(scale.x(tick), TOP - 12, f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}", "tick", "middle"))
    return parts


def bar(scale, y, ratio):
    ends = sorted((scale.x(1), scale.x(ratio)))
    kind = "worse" if ratio > 1 else "better"
    return f'<rect class="{kind}" x="{ends[0]:.1f}" y="{y - BAR / 2:.1f}" width="{ends[1] - ends[0]:.1f}" height="{BAR}"/>'


def chart(title, lines, runtimes, group_of):
    """An SVG, or None if no line has a peer."""
    rows = [(line, line.ratio(line.best_peer(runtimes))) for line in lines]
    rows = [(line, ratio) for line, ratio in rows if ratio]
    if not rows:
        return None
    scale = Scale([ratio for _, ratio in rows], LEFT, WIDTH - RIGHT)
    parts, y = [], TOP
    for group, members in itertools.groupby(rows, key=lambda row: group_of(row[0])):
        parts.append(text(20, y + STEP, group, "group"))
        y += STEP + 2
        for line, ratio in members:
            y += STEP
            parts += [text(LEFT - 10, y + 4, line.full_title(), anchor="end"), bar(scale, y, ratio),
                      text(WIDTH - RIGHT + 12, y + 4, f"{ratio:.2f} of {line.best_peer_label(runtimes)}")]
        y += 10
    height = y + 20
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:.0f}" viewBox="0 0 {WIDTH} {height:.0f}">',
        STYLE, '<rect class="page" width="100%" height="100%" rx="8"/>', text(20, 30, title, "title"),
        *axis(scale, y), *parts, vertical(scale.x(1), y, "best"), "</svg>", ""])
