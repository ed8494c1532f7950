// Matrices that the library's own generators make (src/generate), for all systems alike.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace evaluation {

/// Takes the columns of a row, in any order, perhaps several times, and may change them: rows come in order, and all do.
using TakeRow = std::function<void(int64_t row, std::vector<int32_t>& columns)>;

/// How many rows and columns "rmat,20,16" or the like has.
int64_t generated_size(const std::string& generator);
/// The rows of a part of several.
void generated_rows(const std::string& generator, int parts, int part, const TakeRow& take);

}  // namespace evaluation
