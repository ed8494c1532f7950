// Dense fills: every element by its number, counted row by row.
#include "generate/hash.hpp"
#include "generate/kinds.hpp"

namespace spdistal {

const GeneratorKind ones{.name = "ones",
                         .usage = "ones",
                         .what = "every element 1",
                         .parameters = {},
                         .element = [](const Arguments&, uint64_t) { return 1.0; },
                         .values = GeneratorKind::Values::Given};

const GeneratorKind zeros{.name = "zeros",
                          .usage = "zeros",
                          .what = "every element 0",
                          .parameters = {},
                          .element = [](const Arguments&, uint64_t) { return 0.0; },
                          .values = GeneratorKind::Values::Given};

const GeneratorKind random_fill{
    .name = "random",
    .usage = "random[,seed=S]",
    .what = "elements of [0, 1), integers 0 to 9",
    .parameters = {},
    .element = [](const Arguments& a, uint64_t number) { return unit(hash_of(hash_of(a.seed()) ^ number)); },
    .values = GeneratorKind::Values::Random};

const GeneratorKind index_fill{.name = "index",
                               .usage = "index",
                               .what = "elements 0, 1, 2, … row by row",
                               .parameters = {},
                               .element = [](const Arguments&, uint64_t number) { return double(number); },
                               .values = GeneratorKind::Values::Given};

}  // namespace spdistal
