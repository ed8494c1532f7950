#include "ir/print.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"
#include "ir/math.hpp"
#include "ir/scoped_names.hpp"

namespace spdistal::ir {

std::string_view spelling(BinaryOp op) {
  constexpr std::string_view table[] = {"+",  "-", "*",  "/",  "%",  "min", "max", "<",
                                        "<=", ">", ">=", "==", "!=", "&&",  "||"};
  return table[size_t(op)];
}

int precedence(BinaryOp op) {
  constexpr int table[] = {9, 9, 10, 10, 10, primary_precedence, primary_precedence, 7, 7, 7, 7, 6, 6, 3, 2};
  return table[size_t(op)];
}

std::string_view name_of(const Source& source) {
  constexpr std::string_view table[] = {"extent", "lo",   "stride", "begin",  "end",      "segments", "coordinates",
                                        "level",  "vals", "array",  "scalar", "argument", "shares",   "threads"};
  return source.name.empty() ? table[size_t(source.field)] : source.name;
}

namespace {

constexpr int select_precedence = 1;

std::string scalar_text(const Scalar& s) {
  return std::visit(
      [](auto v) -> std::string {
        using T = decltype(v);
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        else if constexpr (std::is_integral_v<T>) return fmt::format("{}", v);
        else if constexpr (std::is_floating_point_v<T>) {
          // Told from integers by the point, and floats from doubles by the f.
          std::string text = fmt::format("{}", v);
          if (std::isfinite(v) && text.find_first_of(".e") == text.npos) text += ".0";
          return std::is_same_v<T, float> ? text + "f" : text;
        } else {
          return fmt::format("{}({}, {})", sizeof(v) == 8 ? "complex64" : "complex128", v.real(), v.imag());
        }
      },
      s.value());
}

class Printer {
 public:
  std::string expr(const Expr& e, int outer = 0) {
    auto [text, level] = parts(e);
    return level < outer ? fmt::format("({})", text) : text;
  }

