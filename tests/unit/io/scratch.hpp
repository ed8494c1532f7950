// A folder of its own for a test's files, gone afterwards.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "spdistal/error.hpp"

namespace spdistal {

class Scratch {
 public:
  Scratch() {
    std::filesystem::path memory = "/dev/shm";  // where there is one: thousands of small files are fast there
    auto root = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    std::string name = (root / "spdistal-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no scratch folder");
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return path(name);
  }
  size_t files() const {
    return size_t(std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path folder_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What `f` is refused with, the scratch folder's name left out.
template <class F>
std::string refusal(const Scratch& scratch, F&& f) {
  try {
    f();
  } catch (const UserError& error) {
    std::string text = error.what(), folder = scratch.path("");
    for (size_t at; (at = text.find(folder)) != text.npos;) text.erase(at, folder.size());
    return text;
  }
  return "accepted";
}

}  // namespace spdistal
