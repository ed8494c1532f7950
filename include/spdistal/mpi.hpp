// spdistal inside a program that runs MPI by itself. Not part of spdistal.hpp: programs without MPI need no mpi.h.
#pragma once
#include <mpi.h>

#include "spdistal/runtime.hpp"

namespace spdistal {

/// While it lives, spdistal runs on the ranks of a communicator, of which it takes a copy; it neither initialises nor
/// finalises MPI. Tensors belong to the communicator they were made on: make them after it, and let go of them before.
///
///   MPI_Init(&argc, &argv);
///   {
///     Runtime runtime(MPI_COMM_WORLD);
///     Tensor<double> a({n}, Format({Dense}));
///     …
///   }
///   MPI_Finalize();
class Runtime {
 public:
  /// Collective over the communicator. Throws UserError where MPI is not running, or another Runtime lives.
  explicit Runtime(MPI_Comm communicator);
  /// Collective; MPI is still running.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  int rank() const { return spdistal::rank(); }
  int ranks() const { return spdistal::ranks(); }
};

}  // namespace spdistal
