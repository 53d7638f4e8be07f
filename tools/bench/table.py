"""Tables: a line for each row and number of workers, a column for each runtime."""


def number(value):
    """Three digits or so."""
    if value >= 1000:
        return f"{value:,.0f}"
    for limit, digits in ((100, 0), (10, 1)):
        if value >= limit:
            return f"{value:.{digits}f}"
    return f"{value:.2f}"


class Line:
    """One value of one row, with one number of workers, of all runtimes."""

    def __init__(self, row, value, workers, medians):
        self.row, self.value, self.workers, self.medians = row, value, workers, medians

    def title(self):
        return self.row.title + (f": {self.value.title}" if self.value.title else "")

    def workers_text(self):
        if len(self.row.workers) == 1:
            return ""
        return {0: "current thread", 1: "1 worker"}.get(self.workers, f"{self.workers} workers")

    def full_title(self):
        return ", ".join(filter(None, (self.title(), self.workers_text())))

    def best_peer(self, runtimes):
        found = [self.medians[runtime.name] for runtime in runtimes
                 if runtime.is_peer and runtime.name in self.medians]
        if not found:
            return None
        return max(found) if self.value.higher_is_better else min(found)

    def best_peer_label(self, runtimes):
        best = self.best_peer(runtimes)
        return next(r.label for r in runtimes if r.is_peer and self.medians.get(r.name) == best)

    def ratio(self, other):
        """Of what we take to what `other` takes: below 1 we are better."""
        if other is None or "rouse" not in self.medians or not other:
            return None
        ours = self.medians["rouse"]
        return other / ours if self.value.higher_is_better else ours / other


def is_shown(series, workers):
    """A hand-written server has one thread: it is the limit for all."""
    return series.workers == workers or (series.runtime.is_reference and series.row.kind == "server")


def lines(row, series):
    found = []
    for workers in row.workers:
        for value in row.values:
            medians = {s.runtime.name: s.median for s in series if s.value is value and is_shown(s, workers)}
            if medians:
                found.append(Line(row, value, workers, medians))
    return found


def header(runtimes):
    columns = ["row", "workers", "unit", *[runtime.label for runtime in runtimes if not runtime.is_reference]]
    if any(runtime.is_peer for runtime in runtimes):
        columns.append("of the best peer")
    return columns + ["limit"]


def cells(line, runtimes):
    def of(name):
        return number(line.medians[name]) if name in line.medians else ""

    texts = [line.title(), line.workers_text(), line.value.unit]
    texts += [of(runtime.name) for runtime in runtimes if not runtime.is_reference]
    if any(runtime.is_peer for runtime in runtimes):
        ratio = line.ratio(line.best_peer(runtimes))
        texts.append("" if ratio is None else f"{ratio:.2f}")
    return texts + [of("reference")]


class TextTable:
    """Printed line by line, as rows are done."""

    def __init__(self, runtimes):
        self._runtimes = runtimes
        self._widths = [58, 15, 11] + [max(10, len(text) + 2) for text in header(runtimes)[3:]]

    def _print(self, texts):
        left = "".join(text.ljust(width) for text, width in zip(texts[:3], self._widths))
        print(left + "".join(text.rjust(width) for text, width in zip(texts[3:], self._widths[3:])), flush=True)

    def start(self):
        self._print(header(self._runtimes))

    def add(self, row_lines):
        for line in row_lines:
            self._print(cells(line, self._runtimes))


def markdown(table_lines, runtimes):
    head = header(runtimes)
    rows = ["| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * 3 + ["---:"] * (len(head) - 3)) + " |"]
    for line in table_lines:
        texts = cells(line, runtimes)
        ratio = line.ratio(line.best_peer(runtimes))
        if ratio is not None and ratio > 1:
            texts[-2] = f"**{texts[-2]}**"
        rows.append("| " + " | ".join(texts) + " |")
    return "\n".join(rows)
