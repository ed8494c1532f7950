# MPI, and what starts its ranks: the launcher beside its compiler, called as that is (mpiexec.mpich beside mpicxx.mpich).
if(MPI_CXX_COMPILER)
  get_filename_component(beside "${MPI_CXX_COMPILER}" DIRECTORY)
  get_filename_component(which "${MPI_CXX_COMPILER}" EXT)
  find_program(MPIEXEC_EXECUTABLE mpiexec${which} HINTS ${beside})
endif()
set(MPI_CXX_SKIP_MPICXX TRUE)
if(NOT TARGET MPI::MPI_CXX)
  find_package(MPI REQUIRED COMPONENTS CXX)
  set_target_properties(MPI::MPI_CXX PROPERTIES IMPORTED_GLOBAL TRUE)  # whoever uses spdistal/mpi.hpp needs it, too
endif()
