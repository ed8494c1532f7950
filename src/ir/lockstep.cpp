#include "ir/lockstep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/build.hpp"

namespace spdistal::ir {
namespace {

using Mask = std::vector<uint8_t>;  // of threads: which take part

/// The threads of the block that runs.
struct Threads {
  std::vector<Frame> frames;
  Mask broken;  // out of the innermost loop that they are in
  GpuLaunch* launch;
  std::vector<std::vector<Frame::Slot>> shared;  // memory, one entry for each allocation

  size_t count() const { return frames.size(); }
  template <class F>
  void each(const Mask& active, F&& f) {
    for (size_t t = 0; t < count(); t++)
      if (active[t]) f(t, frames[t]);
  }
};

using Step = std::function<void(Threads&, const Mask&)>;

bool any(const Mask& mask) { return std::ranges::find(mask, 1) != mask.end(); }

void require_block(const Mask& active) {
  if (std::ranges::find(active, 0) != active.end())
    throw InternalError("internal error: only some threads of a block come to a barrier. Please report this.");
}

void require_groups(const Mask& active, size_t width, std::string_view what) {
  for (size_t first = 0; first < active.size(); first += width) {
    size_t end = std::min(active.size(), first + width), there = 0;
    for (size_t t = first; t < end; t++) there += active[t];
    if (there != 0 && there != width)
      throw InternalError(fmt::format("internal error: only some lanes of a {} come to {}. Please report this.",
                                      width == warp_size ? "warp" : "group", what));
  }
}

template <class T>
T combine(BinaryOp op, T a, T b) {
  return with_op<BinaryOp::Add, BinaryOp::Max>(op, [&](auto o) { return arithmetic<decltype(o)::value>(a, b); });
}

/// The value of thread `from(t)`, for each of those that take part.
template <class T, class F>
std::vector<T> exchanged(const std::vector<T>& values, const Mask& active, F&& from) {
  std::vector<T> out = values;
  for (size_t t = 0; t < values.size(); t++)
    if (active[t]) out[t] = values[from(t)];
  return out;
}

/// Butterflies and ladders as in generated code, so that sums of floats have the same bits.
template <class T>
void reduce(std::vector<T>& x, const Mask& active, BinaryOp op, size_t width) {
  for (size_t d = width / 2; d > 0; d /= 2) {
    std::vector<T> y = exchanged(x, active, [&](size_t t) { return t ^ d; });
    for (size_t t = 0; t < x.size(); t++)
      if (active[t]) x[t] = combine<T>(op, x[t], y[t]);
  }
}
template <class T>
void scan(std::vector<T>& x, const Mask& active, BinaryOp op, size_t width) {
  for (size_t d = 1; d < width; d *= 2) {
    std::vector<T> y = exchanged(x, active, [&](size_t t) { return t % width >= d ? t - d : t; });
    for (size_t t = 0; t < x.size(); t++)
      if (active[t] && t % width >= d) x[t] = combine<T>(op, x[t], y[t]);
  }
}

size_t peer_of(size_t thread, Peer peer, int64_t by, int64_t width) {
  int64_t lane = int64_t(thread) % width, other = lane;
  require(by >= 0 && by < width, "a lane exchanges values within its group");
  switch (peer) {
    case Peer::Lane: other = by; break;
    case Peer::Up: other = lane >= by ? lane - by : lane; break;
    case Peer::Down: other = lane + by < width ? lane + by : lane; break;
    case Peer::Xor: other = lane ^ by; break;
  }
  return size_t(int64_t(thread) - lane + other);
}

class Lockstep {
 public:
  Lockstep(Slots& slots, const std::function<Exec(const Stmt&)>& serial) : slots_(slots), serial_(serial) {}

  size_t shared_arrays() const { return shared_; }

  Step stmt(const Stmt& s) {
    return match(
        s, [&](const Declare&) { return alone(s); }, [&](const Assign&) { return alone(s); },
        [&](const Store&) { return alone(s); }, [&](const Prefetch&) { return alone(s); },
        [&](const For& n) { return n.kind == LoopKind::GPULane ? lanes(n) : loop(n); },
        [&](const While& n) { return loop_while(n); }, [&](const If& n) { return branch(n); },
        [&](const Block& n) { return sequence(n); },
        [](const Comment&) -> Step { return [](Threads&, const Mask&) {}; },
        [&](const Allocate& n) { return n.space == MemorySpace::Shared ? share(n) : alone(s); },
        [&](const Sort& n) { return n.lanes > 1 ? by_first_lane(s) : alone(s); },
        [](const Break&) -> Step {
          return
              [](Threads& all, const Mask& active) { all.each(active, [&](size_t t, Frame&) { all.broken[t] = 1; }); };
        },
        [](const Return&) { return misplaced("Return"); }, [](const Parallel&) { return misplaced("Parallel"); },
        [](const Resize&) { return misplaced("Resize"); }, [](const Shrink&) { return misplaced("Shrink"); },
        [](const Append&) { return misplaced("Append"); }, [](const Define&) { return misplaced("Define"); },
        [](const Perform&) { return misplaced("Perform"); }, [](const Barrier& n) { return wait(n); },
        [&](const Claim&) { return alone(s); });
  }

