#include "driver/session.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>

#include "base/text.hpp"
#include "runtime/transport/start.hpp"
#include "spdistal/error.hpp"

namespace spdistal {
namespace {

const std::vector<std::string> known_variables = {"SPDISTAL_CACHE_DIR", "SPDISTAL_COMPILER", "SPDISTAL_THREADS"};

std::string variable(const char* name, const std::string& otherwise = {}) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

std::string default_cache() {
  if (std::string xdg = variable("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/spdistal";
  if (std::string home = variable("HOME"); !home.empty()) return home + "/.cache/spdistal";
  return "";
}

// Ranks on this machine share its cores, unless somebody said how many threads each may use.
int64_t default_threads() {
  int64_t threads = omp_get_max_threads();
  if (!variable("OMP_NUM_THREADS").empty()) return threads;
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"})
    if (int64_t ranks = std::atoll(variable(name).c_str()); ranks > 0) return std::max<int64_t>(1, threads / ranks);
  return threads;
}

}  // namespace

SessionOptions SessionOptions::from_environment() {
  for (char** entry = environ; *entry; entry++) {
    std::string_view text = *entry;
    std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("SPDISTAL_") &&
        std::find(known_variables.begin(), known_variables.end(), name) == known_variables.end())
      throw UserError(fmt::format("there is no setting {} in the environment", name),
                      suggest(name, known_variables, "the settings are"));
  }
  SessionOptions out;
  out.jit.compiler = variable("SPDISTAL_COMPILER", "c++");
  out.jit.search_path = variable("PATH", out.jit.search_path);
  out.jit.temporary = variable("TMPDIR", out.jit.temporary);
  out.jit.cache_folder = variable("SPDISTAL_CACHE_DIR", default_cache());
  out.threads = default_threads();
  if (std::string threads = variable("SPDISTAL_THREADS"); !threads.empty()) {
    auto [stop, error] = std::from_chars(threads.data(), threads.data() + threads.size(), out.threads);
    if (error != std::errc{} || stop != threads.data() + threads.size() || out.threads < 1)
      throw UserError(fmt::format("SPDISTAL_THREADS is '{}', which is no number of threads", threads));
  }
  return out;
}

Session::Session(SessionOptions options)
    : jit([&] {
        options.jit.note = [this](const std::string& note) { notes.push_back(note); };
        return options.jit;
      }()),
      context(options.threads),
      overlap_bytes(options.overlap_bytes) {}

runtime::Transport& Session::transport() {
  if (!transport_) transport_ = runtime::start_transport([](const char* name) { return std::getenv(name); });
  return *transport_;
}

Session& Session::instance() {
  static Session session(SessionOptions::from_environment());
  return session;
}

}  // namespace spdistal
