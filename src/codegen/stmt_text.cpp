#include "codegen/stmt_text.hpp"

#include "base/require.hpp"
#include "codegen/copies.hpp"
#include "codegen/reductions.hpp"
#include "codegen/rows.hpp"
#include "ir/analysis.hpp"
#include "ir/build.hpp"
#include "ir/print.hpp"

namespace spdistal::codegen {

using namespace ir;

std::string source_text(const Source& at) {
  using Field = Source::Field;
  if (at.field == Field::Shares) return "call->context->shares";
  if (at.field == Field::Threads) return "call->context->threads";
  if (at.field == Field::Scalar) return fmt::format("call->scalars[{}]", at.index);
  if (at.field == Field::Argument) return fmt::format("call->arguments[{}]", at.index);
  if (at.field == Field::Array) return fmt::format("call->arrays[{}]", at.index);
  if (at.field == Field::Vals) return fmt::format("call->tensors[{}].vals", at.index);
  if (at.field >= Field::Segments)
    return fmt::format("call->tensors[{}].levels[{}].arrays[{}]", at.index, at.level, at.number);
  return fmt::format("call->tensors[{}].levels[{}].{}", at.index, at.level, name_of(at));
}

void StmtText::function_body(const Function& f) {
  std::set<Symbol> streamed;
  each<Store>(f.body, [&](const Store& n) {
    if (n.mode == StoreMode::Stream) streamed.insert(n.array.symbol);
  });
  for (const Param& p : f.params) {
    param(p);
    if (streamed.contains(p.var.symbol)) stream_to(p);
  }
  if (!f.params.empty()) out_ += "\n";
  stmt(f.body);
  if (!streamed.empty() && !fenced_) line("fence();");
}

void StmtText::stream_to(const Param& p) {
  needs_.helpers.insert(Helper::Stream);
  Var large = ir::var(p.var.symbol.name() + "_large", Bool);
  line("const bool {} = past_caches(call, {}, sizeof({}));", names_.declare(large), source_text(p.source),
       expr_.type(p.var.type.element()));
  large_.emplace(p.var.symbol, large);
}

std::string StmtText::parameter_list(const Function& f) {
  return join(f.params, ", ", [&](const Param& p) {
    std::string type = expr_.type(p.var.type), name = names_.declare(p.var);
    if (p.var.type.is_array()) return fmt::format("{} {} {}", type, spelling_.restrict_word, name);
    return fmt::format("const {} {}", type, name);
  });
}

void StmtText::param(const Param& p) {
  std::string name = names_.declare(p.var), type = expr_.type(p.var.type), from = source_text(p.source);
  sources_.emplace(p.var.symbol, p.source);
  if (p.var.type.is_array()) line("{} {} {} = ({}){}.data;", type, spelling_.restrict_word, name, type, from);
  else if (p.source.field == Source::Field::Argument) line("const {} {} = *(const {}*){};", type, name, type, from);
  else line("const {} {} = {};", type, name, from);
}

void StmtText::stmt(const Stmt& s) {
  match(
      s,
      [&](const Declare& n) {
        std::string init = n.init.is<Broadcast>() && constant(n.init.as<Broadcast>()->value) &&
                                   constant(n.init.as<Broadcast>()->value)->is(0)
                               ? "{}"
                               : expr_.converted(n.init);
        if (n.mutability == Mutability::Mutable) mutable_.insert(n.var.symbol);
        line("{}{} {} = {};", n.mutability == Mutability::Const ? "const " : "", expr_.type(n.var.type),
             names_.declare(n.var), init);
      },
      [&](const Assign& n) { assign(n); }, [&](const Store& n) { store(n); },
      [&](const Prefetch& n) {
        if (!spelling_.prefetch.empty()) line("{}({});", spelling_.prefetch, expr_.address(n.array, n.index));
      },
      [&](const For& n) { loop(n); },
      [&](const While& n) { compound(fmt::format("while ({})", expr_.exact(n.cond)), n.body); },
      [&](const If& n) { conditional(n, ""); }, [&](const Block& n) { block(n); },
      [&](const Comment& n) { line("// {}", n.text); }, [&](const Allocate& n) { allocate(n); },
      [&](const Sort& n) {
        needs_.helpers.insert(n.lanes > 1 ? Helper::WarpSort : Helper::Sort);
        line("{}({} + {}, {} + {});", n.lanes > 1 ? "warp_sort" : "sort", names_.of(n.array),
             expr_.index(n.lo, precedence(BinaryOp::Add) + 1), names_.of(n.array),
             expr_.index(n.hi, precedence(BinaryOp::Add) + 1));
      },
      [&](const Break&) { line("break;"); }, [&](const Return& n) { line("return {};", n.code); },
      [&](const Parallel& n) { parallel(n); }, [&](const Resize& n) { resize(n); },
      [&](const Shrink& n) { line("{}.count = {};", source_text(sources_.at(n.array.symbol)), expr_.index(n.count)); },
      [&](const Append& n) { append(n); }, [&](const Define& n) { define(n); }, [&](const Perform& n) { perform(n); },
      [&](const Barrier& n) { barrier(n); },
      [&](const Claim& n) {
        needs_.helpers.insert(Helper::Claim);
        line("{} = claim({}, {});", names_.of(n.found), expr_.address(n.array, n.index), expr_.exact(n.value));
      });
}

void StmtText::block(const Block& n) {
  for (size_t at = 0; at < n.stmts.size(); at++) {
    const Stmt& inner = n.stmts[at];
    auto* offset = inner.as<Declare>();
    bool may_be = offset && offset->mutability == Mutability::Const && is_integral(offset->var.type.scalar) &&
                  spelling_.language == Language::Cpp;
    if (!may_be) {
      if (inner.is<Block>()) compound("", inner);
      else stmt(inner);
      continue;
    }
    RowArrays rows = rows_at(*offset, std::span(n.stmts).subspan(at + 1));
    // A single row that nothing else needs the offset of takes its place.
    bool replaced = rows.arrays.size() == 1 && rows.only_use;
    if (!replaced) stmt(inner);
    Expr begin = replaced ? offset->init : Expr(offset->var);
    for (const Var& array : rows.arrays) {
      Var row = ir::var(array.symbol.name() + "_row", array.type);
      std::string from = expr_.index(begin, precedence(BinaryOp::Add) + 1);
      line("{} {} = {} + {};", expr_.type(array.type), names_.declare(row), names_.of(array), from);
      expr_.use_row(array, offset->var, row);
    }
  }
}

void StmtText::assign(const Assign& n) {
  std::string name = names_.of(n.var);
  auto* update = n.value.as<Binary>();
  bool in_place = update && update->op <= BinaryOp::Mod && update->a == Expr(n.var);
  if (!in_place) return line("{} = {};", name, expr_.converted(n.value));
  bool integer = is_integral(n.var.type.scalar);
  auto by = constant_integer(update->b);
  if (integer && by == 1 && update->op == BinaryOp::Add) return line("{}++;", name);
  if (integer && by == 1 && update->op == BinaryOp::Sub) return line("{}--;", name);
  // What is added is converted as in the operation itself.
  std::string value = n.var.type.lanes > 1 && update->b.is<Broadcast>() ? expr_.exact(update->b.as<Broadcast>()->value)
                                                                        : expr_.converted(update->b);
  line("{} {}= {};", name, ir::spelling(update->op), value);
}

namespace {

std::string_view atomic_name(StoreMode mode) {
  switch (mode) {
    case StoreMode::AtomicMul: return "multiply";
    case StoreMode::AtomicMin: return "min";
    case StoreMode::AtomicMax: return "max";
    case StoreMode::AtomicOr: return "or";
    default: return "and";
  }
}

}  // namespace

void StmtText::barrier(const Barrier& n) {
  if (n.of == BarrierOf::Warp) return line("__syncwarp();");
  if (!copied_.empty()) line("wait_for_copies();");
  line("__syncthreads();");
}

void StmtText::store(const Store& n) {
  Type type = type_of(n.value);
  if (copied_.contains(n.array.symbol)) {
    auto* from = n.value.as<Load>();
    needs_.helpers.insert(Helper::Copies);
    return line("copy_ahead({}, {});", expr_.address(n.array, n.index), expr_.address(from->array, from->index));
  }
  std::string value = expr_.converted(n.value), to = fmt::format("{}[{}]", names_.of(n.array), expr_.index(n.index));
  if (type.lanes > 1) to = fmt::format("*({}*){}", expr_.type(type), expr_.address(n.array, n.index));
  if (n.mode == StoreMode::Stream)
    return line("stream({}, {}, {});", expr_.address(n.array, n.index), value, names_.of(large_.at(n.array.symbol)));
  if (!is_atomic(n.mode)) return line("{} {} {};", to, n.mode == StoreMode::Set ? "=" : "+=", value);
  if (n.mode != StoreMode::AtomicAdd) {
    needs_.helpers.insert(Helper::AtomicUpdate);
    return line("atomic_{}({}, {});", atomic_name(n.mode), expr_.address(n.array, n.index), expr_.exact(n.value));
  }
  if (spelling_.language == Language::Cuda) {
    needs_.helpers.insert(Helper::AtomicAdd);
    return line("atomic_add({}, {});", expr_.address(n.array, n.index), expr_.exact(n.value));
  }
  if (!is_complex(type.scalar)) {
    line("#pragma omp atomic");
    return line("{} += {};", to, value);
  }
  // Parts are added one by one: nobody looks at the sum before all are done.
  for (std::string_view part : {"__real__", "__imag__"}) {
    line("#pragma omp atomic");
    line("{} {} += {} {};", part, to, part, expr_.exact(n.value, unary_precedence));
  }
}

bool StmtText::is_steady(const Expr& e) const {
  if (e.is<Literal>()) return true;
  if (auto* cast = e.as<Cast>()) return is_steady(cast->value);
  auto* v = e.as<Var>();
  return v && !mutable_.contains(v->symbol);
}

void StmtText::loop(const For& n) {
  if (is_gpu(n.kind)) return gpu_loop(n);
  std::string type = expr_.type(n.var.type), lo = expr_.converted(n.lo);
  std::string hi = expr_.index(n.hi, precedence(BinaryOp::Lt) + 1), step = expr_.index(n.step);
  bool vector = n.kind == LoopKind::Vector && spelling_.language == Language::Cpp, steady = is_steady(n.hi);
  std::string reduction = vector ? reduction_clauses(n, names_) : "";
  Var bound = ir::var(n.var.symbol.name() + "_end", n.var.type);
  std::string extra;
  // A vector loop declares its variable alone; the bound stands before it.
  if (!steady && vector) line("const {} {} = {};", type, names_.declare(bound), expr_.converted(n.hi));
  names_.enter();
  if (!steady && !vector) extra = fmt::format(", {} = {}", names_.declare(bound), expr_.converted(n.hi));
  if (!steady) hi = names_.of(bound);
  std::string name = names_.declare(n.var);
  std::string next = step == "1" ? name + "++" : fmt::format("{} += {}", name, step);
  if (vector) line("#pragma omp simd{}", reduction);
  if (n.unroll > 1 && !vector) line("#pragma {} {}", spelling_.unroll, n.unroll);
  // Small arrays are registers where every index is known.
  if (n.unroll == 0 && trip_count(n) && spelling_.language == Language::Cuda) line("#pragma unroll");
  compound(fmt::format("for ({} {} = {}{}; {} < {}; {})", type, name, lo, extra, name, hi, next), n.body);
  names_.leave();
}

void StmtText::gpu_loop(const For& n) {
  // The launch has one block for each turn of the one loop, one thread for each of the other.
  std::string type = expr_.type(n.var.type), lo = expr_.index(n.lo, precedence(BinaryOp::Add)), hi = expr_.index(n.hi);
  constexpr std::string_view which[] = {"blockIdx.x", "threadIdx.x", "threadIdx.x / 32", "threadIdx.x % 32"};
  require(spelling_.language == Language::Cuda, "GPU loops are printed as CUDA");
  require(constant_integer(n.step) == 1, "GPU loops have steps of one");
  if (n.kind == LoopKind::GPUBlock) copied_ = copied_arrays(n.body);
  auto note = [&](const Var& array, int lanes) {
    if (lanes > 1) at_once_[array.symbol] = std::max(at_once_[array.symbol], lanes);
  };
  each<Load>(n.body, [&](const Load& load) { note(load.array, load.lanes); });
  each<Store>(n.body, [&](const Store& store) { note(store.array, type_of(store.value).lanes); });
  names_.enter();
  std::string name = names_.declare(n.var);
  line("const {} {} = {}{};", type, name, lo == "0" ? "" : lo + " + ",
       which[size_t(n.kind) - size_t(LoopKind::GPUBlock)]);
  stmt(n.body);
  names_.leave();
}

namespace {

std::string listed(const std::vector<std::string>& words) {
  return join(words, ", ", [](const std::string& word) { return word; });
}

/// May it be the whole body of a loop without braces?
bool stands_alone(const Stmt& s) {
  if (auto* block = s.as<Block>()) return block->stmts.size() == 1 && stands_alone(block->stmts[0]);
  return !s.is<Declare>() && !s.is<Comment>() && !s.is<Allocate>();
}

}  // namespace

void StmtText::compound(const std::string& head, const Stmt& body, std::string_view last) {
  names_.enter();
  std::string before = std::move(out_);
  out_.clear();
  depth_++;
  stmt(body);
  if (!last.empty()) line("{}", last);
  depth_--;
  std::string inner = std::move(out_);
  out_ = std::move(before);
  names_.leave();
  bool one_line = std::count(inner.begin(), inner.end(), '\n') == 1 && stands_alone(body);
  if (one_line && !head.empty()) {
    line("{}", head);
    out_ += inner;
  } else {
    line("{}{{", head.empty() ? "" : head + " ");
    out_ += inner;
    line("}}");
  }
}

void StmtText::conditional(const If& n, std::string_view lead) {
  compound(fmt::format("{}if ({})", lead, expr_.exact(n.cond)), n.then);
  if (!n.otherwise) return;
  if (auto* next = n.otherwise->as<If>()) return conditional(*next, "else ");
  compound("else", *n.otherwise);
}

// Whether an array is the host's memory: small ones of constant size stand on the stack.
bool StmtText::takes_memory(const Allocate& n) const {
  constexpr int64_t stack_bytes = 4096;
  auto count = constant_integer(n.count);
  return !count || *count <= 0 || *count * int64_t(size_of(n.array.type.scalar)) > stack_bytes ||
         appended_.contains(n.array.symbol);
}
bool StmtText::takes_memory(const Stmt& s) const {
  bool takes = false;
  each<Allocate>(s, [&](const Allocate& n) { takes |= takes_memory(n); });
  each<Perform>(s, [&](const Perform& n) { takes |= parts_.at(n.name).takes_call; });
  return takes;
}

void StmtText::allocate(const Allocate& n, Helper scratch) {
  std::string size = expr_.index(n.count), name = names_.declare(n.array);
  std::string type = expr_.type(n.array.type.element());
  if (n.space == MemorySpace::Shared) return line("__shared__ {} {}[{}];", type, name, size);
  std::string aligned;
  if (auto lanes = at_once_.find(n.array.symbol); lanes != at_once_.end())
    aligned = fmt::format("alignas({}) ", size_t(lanes->second) * size_of(n.array.type.scalar));
  if (!takes_memory(n)) return line("{}{} {}[{}]{};", aligned, type, name, size, n.fill == Fill::Zeroed ? " = {}" : "");
  needs_.helpers.insert(scratch);
  line("{}<{}> {}({}{}, {});", scratch == Helper::OwnScratch ? "own_scratch" : "scratch", type, name,
       spelling_.language == Language::Cpp ? "call, " : "", size, n.fill == Fill::Zeroed ? "true" : "false");
}

// Memory that runs out inside of the region is caught there, and thrown when all threads are back.
void StmtText::parallel(const Parallel& n) {
  std::string count = expr_.index(n.count);
  names_.enter();
  std::string name = names_.declare(n.share);
  each<Append>(n.body, [&](const Append& part) { appended_.insert(part.from.symbol); });
  bool takes = takes_memory(n.body) || takes_memory(Block{n.setup});
  std::string head = fmt::format("for ({} {} = 0; {} < {}; {}++)", expr_.type(n.share.type), name, name, count, name);
  constexpr std::string_view threads = "num_threads(call->context->threads)", next = "schedule(dynamic, 1)";
  if (!n.setup.empty()) {
    line("#pragma omp parallel {}", threads);
    line("{{");
    depth_++;
    for (const Stmt& own : n.setup) allocate(*own.as<Allocate>(), Helper::OwnScratch);
    line("#pragma omp for {}", next);
  } else {
    line("#pragma omp parallel for {} {}", threads, next);
  }
  bool streams = false;
  each<Store>(n.body, [&](const Store& store) { streams |= store.mode == StoreMode::Stream; });
  fenced_ |= streams;
  std::string_view last = streams ? "fence();" : "";
  if (takes) guarded(head, n.body, last);
  else compound(head, n.body, last);
  if (!n.setup.empty()) {
    depth_--;
    line("}}");
  }
  if (takes) line("call->context->rethrow(call->context);");
  names_.leave();
}

// The body of a share in a region that takes memory.
void StmtText::guarded(const std::string& head, const Stmt& body, std::string_view last) {
  line("{} {{", head);
  depth_++;
  line("if (call->context->failed(call->context)) continue;");
  if (takes_memory(body)) {
    compound("try", body, last);
    line("catch (...) {{ call->context->fail(call->context); }}");
  } else {
    stmt(body);
    if (!last.empty()) line("{}", last);
  }
  depth_--;
  line("}}");
}

void StmtText::resize(const Resize& n) {
  needs_.helpers.insert(Helper::Resize);
  line("{} = resize<{}>(call, {}, {});", names_.of(n.array), expr_.type(n.array.type.element()),
       source_text(sources_.at(n.array.symbol)), expr_.index(n.count));
}

// What it takes along are parameters too. Its bools are known when it is compiled: they decide branches.
void StmtText::define(const Define& n) {
  PartFunction part{names_.of({n.name, Bool}), free_variables(n), takes_memory(n.body)};
  StmtText text(spelling_, needs_);
  text.names_.reserve(part.name);
  std::vector<std::string> params, known;
  auto param = [&](const Var& v, std::string_view kind) {
    params.push_back(fmt::format("{}{} {}", expr_.type(v.type), kind, text.names_.declare(v)));
  };
  auto constant = [&](const Var& v) {
    if (v.type.is_array()) return param(v, fmt::format(" {}", spelling_.restrict_word));
    param(v, "");
    params.back() = "const " + params.back();
  };
  if (part.takes_call) params.push_back("spd_call* call");
  for (const Var& v : part.taken_along) constant(v);
  for (const Var& v : n.values) {
    if (v.type == Bool) known.push_back("bool " + text.names_.declare(v));
    else constant(v);
  }
  for (const Var& v : n.places) {
    if (v.type.is_array()) {
      constant(v);
    } else {
      text.mutable_.insert(v.symbol);
      param(v, "&");
    }
  }
  text.stmt(n.body);
  std::string head = known.empty() ? "" : fmt::format("template <{}>\n", listed(known));
  parts_text_ += fmt::format("\n{}{} void {}({}) {{\n{}}}\n", head, spelling_.own_function, part.name, listed(params),
                             text.take());
  parts_.emplace(n.name, std::move(part));
}

void StmtText::perform(const Perform& n) {
  const PartFunction& part = parts_.at(n.name);
  std::vector<std::string> args, known;
  if (part.takes_call) args.push_back("call");
  for (const Var& v : part.taken_along) args.push_back(names_.of(v));
  for (const Expr& e : n.values) (type_of(e) == Bool ? known : args).push_back(expr_.converted(e));
  for (const Var& v : n.places) args.push_back(names_.of(v));
  line("{}{}({});", part.name, known.empty() ? "" : fmt::format("<{}>", listed(known)), listed(args));
}

void StmtText::append(const Append& n) {
  needs_.helpers.insert(Helper::Append);
  line("append(call, {}, {}, {}, {}, {});", source_text(sources_.at(n.to.symbol)), expr_.index(n.shares),
       expr_.index(n.share), names_.of(n.from), expr_.index(n.count));
}

}  // namespace spdistal::codegen
