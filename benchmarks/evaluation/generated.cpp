#include "generated.hpp"

#include "base/blocks.hpp"
#include "generate/generate.hpp"

namespace evaluation {

using namespace spdistal;

int64_t generated_size(const std::string& generator) { return Generator::parse(generator).dims()[0]; }

void generated_rows(const std::string& generator, int parts, int part, const TakeRow& take) {
  Coordinates entries = generate(Generator::parse(generator), ScalarType::Float64, {part, parts});
  Range mine = block(entries.dims()[0], parts, part);
  std::vector<int32_t> columns;
  for (int64_t row = mine.lo, e = 0; row < mine.hi; row++) {
    columns.clear();
    for (; e < entries.size() && entries.column(0)[size_t(e)] == row; e++)
      columns.push_back(int32_t(entries.column(1)[size_t(e)]));
    take(row, columns);
  }
}

}  // namespace evaluation
