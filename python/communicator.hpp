// Communicators of mpi4py, apart: a build without MPI has another file in the place of communicator.cpp.
#pragma once
#include <nanobind/nanobind.h>

/// The class Runtime of the module.
void bind_runtime(nanobind::module_& m);
