// Statements of the interpreter, and the way into a function from an spd_call.
#include "ir/interpret.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/build.hpp"
#include "ir/interpret_code.hpp"
#include "ir/lockstep.hpp"

namespace spdistal::ir {
namespace {

class Compiler {
 public:
  Slots slots;
  size_t allocations = 0;
  Races races = Races::Ignored;

  Exec stmt(const Stmt& s) {
    return match(
        s, [&](const Declare& n) { return set(n.var, n.init); }, [&](const Assign& n) { return set(n.var, n.value); },
        [&](const Store& n) { return store(n); },
        [&](const Prefetch& n) -> Exec {
          return [i = slots.integer(n.index)](Frame& f) {
            i(f);
            return Flow::Next;
          };
        },
        [&](const For& n) { return loop(n); },
        [&](const While& n) -> Exec {
          return [cond = slots.eval<bool>(n.cond), body = stmt(n.body)](Frame& f) {
            while (cond(f))
              if (body(f) == Flow::Break) break;
            return Flow::Next;
          };
        },
        [&](const If& n) -> Exec {
          auto cond = slots.eval<bool>(n.cond);
          Exec then = stmt(n.then);
          if (!n.otherwise)
            return
                [cond = std::move(cond), then = std::move(then)](Frame& f) { return cond(f) ? then(f) : Flow::Next; };
          return [cond = std::move(cond), then = std::move(then), otherwise = stmt(*n.otherwise)](Frame& f) {
            return cond(f) ? then(f) : otherwise(f);
          };
        },
        [&](const Block& n) -> Exec {
          std::vector<Exec> all;
          for (const Stmt& inner : n.stmts)
            if (!inner.is<Comment>()) all.push_back(stmt(inner));
          return [all = std::move(all)](Frame& f) {
            for (const Exec& one : all)
              if (Flow flow = one(f); flow != Flow::Next) return flow;
            return Flow::Next;
          };
        },
        [](const Comment&) -> Exec { return [](Frame&) { return Flow::Next; }; },
        [&](const Allocate& n) { return allocate(n); }, [&](const Sort& n) { return sort(n); },
        [](const Break&) -> Exec { return [](Frame&) { return Flow::Break; }; },
        [](const Return& n) -> Exec {
          return [code = n.code](Frame& f) {
            f.code = code;
            return Flow::Return;
          };
        },
        [&](const Parallel& n) { return parallel(n); },
        [&](const Resize& n) -> Exec {
          return [a = slots.array(n.array), count = slots.integer(n.count),
                  size = size_of(n.array.type.scalar)](Frame& f) {
            Frame::Array& array = f.arrays[a];
            require(array.source != nullptr, "only parameters are resized");
            int64_t wanted = count(f);
            require(wanted >= 0, "an array's size is not negative");
            array.data = f.call->context->resize(f.call->context, array.source, wanted, wanted * int64_t(size));
            array.count = wanted;
            return Flow::Next;
          };
        },
        [&](const Shrink& n) -> Exec {
          return [a = slots.array(n.array), count = slots.integer(n.count)](Frame& f) {
            Frame::Array& array = f.arrays[a];
            int64_t kept = count(f);
            require(array.source != nullptr && kept >= 0 && kept <= array.count, "what shrinks has as many elements");
            array.source->count = array.count = kept;
            return Flow::Next;
          };
        },
        [&](const Append& n) { return append(n); }, [&](const Define& n) { return define(n); },
        [&](const Perform& n) { return perform(n); },
        [](const Barrier&) -> Exec { throw InternalError("internal error: threads wait inside of GPU threads"); },
        [&](const Claim& n) { return claim(n); });
  }

 private:
  Exec set(const Var& var, const Expr& init) {
    return with_type(var.type.scalar, [&](auto zero) -> Exec {
      using T = decltype(zero);
      std::vector<Eval<T>> lanes;
      for (int l = 0; l < var.type.lanes; l++) lanes.push_back(slots.eval<T>(init, l));
      size_t slot = slots.declare_value(var);
      if (lanes.size() == 1)
        return [slot, value = std::move(lanes[0])](Frame& f) {
          T v = value(f);
          f.value<T>(slot) = v;
          return Flow::Next;
        };
      return [slot, lanes = std::move(lanes)](Frame& f) {
        std::vector<T> values;
        for (const auto& lane : lanes) values.push_back(lane(f));
        for (size_t l = 0; l < lanes.size(); l++) f.value<T>(slot + l) = values[l];
        return Flow::Next;
      };
    });
  }

