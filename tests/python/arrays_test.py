"""Arrays of numpy and scipy on their ways in and out."""
import gc
import unittest

import numpy as np
import scipy.sparse as sp

import spdistal
from spdistal import Tensor

DTYPES = [np.bool_, np.int32, np.int64, np.float32, np.float64, np.complex64, np.complex128]


def matrix(seed=0, rows=7, columns=5, dtype=np.float64):
    made = sp.random_array((rows, columns), density=0.4, rng=seed, format="csr")
    made.data = (made.data * 10 + 1).astype(dtype)
    return made.astype(dtype)


class Dense(unittest.TestCase):
    def test_arrays_of_all_types_come_back(self):
        for dtype in DTYPES:
            with self.subTest(dtype=dtype.__name__):
                array = np.arange(6).reshape(2, 3).astype(dtype)
                back = Tensor.from_numpy(array).to_numpy()
                self.assertEqual(back.dtype, array.dtype)
                np.testing.assert_array_equal(back, array)

    def test_arrays_by_rows_and_by_columns_are_used_in_place(self):
        by_rows = np.arange(6.0).reshape(2, 3)
        by_columns = np.asfortranarray(by_rows)
        for array in (by_rows, by_columns):
            made = Tensor.from_numpy(array)
            self.assertTrue(np.shares_memory(made.to_numpy(), array))
            np.testing.assert_array_equal(made.to_numpy(), array)

    def test_other_arrays_are_copied(self):
        array = np.arange(12.0).reshape(3, 4)[:, ::2]
        made = Tensor.from_numpy(array)
        self.assertFalse(np.shares_memory(made.to_numpy(), array))
        np.testing.assert_array_equal(made.to_numpy(), array)

    def test_an_array_lives_as_long_as_its_tensor(self):
        made = Tensor.from_numpy(np.full(100000, 3.0))
        gc.collect()
        self.assertEqual(float(spdistal.evaluate("s = t(i)", t=made).to_numpy()), 300000)

    def test_a_result_lives_as_long_as_its_array(self):
        array = spdistal.evaluate("y(i) = 2 * x(i)", x=np.ones(100000)).to_numpy()
        gc.collect()
        self.assertEqual(array.sum(), 200000)

    def test_numpy_takes_a_dense_tensor_for_an_array(self):
        made = Tensor.from_numpy(np.ones((2, 2)))
        np.testing.assert_array_equal(np.asarray(made) + 1, np.full((2, 2), 2.0))
        np.testing.assert_array_equal(np.from_dlpack(made), np.ones((2, 2)))
        self.assertEqual(np.asarray(made, dtype=np.float32).dtype, np.float32)

    def test_types_without_tensors_are_refused(self):
        with self.assertRaisesRegex(spdistal.UserError, "no tensors of uint8"):
            Tensor.from_numpy(np.zeros(3, dtype=np.uint8))


class Sparse(unittest.TestCase):
    def test_matrices_in_rows_and_columns_are_used_in_place(self):
        for format in ("csr", "csc"):
            given = matrix().asformat(format)
            made = Tensor.from_scipy(given)
            back = made.to_scipy()
            self.assertEqual(back.format, format)
            self.assertTrue(np.shares_memory(made.values(), given.data))
            self.assertTrue(np.shares_memory(back.indices, given.indices))
            self.assertEqual((back != given).nnz, 0)

    def test_either_width_of_indices_is_kept(self):
        for width in (np.int32, np.int64):
            given = matrix()
            given = sp.csr_array((given.data, given.indices.astype(width), given.indptr.astype(width)), given.shape)
            self.assertEqual(Tensor.from_scipy(given).crd(1).dtype, width)

    def test_other_formats_are_converted(self):
        for format in ("coo", "lil", "dok", "bsr"):
            with self.subTest(format=format):
                given = matrix().asformat(format)
                np.testing.assert_array_equal(Tensor.from_scipy(given).todense(), given.toarray())

    def test_coordinates_in_any_order_and_twice_add(self):
        given = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3])), shape=(2, 3))
        np.testing.assert_array_equal(Tensor.from_scipy(given).todense(), [[2, 0, 5], [0, 0, 0]])
        self.assertEqual(given.nnz, 3)  # and the matrix is left as it was

    def test_index_arrays_that_are_wrong_are_refused(self):
        given = matrix()
        wrong = given.indices.copy()
        wrong[0] = 99
        core = sp.csr_array((given.data, given.indices, given.indptr), given.shape)
        core.indices = wrong
        core.has_canonical_format = True
        with self.assertRaises(spdistal.UserError):
            Tensor.from_scipy(core)

    def test_tensors_of_any_order_come_from_and_go_to_coordinates(self):
        made = Tensor.from_coo((2, 3, 4), ([0, 1], [2, 0], [1, 3]), np.array([1.5, 2.5]), "dss")
        columns, values = made.coordinates()
        self.assertEqual([c.tolist() for c in columns], [[0, 1], [2, 0], [1, 3]])
        self.assertEqual(values.tolist(), [1.5, 2.5])

    def test_every_level_keeps_what_it_is_given(self):
        rows, columns, values = [0, 0, 2, 3], [1, 4, 0, 2], np.array([1.0, 2.0, 3.0, 4.0])
        for format in ("ds", "db", "dr", "dh", "bb", "rs", "hb", "uq", "br:1,0"):
            with self.subTest(format=format):
                made = Tensor.from_coo((4, 5), (rows, columns), values, format)
                np.testing.assert_array_equal(made.todense(), sp.coo_array((values, (rows, columns)), (4, 5)).toarray())
                np.testing.assert_array_equal(made.to_scipy().toarray(), made.todense())

    def test_arrays_of_levels_have_names(self):
        made = Tensor.from_coo((2, 4), ([0, 0, 1], [1, 3, 2]), np.array([5.0, 7.0, 9.0]), "dr")
        self.assertEqual(made.array("lo", 1).tolist(), [1, 2])
        self.assertEqual(made.pos(1).tolist(), [0, 3, 4])
        self.assertEqual(made.crd(1).tolist(), [])
        with self.assertRaisesRegex(spdistal.UserError, "Banded, which has no array 'mask'(.|\n)*it has pos, lo"):
            made.array("mask", 1)

    def test_a_matrix_is_cut_into_blocks(self):
        given = matrix()
        made = Tensor.from_coo(given.shape, given.nonzero(), given.data, "dsdd/2x2")
        blocks = made.todense()
        self.assertEqual(blocks.shape[2:], (2, 2))
        whole = blocks.transpose(0, 2, 1, 3).reshape(2 * blocks.shape[0], 2 * blocks.shape[1])
        np.testing.assert_array_equal(whole[:given.shape[0], :given.shape[1]], given.toarray())

    def test_values_change_and_the_pattern_stays(self):
        given = matrix()
        made = Tensor.from_scipy(given)
        made.set_values(np.arange(given.nnz, dtype=float))
        self.assertEqual(made.values().tolist(), list(range(given.nnz)))
        self.assertNotEqual(given.data.tolist(), list(range(given.nnz)))  # memory of others is not written

    def test_a_sparse_tensor_is_no_array_unasked(self):
        with self.assertRaisesRegex(spdistal.UserError, "todense"):
            np.asarray(Tensor.from_scipy(matrix()))


if __name__ == "__main__":
    unittest.main()
