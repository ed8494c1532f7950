"""Files of SciPy, h5py and binsparse: what they write is read, and what is written they read."""
import json
import pathlib
import tempfile
import unittest

import numpy as np
import scipy.sparse as sp

from spdistal import Tensor

try:
    import h5py
    Tensor.read("none.h5")
except ImportError:
    h5py = None
except (ValueError, RuntimeError) as refused:  # the file is not there; or no HDF5 is
    if "no binsparse files" in str(refused):
        h5py = None
try:
    import binsparse
except ImportError:
    binsparse = None

DTYPES = [np.bool_, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "A.npz")

    def same(self, one, other):
        self.assertEqual(one.dtype, other.dtype)
        np.testing.assert_array_equal(one.toarray(), other.toarray())

    def test_what_scipy_saves_is_read_in_every_type_and_format(self):
        for dtype in DTYPES:
            for form in "csr", "csc", "coo":
                for compressed in False, True:
                    with self.subTest(dtype=dtype.__name__, form=form, compressed=compressed):
                        made = (sp.random_array((30, 20), density=0.2, rng=1, format="csr") * 9 + 0).astype(dtype).asformat(form)
                        sp.save_npz(self.path, made, compressed=compressed)
                        self.same(Tensor.read(self.path, "ds", dtype).to_scipy(), made)

    def test_what_is_written_scipy_loads_in_every_type_and_format(self):
        for dtype in DTYPES:
            made = (sp.random_array((30, 20), density=0.2, rng=2, format="csr") * 9 + 0).astype(dtype)
            for tensor, form in ((Tensor.from_scipy(made), "csr"), (Tensor.from_scipy(made.tocsc()), "csc"),
                                 (Tensor.from_coo(made.shape, made.tocoo().coords, made.data, "uq"), "coo")):
                with self.subTest(dtype=dtype.__name__, form=form):
                    tensor.write(self.path)
                    loaded = sp.load_npz(self.path)
                    self.assertEqual(loaded.format, form)
                    self.same(loaded, made)

    def test_an_empty_matrix_goes_both_ways(self):
        made = sp.csr_array((3, 4))
        sp.save_npz(self.path, made)
        tensor = Tensor.read(self.path)
        self.assertEqual((tensor.shape, tensor.nnz), ((3, 4), 0))
        tensor.write(self.path)
        self.same(sp.load_npz(self.path), made)


@unittest.skipUnless(h5py, "there is no h5py, or spdistal was built without HDF5")
class Binsparse(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "A.bsp.h5")
        self.made = sp.random_array((30, 20), density=0.2, rng=3, format="csr")

    def write(self, form, shape, stored, types, arrays, options=None):
        """A file as h5py makes it by itself: a text of any length, arrays in compressed chunks."""
        descriptor = {"version": "0.1", "format": form, "shape": shape, "number_of_stored_values": stored, "data_types": types}
        with h5py.File(self.path, "w") as file:
            file.attrs["binsparse"] = json.dumps({"binsparse": descriptor})
            for name, array in arrays.items():
                file.create_dataset(name, data=array, **(options or {}))

    def test_what_h5py_writes_is_read(self):
        for index in np.int32, np.int64, np.uint16, np.uint64, ">i4":
            for options in None, {"compression": "gzip", "chunks": (7,), "shuffle": True}:
                with self.subTest(index=index, options=options):
                    arrays = {"pointers_to_1": self.made.indptr.astype(index), "indices_1": self.made.indices.astype(index),
                              "values": self.made.data}
                    self.write("CSR", [30, 20], self.made.nnz, {"values": "float64"}, arrays, options)
                    np.testing.assert_array_equal(Tensor.read(self.path).to_scipy().toarray(), self.made.toarray())

    def test_h5py_reads_what_is_written(self):
        Tensor.from_scipy(self.made).write(self.path)
        with h5py.File(self.path) as file:
            descriptor = json.loads(file.attrs["binsparse"])["binsparse"]
            read = sp.csr_array((file["values"][()], file["indices_1"][()], file["pointers_to_1"][()]), shape=(30, 20))
        self.assertEqual((descriptor["format"], descriptor["shape"], descriptor["number_of_stored_values"]),
                         ("CSR", [30, 20], self.made.nnz))
        self.assertEqual(descriptor["data_types"], {"pointers_to_1": "int32", "indices_1": "int32", "values": "float64"})
        np.testing.assert_array_equal(read.toarray(), self.made.toarray())

    def test_arrays_that_are_larger_than_the_file_are_refused(self):
        with h5py.File(self.path, "w") as file:
            file.attrs["binsparse"] = json.dumps({"version": "0.1", "format": "DVEC", "shape": [1 << 50], "data_types": {"values": "float64"},
                                                  "number_of_stored_values": 1 << 50})
            file.create_dataset("values", shape=(1 << 50,), dtype="f8", chunks=(1024,))
        with self.assertRaisesRegex(Exception, "the file has 0 bytes for 1125899906842624 elements"):
            Tensor.read(self.path, "d")

    @unittest.skipUnless(binsparse, "there is no package binsparse")
    def test_the_reference_of_binsparse_reads_every_format_that_is_written(self):
        entries = self.made.tocoo()
        for form, name in (("ds", "CSR"), ("ds:1,0", "CSC"), ("ss", "DCSR"), ("ss:1,0", "DCSC"), ("uq", "COOR"), ("uq:1,0", "COOC"),
                           ("dd", "DMATR"), ("dd:1,0", "DMATC")):
            with self.subTest(form=form):
                Tensor.from_coo(entries.shape, entries.coords, entries.data, form).write(self.path)
                tensor = binsparse.load_binsparse(self.path)
                self.assertEqual((tensor.format, tuple(tensor.shape)), (name, (30, 20)))
                again = str(pathlib.Path(self.path).with_name("again.h5"))
                binsparse.save_binsparse(tensor, again)
                np.testing.assert_array_equal(Tensor.read(again).to_scipy().toarray(), self.made.toarray())


if __name__ == "__main__":
    unittest.main()
