"""./dev on machines where packages are missing, played by programs of the same names: nothing is installed here."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = re.search(r"^packages='\n(.*?)^'", (ROOT / "dev").read_text(), re.S | re.M)[1].split("\n")
PACKAGES = [line.split() for line in PACKAGES if line]
ALL = [words[0] for words in PACKAGES]
NEEDED = ("bash", "sh", "cat", "sed", "grep", "xargs", "mkdir", "dirname", "env", "echo", "nproc", "rm", "chmod")


class Machine:
    """A folder with a copy of ./dev, and a PATH that holds only plain tools and fakes. `installed` is a file with the
    names of packages; `log` keeps each apt-get command line."""

    def __init__(self, folder, installed, user="root"):
        self.folder, self.bin = pathlib.Path(folder), pathlib.Path(folder) / "bin"
        self.bin.mkdir()
        shutil.copy(ROOT / "dev", self.folder / "dev")
        self.log, self.installed = self.folder / "log", self.folder / "installed"
        self.log.touch()
        self.installed.write_text("".join(f"installed {name}\n" for name in installed))
        for name in NEEDED:
            os.symlink(shutil.which(name), self.bin / name)
        self.program("id", f"echo {0 if user == 'root' else 1000}")
        self.program("dpkg-query", f"cat {self.installed}; echo 'config-files libold'; echo 'installed libc6:amd64'")

    def program(self, name, body):
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    def with_apt(self, refuses=(), offline=False):
        """An apt-get that installs what it is asked for, all or nothing, unless it cannot."""
        cases = "".join(f"*' {name} '*) exit 100;; " for name in refuses)
        self.program("apt-get", f"""echo "apt-get $*" >> {self.log}
            {'exit 100' if offline else ''}
            case "$*" in *' update') exit 0;; esac
            case " $* " in {cases} esac
            for word in "$@"; do last=$word; case $word in -*|*=*|install) ;; *)
              echo "installed $word" >> {self.installed};; esac; done""")
        return self

    def dev(self, *words):
        done = subprocess.run([self.bin / "bash", self.folder / "dev", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={"PATH": str(self.bin)}, check=False)
        return done.returncode, done.stdout

    def apt_commands(self):
        """The apt-get command lines so far, from the verb on: ["update", "install a b"]."""
        return [" ".join(word for word in line.split()[1:] if not word.startswith("-") and "=" not in word)
                for line in self.log.read_text().split("\n") if line]


class Dev(unittest.TestCase):
    def machine(self, installed, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Machine(folder.name, installed, **options)

    def test_touches_nothing_where_everything_is_there(self):
        machine = self.machine(ALL).with_apt()
        self.assertEqual(machine.dev("packages"), (0, ""))
        self.assertEqual(machine.apt_commands(), [])

    def test_installs_exactly_what_is_missing(self):
        machine = self.machine([name for name in ALL if name not in ("cmake", "librapidcheck-dev")]).with_apt()
        code, output = machine.dev("packages")
        self.assertEqual(code, 0, output)
        self.assertEqual(machine.apt_commands(), ["update", "install cmake librapidcheck-dev"])
        self.assertEqual(machine.dev("packages"), (0, ""))

    def test_installs_everything_on_a_bare_machine(self):
        machine = self.machine([]).with_apt()
        self.assertEqual(machine.dev("packages")[0], 0)
        self.assertEqual(sorted(machine.apt_commands()[-1].split()[1:]), sorted(ALL))

    def test_a_removed_package_whose_settings_stayed_is_missing(self):
        machine = self.machine([name for name in ALL if name != "cmake"]).with_apt()
        machine.installed.write_text(machine.installed.read_text() + "config-files cmake\n")
        machine.dev("packages")
        self.assertEqual(machine.apt_commands()[-1], "install cmake")

    def test_a_program_that_is_there_by_other_means_is_not_installed(self):
        machine = self.machine([name for name in ALL if name != "cmake"]).with_apt()
        machine.program("cmake", "true")
        self.assertEqual(machine.dev("packages"), (0, ""))

    def test_a_header_that_is_there_by_other_means_is_not_installed(self):
        machine = self.machine([name for name in ALL if name != "libfmt-dev"]).with_apt()
        machine.program("c++", "grep -q fmt/core.h")
        self.assertEqual(machine.dev("packages"), (0, ""))

    def test_uses_sudo_where_not_root(self):
        machine = self.machine([name for name in ALL if name != "cmake"], user="someone").with_apt()
        machine.program("sudo", f'echo sudo >> {machine.folder}/sudo-log; exec "$@"')
        self.assertEqual(machine.dev("packages")[0], 0)
        self.assertTrue((machine.folder / "sudo-log").exists())
        self.assertEqual(machine.apt_commands()[-1], "install cmake")

    def test_goes_on_without_optional_packages_that_do_not_exist_and_says_so(self):
        optional = ["librapidcheck-dev", "clang-tidy"]
        machine = self.machine([name for name in ALL if name not in (*optional, "cmake")]).with_apt(refuses=optional)
        code, output = machine.dev("packages")
        self.assertEqual(code, 0, output)
        self.assertIn("going on without: clang-tidy librapidcheck-dev", output)
        self.assertEqual(machine.apt_commands()[-1], "install cmake")

    def test_does_not_try_again_for_optional_packages_that_could_not_be_had(self):
        machine = self.machine([name for name in ALL if name != "librapidcheck-dev"]).with_apt(offline=True)
        self.assertEqual(machine.dev("packages")[0], 0)
        tried = machine.apt_commands()
        self.assertNotEqual(tried, [])
        code, output = machine.dev("packages")
        self.assertEqual((code, machine.apt_commands()), (0, tried))
        self.assertIn("going on without: librapidcheck-dev", output)

    def test_stops_where_a_required_package_cannot_be_had_and_names_it(self):
        for machine in (self.machine([name for name in ALL if name != "cmake"]).with_apt(offline=True),
                        self.machine([name for name in ALL if name != "cmake"])):
            code, output = machine.dev("build")
            self.assertEqual(code, 1)
            self.assertIn("cannot go on without: cmake", output)

    def test_says_that_there_is_no_sudo(self):
        machine = self.machine([name for name in ALL if name != "cmake"], user="someone").with_apt()
        code, output = machine.dev("build")
        self.assertEqual(code, 1)
        self.assertIn("not root, and there is no sudo", output)

    def test_an_unknown_verb_is_refused_with_the_list(self):
        code, output = self.machine(ALL).dev("dance")
        self.assertEqual(code, 2)
        self.assertIn("unknown verb 'dance'", output)
        self.assertIn("./dev VERB", output)

    def test_a_failed_build_ends_with_a_count_that_fails(self):
        machine = self.machine(ALL)
        machine.program("cmake", "exit 1")
        code, output = machine.dev("test")
        self.assertEqual(code, 1)
        self.assertEqual(output.strip().split("\n")[-1], "0 passed, 1 failed, 0 skipped")

    def test_fuzz_and_bench_say_that_there_is_nothing_to_run(self):
        machine = self.machine(ALL)
        machine.program("cmake", "exit 0")
        for verb, what in ((["fuzz"], "fuzz programs"), (["bench", "all"], "benchmarks")):
            code, output = machine.dev(*verb)
            self.assertEqual(code, 1)
            self.assertIn(f"there are no {what} yet", output)

    def test_bench_installs_rivals_and_goes_on_without_those_that_cannot_be_had(self):
        for refused in ((), ("libpetsc-real-dev",)):
            machine = self.machine(ALL).with_apt(refuses=refused)
            machine.program("cmake", f'echo "cmake $*" >> {machine.folder}/cmake')
            (machine.folder / "benchmarks/evaluation").mkdir(parents=True)
            machine.folder.joinpath("benchmarks/evaluation/run").write_text("#!/bin/sh\necho measured $*\n")
            machine.folder.joinpath("benchmarks/evaluation/run").chmod(0o755)
            code, output = machine.dev("bench", "--quick")
            self.assertEqual((code, output.strip().split("\n")[-1]), (0, "measured --quick"))
            self.assertEqual("going on without" in output, bool(refused))
            self.assertEqual(machine.apt_commands()[0], "update")
            self.assertIn("libeigen3-dev", machine.installed.read_text())
            if not refused:  # there now: nothing is asked for again
                machine.log.write_text("")
                self.assertEqual(machine.dev("bench")[0], 0)
                self.assertEqual(machine.log.read_text(), "")

    def test_the_demo_is_built_first_and_stops_where_the_build_fails(self):
        machine = self.machine(ALL)
        (machine.folder / "examples").mkdir()
        (machine.folder / "examples/demo.sh").write_text("#!/bin/sh\necho the demo\n")
        (machine.folder / "examples/demo.sh").chmod(0o755)
        machine.program("cmake", f'echo "cmake $*" >> {machine.log}')
        code, output = machine.dev("demo")
        self.assertEqual((code, output.strip().split("\n")[-1]), (0, "the demo"))
        self.assertRegex(machine.log.read_text(), r"cmake --build build .*--target spdistal_cli figure1\n")
        machine.program("cmake", "exit 1")
        code, output = machine.dev("demo")
        self.assertNotEqual(code, 0)
        self.assertNotIn("the demo", output)

    def test_fuzz_runs_every_fuzz_program_for_the_given_time_and_fails_where_one_does(self):
        machine = self.machine(ALL)
        machine.program("cmake", "exit 0")
        (machine.folder / "build/bin").mkdir(parents=True)
        for name, code in (("a", 1), ("b", 0)):
            program = machine.folder / f"build/bin/fuzz_{name}"
            program.write_text(f"#!/bin/sh\necho {name} for $1; exit {code}\n")
            program.chmod(0o755)
        code, output = machine.dev("fuzz", "5")
        self.assertEqual(code, 1)
        self.assertIn("a for 5", output)
        self.assertIn("b for 5", output)
        self.assertIn("fuzz_a failed", output)


if __name__ == "__main__":
    unittest.main()
