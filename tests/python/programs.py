"""What runs on several processes: called by ranks_test.py under mpirun."""
import sys

import numpy as np
import scipy.sparse as sp

import spdistal


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
    print(f"rank {spdistal.rank()} of {spdistal.ranks()}: right")


if __name__ == "__main__":
    main()
