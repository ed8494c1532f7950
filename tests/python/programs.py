"""What runs on several processes: called by ranks_test.py under mpirun."""
import sys

import numpy as np
import scipy.sparse as sp

import spdistal


def within_halves(world, A, x):
    """Each half of the ranks computes something else."""
    half = world.rank % 2
    ranks = (world.size + 1 - half) // 2
    with spdistal.on(world.Split(half)):
        assert spdistal.ranks() == ranks, spdistal.ranks()
        made = spdistal.evaluate("a(i) = s * B(i,j) * c(j)", B=A, c=x, s=float(half), machine=ranks,
                                 schedule="divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)")
        np.testing.assert_allclose(made.todense(), half * (A @ x))
        del made
    assert spdistal.ranks() == world.size


def main():
    A = sp.random_array((40, 30), density=0.2, rng=1, format="csr")
    x = np.arange(30.0)
    product = spdistal.evaluate("a(i) = B(i,j) * c(j)", B=A, c=x, machine=spdistal.ranks(),
                                schedule="divide(i,io,ii,M.x); distribute(io); communicate({a,B,c},io)")
    np.testing.assert_allclose(product.todense(), A @ x)
    mine = slice(spdistal.rank(), None, spdistal.ranks())
    coo = A.tocoo()
    parts = spdistal.Tensor.from_coo(A.shape, (coo.row[mine], coo.col[mine]), coo.data[mine], local=True)
    np.testing.assert_allclose(parts.todense(), A.toarray())
    np.testing.assert_allclose(spdistal.einsum("ij,kj->ik", parts, parts).todense(), (A @ A.T).toarray())
    try:
        spdistal.evaluate(f"s = b(i) * {spdistal.rank()}", b=x)
    except spdistal.UserError as error:
        assert "rank" in str(error), error
    else:
        sys.exit("ranks with different statements were not refused")
    try:
        from mpi4py import MPI
    except ImportError:
        MPI = None
    if MPI is not None:
        within_halves(MPI.COMM_WORLD, A, x)
    print(f"rank {spdistal.rank()} of {spdistal.ranks()}: right")


if __name__ == "__main__":
    main()
