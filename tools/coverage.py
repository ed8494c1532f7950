"""Which lines of src/ and include/ ran: adds up what the programs of a build with SPDISTAL_COVERAGE=ON have counted.

  python3 tools/coverage.py BUILD_FOLDER      a table by folder, the files with the most lines that never ran, the total
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

WORST = 15  # files that are named


def count(notes, root):
    """{(file, line): how often it ran} of one object file, as gcov tells."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(notes)], capture_output=True, text=True, check=False,
                          cwd=notes.parent)
    out = {}
    for report in done.stdout.splitlines():
        for file in json.loads(report)["files"]:
            path = pathlib.Path(os.path.normpath(os.path.join(json.loads(report)["current_working_directory"], file["file"])))
            if not path.is_relative_to(root / "src") and not path.is_relative_to(root / "include"):
                continue
            name = path.relative_to(root).as_posix()
            for line in file["lines"]:
                key = (name, line["line_number"])
                out[key] = out.get(key, 0) + line["count"]
    return out


def add_up(build, root):
    """{file: (lines, lines that ran)}"""
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for counts in pool.map(lambda notes: count(notes, root), sorted(build.rglob("*.gcda"))):
            total.update(counts)
            total.update({key: 0 for key in counts if key not in total})
    files = collections.defaultdict(lambda: [0, 0])
    for (name, _), times in total.items():
        files[name][0] += 1
        files[name][1] += times > 0
    return files


def folder_of(name):
    return "/".join(name.split("/")[:2])


def table(files):
    folders = collections.defaultdict(lambda: [0, 0])
    for name, (lines, ran) in files.items():
        for key in (folder_of(name), "all"):
            folders[key][0] += lines
            folders[key][1] += ran
    rows = sorted((key, *counts) for key, counts in folders.items() if key != "all")
    for key, lines, ran in [*rows, ("all", *folders["all"])]:
        yield f"{key:24} {ran:7} of {lines:7} lines  {100 * ran / lines:5.1f} %"
    worst = sorted(files, key=lambda name: files[name][1] - files[name][0])[:WORST]
    yield "never ran, most first:"
    for name in worst:
        lines, ran = files[name]
        if lines > ran:
            yield f"{lines - ran:7}  {name}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    files = add_up(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[1])
    if not files:
        sys.exit(f"coverage: nothing was counted in {sys.argv[1]}: build it with -DSPDISTAL_COVERAGE=ON and run its tests")
    print("\n".join(table(files)))


if __name__ == "__main__":
    main()
