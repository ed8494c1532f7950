"""The commands that the documentation shows do run, in a folder that looks like the repository and takes what they write:
every line of a ```sh block that starts with build/bin/ or mpirun. Where a block without a language follows, it is what
the last command prints: all of its lines, one after the other; … stands for any text, on a line of its own for any
lines."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
# More ranks than processors, those that wait give way, and root may start them.
MPI = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def blocks(text):
    """(line of the opening fence, language, contents, whether only blank lines stand between it and the block before)."""
    language, begin, lines, close = None, 0, [], True
    for number, line in enumerate(text.split("\n"), 1):
        fence = re.match(r"```+\s*(\w*)", line)
        if fence and language is None:
            language, begin, lines = fence[1], number, []
        elif fence:
            yield begin, language, lines, close
            language, close = None, True
        elif language is not None:
            lines.append(line)
        elif line.strip():
            close = False


def commands_of(text, name=""):
    """(place, command, the lines it should print or None)."""
    found, last = [], None
    for begin, language, lines, follows in blocks(text):
        if language == "" and follows and last is not None:
            found[last] = (*found[last][:2], lines)
        last = None
        if language != "sh":
            continue
        for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).split("\n"):
            command = re.sub(r"^\s*\$ ", "", line).strip()
            if command.startswith(("build/bin/", "mpirun ")):
                last = len(found)
                found.append((f"{name}:{begin}", command, None))
    return found


def matches(wanted, line):
    """Widths of columns do not matter, the indentation does."""
    wanted, line = (re.sub(r"(?<=\S)\s+", " ", text.rstrip()) for text in (wanted, line))
    return re.fullmatch(".*".join(re.escape(part) for part in wanted.split("…")), line) is not None


def missing(wanted, printed):
    """The first line that is wanted and not printed, or None. Lines that follow each other follow each other in what is
    printed, except after a … of its own."""
    at, free = 0, True
    for line in wanted:
        if line.strip() == "…":
            free = True
            continue
        while at < len(printed) and not matches(line, printed[at]):
            if not free:
                return line
            at += 1
        if at == len(printed):
            return line
        at, free = at + 1, False
    return None


class DocumentedCommands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for path in ROOT.iterdir():
            if path.name not in (".git", "build"):
                os.symlink(path, self.folder / path.name)
        os.symlink(SETTINGS["build"], self.folder / "build")

    def test_every_command_succeeds_and_prints_what_is_shown(self):
        commands = [command for path in DOCUMENTS
                    for command in commands_of(path.read_text(encoding="utf-8"), path.relative_to(ROOT))]
        self.assertTrue(commands)
        for place, command, output in commands:
            with self.subTest(place=place):
                for word in shlex.split(command):
                    if word.startswith("build/bin/"):
                        self.assertTrue((self.folder / word).exists(), f"{place}: {word} is not built")
                done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True, timeout=120,
                                      check=False, env={**os.environ, **MPI})
                self.assertEqual(done.returncode, 0, f"{place}\n$ {command}\n{done.stdout}{done.stderr}")
                line = missing(output or [], done.stdout.split("\n"))
                self.assertIsNone(line, f"{place}\n$ {command}\ndoes not print, where it should:\n{line}\n{done.stdout}")


class Matching(unittest.TestCase):
    def test_lines_are_found_in_their_order_and_without_gaps(self):
        printed = ["a", "b 12 ms", "c", "d"]
        self.assertIsNone(missing(["a", "b … ms", "c"], printed))
        self.assertIsNone(missing(["b 12 ms", "…", "d"], printed))
        self.assertEqual(missing(["a", "c"], printed), "c")
        self.assertEqual(missing(["d", "a"], printed), "a")
        self.assertEqual(missing(["b 1"], printed), "b 1")

    def test_a_block_belongs_to_the_command_right_before_it(self):
        text = ("```sh\nbuild/bin/x 1\nbuild/bin/x \\\n  2\n```\n\n```\nout\n```\n"
                "words\n```sh\nmpirun x\n```\nwords\n```\nno\n```\n")
        self.assertEqual([(command, output) for _, command, output in commands_of(text)],
                         [("build/bin/x 1", None), ("build/bin/x 2", ["out"]), ("mpirun x", None)])


if __name__ == "__main__":
    unittest.main()
