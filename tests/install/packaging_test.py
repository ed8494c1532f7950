"""Recipes of packagers name what the project needs, and its version."""
import ast
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def required_packages():
    """What ./dev installs to build, without what tests alone need; and what gives the library all it can have."""
    lines = re.search(r"^packages='\n(.*?)'", (ROOT / "dev").read_text(), re.M | re.S).group(1).splitlines()
    return {line.split()[0] for line in lines if line.split()[1] == "required"} - {"libgtest-dev", "libgmock-dev"} \
        | {"libhdf5-dev"}


class Recipes(unittest.TestCase):
    def test_docker_and_debian_install_what_dev_does(self):
        docker = (ROOT / "Dockerfile").read_text()
        build = re.search(r"AS build\nRUN .*?no-install-recommends(.*?)\nCOPY", docker, re.S).group(1)
        self.assertEqual(set(build.replace("\\", " ").split()), required_packages())
        control = (ROOT / "packaging/debian/control").read_text()
        needs = re.search(r"^Build-Depends:(.*?)\n\S", control, re.M | re.S).group(1)
        names = {re.sub(r"\(.*?\)", "", need).strip() for need in needs.split(",")}
        self.assertEqual(names - {"debhelper-compat"}, required_packages())

    def test_versions_are_the_projects(self):
        version = re.search(r"project\(spdistal VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        changelog = (ROOT / "packaging/debian/changelog").read_text()
        self.assertTrue(changelog.startswith(f"spdistal ({version})"), changelog)
        recipe = (ROOT / "packaging/spack/packages/spdistal/package.py").read_text()
        self.assertIn(f'version("{version}")', recipe)
        ast.parse(recipe)
        self.assertIn(f'version = "{version}"', (ROOT / "pyproject.toml").read_text())

    def test_the_control_file_of_debian_is_well_formed(self):
        done = subprocess.run(["sh", "-c", "command -v dpkg-parsechangelog"], capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest("there are no tools of Debian")
        done = subprocess.run(["dpkg-parsechangelog", "-l", ROOT / "packaging/debian/changelog", "-S", "Version"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
