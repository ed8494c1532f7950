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


def systems_of(results):
    return [s for s in COLOURS if any(r["system"] == s for r in results)]


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
    picture = Picture(120 + 170 * len(inputs), 320)
    scale = Scale([r["ms"] for r in here], 260, 40)
    for mark in scale.marks():
        picture.line([(60, scale(mark)), (100 + 170 * len(inputs), scale(mark))], "#ddd")
        picture.text(54, scale(mark) + 4, f"{mark:g}", 11, "end")
    for k, name in enumerate(inputs):
        x = 70 + 170 * k
        for s, system in enumerate(systems):
            if (ms := fastest(here, input=name, system=system)) is not None:
                picture.bar(x + 24 * s, scale(ms), 20, 260 - scale(ms), COLOURS[system])
        picture.text(x + 12 * len(systems), 278, name)
    picture.text(18, 150, "ms", turn=-90)
    picture.text(picture.size[0] / 2, 20, f"{kernel}, {cores} cores", 14)
    picture.legend(systems, 20, 305)
    picture.save(out / f"{kernel}.svg")


def scaling(results, out, weak):
    """Speed over cores, each kernel and input a small field: one core of spdistal is 1. Where the size grows with the cores, so does
    what is done in the time."""
    fields = sorted({(r["kernel"], r["input"]) for r in results})
    counts = sorted({r["cores"] for r in results})
    if len(counts) < 2:
        return
    across = 4
    picture = Picture(230 * across + 20, 190 * math.ceil(len(fields) / across) + 50)
    for k, (kernel, name) in enumerate(fields):
        x, y = 40 + 230 * (k % across), 30 + 190 * (k // across)
        here = [r for r in results if (r["kernel"], r["input"]) == (kernel, name)]
        one = fastest(here, system="spdistal", cores=counts[0])
        if one is None:
            continue
        done = lambda cores: cores / counts[0] if weak else 1
        best = max(one / r["ms"] * done(r["cores"]) for r in here)
        place = lambda cores, speed: (x + 170 * math.log2(cores / counts[0]) / math.log2(counts[-1] / counts[0]), y + 140 - 130 * speed / best)
        picture.line([(x, y), (x, y + 140), (x + 180, y + 140)], "#888")
        picture.text(x + 90, y - 6, f"{kernel}, {name}")
        picture.text(x - 4, y + 14, f"{best:.1f}", 10, "end")
        for cores in counts:
            picture.text(place(cores, 0)[0], y + 154, str(cores), 10)
        for system in systems_of(here):
            line = [place(c, one / ms * done(c)) for c in counts if (ms := fastest(here, system=system, cores=c)) is not None]
            picture.line(line, COLOURS[system], 1.6)
            for point in line:
                picture.dot(*point, COLOURS[system])
    picture.legend(systems_of(results), 20, picture.size[1] - 12)
    picture.save(out / ("weak_scaling.svg" if weak else "scaling.svg"))


def roofline(results, out):
    """Bytes per second that each kernel moves at least, against the triad of the same run."""
    cores = max(r["cores"] for r in results)
    here = [r for r in results if r["cores"] == cores]
    fields = sorted({(r["kernel"], r["input"]) for r in here})
    picture = Picture(90 + 44 * len(fields), 380)
    rates = [r["bytes"] / r["ms"] / 1e6 for r in here]
    triad = sorted(r["triad"] for r in here)[len(here) // 2] / 1e9
    scale = Scale(rates + [triad], 250, 40)
    for mark in scale.marks():
        picture.line([(60, scale(mark)), (picture.size[0] - 10, scale(mark))], "#ddd")
        picture.text(54, scale(mark) + 4, f"{mark:g}", 11, "end")
    picture.line([(60, scale(triad)), (picture.size[0] - 10, scale(triad))], "#000", 1.2, "5 3")
    picture.text(picture.size[0] - 12, scale(triad) - 5, "triad", 11, "end")
    for k, field in enumerate(fields):
        x = 80 + 44 * k
        for r in here:
            if (r["kernel"], r["input"]) == field:
                picture.dot(x, scale(r["bytes"] / r["ms"] / 1e6), COLOURS[r["system"]])
        picture.text(x, 262, f"{field[0]} {field[1]}", 10, "end", -60)
    picture.text(18, 150, "GB/s", turn=-90)
    picture.text(picture.size[0] / 2, 20, f"{cores} cores", 14)
    picture.legend(systems_of(here), 20, 370)
    picture.save(out / "roofline.svg")


def draw(results, out, weak=False):
    for kernel in sorted({r["kernel"] for r in results}):
        bars(results, kernel, out)
    scaling(results, out, weak)
    roofline(results, out)
