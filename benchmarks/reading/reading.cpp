// Reading files: bench_reading [megabytes of text [folder]]. Text with values of few and of 17 digits, compressed text,
// and the native binary, against what plain C++ does: std::from_chars over the same bytes, and memcpy of them.
#include <fmt/format.h>
#include <omp.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "io/files.hpp"
#include "io/source.hpp"
#include "stopwatch.hpp"
#include "tensor/pack.hpp"

using namespace spdistal;

namespace {

// The plainest reader: std::from_chars, one thread, no errors told.
double plain_sum(const std::string& path) {
  MappedFile file = map_file(path);
  std::string_view text = file.text();
  size_t at = text.find('\n', text.find('\n') + 1) + 1;
  const char *p = text.data() + at, *end = text.data() + text.size();
  Coordinates out({INT64_MAX, INT64_MAX}, ScalarType::Float64);
  auto skip = [&] {
    while (p < end && (*p == ' ' || *p == '\n')) p++;
  };
  for (skip(); p < end; skip()) {
    int64_t i = 0, j = 0;
    double v = 0;
    p = std::from_chars(p, end, i).ptr, skip();
    p = std::from_chars(p, end, j).ptr, skip();
    p = std::from_chars(p, end, v).ptr;
    out.add({i - 1, j - 1}, v);
  }
  return double(out.size());
}

}  // namespace

int main(int argc, char** argv) {
  double megabytes = argc > 1 ? std::atof(argv[1]) : 100;
  std::filesystem::path folder = argc > 2 ? argv[2] : std::filesystem::temp_directory_path();
  std::mt19937_64 random(1);
  int64_t size = 1000000;
  auto entries_of = [&](int64_t count, auto value) {
    Coordinates entries({size, size}, ScalarType::Float64);
    entries.resize(count);
    for (size_t e = 0; e < size_t(count); e++) {
      entries.column(0)[e] = int64_t(random() % uint64_t(size));
      entries.column(1)[e] = int64_t(random() % uint64_t(size));
      entries.values<double>()[e] = value();
    }
    return entries;
  };
  auto file = [&](const char* name) { return (folder / (std::string("spdistal_bench_") + name)).string(); };
  auto few = pack(entries_of(int64_t(megabytes * 1e6 / 20), [&] { return double(random() % 10000) / 100; }), CSR);
  auto many = pack(entries_of(int64_t(megabytes * 1e6 / 34), [&] { return double(random()) / 3e19; }), CSR);
  write_storage(file("few.mtx"), few);
  write_storage(file("many.mtx"), many);
  write_storage(file("few.mtx.gz"), few);
  write_storage(file("few.spd"), few);

  struct Row {
    std::string name, path;
  };
  for (const auto& [name, path] : {Row{"few digits", "few.mtx"}, {"17 digits", "many.mtx"}, {"gzip", "few.mtx.gz"}}) {
    double bytes = double(std::filesystem::file_size(file(path == "few.mtx.gz" ? "few.mtx" : path.c_str())));
    auto reader = [&, path = path](int threads) {
      return [&, path, threads] {
        omp_set_num_threads(threads);
        if (read_coordinates(file(path.c_str())).size() == 0) std::abort();
      };
    };
    std::vector<Contestant> contestants{
        {"std::from_chars", {}, [&] { plain_sum(file(path == "few.mtx.gz" ? "few.mtx" : path.c_str())); }},
        {"read, 1 thread", {}, reader(1)},
        {"read, 2 threads", {}, reader(2)}};
    race(contestants, 5);
    for (const Contestant& each : contestants)
      fmt::print("{:<12} {:<16} {:7.3f} s  {:6.0f} MB/s of text  {:6.0f} MB/s per core  {:5.2f} x std::from_chars\n",
                 name, each.name, each.median(), bytes / each.median() / 1e6, bytes / each.processor() / 1e6,
                 contestants[0].median() / each.median());
  }
  double bytes = double(std::filesystem::file_size(file("few.spd")));
  MappedFile mapped = map_file(file("few.spd"));
  Buffer copy;
  auto native = [&](int threads) {
    return [&, threads] {
      omp_set_num_threads(threads);
      if (read_storage(file("few.spd"), CSR).nnz() != few.nnz()) std::abort();
    };
  };
  std::vector<Contestant> contestants{{"memcpy", [&] { mapped = map_file(file("few.spd")); },
                                       [&] {
                                         copy = Buffer::uninitialized(mapped.bytes.size());
                                         std::memcpy(copy.data(), mapped.bytes.data(), mapped.bytes.size());
                                       }},
                                      {"read, 1 thread", {}, native(1)},
                                      {"read, 2 threads", {}, native(2)}};
  race(contestants, 5);
  for (const Contestant& each : contestants)
    fmt::print("{:<12} {:<16} {:7.3f} s  {:6.0f} MB/s          {:6.0f} MB/s per core  {:5.2f} x memcpy\n", "native",
               each.name, each.median(), bytes / each.median() / 1e6, bytes / each.processor() / 1e6,
               contestants[0].median() / each.median());
  for (const char* name : {"few.mtx", "many.mtx", "few.mtx.gz", "few.spd"}) std::filesystem::remove(file(name));
}
