#include <spdistal/error.hpp>

#include "communicator.hpp"

void bind_runtime(nanobind::module_& m) {
  m.def("Runtime", [](uintptr_t) {
    throw spdistal::UserError("spdistal was built without MPI, and has no communicators",
                              "build it with -DSPDISTAL_MPI=ON");
  });
}
