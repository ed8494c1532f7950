#include "process/process.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "base/threads.hpp"
#include "process/uncaught.hpp"
#include "runtime/transport/comparing.hpp"
#include "runtime/transport/mpi.hpp"
#include "runtime/transport/start.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

const std::vector<std::string> known_variables = {
    "SPDISTAL_BLAS",     "SPDISTAL_CACHE_BYTES", "SPDISTAL_CACHE_DIR", "SPDISTAL_CHECK_COLLECTIVES",
    "SPDISTAL_COMPILER", "SPDISTAL_CUBLAS",      "SPDISTAL_CUDA",      "SPDISTAL_CUSPARSE",
    "SPDISTAL_GPU",      "SPDISTAL_GPUS",        "SPDISTAL_NVRTC",     "SPDISTAL_THREADS"};

std::string variable(const char* name, const std::string& otherwise = {}) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

// A whole number, and nothing else.
std::optional<int64_t> count_from(std::string_view text, int64_t least, int64_t most) {
  int64_t count = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || stop != text.data() + text.size() || count < least || count > most) return {};
  return count;
}

// A whole number, if the variable has a value.
std::optional<int64_t> count_in(const char* name, int64_t least, std::string_view of) {
  std::string text = variable(name);
  if (text.empty()) return std::nullopt;
  std::optional<int64_t> count = count_from(text, least, std::numeric_limits<int64_t>::max());
  if (!count) throw UserError(fmt::format("{} is '{}', which is no number of {}", name, text, of));
  return count;
}

GpuOptions gpu_options() {
  constexpr std::string_view interpreted = "interpreted";
  constexpr int64_t most = 64;  // that a node has
  GpuOptions out{.driver = variable("SPDISTAL_CUDA"), .nvrtc = variable("SPDISTAL_NVRTC")};
  std::string text = variable("SPDISTAL_GPU", "cuda");
  std::string_view kind = std::string_view(text).substr(0, text.find(':')), count = text;
  count.remove_prefix(kind.size());
  if (kind == interpreted) {
    out.kind = GpuOptions::Kind::Interpreted;
    std::optional<int64_t> several = count.empty() ? 1 : count_from(count.substr(1), 1, most);
    if (!several)
      throw UserError(fmt::format("SPDISTAL_GPU is '{}', and '{}' is no number of GPUs", text, count.substr(1)),
                      fmt::format("a node has 1 to {}: interpreted:2", most));
    out.interpreted = int(*several);
  } else if (text != "cuda") {
    throw UserError(fmt::format("SPDISTAL_GPU is '{}', neither cuda nor interpreted", text));
  }
  out.most = count_in("SPDISTAL_GPUS", 1, "GPUs");
  return out;
}

std::string default_cache() {
  if (std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/spdistal";
  if (std::string home = variable("HOME"); !home.empty()) return home + "/.cache/spdistal";
  return "";
}

// Of the processors that this process may run on, its part: each is shared by all ranks of the node that may run there.
// Ranks that a launcher has bound to processors of their own thus use all of those.
int64_t part_of_processors(runtime::Transport& transport) {
  if (transport.size() == 1) return omp_get_max_threads();
  struct Place {
    char node[256] = {};
    cpu_set_t processors;
  } here;
  gethostname(here.node, sizeof(here.node) - 1);
  CPU_ZERO(&here.processors);
  if (sched_getaffinity(0, sizeof(here.processors), &here.processors) != 0) return 1;
  std::vector<Place> all = transport.allgather(here);
  double part = 0;
  for (int p = 0; p < CPU_SETSIZE; p++) {
    if (!CPU_ISSET(p, &here.processors)) continue;
    part += 1.0 / double(std::count_if(all.begin(), all.end(), [&](const Place& place) {
              return std::strcmp(place.node, here.node) == 0 && CPU_ISSET(p, &place.processors);
            }));
  }
  return std::max<int64_t>(1, int64_t(part + 1e-6));
}

}  // namespace

ProcessOptions ProcessOptions::from_environment() {
  for (char** entry = environ; *entry; entry++) {
    std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("SPDISTAL_") &&
        std::find(known_variables.begin(), known_variables.end(), name) == known_variables.end())
      throw UserError(fmt::format("there is no setting {} in the environment", name),
                      suggest(name, known_variables, "the settings are"));
  }
  ProcessOptions out;
  out.jit.compiler = variable("SPDISTAL_COMPILER", out.jit.compiler);
  out.jit.search_path = variable("PATH", out.jit.search_path);
  out.jit.temporary = variable("TMPDIR", out.jit.temporary);
  out.jit.cache_folder = variable("SPDISTAL_CACHE_DIR", default_cache());
  if (!variable("OMP_NUM_THREADS").empty()) out.threads = omp_get_max_threads();
  if (std::string check = variable("SPDISTAL_CHECK_COLLECTIVES"); !check.empty()) {
    if (check != "0" && check != "1")
      throw UserError(fmt::format("SPDISTAL_CHECK_COLLECTIVES is '{}', neither 0 nor 1", check));
    out.check_collectives = check == "1";
  }
  out.gpu = gpu_options();
  out.libraries = {variable("SPDISTAL_BLAS"), variable("SPDISTAL_CUSPARSE"), variable("SPDISTAL_CUBLAS")};
  out.jit.cache_bytes = count_in("SPDISTAL_CACHE_BYTES", 0, "bytes").value_or(out.jit.cache_bytes);
  if (auto threads = count_in("SPDISTAL_THREADS", 1, "threads")) out.threads = threads;
  return out;
}

Process::Process(ProcessOptions options, std::shared_ptr<runtime::Transport> ranks)
    : jit([&] {
        options.jit.note = [this](const std::string& note) { notes.push_back(note); };
        return options.jit;
      }()),
      context(options.threads.value_or(omp_get_max_threads()), options.smallest_shared),
      overlap_bytes(options.overlap_bytes),
      libraries(options.libraries),
      gpu_settings_{options.gpu, options.jit.cache_folder, options.jit.cache_bytes},
      checks_collectives_(options.check_collectives),
      shares_processors_(!options.threads),
      ranks_(std::move(ranks)) {
  if (options.threads) use_loop_threads(int(*options.threads));
  if (options.gpu.kind == GpuOptions::Kind::Interpreted) libraries.gpu = routine::Libraries::Gpu::Interpreted;
}

runtime::Transport& Process::transport() {
  if (!transport_) connect(ranks_ ? ranks_ : start_ranks());
  return *transport_;
}

void Process::connect(std::shared_ptr<runtime::Transport> transport) {
  transport_ = transport && checks_collectives_ ? runtime::comparing(std::move(transport)) : std::move(transport);
  gpus_.clear();  // other ranks share those of the node
  if (!transport_ || !shares_processors_) return;
  int64_t threads = part_of_processors(*transport_);
  context.use(threads);
  use_loop_threads(int(threads));
}

std::shared_ptr<runtime::Transport> start_ranks() {
  bool own = !runtime::mpi_is_running();  // a program that runs MPI by itself ends as it likes
  std::shared_ptr<runtime::Transport> out =
      runtime::start_transport([](const char* name) { return std::getenv(name); });
  if (own && out->size() > 1) say_uncaught_once(out->rank());
  return out;
}

}  // namespace spdistal
