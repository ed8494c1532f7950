"""Every public header compiles on its own, before anything else was included."""
import pathlib
import subprocess
import unittest

from python_tests import SETTINGS

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"


class PublicHeaders(unittest.TestCase):
    def compile(self, header, *flags):
        name = header.relative_to(INCLUDE)
        done = subprocess.run([SETTINGS["compiler"], *flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                               f"-I{INCLUDE}", "-"], input=f"#include <{name}>\n", capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, f"{name} alone does not compile:\n{done.stderr}")

    def test_each_compiles_alone_as_cpp20(self):
        headers = sorted([*INCLUDE.rglob("*.hpp"), *INCLUDE.rglob("*.h")])
        self.assertTrue(headers)
        for header in headers:
            with self.subTest(header=header.name):
                if header.name == "petsc.hpp" and not SETTINGS["petsc"]:
                    self.skipTest("there is no PETSc")
                needs = {"mpi.hpp": SETTINGS["mpi"], "petsc.hpp": f"{SETTINGS['petsc']}:{SETTINGS['mpi']}"}.get(header.name, "")
                self.compile(header, "-xc++", "-std=c++20", *(f"-isystem{folder}" for folder in needs.split(":") if folder))

    def test_each_h_file_compiles_alone_as_c(self):
        headers = sorted(INCLUDE.rglob("*.h"))
        if not headers:
            self.skipTest("there is no C header yet")
        for header in headers:
            with self.subTest(header=header.name):
                self.compile(header, "-xc", "-std=c11")


if __name__ == "__main__":
    unittest.main()
