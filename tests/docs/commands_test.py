"""The commands that the documentation shows do run: every line of a ```sh block that starts with build/bin/, in a
folder that looks like the repository and takes what the commands write."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_check():
    loader = importlib.machinery.SourceFileLoader("check", str(ROOT / "tools/check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
    loader.exec_module(module)
    return module


class DocumentedCommands(unittest.TestCase):
    def test_every_command_of_the_tool_succeeds(self):
        commands = [(place, command) for place, command in load_check().shell_commands(ROOT)
                    if command.startswith("build/bin/")]
        if not commands:
            self.skipTest("no document shows a command of the tool yet")
        with tempfile.TemporaryDirectory() as folder:
            for path in ROOT.iterdir():
                if path.name not in (".git", "build"):
                    os.symlink(path, pathlib.Path(folder) / path.name)
            os.symlink(SETTINGS["build"], pathlib.Path(folder) / "build")
            for place, command in commands:
                program = pathlib.Path(folder) / command.split()[0]
                if not program.exists():
                    self.fail(f"{place}: {command.split()[0]} is not built")
                with self.subTest(place=place):
                    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=120,
                                          check=False)
                    self.assertEqual(done.returncode, 0, f"{place}\n$ {command}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    unittest.main()
