#include "support/random_schedule.hpp"

#include "notation/tensor_var.hpp"
#include "schedule/apply.hpp"

namespace spdistal::test {

using namespace notation;

namespace {

// One random value of each type that parameters have; mostly sensible, sometimes not.
class Draw {
 public:
  Draw(std::mt19937_64& random, const ConcreteStatement& statement) : random_(random), statement_(statement) {}

  template <class C>
  Command command(const C*) {
    return std::apply([&](const auto&... p) { return C{value(p)...}; }, C::params);
  }

 private:
  int64_t number(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[size_t(number(0, int64_t(list.size()) - 1))];
  }

  template <class P>
  typename P::Type value(const P& p) {
    return draw(std::type_identity<typename P::Type>{}, p.role);
  }
  IndexVar draw(std::type_identity<IndexVar>, Role role) {
    std::vector<IndexVar> loops = loop_variables(statement_.body);
    return role == Role::New || loops.empty() ? IndexVar() : pick(loops);
  }
  std::vector<IndexVar> draw(std::type_identity<std::vector<IndexVar>>, Role role) {
    std::vector<IndexVar> loops = loop_variables(statement_.body), out;
    if (role == Role::New) {
      for (size_t k = 0; k < listed_; k++) out.emplace_back();
      return out;
    }
    std::shuffle(loops.begin(), loops.end(), random_);
    listed_ = loops.empty() ? 0 : size_t(number(role == Role::AnyLoops ? 0 : 1, int64_t(loops.size())));
    out.assign(loops.begin(), loops.begin() + long(listed_));
    return out;
  }
  int64_t draw(std::type_identity<int64_t>, Role) { return number(1, 4); }
  Pieces draw(std::type_identity<Pieces>, Role) { return number(1, 6); }
  std::vector<TensorRef> draw(std::type_identity<std::vector<TensorRef>>, Role) {
    return {TensorRef(std::make_shared<const TensorVar>(pick(declared_tensors(statement_))))};
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
  LeafName draw(std::type_identity<LeafName>, Role) { return "cusparse"; }
  template <class E>
    requires std::is_enum_v<E> E draw(std::type_identity<E>, Role) {
      return E(number(0, int64_t(std::size(Words<E>::names)) - 1));
    }

  std::mt19937_64& random_;
  const ConcreteStatement& statement_;
  size_t listed_ = 0;
};

template <class... C>
Command draw_command(std::mt19937_64& random, const ConcreteStatement& statement, const std::variant<C...>*) {
  Draw draw(random, statement);
  using Maker = Command (*)(Draw&);
  static constexpr Maker makers[] = {[](Draw& d) { return d.command(static_cast<const C*>(nullptr)); }...};
  return makers[std::uniform_int_distribution<size_t>(0, sizeof...(C) - 1)(random)](draw);
}

}  // namespace

RandomSchedule draw_schedule(std::mt19937_64& random, ConcreteStatement statement, int attempts,
                             std::map<std::string, int>* accepted) {
  RandomSchedule out{{}, std::move(statement)};
  for (int k = 0; k < attempts; k++) {
    Command command = draw_command(random, out.statement, static_cast<const Command*>(nullptr));
    Result<ConcreteStatement> next = schedule::apply(command, out.statement);
    if (!next) continue;
    out.statement = *next;
    if (accepted) ++(*accepted)[std::visit([](const auto& c) { return std::string(c.name); }, command)];
    out.commands.push_back(std::move(command));
  }
  return out;
}

}  // namespace spdistal::test
