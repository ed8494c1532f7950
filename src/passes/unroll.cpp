// unroll: loops that are marked to be unrolled whole and run a known, small number of times become their copies.
//
//   requires  nothing
//   ensures   no loop with unroll == 0 and at most 64 turns is left, unless it breaks
//
//   for k in 0 .. 3 unroll         a[0] = b[0]
//     a[k] = b[k]            →     a[1] = b[1]
//                                  a[2] = b[2]
//
// Loops unrolled by a number (unroll == 4) are left to the C++ compiler.
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/fold.hpp"
#include "ir/substitute.hpp"
#include "passes/pass.hpp"

namespace spdistal::passes {

using namespace ir;

Function unroll(const Function& f, const Target&) {
  constexpr int64_t most = 64;
  Stmt body = rewrite(f.body, [](const For& n) -> Stmt {
    auto trips = trip_count(n);
    bool breaks = false;
    each<Break>(n.body, [&](const Break&) { breaks = true; });
    if (n.unroll != 0 || !trips || *trips > most || breaks) return n;
    bool declares = false;
    each<Declare>(n.body, [&](const Declare&) { declares = true; });
    each<Allocate>(n.body, [&](const Allocate&) { declares = true; });
    std::vector<Stmt> copies;
    int64_t lo = *constant_integer(n.lo), step = *constant_integer(n.step);
    for (int64_t t = 0; t < *trips; t++) {
      Stmt copy = substitute(n.body, {{n.var.symbol, literal(ir::Scalar::integer(n.var.type.scalar, lo + t * step))}});
      copy = rewrite(
          copy, [](const Binary& b) { return fold(b); }, [](const Cast& c) { return fold(c); });
      copies.push_back(declares ? Stmt(Block{{with_fresh_variables(copy)}}) : copy);
    }
    return Block{std::move(copies)};
  });
  return {f.name, f.params, body};
}

}  // namespace spdistal::passes
