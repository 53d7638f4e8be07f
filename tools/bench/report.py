"""docs/benchmarks.md and its pictures, written by `./dev bench --peers`."""

import datetime
import os
import platform
from pathlib import Path

import charts
import table
from runtimes import CLANG, ROOT, output

DOCUMENT = ROOT / "docs/benchmarks.md"
PICTURES = ROOT / "docs/charts"


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def system():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.split("=", 1)[1].strip('"')
    return platform.system()


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    compiler = output(CLANG, "--version").splitlines()[0]
    return [f"{cpu_model()}, {len(os.sched_getaffinity(0))} CPUs, {memory:.0f} GiB",
            f"{system()}, Linux {platform.release()}, {compiler}"]


def versions(runtimes):
    return ", ".join(f"{runtime.label} {runtime.version()}" for runtime in runtimes if runtime.version())


def header(runtimes, rounds, quick):
    when = datetime.date.today().isoformat()
    how = f"quick: smaller work, median of {rounds}" if quick else f"median of {rounds} interleaved rounds"
    return [*machine(), versions(runtimes), f"{when}, {how}"]


def lost(lines, runtimes):
    found = []
    for line in lines:
        ratio = line.ratio(line.best_peer(runtimes))
        if ratio is not None and ratio > 1:
            best = line.best_peer(runtimes)
            who = next(r.label for r in runtimes if r.is_peer and line.medians.get(r.name) == best)
            found.append((ratio, f"- {', '.join(filter(None, (line.title(), line.workers_text())))}: {ratio:.2f} of {who}"))
    return [text for _, text in sorted(found, key=lambda pair: -pair[0])]


def write_pictures(lines, runtimes):
    PICTURES.mkdir(exist_ok=True)
    others = [runtime for runtime in runtimes if runtime.name != "rouse"]
    tasks = [line for line in lines if line.row.kind != "server" and line.workers == max(line.row.workers)]
    servers = [line for line in lines if line.row.kind == "server" and line.workers == 1
               and line.value.suffix in ("", "_p99")]
    written = []
    for name, title, shown in (("tasks", "Tasks, channels, timers, memory, compile time (2 workers where there is a choice)", tasks),
                               ("servers", "Servers over loopback, 1 worker", servers)):
        picture = charts.chart(title, shown, others)
        if picture:
            (PICTURES / f"{name}.svg").write_text(picture)
            written.append(f"![{title}](charts/{name}.svg)")
    return written


def group_of(line):
    return f"{line.row.group}: {line.value.title}" if line.row.kind == "server" else line.row.group


def write(lines, runtimes, head):
    groups = list(dict.fromkeys(group_of(line) for line in lines))
    losses = lost(lines, runtimes)
    compared = sum(line.best_peer(runtimes) is not None for line in lines)
    parts = [
        "# Benchmarks",
        "Written by `./dev bench --peers`; what each row does is told in "
        "[benchmarks/README.md](../benchmarks/README.md), where the time goes in [performance.md](performance.md).",
        "\n".join(f"- {text}" for text in head),
        "Less is better, but for requests a second. *Of the best peer*: what rouse takes, divided by what the best "
        "of the others takes (of requests a second the other way round): below 1 rouse is better, **bold** where it is "
        "not. *Limit*: what the machine itself does, hand-written without a runtime; the ping-pong there is between two "
        "CPUs, while a runtime may have both tasks on one. An empty field: the runtime does not have it. On servers differences below 15% are ties.",
        *write_pictures(lines, runtimes),
    ]
    for group in groups:
        shown = [line for line in lines if group_of(line) == group]
        present = [r for r in runtimes if r.is_reference or any(r.name in line.medians for line in shown)]
        parts += [f"## {group}", table.markdown(shown, present)]
    parts += ["## Where rouse is not the best",
              f"{len(losses)} of {compared} rows that a peer has.", "\n".join(losses) or "Nowhere."]
    DOCUMENT.write_text("\n\n".join(parts) + "\n")