  Exec store(const Store& n) {
    return with_type(n.array.type.scalar, [&](auto zero) -> Exec {
      using T = decltype(zero);
      std::vector<Eval<T>> lanes;
      for (int l = 0; l < type_of(n.value).lanes; l++) lanes.push_back(slots.eval<T>(n.value, l));
      auto put = [a = slots.array(n.array), op = n.mode == StoreMode::Add ? BinaryOp::Add : atomic_operation(n.mode),
                  how = is_atomic(n.mode) ? Use::Atomic : Use::Store,
                  name = n.array.symbol.name()](Frame& f, int64_t at, T v) {
        Frame::Array& array = f.arrays[a];
        if (uint64_t(at) >= uint64_t(array.count)) out_of_bounds(name, at, array.count);
        touched(f, array, at, how, name);
        T& element = static_cast<T*>(array.data)[at];
        element = op ? combined(*op, element, v) : v;
      };
      if (lanes.size() == 1)
        return [put, index = slots.integer(n.index), value = std::move(lanes[0])](Frame& f) {
          T v = value(f);
          put(f, index(f), v);
          return Flow::Next;
        };
      return [put, index = slots.integer(n.index), lanes = std::move(lanes)](Frame& f) {
        std::vector<T> values;
        for (const auto& lane : lanes) values.push_back(lane(f));
        int64_t at = index(f);
        for (size_t l = 0; l < lanes.size(); l++) put(f, at + int64_t(l), values[l]);
        return Flow::Next;
      };
    });
  }

  Exec claim(const Claim& n) {
    auto of_type = [&](auto zero) -> Exec {
      using T = decltype(zero);
      return [a = slots.array(n.array), index = slots.integer(n.index), value = slots.eval<T>(n.value),
              slot = slots.declare_value(n.found), name = n.array.symbol.name()](Frame& f) {
        Frame::Array& array = f.arrays[a];
        int64_t at = index(f);
        if (uint64_t(at) >= uint64_t(array.count)) out_of_bounds(name, at, array.count);
        touched(f, array, at, Use::Atomic, name);
        T& element = static_cast<T*>(array.data)[at];
        f.value<T>(slot) = element;
        if (element == 0) element = value(f);
        return Flow::Next;
      };
    };
    return n.array.type.scalar == ScalarType::Int64 ? of_type(int64_t(0)) : of_type(int32_t(0));
  }

  Exec loop(const For& n) {
    if (n.kind == LoopKind::GPUThread || n.kind == LoopKind::GPUWarp)
      return lockstep(
          n, slots, [this](const Stmt& s) { return stmt(s); }, races);
    if (n.kind == LoopKind::GPUBlock) return launch(n);
    return with_type(n.var.type.scalar, [&](auto zero) -> Exec {
      using T = decltype(zero);
      if constexpr (is_integer_v<T>) {
        auto lo = slots.eval<T>(n.lo), hi = slots.eval<T>(n.hi), step = slots.eval<T>(n.step);
        size_t slot = slots.declare_value(n.var);
        return [slot, lo = std::move(lo), hi = std::move(hi), step = std::move(step), body = stmt(n.body)](Frame& f) {
          T last = hi(f), by = step(f);
          require(by > 0, "a loop's step is positive");
          for (T i = lo(f); i < last; i += by) {
            f.value<T>(slot) = i;
            if (body(f) == Flow::Break) break;
            if (i >= std::numeric_limits<T>::max() - by) break;
          }
          return Flow::Next;
        };
      } else {
        require(false, "a loop's variable is an integer");
        return {};
      }
    });
  }

  /// A part that is written once, and where its constants and places are while it runs.
  struct LocalCode {
    std::vector<Var> values, places;
    Exec body = {};
  };

  Exec define(const Define& n) {
    auto part = std::make_shared<LocalCode>(LocalCode{n.values, n.places});
    for (const Var& v : n.values) slots.declare_value(v);
    for (const Var& v : n.places) v.type.is_array() ? slots.declare_array(v) : slots.declare_value(v);
    part->body = stmt(n.body);
    parts_.emplace(n.name, part);
    return [](Frame&) { return Flow::Next; };
  }

