// Where this process stands among those that run the program together. Under a launcher such as mpirun there are several,
// and every one of them runs the whole program; alone there is one. The connection is made when it is first needed;
// spdistal/mpi.hpp puts spdistal into a program that has a communicator of its own.
#pragma once

namespace spdistal {

/// The number of this process, from 0: what speaks for all is commonly left to 0.
int rank();
/// How many processes there are.
int ranks();

}  // namespace spdistal
