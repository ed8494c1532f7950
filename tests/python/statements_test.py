"""Statements in Python against numpy and scipy."""
import doctest
import unittest

import numpy as np
import scipy.sparse as sp

import spdistal
import spdistal._einsum
import spdistal._tensor
import spdistal._tune


def load_tests(loader, tests, pattern):
    for module in (spdistal, spdistal._tensor, spdistal._einsum, spdistal._tune):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


def random(shape, seed, format="csr"):
    return sp.random_array(shape, density=0.3, rng=seed, format=format)


class AgainstScipy(unittest.TestCase):
    def same(self, ours, theirs):
        theirs = theirs.toarray() if hasattr(theirs, "toarray") else theirs
        np.testing.assert_allclose(ours.todense(), theirs, rtol=1e-12, atol=1e-13)

    def test_operators_on_matrices_of_either_format(self):
        for left in ("csr", "csc", "coo"):
            for right in ("csr", "csc"):
                with self.subTest(left=left, right=right):
                    A, B, C = random((8, 6), 1, left), random((8, 6), 2, right), random((6, 9), 3, right)
                    x = np.arange(6.0)
                    self.same(spdistal.einsum("ij,j->i", A, x), A @ x)
                    self.same(spdistal.einsum("ij,jk->ik", A, C), A @ C)
                    self.same(spdistal.einsum("ij->ji", A), A.T)
                    self.same(spdistal.einsum("ij,ij->ij", A, B), A.multiply(B))
                    self.same(spdistal.evaluate("R(i,j) = A(i,j) + B(i,j)", A=A, B=B), A + B)
                    self.same(spdistal.evaluate("R(i,j) = A(i,j) - 2 * B(i,j)", A=A, B=B), A - 2 * B)
                    self.same(spdistal.einsum("ij->j", A), A.sum(axis=0))
                    self.same(spdistal.einsum("ij->", A), np.asarray(A.sum()))

    def test_the_product_of_the_min_plus_semiring(self):
        B, C = random((6, 5), 1), random((5, 7), 2)
        far = [spdistal.Tensor.from_scipy(M, fill=np.inf) for M in (B, C)]
        A = spdistal.evaluate("A(i,j) = min(k, B(i,k) + C(k,j))", B=far[0], C=far[1])
        wanted = (far[0].todense()[:, :, None] + far[1].todense()[None]).min(axis=1)
        self.assertEqual((A.format, A.fill), ("ds=inf", np.inf))
        np.testing.assert_allclose(A.todense(), wanted)

    def test_what_holds_nothing_is_not_reduced_with(self):
        A = random((4, 3), 1)
        with self.assertRaisesRegex(spdistal.UserError, r"v holds nothing.*\n.*\n.*\n.*v\(i\) = min\(j, A\(i,j\)\)"):
            spdistal.evaluate("v(i) min= A(i,j)", A=A)
        np.testing.assert_allclose(spdistal.evaluate("v(i) = min(j, A(i,j))", A=A).todense(), A.todense().min(axis=1))

    def test_fill_values_are_of_the_type_of_the_elements(self):
        for fill, type in [(True, bool), (1 + 2j, complex), (2**53 + 1, np.int64), (np.inf, float), (np.float32(0.5), np.float32),
                           (0, float)]:
            with self.subTest(fill=fill):
                matrix = sp.csr_array(np.array([[0, 1], [0, 0]], dtype=type))
                tensor = spdistal.Tensor.from_scipy(matrix, fill=fill)
                self.assertEqual(tensor.fill, fill)
                np.testing.assert_array_equal(tensor.todense(), np.array([[fill, 1], [fill, fill]], dtype=type))
        with self.assertRaisesRegex(spdistal.UserError, "fill=None is no number"):
            spdistal.Tensor.from_scipy(sp.csr_array([[1.0]]), fill=None)

    def test_masks_and_functions(self):
        B = random((6, 5), 3)
        dense = B.toarray()
        self.same(spdistal.evaluate("A(i,j) = map(B(i,j), cos) * (B(i,j) > 0.5)", B=B), np.cos(dense) * (dense > 0.5))
        any_of = spdistal.evaluate("a(i) = any(j, B(i,j) > 0.9)", B=B)
        np.testing.assert_array_equal(any_of.to_numpy(), (dense > 0.9).any(axis=1))

    def test_sparse_times_dense_matrices(self):
        A, C, D = random((8, 6), 1), np.random.default_rng(0).random((6, 5)), np.random.default_rng(1).random((8, 5))
        self.same(spdistal.einsum("ij,jk->ik", A, C), A @ C)
        self.same(spdistal.einsum("ij,jk->ik", A, np.asfortranarray(C)), A @ C)
        self.same(spdistal.einsum("ij,ik,jk->ij", A, D, C), A.multiply(D @ C.T))

    def test_einsum_reads_what_numpy_reads(self):
        rng = np.random.default_rng(0)
        a, b = rng.random((3, 4)), rng.random((4, 3))
        for subscripts, operands in (("ij,jk", (a, b)), ("ij,jk->ki", (a, b)), ("ij,ji", (a, b)), ("ij", (a,)),
                                     ("ii", (a[:, :3],)), ("ii->i", (a[:, :3],)), ("ij,jk->", (a, b))):
            with self.subTest(subscripts=subscripts):
                np.testing.assert_allclose(spdistal.einsum(subscripts, *operands).todense(),
                                           np.einsum(subscripts, *operands))

    def test_results_are_sparse_where_scipys_are(self):
        A = random((8, 8), 1)
        self.assertEqual(spdistal.einsum("ij,jk->ik", A, A).format, "ds")
        self.assertEqual(spdistal.einsum("ij,jk->ik", A, np.ones((8, 2))).format, "dd")
        self.assertEqual(spdistal.einsum("ij,j->i", A, np.ones(8)).format, "d")


