"""Pictures of the tables: for each row a dot a runtime, at how many times of what rouse takes it
takes. Left of the line is better than rouse."""

import math
from xml.sax.saxutils import escape

COLOURS = {"tokio": "#d1495b", "tokio-mimalloc": "#edae49", "go": "#00798c", "asio": "#7768ae",
           "libuv": "#5a8a3a", "tbb": "#3a5fa8", "reference": "#9a9a9a"}
LEFT, RIGHT, TOP, STEP = 400, 40, 96, 24
WIDTH = 1000
FONT = 'font-family="sans-serif"'


class Scale:
    """Ratios on a logarithmic axis."""

    def __init__(self, ratios, left, right):
        self._left, self._width = left, right - left
        self._low = min(-1, math.floor(math.log2(min(ratios))))
        self._high = max(1, math.ceil(math.log2(max(ratios))))

    def x(self, ratio):
        return self._left + (math.log2(ratio) - self._low) / (self._high - self._low) * self._width

    def ticks(self):
        return [2.0**power for power in range(self._low, self._high + 1)]


def text(x, y, content, size=13, anchor="start", colour="#222"):
    return f'<text x="{x:.0f}" y="{y:.0f}" {FONT} font-size="{size}" text-anchor="{anchor}" fill="{colour}">{escape(content)}</text>'


def tick_text(ratio):
    if ratio == 1:
        return "rouse"
    return f"{ratio:g}x" if ratio > 1 else f"1/{1 / ratio:g}"


def legend(runtimes):
    parts, x = [], 20
    for runtime in runtimes:
        parts.append(f'<circle cx="{x}" cy="52" r="6" fill="{COLOURS[runtime.name]}"/>')
        parts.append(text(x + 11, 57, runtime.label))
        x += 34 + 8 * len(runtime.label)
    return parts


def ratios_of(line):
    ours = line.medians["rouse"]
    return {name: value / ours for name, value in line.medians.items() if name != "rouse" and value > 0}


def chart(title, lines, runtimes):
    """An SVG of the lines that rouse and somebody else have. None if there is none."""
    rows = [(line, ratios_of(line)) for line in lines if line.medians.get("rouse", 0) > 0]
    rows = [(line, ratios) for line, ratios in rows if ratios]
    if not rows:
        return None
    scale = Scale([ratio for _, ratios in rows for ratio in ratios.values()], LEFT, WIDTH - RIGHT)
    shown = [runtime for runtime in runtimes if any(runtime.name in ratios for _, ratios in rows)]
    bottom = TOP + STEP * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 40}" '
             f'viewBox="0 0 {WIDTH} {bottom + 40}">',
             '<rect width="100%" height="100%" fill="#ffffff"/>', text(20, 28, title, 17), *legend(shown)]
    for index in range(len(rows)):
        y = TOP + STEP * index + STEP / 2
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#f0f0f0"/>')
    for tick in scale.ticks():
        x = scale.x(tick)
        colour, width = ("#222", 2) if tick == 1 else ("#e4e4e4", 1)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{bottom}" stroke="{colour}" stroke-width="{width}"/>')
        parts.append(text(x, TOP - 14, tick_text(tick), 12, "middle"))
    for index, (line, ratios) in enumerate(rows):
        y = TOP + STEP * index + STEP / 2
        parts.append(text(LEFT - 12, y + 4, line.title(), 13, "end"))
        for runtime in shown:
            if runtime.name in ratios:
                parts.append(f'<circle cx="{scale.x(ratios[runtime.name]):.1f}" cy="{y:.1f}" r="6" '
                             f'fill="{COLOURS[runtime.name]}" fill-opacity="0.85"/>')
    parts.append(text(LEFT, bottom + 26, "times what rouse takes; to the right of the line: more", 12, colour="#666"))
    return "\n".join([*parts, "</svg>", ""])
