#include "schedule/apply.hpp"

#include <fmt/format.h>

#include <set>

#include "base/require.hpp"
#include "base/text.hpp"
#include "schedule/print.hpp"
#include "schedule/refuse.hpp"

namespace spdistal::schedule {
namespace {

using namespace notation;

// The checks that the roles of a command's parameters ask for.
class ParamChecker {
 public:
  ParamChecker(std::string_view command, const ConcreteStatement& statement)
      : refuse_(command, statement), statement_(statement) {}

  Result<> result;

  template <class T>
  void operator()(const T& value, Role role) {
    if (!result) return;
    if constexpr (std::same_as<T, IndexVar>) {
      if (role == Role::Loop || role == Role::AnyLoops) has_loop(value);
      if (role == Role::New) is_new(value);
    } else if constexpr (std::same_as<T, std::vector<IndexVar>>) {
      if (value.empty() && role == Role::Loop)
        return refuse(refuse_.whole("no variable was given", "name at least one loop"));
      for (const IndexVar& var : value) (*this)(var, role);
      if (role != Role::New && result) all_differ(value);
    }
  }

 private:
  void refuse(Diagnostic refusal) {
    if (result) result = std::move(refusal);
  }
  void has_loop(const IndexVar& var) {
    if (find_loop(statement_.body, var)) return;
    std::string name = refuse_.name(var);
    if (const Relation* relation = statement_.provenance.replaced_by(var)) {
      std::vector<std::string> now;
      for (const Made& made : relation->made) now.push_back(refuse_.name(made.var));
      return refuse(refuse_.whole(fmt::format("{} has no loop any more", name),
                                  fmt::format("its loop was replaced by {}", enumerate(now))));
    }
    refuse(refuse_.whole(fmt::format("there is no loop over {}", name),
                         suggest(name, refuse_.loop_names(), "the loops are")));
  }
  void is_new(const IndexVar& var) {
    std::string name = refuse_.name(var);
    if (statement_.provenance.knows(var))
      return refuse(refuse_.at(var, fmt::format("{} is in use already", name), "give the new loop a name of its own"));
    if (!made_.insert(var).second)
      refuse(refuse_.whole(fmt::format("{} is to be two new loops at once", name),
                           "give each new loop a name of its own"));
  }
  void all_differ(const std::vector<IndexVar>& vars) {
    std::set<IndexVar> seen;
    for (const IndexVar& var : vars)
      if (!seen.insert(var).second)
        return refuse(refuse_.at(var, fmt::format("{} is named twice", refuse_.name(var)), "name each loop once"));
  }

  Refusal refuse_;
  const ConcreteStatement& statement_;
  std::set<IndexVar> made_;
};

}  // namespace

Result<ConcreteStatement> apply(const Command& command, const ConcreteStatement& statement) {
  return std::visit(
      [&](const auto& c) -> Result<ConcreteStatement> {
        ParamChecker check(c.name, statement);
        std::apply([&](const auto&... param) { (check(c.*(param.member), param.role), ...); }, c.params);
        if (!check.result) return check.result.refusal();
        if (Result<> own = c.check(statement); !own) return own.refusal();
        ConcreteStatement out = c.apply(statement);
        if (Result<> well_formed = verify(out); !well_formed)
          require(false, fmt::format("{} keeps statements well formed: {}", c.name, well_formed.refusal().message));
        return out;
      },
      command);
}

Result<ConcreteStatement> apply(const std::vector<Command>& commands, ConcreteStatement statement) {
  for (const Command& command : commands) {
    Result<ConcreteStatement> next = schedule::apply(command, statement);
    if (!next) return next;
    statement = *next;
  }
  return statement;
}

}  // namespace spdistal::schedule
