"""The programs that README.md promises: the same ones in C++ and Python, each short enough to be read at once."""
import pathlib
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PROGRAMS = ("bfs", "components", "conjugate_gradients", "cp_als", "galerkin", "gnn_layer", "own_rows", "pagerank",
            "shortest_paths", "triangles", "widest_paths")
LINES = 30


def lines_of_code(text, comment, preamble):
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith((comment, *preamble)))


class Examples(unittest.TestCase):
    def test_each_program_is_there_in_both_languages_in_less_than_thirty_lines(self):
        for name in PROGRAMS:
            with self.subTest(name=name):
                cpp = (EXAMPLES / f"{name}.cpp").read_text()
                self.assertLess(lines_of_code(cpp, "//", ("#include", "using namespace")), LINES)
                python = (EXAMPLES / f"python/{name}.py").read_text()
                self.assertLess(lines_of_code(python, "#", ('"""', "import", "from")), LINES)

    def test_no_program_in_python_lacks_one_in_cpp(self):
        self.assertEqual({path.stem for path in (EXAMPLES / "python").glob("*.py")}, set(PROGRAMS))


if __name__ == "__main__":
    unittest.main()
