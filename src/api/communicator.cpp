// The ranks of a communicator of the program around.
#include "api/session.hpp"
#include "runtime/transport/mpi_comm.hpp"
#include "spdistal/error.hpp"
#include "spdistal/mpi.hpp"

namespace spdistal {
namespace {

bool embedded = false;  // a Runtime lives

}  // namespace

Runtime::Runtime(MPI_Comm communicator) {
  if (!runtime::mpi_is_running())
    throw UserError("a Runtime was made of a communicator, but MPI is not running", "call MPI_Init first");
  if (embedded) throw UserError("a second Runtime was made while one lives", "let go of the first, and of its tensors");
  Session::instance().connect(runtime::over_communicator(communicator));
  embedded = true;
}

Runtime::~Runtime() {
  Session::instance().connect(nullptr);
  embedded = false;
}

}  // namespace spdistal
