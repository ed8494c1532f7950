"""The package as others meet it: installed under a prefix of its own, found by CMake and by pkg-config, moved, run."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from python_tests import SETTINGS, on_ranks

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"


class InstalledPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="spdistal-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        installed = cls.folder / "first place"
        cls.run_command("cmake", "--install", SETTINGS["build"], "--prefix", installed)
        cls.prefix = cls.folder / "prefix"
        installed.rename(cls.prefix)  # nothing in the package may name the place it was installed to
        cls.libraries = next(cls.prefix.glob("lib*/**/libspdistal.so")).parent

    @staticmethod
    def run_command(*command, **environment):
        environment = {**os.environ, **{name: str(value) for name, value in environment.items()}}
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                              env=environment)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_a_cmake_project_finds_builds_and_runs(self):
        build = self.folder / "by-cmake"
        self.run_command("cmake", "-S", CONSUMER, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                         f"-DCMAKE_CXX_COMPILER={SETTINGS['compiler']}", "-G", "Ninja")
        self.run_command("cmake", "--build", build)
        self.assertIn("spdistal works", self.run_command(build / "consumer"))
        self.assertIn("spdistal works with MPI: 2", self.run_command(
            *on_ranks(2), build / "on_mpi", LD_LIBRARY_PATH=self.libraries))

    def test_as_a_part_of_a_project_it_is_the_library_alone_and_leaves_the_flags_of_others(self):
        source = CONSUMER.parents[2]
        said = self.run_command("cmake", "-S", CONSUMER, "-B", self.folder / "part", f"-DSPDISTAL_SOURCE={source}", "-G", "Ninja",
                                f"-DCMAKE_CXX_COMPILER={SETTINGS['compiler']}")
        self.assertIn(" spdistal", said)
        targets = self.run_command("cmake", "--build", self.folder / "part", "--target", "help")
        for other in ("golden_test", "spdistal_cli", "figure1", "unit_api"):
            self.assertNotIn(other, targets)

    def test_a_cmake_project_that_wants_a_later_version_is_refused(self):
        source = self.folder / "later"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(later LANGUAGES CXX)\n"
                                               "find_package(spdistal 99 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, "not compatible|compatible with requested"):
            self.run_command("cmake", "-S", source, "-B", self.folder / "later-build", "-G", "Ninja",
                             f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_pkg_config_gives_what_a_compiler_needs(self):
        place = {"PKG_CONFIG_PATH": self.libraries / "pkgconfig"}
        flags = self.run_command("pkg-config", "--cflags", "--libs", "spdistal", **place).split()
        program = self.folder / "by-pkg-config"
        self.run_command(SETTINGS["compiler"], "-std=c++20", CONSUMER / "consumer.cpp", "-o", program, *flags)
        self.assertIn("spdistal works", self.run_command(program, LD_LIBRARY_PATH=self.libraries))

    def test_pkg_config_and_cmake_agree_on_the_version(self):
        place = {"PKG_CONFIG_PATH": self.libraries / "pkgconfig"}
        version = self.run_command("pkg-config", "--modversion", "spdistal", **place).strip()
        text = (self.libraries / "cmake/spdistal/spdistalConfigVersion.cmake").read_text()
        self.assertIn(f'"{version}"', text)

    def test_every_public_header_is_installed_and_nothing_else(self):
        source = pathlib.Path(__file__).resolve().parents[2] / "include"
        names = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
        include = self.prefix / "include"
        self.assertEqual({str(path.relative_to(include)) for path in include.rglob("*") if path.is_file()}, names)

    def test_the_command_line_tool_runs_from_the_moved_tree(self):
        tool = self.prefix / "bin/spdistal"
        if not tool.exists():
            self.skipTest("there is no command line tool yet")
        self.assertIn("spdistal", self.run_command(tool, "--help", LD_LIBRARY_PATH=""))


if __name__ == "__main__":
    unittest.main()