  /// What stands for others has what they have while the part runs.
  Exec perform(const Perform& n) {
    std::shared_ptr<const LocalCode> part = parts_.at(n.name);
    std::vector<Exec> values;
    for (size_t k = 0; k < n.values.size(); k++) values.push_back(set(part->values[k], n.values[k]));
    std::vector<std::pair<size_t, size_t>> arrays, variables;  // here, and in the part
    for (size_t k = 0; k < n.places.size(); k++) {
      if (n.places[k].type.is_array()) arrays.emplace_back(slots.array(n.places[k]), slots.array(part->places[k]));
      else variables.emplace_back(slots.value(n.places[k]), slots.value(part->places[k]));
    }
    return [part, values = std::move(values), arrays = std::move(arrays), variables = std::move(variables)](Frame& f) {
      for (const Exec& value : values) value(f);
      for (auto [here, there] : arrays) std::swap(f.arrays[here], f.arrays[there]);
      for (auto [here, there] : variables) f.slots[there] = f.slots[here];
      part->body(f);
      for (auto [here, there] : arrays) std::swap(f.arrays[here], f.arrays[there]);
      for (auto [here, there] : variables) f.slots[here] = f.slots[there];
      return Flow::Next;
    };
  }

  /// One block after the other.
  Exec launch(const For& n) {
    Exec blocks = loop(For{n.var, n.lo, n.hi, n.step, Block{{n.body}}, LoopKind::Serial});
    size_t slot = slots.value(n.var);
    return [slot, wide = n.var.type == Int64, blocks](Frame& f) {
      GpuLaunch launch{[&f, slot, wide] { return wide ? f.value<int64_t>(slot) : int64_t(f.value<int32_t>(slot)); }};
      f.launch = &launch;
      Flow flow = blocks(f);
      f.launch = nullptr;
      return flow;
    };
  }

  /// One thread takes all shares.
  Exec parallel(const Parallel& n) {
    Exec setup = stmt(Block{n.setup});
    if (races == Races::Ignored)
      return [setup, shares = loop(For{n.share, zero(n.share.type), n.count, one(n.share.type), n.body})](Frame& f) {
        setup(f);
        return shares(f);
      };
    auto count = slots.integer(n.count);
    size_t slot = slots.declare_value(n.share);
    return [setup, slot, count = std::move(count), body = stmt(n.body), wide = n.share.type == Int64](Frame& f) {
      f.region++;
      f.thread = 0;  // its own memory is not shared
      setup(f);
      for (int64_t t = 0, threads = count(f); t < threads; t++) {
        f.thread = t;
        if (wide) f.value<int64_t>(slot) = t;
        else f.value<int32_t>(slot) = int32_t(t);
        body(f);
      }
      f.thread = Touch::nobody;
      return Flow::Next;
    };
  }

  Exec allocate(const Allocate& n) {
    auto count = slots.integer(n.count);
    // What must not be read before it is written is set to something telling: NaN, -1.
    int filling = n.fill == Fill::Zeroed ? 0 : n.array.type.scalar == ScalarType::Bool ? 1 : 0xff;
    return [a = slots.declare_array(n.array), m = allocations++, count = std::move(count), filling,
            size = size_of(n.array.type.scalar)](Frame& f) {
      int64_t wanted = count(f);
      require(wanted >= 0, "an array's size is not negative");
      auto& memory = f.memory[m];
      memory = Frame::filled(size_t(wanted) * size, filling);
      if (f.launch && f.thread < 0) f.launch->touches.erase(a);  // shared by the threads of a block
      f.arrays[a] = {memory.data(), wanted, nullptr, f.thread < 0, {}, 0};
      return Flow::Next;
    };
  }

