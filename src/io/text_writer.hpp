// Entries as lines of text: coordinates counted from 1, then the value in the shortest form that reads back the same.
#pragma once
#include <string>

#include "io/source.hpp"
#include "tensor/coordinates.hpp"

namespace spdistal {

/// Which coordinates a line shows.
enum class Columns : uint8_t { All, None };

/// Writes all entries, a line each. Formatted in parallel.
void write_entries(TextSink& sink, const Coordinates& entries, Columns columns);

}  // namespace spdistal
