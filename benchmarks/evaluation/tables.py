"""Tables of the evaluation, as text."""
KERNELS = ["SpMV", "SpMM", "SDDMM", "SpAdd3", "SpGEMM", "SpTTV", "SpMTTKRP"]


def best(results, system, **wanted):
    return min((r["ms"] for r in results if r["system"] == system and all(r[k] == v for k, v in wanted.items())), default=None)


def told(number, places=2):
    return "" if number is None or number < 0 else f"{number:.{places}f}"


def place(r):
    return tuple(r[k] for k in ("system", "kernel", "input", "ranks", "threads", "scale"))


def add_peaks(results, begun):
    """Peaks of processes that did one thing to what was timed: the peak of a process that times several kernels says little."""
    peaks = {place(r): r["peak_bytes"] for r in begun}
    for r in results:
        r["peak_bytes"] = peaks.get(place(r), -1)


def name_width(results):
    return max(11, *(len(r["input"]) for r in results))


def times(results):
    """Ratio: time over the best of spdistal on as many cores. Peak: of the rank that has most, beyond the input as it was generated."""
    names = name_width(results)
    lines = [f"{'kernel':9} {'input':{names}} {'system':10} {'ranks x threads':>15} {'ms':>10} {'runs':>4} {'spread':>6} {'GB/s':>7} {'of triad':>8} "
             f"{'moved MB':>8} {'imbalance':>9} {'peak MB':>8} {'ratio':>6}"]
    for kernel in KERNELS:
        for r in sorted((r for r in results if r["kernel"] == kernel), key=lambda r: (r["cores"], r["input"], r["ms"])):
            rate = r["bytes"] / (r["ms"] * 1e-3)
            ours = best(results, "spdistal", kernel=kernel, input=r["input"], cores=r["cores"])
            ratio = told(r["ms"] / ours) if ours and r["system"] != "spdistal" else ""
            lines.append(f"{kernel:9} {r['input']:{names}} {r['system']:10} {r['ranks']:>7} x {r['threads']:<5} {r['ms']:>10.3f} {r['runs']:>4} {r['spread']:>6.2f} "
                         f"{rate / 1e9:7.1f} {rate / r['triad']:8.2f} {told(r['moved_bytes'] / 1e6):>8} {told(r['imbalance']):>9} {told(r['peak_bytes'] / 1e6, 1):>8} {ratio:>6}")
    return "\n".join(line.rstrip() for line in lines)


def until_first(r):
    """Bringing the matrix and the first run, in milliseconds; what kernels take to compile is told beside it."""
    return r["bring_ms"] + r["first_ms"] - r["compile_ms"]


# Parts of set-up, in milliseconds: only spdistal tells those of its first run.
PARTS = {
    "read": lambda r: r["read_ms"],
    "bring": lambda r: r["bring_ms"],
    "fresh": lambda r: r["fresh_bring_ms"],
    "first": lambda r: r["first_ms"] - r["compile_ms"],
    "plan": lambda r: max(0.0, r["first_ms"] - r["compile_ms"] - r["exchange_ms"] - r["leaf_ms"]) if r["system"] == "spdistal" else -1,
    "exchange": lambda r: r["exchange_ms"] if r["system"] == "spdistal" else -1,
    "leaf": lambda r: r["leaf_ms"] if r["system"] == "spdistal" else -1,
    "JIT": lambda r: r["compile_ms"] if r["system"] == "spdistal" else -1,
}


def setup(begun):
    """Of SpMV and SpMM, in units of the later runs of the same system's SpMV."""
    rivals = [name for name in ("PETSc", "Tpetra") if any(r["system"] == name for r in begun)]
    names = name_width(begun)
    lines = ["", "Set-up, in units of a later SpMV of the same system (SpMV ms). read: the file, by the system's own reader; bring: to pack and distribute",
             "what each rank has of the matrix, PETSc's assembly, Tpetra's insertGlobalValues and fillComplete; fresh: the same in memory that the",
             "process has for the first time; first: the first run, of which plan (with partitions), exchange and leaf; JIT: compiling kernels, beside it;",
             "over: bring and first, in milliseconds, over those of the rival on as many cores",
             f"{'kernel':9} {'input':{names}} {'system':10} {'ranks x threads':>15} {'SpMV ms':>9} " + " ".join(f"{part:>8}" for part in PARTS) +
             "".join(f" {'over ' + name:>11}" for name in rivals)]
    for r in sorted(begun, key=lambda r: (KERNELS.index(r["kernel"]), r["input"], r["cores"], until_first(r))):
        same = [b for b in begun if all(b[k] == r[k] for k in ("system", "input", "ranks", "threads")) and b["kernel"] == "SpMV"]
        unit = (same or [r])[0]["ms"]
        overs = []
        for name in rivals:
            theirs = [until_first(b) for b in begun if b["system"] == name and all(b[k] == r[k] for k in ("kernel", "input", "cores"))]
            overs.append(told(until_first(r) / min(theirs)) if theirs and r["system"] != name else "")
        lines.append(f"{r['kernel']:9} {r['input']:{names}} {r['system']:10} {r['ranks']:>7} x {r['threads']:<5} {unit:>9.3f} " +
                     " ".join(f"{told(of(r) / unit, 1):>8}" for of in PARTS.values()) + "".join(f" {over:>11}" for over in overs))
    return "\n".join(line.rstrip() for line in lines)
