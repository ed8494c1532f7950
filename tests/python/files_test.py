"""Files of SciPy: what it writes is read, and what is written it reads."""
import pathlib
import tempfile
import unittest

import numpy as np
import scipy.sparse as sp

from spdistal import Tensor

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


if __name__ == "__main__":
    unittest.main()