class Calls(unittest.TestCase):
    def test_values_that_were_changed_in_place_are_seen(self):
        A, x = random((5, 5), 1), np.ones(5)
        product = lambda: spdistal.einsum("ij,j->i", A, x).to_numpy().copy()
        first = product()
        A.data *= 2
        x *= 3
        np.testing.assert_allclose(product(), 6 * first)
        A.data = A.data + 0  # another array
        np.testing.assert_allclose(product(), 6 * first)

    def test_converted_copies_follow_their_originals(self):
        A = random((5, 5), 1)
        sums = lambda: spdistal.evaluate("R(i,j) = A(i,j) + A(j,i)", A=A).todense()
        first = sums()
        A.data *= 2
        np.testing.assert_allclose(sums(), 2 * first)

    def test_earlier_results_stay(self):
        x = np.ones(4)
        before = spdistal.evaluate("y(i) = 2 * x(i)", x=x).to_numpy()
        x[:] = 5
        after = spdistal.evaluate("y(i) = 2 * x(i)", x=x).to_numpy()
        self.assertEqual((before[0], after[0]), (2, 10))

    def test_a_tensor_that_is_given_is_assigned_to(self):
        x = spdistal.Tensor.from_numpy(np.ones(3))
        spdistal.evaluate("x(i) += 2 * y(i)", x=x, y=np.arange(3.0))
        self.assertEqual(x.to_numpy().tolist(), [1, 3, 5])

    def test_schedules_machines_and_texts(self):
        A = random((8, 8), 1)
        made = spdistal.evaluate("a(i) = B(i,j) * c(j)", B=A, c=np.ones(8), machine=4,
                                 schedule="divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)")
        np.testing.assert_allclose(made.todense(), A @ np.ones(8))
        self.assertIn("forall io in M.x", made.statement())
        self.assertIn("kernel", made.kernel())
        self.assertIn("leaf", made.plan())
        report = made.report()
        self.assertEqual(sum(piece["non_zeros"] for piece in report["pieces"]), A.nnz)
        self.assertEqual(report["bytes_sent"], sum(sent["bytes"] for sent in report["sent"]))
        self.assertIn("piece", str(report))

    def test_schedules_that_are_tried(self):
        B, c = random((50, 40), 1), np.arange(40.0)
        said = dict(B=B, c=c, machine=2)
        tuned = spdistal.tune("a(i) = B(i,j) * c(j)", again=True, seconds=1, **said)
        self.assertFalse(tuned.found)
        self.assertIn("as chosen", [trial.label for trial in tuned.trials])
        self.assertTrue(all(trial.seconds > 0 and trial.schedule for trial in tuned.trials))
        self.assertIn(tuned.schedule, str(tuned))
        self.assertTrue(spdistal.tune("a(i) = B(i,j) * c(j)", **said).found)
        for schedule in ("", *(trial.schedule for trial in tuned.trials)):
            np.testing.assert_allclose(spdistal.evaluate("a(i) = B(i,j) * c(j)", schedule=schedule, **said).todense(), B @ c)
        with self.assertRaisesRegex(spdistal.UserError, "every try would change it"):
            spdistal.tune("a(i) += B(i,j) * c(j)", a=np.zeros(50), B=B, c=c)

    def test_errors_show_the_text(self):
        with self.assertRaisesRegex(spdistal.UserError, r"a\(i\) = B\(i,j\) \* d\(j\)\n +\^"):
            spdistal.evaluate("a(i) = B(i,j) * d(j)", B=random((2, 2), 1))
        with self.assertRaisesRegex(ValueError, "did you mean|divide"):
            spdistal.evaluate("a(i) = b(i)", b=np.ones(3), schedule="divid(i,j,k,2)")
        with self.assertRaisesRegex(spdistal.UserError, "letters"):
            spdistal.einsum("ijk,j->i", random((2, 2), 1), np.ones(2))


if __name__ == "__main__":
    unittest.main()
