// How many threads the library's own loops run on: packing, sorting, reading, finding what pieces need. Kernels are told theirs
// with each call.
//
// Every parallel loop says so, `#pragma omp parallel for num_threads(loop_threads())`: what OpenMP takes by itself is all
// processors that a process may use, also where it shares them with the other ranks of its node.
#pragma once

namespace spdistal {

/// So many, from now on and for all threads of this process that call the library.
void use_loop_threads(int count);
/// What OpenMP would take, until somebody has said a number.
int loop_threads();

}  // namespace spdistal