  void stmt(const Stmt& s) {
    match(
        s,
        [&](const Declare& n) {
          std::string init = expr(n.init);
          line("{} {}: {} = {}", n.mutability == Mutability::Const ? "const" : "var", names_.declare(n.var),
               name_of(n.var.type), init);
        },
        [&](const Assign& n) { line("{} = {}", name(n.var), expr(n.value)); },
        [&](const Store& n) {
          std::optional<BinaryOp> atomic = atomic_operation(n.mode);
          std::string how = n.mode == StoreMode::Set      ? "="
                            : n.mode == StoreMode::Add    ? "+="
                            : n.mode == StoreMode::Stream ? "stream="
                                                          : fmt::format("atomic{}=", spelling(*atomic));
          line("{}[{}] {} {}", name(n.array), expr(n.index), how, expr(n.value));
        },
        [&](const Prefetch& n) { line("prefetch {}[{}]", name(n.array), expr(n.index)); },
        [&](const For& n) {
          std::string lo = expr(n.lo), hi = expr(n.hi), step = expr(n.step), how;
          if (step != "1") how += " step " + step;
          if (n.kind == LoopKind::Vector) how += " vector";
          if (n.kind == LoopKind::GPUBlock) how += " gpu_block";
          if (n.kind == LoopKind::GPUThread) how += " gpu_thread";
          if (n.kind == LoopKind::GPUWarp) how += " gpu_warp";
          if (n.kind == LoopKind::GPULane) how += " gpu_lane";
          if (n.unroll == 0) how += " unroll";
          if (n.unroll > 1) how += fmt::format(" unroll {}", n.unroll);
          names_.enter();
          line("for {}: {} in {} .. {}{}", names_.declare(n.var), name_of(n.var.type), lo, hi, how);
          scope(n.body);
          names_.leave();
        },
        [&](const While& n) {
          line("while {}", expr(n.cond));
          scope(n.body);
        },
        [&](const If& n) {
          line("if {}", expr(n.cond));
          scope(n.then);
          if (n.otherwise) {
            line("else");
            scope(*n.otherwise);
          }
        },
        [&](const Block& n) {
          for (const Stmt& inner : n.stmts) {
            if (inner.is<Block>()) {
              line("block");
              scope(inner);
            } else {
              stmt(inner);
            }
          }
        },
        [&](const Comment& n) { line("# {}", n.text); },
        [&](const Allocate& n) {
          line("allocate {}: {}[{}] {}{}", names_.declare(n.array), spdistal::name_of(n.array.type.scalar),
               expr(n.count), n.fill == Fill::Zeroed ? "zeroed" : "uninitialised",
               n.space == MemorySpace::Shared ? " shared" : "");
        },
        [&](const Sort& n) {
          line("sort {}[{} .. {}]{}", name(n.array), expr(n.lo), expr(n.hi), n.lanes > 1 ? " by lanes" : "");
        },
        [&](const Break&) { line("break"); }, [&](const Return& n) { line("return {}", n.code); },
        [&](const Parallel& n) {
          std::string count = expr(n.count);
          names_.enter();
          bool own = !n.setup.empty();
          if (own) line("each thread");
          depth_ += own;
          for (const Stmt& each : n.setup) stmt(each);
          line("parallel {}: {} in 0 .. {}", names_.declare(n.share), name_of(n.share.type), count);
          scope(n.body);
          depth_ -= own;
          names_.leave();
        },
        [&](const Resize& n) { line("resize {} to {}", name(n.array), expr(n.count)); },
        [&](const Shrink& n) { line("shrink {} to {}", name(n.array), expr(n.count)); },
        [&](const Append& n) {
          line("append {}[0 .. {}] to {}, share {} of {}", name(n.from), expr(n.count), name(n.to), expr(n.share),
               expr(n.shares));
        },
        [&](const Define& n) {
          std::string head = name(part_name(n.name));
          names_.enter();
          auto declared = [&](const Var& v) { return fmt::format("{}: {}", names_.declare(v), name_of(v.type)); };
          std::string values = join(n.values, ", ", declared), places = join(n.places, ", ", declared);
          line("define {}({}; {})", head, values, places);
          scope(n.body);
          names_.leave();
        },
        [&](const Perform& n) {
          line("{}({}; {})", name(part_name(n.name)), join(n.values, ", ", [&](const Expr& e) { return expr(e); }),
               join(n.places, ", ", [&](const Var& v) { return name(v); }));
        },
        [&](const Barrier& n) { line("{}", n.of == BarrierOf::Block ? "barrier" : "warp barrier"); },
        [&](const Claim& n) {
          line("{} = {}[{}], claimed for {}", name(n.found), name(n.array), expr(n.index), expr(n.value));
        });
  }

  void function(const Function& f) {
    line("function {}", f.name);
    depth_++;
    for (const Param& p : f.params) {
      const Source& at = p.source;
      std::string where(name_of(at));
      if (at.field < Source::Field::Vals) where = fmt::format("tensor {} level {} {}", at.index, at.level, where);
      if (at.field == Source::Field::Vals) where = fmt::format("tensor {} vals", at.index);
      if (at.field >= Source::Field::Array && at.field <= Source::Field::Argument)
        where += fmt::format(" {}", at.index);
      line("param {}: {} = {}", names_.declare(p.var), name_of(p.var.type), where);
    }
    depth_--;
    scope(f.body);
  }

  std::string take() { return std::move(out_); }

 private:
  using Parts = std::pair<std::string, int>;

