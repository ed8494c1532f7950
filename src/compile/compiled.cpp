// What loops have besides the path that `compile.cpp` shows.
#include "compile/compile.hpp"

#include "routine/match.hpp"

namespace spdistal {

using namespace notation;

namespace {

std::optional<ChunkedLeaf> in_chunks(const plan::Plan& plan) {
  const Forall* loop = plan.leaf.body.as<Forall>();
  if (plan.loops.empty() || !loop || plan.leaf.provenance.positions_of(loop->var)) return {};
  if (routine::find_substituted(plan.leaf.body)) return {};  // which is called for all of it
  ConcreteStatement leaf = plan.leaf;
  IndexVar chunk(loop->var.name() + "c"), inner(loop->var.name() + "i");
  IndexExpr size = ceil_div(size_of(loop->var), number(ChunkedLeaf::chunks));
  leaf.provenance.relations.push_back(
      {.replaced = {{loop->var, value_of(chunk) * size + value_of(inner), Guard::Checked}},
       .made = {{chunk, number(ChunkedLeaf::chunks), "c"}, {inner, size, "i"}}});
  leaf.body = Forall{inner, loop->body, loop->tags};
  return ChunkedLeaf{std::move(leaf), chunk};
}

}  // namespace

Compiled::Compiled(ConcreteStatement loops) : Compiled(Chosen{std::move(loops)}) {
  if (!this->loops().result.format().distribution()) residence = Residence::Anywhere;
}
Compiled::~Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;

const std::optional<ChunkedLeaf>& Compiled::chunked() const {
  if (!chunked_) chunked_ = in_chunks(plan());
  return *chunked_;
}

const ConcreteStatement& Compiled::loops_of(LeafKind kind) const {
  if (kind == LeafKind::Whole) return loops();
  return kind == LeafKind::Chunk ? chunked()->leaf : plan().leaf;
}

LeafOptions Compiled::options_of(LeafKind kind) const {
  if (kind == LeafKind::Whole) return {.processor = processor};
  LeafOptions out{.operands = lower::Operands::Pieces,
                  .start = kind == LeafKind::Piece || kind == LeafKind::Values ? Start::Zero : Start::Old,
                  .processor = processor};
  if (kind == LeafKind::Values) out.pattern = lower::ResultPattern::Stands;
  for (const plan::Loop& loop : plan().loops) out.outer.push_back(loop.var);
  if (kind == LeafKind::Chunk) out.outer.push_back(chunked()->var);
  return out;
}

}  // namespace spdistal