 private:
  static Step misplaced(std::string_view what) {
    throw InternalError(fmt::format("internal error: {} stands inside of GPU threads", what));
  }

  /// Each thread for itself, behind what they compute together.
  Step alone(const Stmt& s) {
    std::vector<Step> together;
    Stmt rest = map_children(s, [&](const auto& child) {
      if constexpr (std::is_same_v<std::decay_t<decltype(child)>, Expr>) return lifted(child, together);
      else return child;
    });
    return [together = std::move(together), own = serial_(rest)](Threads& all, const Mask& active) {
      for (const Step& step : together) step(all, active);
      all.each(active, [&](size_t, Frame& f) { own(f); });
    };
  }

  /// What a warp does together, done by its first lane.
  Step by_first_lane(const Stmt& s) {
    return [own = serial_(s)](Threads& all, const Mask& active) {
      require_groups(active, warp_size, "what it sorts");
      all.each(active, [&](size_t t, Frame& f) {
        if (t % warp_size == 0) own(f);
      });
    };
  }

  Step sequence(const Block& n) {
    std::vector<Step> steps;
    for (const Stmt& inner : n.stmts) steps.push_back(stmt(inner));
    return [steps = std::move(steps)](Threads& all, const Mask& active) {
      Mask now = active;
      for (const Step& step : steps) {
        if (!any(now)) return;
        step(all, now);
        for (size_t t = 0; t < now.size(); t++) now[t] = now[t] && !all.broken[t];
      }
    };
  }

  Step branch(const If& n) {
    std::vector<Step> together;
    auto cond = slots_.eval<bool>(lifted(n.cond, together));
    Step then = stmt(n.then), otherwise;
    if (n.otherwise) otherwise = stmt(*n.otherwise);
    return [=](Threads& all, const Mask& active) {
      for (const Step& step : together) step(all, active);
      Mask yes = active, no = active;
      all.each(active, [&](size_t t, Frame& f) { no[t] = !(yes[t] = cond(f)); });
      if (any(yes)) then(all, yes);
      if (otherwise && any(no)) otherwise(all, no);
    };
  }

  /// Runs `body` for those in `live` and drops those that leave the loop there.
  static void turn(Threads& all, Mask& live, const Step& body) {
    body(all, live);
    for (size_t t = 0; t < live.size(); t++)
      if (live[t] && all.broken[t]) live[t] = all.broken[t] = 0;
  }

  Step loop_while(const While& n) {
    std::vector<Step> together;
    auto cond = slots_.eval<bool>(lifted(n.cond, together));
    Step body = stmt(n.body);
    return [=](Threads& all, const Mask& active) {
      Mask live = active;
      while (true) {
        for (const Step& step : together) step(all, live);
        all.each(live, [&](size_t t, Frame& f) { live[t] = cond(f); });
        if (!any(live)) return;
        turn(all, live, body);
      }
    };
  }

  Step loop(const For& n) {
    require(!is_gpu(n.kind), "loops over blocks and threads do not nest");
    std::vector<Step> together;
    auto lo = slots_.integer(lifted(n.lo, together)), hi = slots_.integer(lifted(n.hi, together));
    auto by = slots_.integer(lifted(n.step, together));
    size_t slot = slots_.declare_value(n.var);
    Step body = stmt(n.body);
    return [=, wide = n.var.type == Int64](Threads& all, const Mask& active) {
      for (const Step& step : together) step(all, active);
      std::vector<int64_t> next(all.count()), end(all.count()), stride(all.count());
      all.each(active, [&](size_t t, Frame& f) {
        next[t] = lo(f), end[t] = hi(f), stride[t] = by(f);
        require(stride[t] > 0, "a loop's step is positive");
      });
      Mask live = active;
      while (true) {
        all.each(live, [&](size_t t, Frame& f) {
          live[t] = next[t] < end[t];
          put(f, slot, next[t], wide);
          next[t] += stride[t];
        });
        if (!any(live)) return;
        turn(all, live, body);
      }
    };
  }

  Step lanes(const For& n) {
    size_t slot = slots_.declare_value(n.var);
    return [slot, wide = n.var.type == Int64, body = stmt(n.body)](Threads& all, const Mask& active) {
      all.each(active, [&](size_t t, Frame& f) { put(f, slot, int64_t(t % warp_size), wide); });
      body(all, active);
    };
  }

  static void put(Frame& f, size_t slot, int64_t value, bool wide) {
    if (wide) f.value<int64_t>(slot) = value;
    else f.value<int32_t>(slot) = int32_t(value);
  }

  Step share(const Allocate& n) {
    int64_t count = constant_integer(n.count).value();
    size_t a = slots_.declare_array(n.array), bytes = size_t(count) * size_of(n.array.type.scalar);
    int filling = n.array.type.scalar == ScalarType::Bool ? 1 : 0xff;  // something telling: NaN, -1
    return [=, which = shared_++](Threads& all, const Mask& active) {
      std::vector<Frame::Slot>& room = all.shared[which];
      room = Frame::filled(bytes, filling);
      if (all.launch) all.launch->touches.erase(a);
      all.each(active, [&](size_t, Frame& f) { f.arrays[a] = {room.data(), count, nullptr, true, {}, 0}; });
    };
  }

