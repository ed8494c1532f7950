// Entries as lines of text: coordinates counted from 1, then the value in the shortest form that reads back the same.
#pragma once
#include <string>

#include "runtime/transport/transport.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Which coordinates a line shows.
enum class ShownColumns : uint8_t { All, None };

struct TextLayout {
  std::string header;  // the lines before the entries
  Format order;        // lines come as this would store them
  ShownColumns columns = ShownColumns::All;
  std::string after = {};  // stands behind the coordinates of every line
};

/// Collective. Writes all elements, a line each. Every rank formats its own, in parallel; the first writes what they
/// send, in turn and in bounded portions.
void write_lines(runtime::Transport& transport, const std::string& path, const Home& home, const TextLayout& layout);

}  // namespace spdistal
