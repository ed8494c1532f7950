"""Files of SciPy and PETSc: read and written by the command line tool, made and looked at here from their definitions."""
import ast
import io
import pathlib
import struct
import subprocess
import tempfile
import unittest
import zipfile

from python_tests import SETTINGS, on_ranks

TOOL = pathlib.Path(SETTINGS["build"]) / "bin/spdistal"
# The matrix of all tests, 3 x 4: row, column, value.
ENTRIES = [(0, 1, 2.5), (0, 3, -1.0), (2, 0, 4.0), (2, 2, 0.125)]


def npy(descr, shape, data, version=1):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def elements(member):
    """The elements of an array that the tool wrote."""
    assert member[:8] == b"\x93NUMPY\x01\x00"
    size = struct.unpack("<H", member[8:10])[0]
    assert (10 + size) % 64 == 0
    head = ast.literal_eval(member[10:10 + size].decode())
    code = {"<i4": "i", "<i8": "q", "<f8": "d", "|S3": "3s"}[head["descr"]]
    count = head["shape"][0] if head["shape"] else 1
    return list(struct.unpack(f"<{count if code != '3s' else ''}{code}", member[10 + size:]))


def csr(index="<i4", value="<f8", **other):
    pack = {"<i4": "<{}i", ">i8": ">{}q", "<u2": "<{}H"}[index].format
    values = struct.pack(f"{value[0]}4{'d' if value[2] == '8' else 'f'}", *(v for _, _, v in ENTRIES))
    members = {"indices": npy(index, (4,), struct.pack(pack(4), 1, 3, 0, 2)),
               "indptr": npy(index, (4,), struct.pack(pack(4), 0, 2, 2, 4)),
               "format": npy("|S3", (), b"csr"), "shape": npy("<i8", (2,), struct.pack("<2q", 3, 4)),
               "data": npy(value, (4,), values)}
    return {**members, **other}


