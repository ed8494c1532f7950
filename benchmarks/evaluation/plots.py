"""Plots of the evaluation as SVG: bars for each kernel, lines over cores, and the roofline."""
import math
from html import escape

COLOURS = {"spdistal": "#b5301f", "loops": "#8a8a8a", "Eigen": "#3b6ea8", "GraphBLAS": "#4f9a57", "PETSc": "#c98a1b", "Tpetra": "#7b5aa6"}


class Picture:
    def __init__(self, width, height):
        self.size = (width, height)
        self.parts = []

    def text(self, x, y, words, size=12, anchor="middle", turn=0):
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{turned}>{escape(words)}</text>')

    def line(self, points, colour="#000", width=1.0, dashes=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')

    def legend(self, systems, x, y):
        for k, system in enumerate(systems):
            self.bar(x + 95 * k, y - 9, 10, 10, COLOURS[system])
            self.text(x + 95 * k + 14, y, system, 11, "start")

    def save(self, path):
        width, height = self.size
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">\n'
                        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


class Scale:
    """Values to places, by their logarithms."""

    def __init__(self, values, lo, hi):
        self.first, self.last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.last = max(self.last, self.first + 1)
        self.lo, self.hi = lo, hi

    def __call__(self, value):
        return self.lo + (math.log10(value) - self.first) / (self.last - self.first) * (self.hi - self.lo)

    def marks(self):
        return [10.0**e for e in range(self.first, self.last + 1)]


def legend_width(systems):
    return 40 + 95 * len(systems)


def spread(places, gap, lo, hi):
    """Rising places, moved as little as it takes for each to be so far from the next, within [lo, hi]: those that are too close stand
    around their mean."""
    groups = []
    width = lambda group: gap * (len(group) - 1)
    begin = lambda group: max(lo, min(hi - width(group), sum(group) / len(group) - width(group) / 2))
    for place in places:
        groups.append([place])
        while len(groups) > 1 and begin(groups[-1]) < begin(groups[-2]) + width(groups[-2]) + gap:
            last = groups.pop()
            groups[-1] += last
    return [begin(group) + gap * k for group in groups for k in range(len(group))]


def systems_of(results):
    return [s for s in COLOURS if any(r["system"] == s for r in results)]


def counted(cores):
    return "1 core" if cores == 1 else f"{cores} cores"


def fastest(results, **wanted):
    times = [r["ms"] for r in results if all(r[k] == v for k, v in wanted.items())]
    return min(times, default=None)


def bars(results, kernel, out):
    """Times of all systems on as many cores as there are, for each input."""
    cores = max(r["cores"] for r in results)
    here = [r for r in results if r["kernel"] == kernel and r["cores"] == cores]
    if not here:
        return
    inputs, systems = sorted({r["input"] for r in here}), systems_of(here)
    group = 24 * len(systems) + 26
    picture = Picture(max(100 + group * len(inputs), legend_width(systems)), 340)
    scale = Scale([r["ms"] for r in here], 260, 40)
    for mark in scale.marks():
        picture.line([(60, scale(mark)), (picture.size[0] - 20, scale(mark))], "#ddd")
        picture.text(54, scale(mark) + 4, f"{mark:g}", 11, "end")
    slanted = any(7 * len(name) > group for name in inputs)
    for k, name in enumerate(inputs):
        x = 70 + group * k
        for s, system in enumerate(systems):
            if (ms := fastest(here, input=name, system=system)) is not None:
                picture.bar(x + 24 * s, scale(ms), 20, 260 - scale(ms), COLOURS[system])
        picture.text(x + 12 * len(systems), 274 if slanted else 278, name, 10 if slanted else 12, "end" if slanted else "middle", -20 if slanted else 0)
    picture.text(18, 150, "ms", turn=-90)
    picture.text(picture.size[0] / 2, 20, f"{kernel}, {counted(cores)}", 14)
    picture.legend(systems, 20, 330)
    picture.save(out / f"{kernel}.svg")


def scaling(results, out, weak):
    """Speed over cores, each kernel and input a small field: one core of spdistal is 1. Where the size grows with the cores, so does
    what is done in the time."""
    fields = sorted({(r["kernel"], r["input"]) for r in results})
    counts = sorted({r["cores"] for r in results})
    if len(counts) < 2:
        return
    across = min(4, len(fields))
    systems = systems_of(results)
    picture = Picture(max(230 * across + 30, legend_width(systems)), 190 * math.ceil(len(fields) / across) + 80)
    picture.text(picture.size[0] / 2, 20, "what is done in the time" if weak else "speed", 14)
    picture.text(picture.size[0] / 2, 36, f"over cores; spdistal on {counted(counts[0])} is 1; dashes: in proportion to the cores", 11)
    for k, (kernel, name) in enumerate(fields):
        x, y = 45 + 230 * (k % across), 70 + 190 * (k // across)
        here = [r for r in results if (r["kernel"], r["input"]) == (kernel, name)]
        one = fastest(here, system="spdistal", cores=counts[0])
        if one is None:
            continue
        done = lambda cores: cores / counts[0] if weak else 1
        best = max(counts[-1] / counts[0], *(one / r["ms"] * done(r["cores"]) for r in here))
        place = lambda cores, speed: (x + 170 * math.log2(cores / counts[0]) / math.log2(counts[-1] / counts[0]), y + 130 - 130 * speed / best)
        picture.line([(x, y), (x, y + 130), (x + 180, y + 130)], "#888")
        picture.text(x + 90, y - 6, f"{kernel}, {name}")
        for speed in (1, best):
            picture.text(x - 5, place(counts[0], speed)[1] + 4, f"{speed:.2g}", 10, "end")
        for cores in counts:
            picture.text(place(cores, 0)[0], y + 144, str(cores), 10)
        picture.line([place(cores, cores / counts[0]) for cores in counts], "#bbb", 1, "4 3")
        for system in reversed(systems):  # ours on top
            line = [place(c, one / ms * done(c)) for c in counts if (ms := fastest(here, system=system, cores=c)) is not None]
            picture.line(line, COLOURS[system], 1.6)
            for point in line:
                picture.dot(*point, COLOURS[system])
    picture.legend(systems, 20, picture.size[1] - 12)
    picture.save(out / ("weak_scaling.svg" if weak else "scaling.svg"))


def intensity(r):
    """Operations for each byte that is moved at least: the same for all systems."""
    return r["operations"] / r["bytes"]


def roofline(results, out):
    """Operations per second over operations per byte, under what the triad of the same run lets through. Columns of about the same
    intensity stand side by side."""
    cores = max(r["cores"] for r in results)
    here = [r for r in results if r["cores"] == cores and r["operations"] > 0]
    if not here:
        return
    fields = {(r["kernel"], r["input"]): intensity(r) for r in sorted(here, key=intensity)}
    rate = lambda r: r["operations"] / r["ms"] / 1e6
    triad = sorted(r["triad"] for r in here)[len(here) // 2] / 1e9
    systems = systems_of(here)
    left, bottom = 60, 500
    right = left + max(760, 24 * len(fields))
    across = Scale(fields.values(), left, right)
    ends = (across.marks()[0], across.marks()[-1])
    up = Scale([rate(r) for r in here] + [triad * end for end in ends], bottom, 100)
    picture = Picture(max(right + 20, legend_width(systems) + 170), bottom + 70)
    for mark in up.marks():
        picture.line([(left, up(mark)), (right, up(mark))], "#ddd")
        picture.text(left - 6, up(mark) + 4, f"{mark:g}", 11, "end")
    for mark in across.marks():
        picture.line([(across(mark), up.hi), (across(mark), bottom)], "#ddd")
        picture.text(across(mark), bottom + 16, f"{mark:g}", 11)
    picture.line([(across(end), up(triad * end)) for end in ends], "#000", 1.2, "5 3")
    for x, (kernel, name) in zip(spread([across(value) for value in fields.values()], 13, left + 8, right - 8), fields):
        points = [(up(rate(r)), r["system"]) for r in here if (r["kernel"], r["input"]) == (kernel, name)]
        for y, system in sorted(points, key=lambda point: -systems.index(point[1])):
            picture.dot(x, y, COLOURS[system])
        picture.text(x + 3, min(points)[0] - 8, f"{kernel} {name}", 9, "start", -90)
    picture.text(16, (up.hi + bottom) / 2, "GFLOP/s", turn=-90)
    picture.text((left + right) / 2, bottom + 34, "arithmetic intensity, flops/byte")
    picture.text((left + right) / 2, 20, counted(cores), 14)
    picture.legend(systems, 20, bottom + 58)
    at = legend_width(systems)
    picture.line([(at, bottom + 54), (at + 24, bottom + 54)], "#000", 1.2, "5 3")
    picture.text(at + 30, bottom + 58, f"triad, {triad:.0f} GB/s", 11, "start")
    picture.save(out / "roofline.svg")


def draw(results, out, weak=False):
    for kernel in sorted({r["kernel"] for r in results}):
        bars(results, kernel, out)
    scaling(results, out, weak)
    roofline(results, out)
