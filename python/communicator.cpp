#include "communicator.hpp"

#include <memory>
#include <spdistal/mpi.hpp>

namespace nb = nanobind;
using namespace spdistal;

namespace {

// The ranks of a communicator, by its handle in C, as long as a block of Python runs.
class PyRuntime {
 public:
  explicit PyRuntime(uintptr_t handle) {
    if constexpr (std::is_pointer_v<MPI_Comm>) communicator_ = reinterpret_cast<MPI_Comm>(handle);
    else communicator_ = MPI_Comm(handle);
  }
  void enter() { runtime_ = std::make_unique<Runtime>(communicator_); }
  void exit() { runtime_.reset(); }

 private:
  MPI_Comm communicator_;
  std::unique_ptr<Runtime> runtime_ = {};
};

}  // namespace

void bind_runtime(nb::module_& m) {
  nb::class_<PyRuntime>(m, "Runtime")
      .def(nb::init<uintptr_t>())
      .def("enter", &PyRuntime::enter)
      .def("exit", &PyRuntime::exit);
}