def archive(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, data in members.items():
            file.writestr(name + ".npy", data)
    return out.getvalue()


def petsc_matrix(index="i", value="d", values=None):
    counts, columns = (2, 0, 2), (1, 3, 0, 2)
    values = values or [v for _, _, v in ENTRIES]
    return struct.pack(f">11{index}{len(values)}{value}", 1211216, 3, 4, 4, *counts, *columns, *values)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, status=0, launch=()):
        done = subprocess.run([*launch, TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def read(self, name, data, *arguments, launch=()):
        """The stored elements of a file."""
        (self.folder / name).write_bytes(data)
        self.run_tool("A(i,j) = B(i,j)", "-f", "A:uq", "-f", "B:uq", "-i", f"B:{name}", "-o", "A:out.tns", *arguments,
                      launch=launch)
        lines = (self.folder / "out.tns").read_text().splitlines()
        self.assertEqual(lines[0], "# dims: 3 4")
        return [(int(r) - 1, int(c) - 1, float(v)) for r, c, v in (line.split() for line in lines[1:])]

    def test_matrices_of_scipy_are_read_in_each_of_its_formats(self):
        rows, columns, values = zip(*ENTRIES)
        by_columns = sorted(range(4), key=lambda k: (columns[k], rows[k]))
        files = {"csr": csr(),
                 "wide and big-endian": csr(">i8", ">f8"),
                 "narrow": csr("<u2", "<f4"),
                 "version 2": {**csr(), "data": npy("<f8", (4,), struct.pack("<4d", *values), version=2)},
                 "with others": {"_is_array": npy("|b1", (), b"\x01"), **csr()},
                 "format as text": csr(format=npy("<U3", (), "csr".encode("utf-32-le"))),
                 "csc": csr(format=npy("|S3", (), b"csc"), indptr=npy("<i4", (5,), struct.pack("<5i", 0, 1, 2, 3, 4)),
                            indices=npy("<i4", (4,), struct.pack("<4i", *(rows[k] for k in by_columns))),
                            data=npy("<f8", (4,), struct.pack("<4d", *(values[k] for k in by_columns)))),
                 "coo": {"row": npy("<i4", (4,), struct.pack("<4i", *rows)), "col": npy("<i4", (4,), struct.pack("<4i", *columns)),
                         **csr(format=npy("|S3", (), b"coo"))}}
        for name, members in files.items():
            for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                with self.subTest(name=name, method=method):
                    self.assertEqual(self.read("B.npz", archive(members, method)), ENTRIES)

    def test_files_are_read_by_ranks_together(self):
        for ranks in 2, 3:
            for name, data in (("B.npz", archive(csr())), ("B.npz", archive(csr(), zipfile.ZIP_DEFLATED)),
                               ("B.petsc", petsc_matrix())):
                with self.subTest(ranks=ranks, name=name):
                    self.assertEqual(self.read(name, data, launch=on_ranks(ranks)), ENTRIES)

    def test_matrices_for_scipy_have_its_arrays_whoever_writes_them(self):
        (self.folder / "B.petsc").write_bytes(petsc_matrix())
        expected = {"ds": {"format": [b"csr"], "indices": [1, 3, 0, 2], "indptr": [0, 2, 2, 4], "data": [2.5, -1, 4, 0.125]},
                    "ds:1,0": {"format": [b"csc"], "indices": [2, 0, 2, 0], "indptr": [0, 1, 2, 3, 4],
                               "data": [4, 2.5, 0.125, -1]},
                    "uq": {"format": [b"coo"], "row": [0, 0, 2, 2], "col": [1, 3, 0, 2], "data": [2.5, -1, 4, 0.125]},
                    "ss": {"format": [b"csr"], "indices": [1, 3, 0, 2], "indptr": [0, 2, 2, 4], "data": [2.5, -1, 4, 0.125]}}
        for form, arrays in expected.items():
            written = set()
            for launch in (), on_ranks(2), on_ranks(4):
                with self.subTest(form=form, launch=launch):
                    self.run_tool("A(i,j) = B(i,j)", "-f", f"A:{form}", "-f", f"B:{form}", "-i", "B:B.petsc", "-o", "A:A.npz",
                                  launch=launch)
                    written.add((self.folder / "A.npz").read_bytes())
                    with zipfile.ZipFile(self.folder / "A.npz") as file:
                        self.assertIsNone(file.testzip())
                        got = {name.removesuffix(".npy"): elements(file.read(name)) for name in file.namelist()}
                    self.assertEqual(got, {**arrays, "shape": [3, 4]})
            self.assertEqual(len(written), 1)

    def test_matrices_and_vectors_for_petsc_are_its_bytes_whoever_writes_them(self):
        (self.folder / "B.npz").write_bytes(archive(csr()))
        for launch in (), on_ranks(3):
            with self.subTest(launch=launch):
                self.run_tool("a(i) = B(i,j) * c(j)", "-f", "B:ds", "-i", "B:B.npz", "-g", "c:ones", "-o", "B:B.petsc", "-o",
                              "a:a.petsc", launch=launch)
                self.assertEqual((self.folder / "B.petsc").read_bytes(), petsc_matrix())
                self.assertEqual((self.folder / "a.petsc").read_bytes(), struct.pack(">2i3d", 1211214, 3, 1.5, 0, 4.125))

    def test_what_petsc_writes_otherwise_is_read_too(self):
        values = [v for _, _, v in ENTRIES]
        vector = struct.pack(">2i2d", 1211214, 2, 5, 6)
        dense = [0, 2.5, 0, -1, 0, 0, 0, 0, 4, 0, 0.125, 0]
        for name, data in {"64-bit indices": petsc_matrix("q"), "floats": petsc_matrix("i", "f"),
                           "a vector behind it": petsc_matrix() + vector,
                           "dense": struct.pack(">4i12d", 1211216, 3, 4, -1, *dense)}.items():
            with self.subTest(name=name):
                self.assertEqual([e for e in self.read("B.petsc", data) if e[2] != 0], ENTRIES)
        (self.folder / "B.petsc").write_bytes(petsc_matrix(values=[part for v in values for part in (v, 1)]))
        self.run_tool("A(i,j) = B(i,j)", "-f", "A:ds", "-f", "B:ds", "-t", "B:complex128", "-t", "A:complex128", "-i",
                      "B:B.petsc", "-o", "A:A.tns")
        self.assertEqual((self.folder / "A.tns").read_text().splitlines()[1], "1 2 2.5 1")

    def test_vectors_are_read_and_written(self):
        (self.folder / "c.petsc").write_bytes(struct.pack(">2i3d", 1211214, 3, 1, 2, 3.5))
        self.run_tool("a(i) = 2 * c(i)", "-i", "c:c.petsc", "-o", "a:a.npz")
        self.run_tool("b(i) = a(i) + 1", "-i", "a:a.npz", "-o", "b:b.petsc")
        self.assertEqual((self.folder / "b.petsc").read_bytes(), struct.pack(">2i3d", 1211214, 3, 3, 5, 8))

    def test_files_with_broken_content_are_refused_and_nothing_is_written(self):
        def corrupt(data, at):
            return data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]
        good, packed = archive(csr()), archive(csr(), zipfile.ZIP_DEFLATED)
        negative = npy("<i4", (4,), struct.pack("<4i", 1, 3, 0, -2))
        outside = npy("<i4", (4,), struct.pack("<4i", 1, 4, 0, 2))
        falling = npy("<i4", (4,), struct.pack("<4i", 0, 3, 2, 4))
        cases = [("B.npz", b"", "shorter than any archive"),
                 ("B.npz", b"x" * 100, "does not end as an archive does"),
                 ("B.npz", good[:-10], "does not end as an archive does"),
                 ("B.npz", corrupt(good, good.index(struct.pack("<d", 2.5))), "the checksum of data.npy is wrong"),
                 ("B.npz", corrupt(packed, packed.index(b"data.npy") + 30), "data.npy"),
                 ("B.npz", archive({k: v for k, v in csr().items() if k != "indptr"}), "indptr: it has no array of this name"),
                 ("B.npz", archive({"x": npy("<f8", (4,), bytes(32))}), "format: it has no array of this name"),
                 ("B.npz", archive(csr(format=npy("|S3", (), b"dia"))), "SciPy's format 'dia'"),
                 ("B.npz", archive(csr(data=npy("<f2", (4,), bytes(8)))), "no element type for numpy's 'f2'"),
                 ("B.npz", archive(csr(data=npy("<f8", (5,), bytes(40)))), "indices: it has 4 elements for 5 values"),
                 ("B.npz", archive(csr(data=npy("<f8", (4,), bytes(24)))), "it has 24 bytes of elements, its header tells of 32"),
                 ("B.npz", archive(csr(data=npy("<f8", (1 << 60, 16), b""))), "larger than any file"),
                 ("B.npz", archive(csr(indptr=falling)), "indptr: element 2 is 2 after 3, of 4 entries"),
                 ("B.npz", archive(csr(indices=negative)), "-2"),
                 ("B.npz", archive(csr(indices=outside)), "4"),
                 ("B.npz", archive(csr(indices=npy("<f8", (4,), bytes(32)))), "no whole numbers"),
                 ("B.npz", archive(csr(shape=npy("<i8", (3,), bytes(24)))), "has 3 dimensions, not two"),
                 ("B.npz", archive(csr(data=b"nothing of numpy")), "does not start as an array of numpy does"),
                 ("B.petsc", b"", "does not start as a matrix or a vector does"),
                 ("B.petsc", petsc_matrix()[:-1], "bytes, not those of 4 values"),
                 ("B.petsc", struct.pack(">4i", 1211216, 1 << 30, 4, 1 << 30), "too short for what its first 16 bytes tell of"),
                 ("B.petsc", struct.pack(">4i", 1211216, -3, 4, 4), "one of its sizes is negative"),
                 ("B.petsc", petsc_matrix()[:16] + struct.pack(">i", 5) + petsc_matrix()[20:], "row 0 has 5 entries, where 4 are left"),
                 ("B.petsc", petsc_matrix()[:28] + struct.pack(">i", 4) + petsc_matrix()[32:], "4")]
        for name, data, said in cases:
            for launch in (), on_ranks(2):
                with self.subTest(said=said, launch=launch):
                    (self.folder / name).write_bytes(data)
                    done = self.run_tool("A(i,j) = B(i,j)", "-f", "A:ds", "-f", "B:ds", "-i", f"B:{name}", "-o", "A:A.mtx",
                                         status=2, launch=launch)
                    self.assertIn(said, done.stderr)
                    self.assertIn(name, done.stderr)
                    self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
                    self.assertFalse((self.folder / "A.mtx").exists())

    def test_tensors_that_are_no_matrices_are_refused(self):
        for name in "A.npz", "A.petsc":
            done = self.run_tool("A(i,j,k) = b(i) * c(j) * d(k)", "-f", "A:sss", "-g", "b:ones", "-g", "c:ones", "-g", "d:ones",
                                 "-n", "i=2", "-n", "j=2", "-n", "k=2", "-o", f"A:{name}", status=2)
            self.assertIn("order 3", done.stderr)
            self.assertFalse((self.folder / name).exists())


if __name__ == "__main__":
    unittest.main()