  static Step wait(const Barrier& n) {
    if (n.of == BarrierOf::Block)
      return [](Threads& all, const Mask& active) {
        require_block(active);
        if (all.launch) all.launch->waited++;
      };
    return [](Threads& all, const Mask& active) {
      require_groups(active, warp_size, "a barrier");
      if (!all.launch) return;
      for (size_t t = 0; t < active.size(); t += warp_size)
        if (active[t]) all.launch->warp_waited[t / warp_size]++;
    };
  }

  // ---- what lanes compute together ----

  /// The expression with a variable in the place of each such operation; `together` sets it for all threads at once.
  Expr lifted(const Expr& e, std::vector<Step>& together) {
    return rewrite(
        e,
        [&](const Shuffle& n) -> Expr {
          auto by = slots_.integer(n.by);
          return set(Expr(n), n.value, size_t(n.width), together,
                     [=, width = n.width, peer = n.peer](Threads& all, const Mask& active, auto& x) {
                       std::vector<size_t> from(all.count());
                       all.each(active, [&](size_t t, Frame& f) { from[t] = peer_of(t, peer, by(f), width); });
                       x = exchanged(x, active, [&](size_t t) { return from[t]; });
                     });
        },
        [&](const WarpReduce& n) -> Expr {
          return set(Expr(n), n.value, size_t(n.width), together,
                     [op = n.op, width = size_t(n.width)](Threads&, const Mask& active, auto& x) {
                       reduce(x, active, op, width);
                     });
        },
        [&](const WarpScan& n) -> Expr {
          return set(Expr(n), n.value, size_t(n.width), together,
                     [op = n.op, width = size_t(n.width)](Threads&, const Mask& active, auto& x) {
                       scan(x, active, op, width);
                     });
        },
        [&](const WarpVote& n) -> Expr {
          Expr one = select(n.cond, int32(1), int32(0));
          BinaryOp op = n.vote == Vote::Any ? BinaryOp::Max : n.vote == Vote::All ? BinaryOp::Min : BinaryOp::Add;
          Expr all = set(one, one, warp_size, together,
                         [op](Threads&, const Mask& active, auto& x) { reduce(x, active, op, warp_size); });
          return n.vote == Vote::Count ? all : differ(all, 0);
        });
  }

  /// A variable for `whole`, which `change` makes out of the values of `operand`.
  template <class F>
  Expr set(const Expr& whole, const Expr& operand, size_t width, std::vector<Step>& together, F change) {
    Var v = var("together", type_of(whole));
    size_t slot = slots_.declare_value(v);
    together.push_back(with_type(v.type.scalar, [&](auto zero) -> Step {
      using T = decltype(zero);
      return [slot, change, width, value = slots_.eval<T>(operand)](Threads& all, const Mask& active) {
        require_groups(active, width, "what it computes together");
        std::vector<T> x(all.count());
        all.each(active, [&](size_t t, Frame& f) { x[t] = value(f); });
        change(all, active, x);
        all.each(active, [&](size_t t, Frame& f) { f.value<T>(slot) = x[t]; });
      };
    }));
    return v;
  }

  Slots& slots_;
  const std::function<Exec(const Stmt&)>& serial_;
  size_t shared_ = 0;
};

}  // namespace

Exec lockstep(const For& n, Slots& slots, const std::function<Exec(const Stmt&)>& serial, Races races) {
  auto lo = slots.integer(n.lo), hi = slots.integer(n.hi);
  size_t slot = slots.declare_value(n.var);
  Lockstep made(slots, serial);
  Step body = made.stmt(Block{{n.body}});
  int64_t lanes = n.kind == LoopKind::GPUWarp ? warp_size : 1;
  return [=, wide = n.var.type == Int64, shared = made.shared_arrays()](Frame& block) {
    int64_t first = lo(block), count = std::max<int64_t>(hi(block) - first, 0) * lanes;
    GpuLaunch* launch = races == Races::Found ? block.launch : nullptr;
    Threads all{{}, Mask(size_t(count), 0), launch, std::vector<std::vector<Frame::Slot>>(shared)};
    for (int64_t t = 0; t < count; t++) {
      Frame f;
      f.slots = block.slots;
      f.arrays = block.arrays;
      f.memory.resize(block.memory.size());
      f.call = block.call;
      f.launch = launch;
      if (launch) f.thread = t;
      if (wide) f.value<int64_t>(slot) = first + t / lanes;
      else f.value<int32_t>(slot) = int32_t(first + t / lanes);
      all.frames.push_back(std::move(f));
    }
    if (launch) {
      launch->waited++;  // the threads of a loop begin when those of the loop before are done
      launch->warp_waited.assign(size_t(count / warp_size + 1), 0);
    }
    if (count > 0) body(all, Mask(size_t(count), 1));
    return Flow::Next;
  };
}

}  // namespace spdistal::ir
