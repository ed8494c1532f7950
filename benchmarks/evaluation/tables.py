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


def times(results):
    """Ratio: time over the best of spdistal on as many cores. Peak: of the rank that has most, beyond the input as it was generated."""
    lines = [f"{'kernel':9} {'input':11} {'system':10} {'ranks x threads':>15} {'ms':>10} {'runs':>4} {'spread':>6} {'GB/s':>7} {'of triad':>8} "
             f"{'moved MB':>8} {'imbalance':>9} {'peak MB':>8} {'ratio':>6}"]
    for kernel in KERNELS:
        for r in sorted((r for r in results if r["kernel"] == kernel), key=lambda r: (r["cores"], r["input"], r["ms"])):
            rate = r["bytes"] / (r["ms"] * 1e-3)
            ours = best(results, "spdistal", kernel=kernel, input=r["input"], cores=r["cores"])
            ratio = told(r["ms"] / ours) if ours and r["system"] != "spdistal" else ""
            lines.append(f"{kernel:9} {r['input']:11} {r['system']:10} {r['ranks']:>7} x {r['threads']:<5} {r['ms']:>10.3f} {r['runs']:>4} {r['spread']:>6.2f} "
                         f"{rate / 1e9:7.1f} {rate / r['triad']:8.2f} {told(r['moved_bytes'] / 1e6):>8} {told(r['imbalance']):>9} {told(r['peak_bytes'] / 1e6, 1):>8} {ratio:>6}")
    return "\n".join(line.rstrip() for line in lines)


def until_first(r):
    """Bringing the matrix and the first run, in milliseconds; what kernels take to compile is told beside it."""
    return r["bring_ms"] + r["first_ms"] - r["compile_ms"]


def setup(begun):
    """Of SpMV and SpMM, in units of the later runs of the same system's SpMV."""
    lines = ["", "Set-up, in units of a later SpMV of the same system. bring: pack and distribute, or assemble; fresh: in memory that the process has for the",
             "first time; first: the first run, of which exchange and leaf, and the rest: partition and plan; JIT: compiling kernels, counted nowhere else;",
             "ratio: bring and first of the system, in milliseconds, over those of PETSc",
             f"{'kernel':9} {'input':11} {'system':10} {'ranks x threads':>15} {'SpMV ms':>9} {'read':>7} {'bring':>7} {'fresh':>7} {'first':>7} {'exchange':>8} {'leaf':>6} {'plan':>6} {'JIT ms':>7} {'ratio':>6}"]
    for r in sorted(begun, key=lambda r: (KERNELS.index(r["kernel"]), r["input"], r["ranks"] * r["threads"], until_first(r))):
        same = [b for b in begun if all(b[k] == r[k] for k in ("system", "input", "ranks", "threads")) and b["kernel"] == "SpMV"]
        unit = (same or [r])[0]["ms"]
        in_units = lambda ms: told(ms / unit, 1)
        ours = r["system"] == "spdistal"
        first = r["first_ms"] - r["compile_ms"]
        petsc = min((until_first(b) for b in begun if b["system"] == "PETSc" and (b["kernel"], b["input"]) == (r["kernel"], r["input"])), default=None)
        lines.append(f"{r['kernel']:9} {r['input']:11} {r['system']:10} {r['ranks']:>7} x {r['threads']:<5} {unit:>9.3f} {in_units(r['read_ms']):>7} {in_units(r['bring_ms']):>7} "
                     f"{in_units(r['fresh_bring_ms']):>7} {in_units(first):>7} " +
                     (f"{in_units(r['exchange_ms']):>8} {in_units(r['leaf_ms']):>6} {in_units(max(0.0, first - r['exchange_ms'] - r['leaf_ms'])):>6} {r['compile_ms']:>7.0f}" if ours else f"{'':>8} {'':>6} {'':>6} {'':>7}") +
                     f" {told(until_first(r) / petsc) if petsc else '':>6}")
    return "\n".join(line.rstrip() for line in lines)
