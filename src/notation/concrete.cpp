#include "notation/concrete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace spdistal::notation {
namespace {

bool find_path(const Stmt& stmt, const IndexVar& var, std::vector<Forall>& path) {
  const Forall* loop = stmt.as<Forall>();
  if (loop) {
    path.push_back(*loop);
    if (loop->var == var) return true;
  }
  bool found = false;
  children(stmt, [&](const auto& child) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(child)>, Stmt>)
      found = found || find_path(child, var, path);
  });
  if (loop && !found) path.pop_back();
  return found;
}

class Verifier {
 public:
  Verifier(const ConcreteStatement& statement, const std::vector<IndexVar>& outer)
      : statement_(statement), in_scope_(outer), seen_(outer.begin(), outer.end()) {}

  std::string fault;

  void visit(const Stmt& stmt) {
    match(
        stmt, [&](const Forall& n) { visit_loop(n); },
        [&](const Where& n) {
          const TensorVar* made = nullptr;
          each<Assign>(n.producer,
                       [&](const Assign& a) { made = made && *made != a.lhs.tensor ? made : &a.lhs.tensor; });
          visit(n.producer);
          if (made && made->origin() != Origin::Temporary) return fail("a producer writes a temporary");
          if (made) readable_.insert(*made);
          visit(n.consumer);
          if (made) readable_.erase(*made);
        },
        [&](const Assign& n) { visit_assign(n); },
        [&](const Sequence& n) {
          for (const Stmt& part : n.stmts) visit(part);
        });
  }

 private:
  void fail(std::string what) {
    if (fault.empty()) fault = std::move(what);
  }
  void visit_loop(const Forall& loop) {
    if (!statement_.provenance.knows(loop.var)) return fail("every loop variable has a provenance");
    if (statement_.provenance.replaced_by(loop.var)) return fail("a variable that a command replaced has no loop");
    if (!seen_.insert(loop.var).second) return fail("every loop variable has one loop");
    for (const IndexVar& var : statement_.provenance.range_depends_on(loop.var))
      if (!statement_.provenance.determined(var, in_scope_))
        return fail("what the range of a loop changes with is known outside it");
    in_scope_.push_back(loop.var);
    visit(loop.body);
    in_scope_.pop_back();
  }
  void visit_assign(const Assign& assign) {
    auto known = [&](const Access& access) {
      for (const IndexVar& var : access.indices)
        if (!statement_.provenance.determined(var, in_scope_)) return false;
      return true;
    };
    if (!known(assign.lhs)) fail("every index on the left is known");
    each<Access>(assign.rhs, [&](const Access& access) {
      if (!known(access)) fail("every index on the right is known");
      if (access.tensor.origin() == Origin::Temporary && !readable_.contains(access.tensor))
        fail("a temporary is read only in the consumer of its where");
    });
    each<Reduction>(assign.rhs, [&](const Reduction&) { fail("reductions are loops in concrete notation"); });
  }

  const ConcreteStatement& statement_;
  std::vector<IndexVar> in_scope_;
  std::set<IndexVar> seen_;
  std::set<TensorVar> readable_;
};

}  // namespace

std::vector<Forall> outer_loops(const Stmt& stmt) {
  std::vector<Forall> out;
  for (const Forall* loop = stmt.as<Forall>(); loop; loop = loop->body.as<Forall>()) out.push_back(*loop);
  return out;
}

std::vector<Forall> loops_to(const Stmt& stmt, const IndexVar& var) {
  std::vector<Forall> path;
  find_path(stmt, var, path);
  return path;
}

const Forall* find_loop(const Stmt& stmt, const IndexVar& var) {
  const Forall* found = nullptr;
  each<Forall>(stmt, [&](const Forall& loop) {
    if (loop.var == var) found = &loop;
  });
  return found;
}

std::vector<IndexVar> loop_variables(const Stmt& stmt) {
  std::vector<IndexVar> out;
  each<Forall>(stmt, [&](const Forall& loop) { out.push_back(loop.var); });
  return out;
}

std::vector<TensorVar> declared_tensors(const ConcreteStatement& statement) {
  std::vector<TensorVar> out{statement.result};
  auto add = [&](const TensorVar& tensor) {
    if (tensor.origin() == Origin::Declared && std::find(out.begin(), out.end(), tensor) == out.end())
      out.push_back(tensor);
  };
  each<Assign>(statement.body, [&](const Assign& assign) {
    add(assign.lhs.tensor);
    each<Access>(assign.rhs, [&](const Access& access) { add(access.tensor); });
  });
  return out;
}

ConcreteStatement strip_loops(ConcreteStatement statement, const std::vector<IndexVar>& vars) {
  statement.body = rewrite(statement.body, [&](const Forall& loop) -> Stmt {
    return std::find(vars.begin(), vars.end(), loop.var) == vars.end() ? Stmt(loop) : loop.body;
  });
  return statement;
}

Result<> verify(const ConcreteStatement& statement, const std::vector<IndexVar>& outer) {
  Verifier verifier(statement, outer);
  verifier.visit(statement.body);
  if (verifier.fault.empty()) return {};
  return Diagnostic{"a concrete statement is not well formed: it should hold that " + verifier.fault, {}, {}};
}

}  // namespace spdistal::notation

namespace spdistal {

SPDISTAL_FAMILY(notation::StmtKinds)

}  // namespace spdistal
