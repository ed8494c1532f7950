#include "support/random_schedule.hpp"

#include "notation/tensor_var.hpp"
#include "schedule/apply.hpp"
#include "support/own_leaves.hpp"
#include "support/random_number.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

// One random value of each type that parameters have; mostly sensible, sometimes not.
class Draw {
 public:
  Draw(std::mt19937_64& random, const ConcreteStatement& statement, const Machine* machine)
      : random_(random), statement_(statement), machine_(machine) {}

  template <class C>
  Command command(const C*) {
    return std::apply([&](const auto&... p) { return C{value(p)...}; }, C::params);
  }

 private:
  int64_t number(int64_t low, int64_t high) { return test::number(random_, low, high); }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return test::pick(random_, list);
  }

  template <class P>
  typename P::Type value(const P& p) {
    return draw(std::type_identity<typename P::Type>{}, p.role);
  }
  IndexVar draw(std::type_identity<IndexVar>, Role role) {
    std::vector<IndexVar> loops = loop_variables(statement_.body);
    return role == Role::New || loops.empty() ? new_variable(random_) : pick(loops);
  }
  std::vector<IndexVar> draw(std::type_identity<std::vector<IndexVar>>, Role role) {
    std::vector<IndexVar> loops = loop_variables(statement_.body), out;
    if (role == Role::New) {
      for (size_t k = 0; k < listed_; k++) out.push_back(new_variable(random_));
      return out;
    }
    std::shuffle(loops.begin(), loops.end(), random_);
    listed_ = loops.empty() ? 0 : size_t(number(role == Role::AnyLoops ? 0 : 1, int64_t(loops.size())));
    out.assign(loops.begin(), loops.begin() + long(listed_));
    return out;
  }
  // Sizes too, so that bounds fit.
  int64_t draw(std::type_identity<int64_t>, Role) { return number(1, 5); }
  Pieces draw(std::type_identity<Pieces>, Role) {
    if (machine_ && one_in(random_, 3)) return machine_->x;
    return number(1, 6);
  }
  std::vector<TensorRef> draw(std::type_identity<std::vector<TensorRef>>, Role role) {
    if (role == Role::Optional && one_in(random_, 2)) return {};
    std::vector<TensorVar> all = declared_tensors(statement_);
    std::shuffle(all.begin(), all.end(), random_);
    std::vector<TensorRef> out;
    for (size_t k = 0; k == 0 || (k < all.size() && one_in(random_, 3)); k++)
      out.emplace_back(std::make_shared<const TensorVar>(all[k]));
    return out;
  }
  // Some sub-expression of the statement: whole right sides, accesses, factors.
  Expression draw(std::type_identity<Expression>, Role) {
    std::vector<Expr> all;
    each<Assign>(statement_.body, [&](const Assign& assign) { collect(assign.rhs, all); });
    return Expression(pick(all));
  }
  static void collect(const Expr& expr, std::vector<Expr>& out) {
    out.push_back(expr);
    children(expr, [&](const Expr& child) { collect(child, out); });
  }
  WorkspaceName draw(std::type_identity<WorkspaceName>, Role) { return "w"; }
  LeafName draw(std::type_identity<LeafName>, Role) { return own_leaf_for(statement_); }
  template <class E>
    requires std::is_enum_v<E> E draw(std::type_identity<E>, Role) {
      return E(number(0, int64_t(std::size(Words<E>::names)) - 1));
    }

  std::mt19937_64& random_;
  const ConcreteStatement& statement_;
  const Machine* machine_;
  size_t listed_ = 0;
};

template <class... C>
Command draw_command(std::mt19937_64& random, const ConcreteStatement& statement, const Machine* machine,
                     const std::variant<C...>*) {
  Draw draw(random, statement, machine);
  using Maker = Command (*)(Draw&);
  static constexpr Maker makers[] = {[](Draw& d) { return d.command(static_cast<const C*>(nullptr)); }...};
  return makers[std::uniform_int_distribution<size_t>(0, sizeof...(C) - 1)(random)](draw);
}

}  // namespace

IndexVar new_variable(std::mt19937_64& random) {
  static const std::vector<std::string> some = {"i'", "i_", "io", "ii", "j_", "B", "p"};
  return one_in(random, 5) ? IndexVar(pick(random, some)) : IndexVar();
}

bool try_command(RandomSchedule& schedule, const Command& command) {
  Result<ConcreteStatement> next = schedule::apply(command, schedule.statement);
  if (!next) return false;
  schedule.statement = *next;
  schedule.commands.push_back(command);
  return true;
}

void add_commands(std::mt19937_64& random, RandomSchedule& schedule, int attempts, const Machine* machine) {
  for (int k = 0; k < attempts; k++)
    try_command(schedule, draw_command(random, schedule.statement, machine, static_cast<const Command*>(nullptr)));
}

void add_vectors(std::mt19937_64& random, RandomSchedule& schedule) {
  std::vector<IndexVar> loops = loop_variables(schedule.statement.body);
  std::shuffle(loops.begin(), loops.end(), random);
  for (const IndexVar& loop : loops)
    if (try_command(schedule, Parallelize{loop, CPUVector, Race::Auto})) return;
}

RandomSchedule draw_schedule(std::mt19937_64& random, ConcreteStatement statement, int attempts,
                             std::map<std::string, int>* accepted) {
  RandomSchedule out{{}, std::move(statement)};
  add_commands(random, out, attempts);
  if (one_in(random, 4)) add_vectors(random, out);
  if (accepted)
    for (const Command& command : out.commands)
      ++(*accepted)[std::visit([](const auto& c) { return std::string(c.name); }, command)];
  return out;
}

}  // namespace spdistal::test
