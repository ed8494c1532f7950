"""tools/check against small trees: a clean one passes, and one planted violation of each kind is refused by name."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

CLEAN = {
    ".clang-format": (ROOT / ".clang-format").read_text(),
    "dev": "#!/usr/bin/env bash\nverb_build() { true; }\nverb_test() { true; }\n",
    "README.md": """\
        # A project

        See [the glossary](docs/glossary.md#level), [a page](https://example.org/x), `src/base/a.hpp`, `src/*/README.md`
        and `tests/unit/<folder>`; `build/bin/spdistal` is made by the build.

        ```sh
        ./dev test --full   # takes long
        build/bin/spdistal "a(i) = b(i)" \\
          --print statement
        ```

        ```cpp
        std::string text = "src/not/checked/in/code/blocks";
        ```
        """,
    "docs/glossary.md": """\
        # Glossary

        Back to [the start](../README.md).

        | word | meaning |
        |---|---|
        | node, lower | what there is |
        """,
    "CMakeLists.txt": "project(p VERSION 1.2.0 LANGUAGES CXX)\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- x\n\n## 1.2.0 (2026-01-31)\n\n## 1.1.0 (2025-12-01)\n",
    "src/CMakeLists.txt": """\
        spdistal_folder(base LIBRARIES fmt::fmt PUBLIC abi.h err*.hpp)
        spdistal_folder(ir USES base)
        spdistal_folder(lower  # the last of them
                        USES ir
                        LIBRARIES fmt::fmt
                        PUBLIC tensor.hpp)
        spdistal_folder(runtime USES base)
        """,
    "src/base/README.md": "# base\n",
    "src/base/a.hpp": "#pragma once\n#include <vector>\n\n#include \"spdistal/error.hpp\"\n",
    "src/ir/README.md": "# ir\n",
    "src/ir/node.hpp": "#pragma once\n#include \"base/a.hpp\"\n",
    "src/lower/README.md": "# lower\n",
    "src/lower/lower.cpp": "#include \"base/a.hpp\"\n#include \"ir/node.hpp\"\n",
    "src/runtime/README.md": "# runtime\n",
    "src/runtime/space/README.md": "# space\n",
    "src/runtime/space/space.cpp": "#include \"base/a.hpp\"\n",
    "include/spdistal/error.hpp": "#pragma once\n#include <string>\n\n#include \"spdistal/abi.h\"\n",
    "include/spdistal/abi.h": "#pragma once\n",
    "include/spdistal/tensor.hpp": "#pragma once\n#include \"spdistal/error.hpp\"\n",
    "tools/cli/main.cpp": "#include \"options.hpp\"\n#include \"spdistal/error.hpp\"\n",
    "tools/cli/options.hpp": "#pragma once\n",
    "examples/one.cpp": "#include <spdistal/error.hpp>\n",
    "tests/unit/ir_test.cpp": "#include \"ir/node.hpp\"\n",
}


class Check(unittest.TestCase):
    def check(self, **changes):
        """(exit code, output) for the clean tree with these files written over it; None takes a file away."""
        return self.check_files({**CLEAN, **changes})

    def check_files(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                if text is not None:
                    path = pathlib.Path(folder) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(textwrap.dedent(text))
            done = subprocess.run([sys.executable, ROOT / "tools/check", folder], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout + done.stderr

    def refused(self, name, text, message):
        code, output = self.check(**{name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)
        self.assertEqual(len(output.strip().split("\n")), 1 + ("note:" in output), output)

    def test_a_clean_tree_passes(self):
        code, output = self.check()
        self.assertEqual(code, 0, output)

    @unittest.skipUnless(shutil.which("clang-format-14") or shutil.which("clang-format"), "there is no clang-format here")
    def test_a_file_that_is_not_formatted_is_refused(self):
        if "is not checked" in self.check()[1]:
            self.skipTest("clang-format has another version here")
        self.refused("src/ir/x.cpp", "int  f( ) {return 1 ;}\n", "src/ir/x.cpp:1: not formatted")

    def test_an_include_against_the_direction_is_refused(self):
        self.refused("src/ir/x.cpp", "#include \"lower/lower.hpp\"\n",
                     'src/ir/x.cpp:1: "lower/lower.hpp": ir may not use lower (it uses base)')
        self.refused("src/base/x.cpp", "#include <ir/node.hpp>\n", "base may not use ir (it uses no other folder)")
        self.refused("src/runtime/space/x.cpp", "\n#include \"ir/node.hpp\"\n", "src/runtime/space/x.cpp:2: ")

    def test_an_include_of_no_folder_is_refused(self):
        self.refused("src/ir/x.cpp", "#include \"irr/node.hpp\"\n", "src/irr is no folder")

    def test_an_include_by_a_relative_path_is_refused(self):
        self.refused("src/ir/x.cpp", "#include \"../base/a.hpp\"\n", "without ..")
        self.refused("src/ir/x.cpp", "#include \"a.hpp\"\n", "is not beside this file")

    def test_an_include_of_an_unknown_public_header_is_refused(self):
        self.refused("src/ir/x.cpp", "#include \"spdistal/private.hpp\"\n", "not among the public headers")

    def test_a_folder_that_is_not_declared_is_refused(self):
        code, output = self.check(**{"src/odd/README.md": "# odd\n", "src/odd/x.cpp": "int x;\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/odd/x.cpp:1: src/odd has no spdistal_folder line", output)

    def test_folders_that_use_each_other_are_refused(self):
        code, output = self.check(**{"src/CMakeLists.txt": CLEAN["src/CMakeLists.txt"].replace(
            "spdistal_folder(base LIBRARIES", "spdistal_folder(base USES ir LIBRARIES")})
        self.assertEqual(code, 1)
        self.assertIn("base uses itself through other folders", output)

    def test_a_public_header_against_the_direction_is_refused(self):
        self.refused("src/ir/x.cpp", "#include \"spdistal/tensor.hpp\"\n",
                     'src/ir/x.cpp:1: "spdistal/tensor.hpp": ir may not use lower (it uses base)')
        self.refused("include/spdistal/error2.hpp", "#pragma once\n#include <spdistal/tensor.hpp>\n",
                     'include/spdistal/error2.hpp:2: "spdistal/tensor.hpp": base may not use lower')
        self.assertEqual(self.check(**{"src/lower/x.cpp": "#include \"spdistal/tensor.hpp\"\n"})[0], 0)

    def test_a_public_header_of_no_folder_is_refused(self):
        self.refused("include/spdistal/x.hpp", "#pragma once\n", "include/spdistal/x.hpp:1: belongs to no folder")

    def test_a_public_header_that_includes_the_inside_is_refused(self):
        self.refused("include/spdistal/errors.hpp", "#pragma once\n#include \"base/a.hpp\"\n",
                     "include/spdistal/errors.hpp:2: \"base/a.hpp\": public headers include only public headers")

    def test_moving_data_by_hand_is_refused(self):
        text = "void f(void* a, void* b) { std::memcpy(a, b, 8); }\n"
        self.refused("src/ir/x.cpp", text, "src/ir/x.cpp:1: memcpy: ask the device, or memory/copy.hpp")
        self.assertEqual(self.check(**{"src/runtime/device/host.cpp": text, "src/runtime/device/README.md": "# d\n"})[0], 0)

    def test_a_parallel_loop_on_any_number_of_threads_is_refused(self):
        text = "void f(int* a) {\n#pragma omp parallel for%s\n  for (int k = 0; k < 9; k++) a[k] = k;\n}\n"
        self.refused("src/ir/x.cpp", text % "",
                     "src/ir/x.cpp:2: a parallel loop says num_threads(loop_threads()), base/threads.hpp")
        self.assertEqual(self.check(**{"src/ir/x.cpp": text % " num_threads(2)"})[0], 0)

    def test_asking_what_levels_promise_is_refused(self):
        text = "bool f(const LevelFormat& level) { return level.properties().full; }\n"
        self.refused("src/ir/x.cpp", text, "src/ir/x.cpp:1: properties(): ask a function of the level")

    def test_a_level_that_the_compiler_names_is_refused(self):
        level = "#pragma once\ninline constexpr levels::Listed Listed;\n"
        code, text = self.check(**{"include/spdistal/levels/listed.hpp": level,
                                   "src/lower/x.cpp": "Format f({Listed});  // Listed\nauto s = \"Listed\";\n"})
        self.assertNotEqual(code, 0)
        self.assertIn("src/lower/x.cpp:1: Listed: the compiler names no level", text)
        self.assertNotIn("src/lower/x.cpp:2", text)

    def test_an_abi_that_includes_anything_of_the_project_is_refused(self):
        self.refused("include/spdistal/abi.h", "#include <spdistal/error.hpp>\n", "abi.h stands alone")

    def test_tools_and_examples_that_include_the_inside_are_refused(self):
        self.refused("tools/cli/x.cpp", "#include \"ir/node.hpp\"\n", "tools/ may use only public headers")
        self.refused("examples/x.cpp", "#include <base/a.hpp>\n", "examples/ may use only public headers")

    def test_a_dead_link_is_refused(self):
        self.refused("docs/x.md", "See [this](nowhere.md).\n", "docs/x.md:1: the link nowhere.md leads nowhere")

    def test_a_path_that_does_not_exist_is_refused(self):
        self.refused("docs/x.md", "\nStart at `src/base/zzz.hpp`.\n", "docs/x.md:2: src/base/zzz.hpp does not exist")
        self.refused("docs/x.md", "All of `src/*/zzz.hpp`.\n", "src/*/zzz.hpp does not exist")
        self.refused("docs/x.md", "Line `src/base/zzz.hpp:12`.\n", "src/base/zzz.hpp does not exist")

    def test_a_word_of_the_glossary_with_two_meanings_is_refused(self):
        self.refused("docs/glossary.md", CLEAN["docs/glossary.md"] + "        | node | something else |\n",
                     "docs/glossary.md:8: node has a meaning already, in line 7")

    def test_a_word_of_the_glossary_that_nothing_is_called_is_refused(self):
        self.refused("docs/glossary.md", CLEAN["docs/glossary.md"] + "        | `grue` | may eat you |\n",
                     "docs/glossary.md:8: nothing is called grue any more")

    def test_a_type_name_that_stands_for_two_things_is_refused(self):
        one = {"src/ir/a.hpp": "#pragma once\nnamespace p {\nstruct Piece {\n  struct Kind {};\n};\n}\n"}
        for text in ("struct Piece {};", "using Piece = int;", "template <class T>\nclass Piece final : public T {};",
                     "enum class Piece : int { A };", "namespace {\nstruct Piece {};\n}"):
            status, output = self.check(**one, **{"src/lower/b.cpp": f"namespace q {{\n{text}\n}}\n"})
            self.assertEqual(status, 1, text)
            self.assertIn("Piece is another type already, in src/ir/a.hpp:3", output)

    def test_type_names_inside_of_classes_and_declarations_pass(self):
        status, output = self.check(**{
            "src/ir/a.hpp": "#pragma once\nstruct A {\n  enum class Kind { X };\n};\n",
            "src/lower/b.cpp": "struct A;\nstruct B {\n  enum class Kind { Y };\n};\n// struct A {\n",
            "src/lower/c.cpp": 'constexpr char text[] = R"(\nstruct A {};\n)";\n'})
        self.assertNotIn("another type", output)

    def test_releases_have_a_version_and_a_date(self):
        self.refused("CHANGELOG.md", "## Unreleased\n\n## Version two\n", 'CHANGELOG.md:3: "## Version two" is neither')
        self.refused("CHANGELOG.md", "## 1.2.0 (2026-01-31)\n\n## Unreleased\n", 'CHANGELOG.md:3: "## Unreleased" is neither')

    def test_the_newest_release_is_the_version_that_is_built(self):
        self.refused("CHANGELOG.md", "## 1.3.0 (2026-02-01)\n", "CHANGELOG.md:1: the newest release is 1.3.0")

    @unittest.skipUnless(shutil.which("git"), "there is no git here")
    def test_a_long_subject_of_a_commit_is_refused(self):
        def commit(folder, subject, date):
            subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "--allow-empty", "-m", subject],
                           cwd=folder, check=True, env={**os.environ, "GIT_COMMITTER_DATE": date})

        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            commit(folder, "Old " * 30, "2026-01-01T00:00:00Z")
            commit(folder, "x" * 71, "2026-11-17T00:00:00Z")
            run = [sys.executable, ROOT / "tools/check", folder]
            self.assertEqual(subprocess.run(run, capture_output=True, text=True, check=False).returncode, 0)
            commit(folder, "y" * 72, "2026-11-17T00:00:00Z")
            done = subprocess.run(run, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("the subject has 72 characters", done.stdout)

    def test_without_clang_tidy_the_check_says_so_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, ROOT / "tools/check", "--tidy", folder], capture_output=True, text=True,
                                  check=False, env={"PATH": folder})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("note: clang-tidy is not run", done.stdout)

    def test_a_source_folder_without_a_readme_is_refused(self):
        self.refused("src/ir/README.md", None, "src/ir/README.md:1: missing")
        self.refused("src/runtime/space/README.md", None, "src/runtime/space/README.md:1: missing")

    def test_a_readme_that_is_too_long_is_refused(self):
        self.refused("src/ir/README.md", "line\n" * 21, "src/ir/README.md:21: 21 lines")
        self.assertEqual(self.check(**{"src/ir/README.md": "line\n" * 20})[0], 0)

    def test_a_command_with_an_open_quote_is_refused(self):
        self.refused("docs/x.md", "```sh\n\nbuild/bin/spdistal \"a(i) = b(i)\n```\n", "docs/x.md:3: ")

    def test_a_verb_that_does_not_exist_is_refused(self):
        self.refused("docs/x.md", "```sh\n$ ./dev dance\n```\n", "docs/x.md:2: ./dev has no verb dance")

    def test_places_of_one_machine_are_refused(self):
        for place in ("/wo" + "rk/main", "/ro" + "ot", "/home/" + "someone/data", "../sha" + "red/x"):
            self.refused("docs/x.md", f"Data lie in {place} there.\n", "is a place of one machine")

    def test_package_registries_are_refused(self):
        for host in ("py" + "pi.org", "deb.deb" + "ian.org", "gh" + "cr.io"):
            self.refused("dev", CLEAN["dev"] + f"# https://{host}/x\n", f"dev:4: {host} names a package registry")

    def test_words_that_only_look_like_such_places_pass(self):
        code, output = self.check(**{"docs/x.md": "A path/work/space, /workspace, //work, and a root/leaf.\n"})
        self.assertEqual(code, 0, output)

    def test_a_long_file_is_named_but_not_refused(self):
        code, output = self.check(**{"src/ir/x.cpp": "int x;\n" * 501})
        self.assertEqual(code, 0, output)
        self.assertIn("note: src/ir/x.cpp has 502 lines", output)

    def test_build_folders_and_hidden_ones_are_not_looked_at(self):
        code, output = self.check(**{"build-x/x.md": "[x](y)\n", ".cache/x.md": "[x](y)\n"})
        self.assertEqual(code, 0, output)


if __name__ == "__main__":
    unittest.main()
