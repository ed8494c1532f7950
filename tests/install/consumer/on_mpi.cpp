// A program that runs MPI by itself, and says of its build what a parent project would want to know.
#include <cstdio>
#include <spdistal/mpi.hpp>
#include <spdistal/spdistal.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    spdistal::Runtime runtime(MPI_COMM_WORLD);
    spdistal::Tensor<double> s("s");
    s() = 2.0;
    double two = double(s);
    if (runtime.rank() == 0) std::printf("spdistal works with MPI: %g\n", two);
  }
  MPI_Finalize();
}
