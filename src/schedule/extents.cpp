#include "schedule/extents.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/refuse.hpp"

namespace spdistal::schedule {

using namespace notation;

namespace {

struct TooLarge {};

// The value of an expression of sizes, where it is known by now. Throws TooLarge.
std::optional<int64_t> evaluate(const Provenance& provenance, const IndexExpr& expr) {
  return match(
      expr, [](const ValueOf&) -> std::optional<int64_t> { return std::nullopt; },
      [&](const SizeOf& n) -> std::optional<int64_t> {
        if (const Root* root = provenance.root(n.var)) return root->size.value();
        if (const Relation* relation = provenance.made_by(n.var))
          for (const Made& made : relation->made)
            if (made.var == n.var) return evaluate(provenance, made.size);
        return std::nullopt;
      },
      [](const IndexNumber& n) -> std::optional<int64_t> { return n.value.value(); },
      [&](const IndexBinary& n) -> std::optional<int64_t> {
        std::optional<int64_t> a = evaluate(provenance, n.a), b = evaluate(provenance, n.b);
        if (!a || !b) return std::nullopt;
        int64_t out = 0;
        switch (n.op) {
          case IndexOp::Add:
            if (__builtin_add_overflow(*a, *b, &out)) throw TooLarge{};
            return out;
          case IndexOp::Mul:
            if (__builtin_mul_overflow(*a, *b, &out)) throw TooLarge{};
            return out;
          case IndexOp::Div: return *b == 0 ? std::nullopt : std::optional(*a / *b);
          case IndexOp::CeilDiv: return *b == 0 ? std::nullopt : std::optional(*a / *b + (*a % *b != 0));
          case IndexOp::Mod: return *b == 0 ? std::nullopt : std::optional(*a % *b);
          case IndexOp::Min: return std::min(*a, *b);
        }
        return std::nullopt;
      },
      [](const StoredCount&) -> std::optional<int64_t> { return std::nullopt; },
      [](const StoredBefore&) -> std::optional<int64_t> { return std::nullopt; },
      [](const StoredCoordinate&) -> std::optional<int64_t> { return std::nullopt; },
      [](const BlockStart&) -> std::optional<int64_t> { return std::nullopt; },
      [](const BlockSize&) -> std::optional<int64_t> { return std::nullopt; });
}

bool found_from_positions(const Provenance& provenance, const IndexVar& var) {
  if (const Relation* relation = provenance.replaced_by(var))
    for (const Replaced& replaced : relation->replaced)
      if (replaced.var == var) return replaced.value.is<StoredCoordinate>();
  return false;
}

}  // namespace

Result<> check_extents(const ConcreteStatement& statement) {
  const Provenance& provenance = statement.provenance;
  for (const Relation& relation : provenance.relations)
    for (const Made& made : relation.made) try {
        if (!found_from_positions(provenance, made.var)) evaluate(provenance, made.size);
      } catch (const TooLarge&) {
        std::vector<IndexVar> loops = loop_variables(statement.body);
        // The loop that the variable became: its own, or the first that it is found from.
        auto loop = std::find_if(loops.begin(), loops.end(), [&](const IndexVar& var) {
          std::vector<IndexVar> roots = provenance.roots_of(var), ours = provenance.roots_of(made.var);
          return var == made.var || roots == ours;
        });
        Refusal refuse("fuse", statement);
        std::string message = fmt::format("the variables {} together have more than 2^63 - 1 values", enumerate([&] {
                                            std::vector<std::string> names;
                                            for (const IndexVar& root : provenance.roots_of(made.var))
                                              names.push_back(refuse.name(root));
                                            return names;
                                          }()));
        std::string hint = "leave one of them out, or walk what a tensor stores of them: pos(f, fp, B(i,j))";
        return loop == loops.end() ? refuse.whole(message, hint) : refuse.at(*loop, message, hint);
      }
  return {};
}

}  // namespace spdistal::schedule