  Parts parts(const Expr& e) {
    return match(
        e, [&](const Var& n) { return Parts(name(n), primary_precedence); },
        [&](const Literal& n) {
          std::string text = scalar_text(n.value);
          int level = text[0] == '-' ? unary_precedence : primary_precedence;
          return Parts(std::move(text), level);
        },
        [&](const Unary& n) {
          return Parts(fmt::format("{}{}", n.op == UnaryOp::Neg ? "-" : "!", expr(n.a, primary_precedence)),
                       unary_precedence);
        },
        [&](const Binary& n) {
          int level = precedence(n.op);
          if (n.op == BinaryOp::Min || n.op == BinaryOp::Max)
            return Parts(fmt::format("{}({}, {})", spelling(n.op), expr(n.a), expr(n.b)), level);
          return Parts(fmt::format("{} {} {}", expr(n.a, level), spelling(n.op), expr(n.b, level + 1)), level);
        },
        [&](const Select& n) {
          return Parts(fmt::format("{} ? {} : {}", expr(n.cond, select_precedence + 1),
                                   expr(n.yes, select_precedence + 1), expr(n.no, select_precedence)),
                       select_precedence);
        },
        [&](const Load& n) {
          std::string lanes = n.lanes == 1 ? "" : fmt::format(" x {}", n.lanes);
          return Parts(fmt::format("{}[{}{}{}]", name(n.array), expr(n.index), lanes, n.once ? " once" : ""),
                       primary_precedence);
        },
        [&](const Cast& n) {
          return Parts(fmt::format("{}({})", spdistal::name_of(n.type), expr(n.value)), primary_precedence);
        },
        [&](const Call& n) {
          return Parts(
              fmt::format("{}({})", info(n.function).name, join(n.args, ", ", [&](const Expr& a) { return expr(a); })),
              primary_precedence);
        },
        [&](const Search& n) {
          return Parts(fmt::format("{}({}, {}, {}, {})", n.bound == Bound::Lower ? "lower_bound" : "upper_bound",
                                   name(n.array), expr(n.lo), expr(n.hi), expr(n.value)),
                       primary_precedence);
        },
        [&](const Broadcast& n) {
          return Parts(fmt::format("broadcast({}, {})", expr(n.value), n.lanes), primary_precedence);
        },
        [&](const Shuffle& n) {
          constexpr std::string_view peers[] = {"", "_up", "_down", "_xor"};
          return Parts(
              fmt::format("shuffle{}({}, {}{})", peers[size_t(n.peer)], expr(n.value), expr(n.by), width(n.width)),
              primary_precedence);
        },
        [&](const WarpReduce& n) {
          return Parts(fmt::format("warp_reduce({}, {}{})", spelling(n.op), expr(n.value), width(n.width)),
                       primary_precedence);
        },
        [&](const WarpScan& n) {
          return Parts(fmt::format("warp_scan({}, {}{})", spelling(n.op), expr(n.value), width(n.width)),
                       primary_precedence);
        },
        [&](const WarpVote& n) {
          constexpr std::string_view votes[] = {"any", "all", "count"};
          return Parts(fmt::format("warp_{}({})", votes[size_t(n.vote)], expr(n.cond)), primary_precedence);
        });
  }

  static std::string width(int lanes) { return lanes == warp_size ? "" : fmt::format(", {} lanes", lanes); }

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    out_.append(2 * depth_, ' ');
    out_ += fmt::format(format, std::forward<A>(args)...) + "\n";
  }

  /// A body, one step further in.
  void scope(const Stmt& body) {
    depth_++;
    names_.enter();
    stmt(body);
    names_.leave();
    depth_--;
  }

  std::string name(const Var& v) { return names_.of(v); }
  static Var part_name(const Symbol& symbol) { return {symbol, Bool}; }

  ScopedNames names_;
  std::string out_;
  size_t depth_ = 0;
};

}  // namespace

std::string print(const Expr& e) { return Printer().expr(e); }

std::string print(const Stmt& s) {
  Printer printer;
  printer.stmt(s);
  return printer.take();
}

std::string print(const Function& f) {
  Printer printer;
  printer.function(f);
  return printer.take();
}

}  // namespace spdistal::ir