  /// Shares come in order here: each begins where the last ended.
  Exec append(const Append& n) {
    return [to = slots.array(n.to), from = slots.array(n.from), share = slots.integer(n.share),
            count = slots.integer(n.count), size = size_of(n.to.type.scalar), name = n.to.symbol.name()](Frame& f) {
      Frame::Array &result = f.arrays[to], &part = f.arrays[from];
      if (share(f) == 0) result.appended = 0;
      int64_t first = result.appended, made = count(f);
      require(made >= 0 && made <= part.count, "a share appends no more than it allocated");
      if (first + made > result.count) out_of_bounds(name, first + made - 1, result.count);
      for (int64_t i = 0; i < made; i++) touched(f, result, first + i, Use::Store, name);
      std::copy_n(static_cast<const std::byte*>(part.data), size_t(made) * size,
                  static_cast<std::byte*>(result.data) + size_t(first) * size);
      result.appended += made;
      return Flow::Next;
    };
  }

  Exec sort(const Sort& n) {
    return [a = slots.array(n.array), lo = slots.integer(n.lo), hi = slots.integer(n.hi), name = n.array.symbol.name(),
            wide = n.array.type.scalar == ScalarType::Int64](Frame& f) {
      Frame::Array& array = f.arrays[a];
      int64_t first = lo(f), last = hi(f);
      if (first >= last) return Flow::Next;
      if (first < 0 || last > array.count) out_of_bounds(name, first < 0 ? first : last - 1, array.count);
      for (int64_t i = first; f.thread >= 0 && i < last; i++) touched(f, array, i, Use::Store, name);
      if (wide) std::sort(static_cast<int64_t*>(array.data) + first, static_cast<int64_t*>(array.data) + last);
      else std::sort(static_cast<int32_t*>(array.data) + first, static_cast<int32_t*>(array.data) + last);
      return Flow::Next;
    };
  }

  std::map<Symbol, std::shared_ptr<const LocalCode>> parts_;
};

/// What a parameter is in this call: an array, a whole number, or where an argument of any type stands.
std::variant<spd_array*, int64_t, const void*> find(const Source& at, spd_call& call) {
  using Field = Source::Field;
  if (at.field == Field::Shares) return call.context->shares;
  if (at.field == Field::Threads) return call.context->threads;
  if (at.field == Field::Scalar) return call.scalars[at.index];
  if (at.field == Field::Argument) return call.arguments[at.index];
  if (at.field == Field::Array) return &call.arrays[at.index];
  spd_tensor& tensor = call.tensors[at.index];
  if (at.field == Field::Vals) return &tensor.vals;
  spd_level& level = tensor.levels[at.level];
  switch (at.field) {
    case Field::Extent: return level.extent;
    case Field::Lo: return level.lo;
    case Field::Stride: return level.stride;
    case Field::Begin: return level.begin;
    case Field::End: return level.end;
    default: return &level.arrays[at.number];
  }
}

}  // namespace

struct Interpreter::Code {
  Compiler compiler;
  std::vector<std::pair<Param, size_t>> params;  // with their slots
  Exec body;
};

Interpreter::Interpreter(const Function& f, Races races) {
  auto code = std::make_shared<Code>();
  code->compiler.races = races;
  Slots& slots = code->compiler.slots;
  for (const Param& p : f.params)
    code->params.emplace_back(p, p.var.type.is_array() ? slots.declare_array(p.var) : slots.declare_value(p.var));
  code->body = code->compiler.stmt(f.body);
  code_ = code;
}

int Interpreter::operator()(spd_call& call) const {
  Frame frame;
  frame.slots.resize(code_->compiler.slots.values());
  frame.arrays.resize(code_->compiler.slots.arrays());
  frame.memory.resize(code_->compiler.allocations);
  frame.call = &call;
  for (const auto& [p, slot] : code_->params) {
    auto found = find(p.source, call);
    if (auto* array = std::get_if<spd_array*>(&found)) {
      frame.arrays[slot] = {(*array)->data, (*array)->count, *array, true, {}, 0};
      continue;
    }
    if (auto* argument = std::get_if<const void*>(&found)) {
      std::copy_n(static_cast<const std::byte*>(*argument), size_of(p.var.type.scalar), frame.slots[slot].bytes.data());
      continue;
    }
    int64_t number = std::get<int64_t>(found);
    if (p.var.type.scalar == ScalarType::Int64) {
      frame.value<int64_t>(slot) = number;
    } else {
      require(number == int32_t(number), "a number fits the width that the kernel was compiled for");
      frame.value<int32_t>(slot) = int32_t(number);
    }
  }
  code_->body(frame);
  return frame.code;
}

}  // namespace spdistal::ir
