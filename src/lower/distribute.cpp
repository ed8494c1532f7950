#include "lower/distribute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/require.hpp"
#include "level/kernel.hpp"
#include "level/level.hpp"
#include "lower/lower.hpp"
#include "notation/bounds.hpp"
#include "notation/presence.hpp"
#include "notation/print.hpp"

namespace spdistal::lower {

using namespace notation;

namespace {

// Set by `bound`: the loops that the piece of an access depends on.
using LoopSet = std::set<IndexVar>;

class Distributor {
 public:
  explicit Distributor(const ConcreteStatement& statement)
      : original_(statement), statement_(statement), plan_{{}, statement, {}, {}} {
    statement_.provenance = number_places(statement.provenance);
  }

  plan::Plan run() {
    find_loops();
    find_accesses();
    find_splits();
    for (size_t k = 0; k < accesses_.size(); k++) project_by_loops(k);
    std::vector<size_t> operands = fetch_order();
    for (size_t k : operands) gather(k);
    gather(0);
    choose_privilege();
    for (size_t k = 0; k < accesses_.size(); k++) partition(k);
    plan_.bounds = provenance_;
    plan_.actions = plan::actions_of(plan_, operands);
    plan::verify(plan_).value();
    return std::move(plan_);
  }

 private:
  // ---- loops ----

  void find_loops() {
    std::vector<Forall> outer = outer_loops(statement_.body);
    size_t count = 0;
    for (size_t k = 0; k < outer.size(); k++)
      if (outer[k].tags.place == LoopPlace::Distributed || !outer[k].tags.communicate.empty()) count = k + 1;
    loops_.assign(outer.begin(), outer.begin() + long(count));
    for (const Forall& loop : loops_) {
      bool distributed = loop.tags.place == LoopPlace::Distributed;
      plan_.loops.push_back({distributed ? plan::Loop::Kind::Distributed : plan::Loop::Kind::Step, loop.var});
    }
    if (count > 0) plan_.leaf.body = loops_.back().body;
  }

  // The loops that are known when a tensor is fetched: down to the one it is communicated at, by default all that are
  // distributed.
  std::vector<IndexVar> loops_of(const TensorVar& tensor) const {
    size_t depth = 0;
    for (size_t k = 0; k < loops_.size(); k++) {
      const std::vector<TensorVar>& here = loops_[k].tags.communicate;
      if (loops_[k].tags.place == LoopPlace::Distributed || std::find(here.begin(), here.end(), tensor) != here.end())
        depth = k + 1;
    }
    std::vector<IndexVar> out;
    for (size_t k = 0; k < depth; k++) out.push_back(loops_[k].var);
    return out;
  }

  // ---- accesses ----

  void find_accesses() {
    std::optional<Access> result;
    each<Assign>(statement_.body, [&](const Assign& assign) {
      if (assign.lhs.tensor == statement_.result) result = assign.lhs;
      else if (assign.lhs.tensor.origin() == Origin::Temporary) made_by_[assign.lhs.tensor].push_back(assign);
      rhs_.push_back(assign.rhs);
      if (assign.lhs.tensor == statement_.result) results_.push_back(assign);
    });
    add(*result);
    for (const Access& a : operands_of(original_)) add(a);
  }

  static bool same(const Access& a, const Access& b) { return a.tensor == b.tensor && a.indices == b.indices; }

  void add(const Access& access) {
    const Format& format = access.tensor.format();
    std::string text = print_(access), tensor = print_.name(access.tensor);
    plan::AccessPlan out{.text = access.tensor.order() == 0 ? tensor : text,
                         .tensor = tensor,
                         .access = access,
                         .loops = loops_of(access.tensor),
                         .dims = {},
                         .lists = {},
                         .by_position = std::vector<std::optional<plan::Occurring>>(access.indices.size())};
    for (size_t k = 0; k < format.order(); k++) {
      out.dims.push_back(size_t(format.mode_order()[k]));
      out.lists.push_back(!kernel_functions(format.levels()[k]).place);
    }
    accesses_.push_back(std::move(out));
    depends_.emplace_back();
  }

  std::optional<size_t> find(const Access& access) const {
    for (size_t k = 1; k < accesses_.size(); k++)
      if (same(accesses_[k].access, access)) return k;
    return {};
  }

  // ---- splits: positions of an access that loops deal out ----

  void find_splits() {
    for (const Relation& relation : provenance_.relations)
      for (const Replaced& r : relation.replaced)
        if (auto* at = r.value.as<StoredCoordinate>()) {
          const ValueOf* position = at->position.as<ValueOf>();
          std::optional<size_t> k = find(at->levels.access);
          if (k) {
            size_t& first = walked_.try_emplace(*k, at->levels.first).first->second;
            first = std::min(first, at->levels.first);  // several loops may walk levels of one access
          }
          if (!position || !k || at->levels.first > 0) continue;
          LoopSet dealt;
          for (const IndexVar& loop : accesses_[*k].loops)
            if (provenance_.bounded_by(position->var, loop)) dealt.insert(loop);
          if (dealt.empty()) continue;
          // Positions of a dense level may have nothing stored below them: those above it are dealt out.
          size_t stored = at->levels.last;
          while (per_parent(at->levels, stored)) stored--;
          accesses_[*k].split = plan::PositionSplit{position->var, at->levels, stored};
          depends_[*k].insert(dealt.begin(), dealt.end());
          for (size_t level = 0; level <= at->levels.last; level++)
            split_by_.insert({at->levels.var(level), plan::Occurring{*k, level}});
        }
    for (size_t k = 0; k < accesses_.size(); k++) {
      plan::AccessPlan& a = accesses_[k];
      for (size_t d = 0; d < a.access.indices.size(); d++)
        if (auto by = split_by_.find(a.access.indices[d]);
            by != split_by_.end() && accesses_[by->second.access].loops.size() <= a.loops.size() &&
            (a.split || !keeps_whole(k, a.access.tensor.format().level_of(d))))
          a.by_position[d] = by->second;
    }
  }

  static bool per_parent(const Levels& levels, size_t level) {
    return kernel_functions(levels.access.tensor.format().levels()[level]).per_parent;
  }

  // ---- projections ----

  void project_by_loops(size_t k) {
    plan::AccessPlan& a = accesses_[k];
    for (size_t d = 0; d < a.access.indices.size(); d++) {
      const IndexVar& var = a.access.indices[d];
      plan::Projection projection = plan::Replicate{};
      LoopSet by;
      for (const IndexVar& loop : a.loops)
        if (provenance_.bounded_by(var, loop)) by.insert(loop);
      size_t level = a.access.tensor.format().level_of(d);
      if (a.split && a.split->levels.last >= level) projection = plan::Positions{};
      else if (!by.empty() && !keeps_whole(k, level)) {
        depends_[k].insert(by.begin(), by.end());
        // Of a block of rows, an operand needs those at the positions that are dealt out, and so does a result whose block
        // several share; who has a block alone computes all of it, rows with nothing stored too.
        if (!a.by_position[d] || (k == 0 && !is_dealt_further(a.by_position[d]->access, by))) {
          projection = plan::Affine{};
          a.by_position[d].reset();
        }
      }
      a.projections.push_back(projection);
    }
  }

  // Do loops deal out the positions of an access other than these?
  bool is_dealt_further(size_t access, const LoopSet& loops) const {
    const plan::AccessPlan& split = accesses_[access];
    return std::ranges::any_of(split.loops, [&](const IndexVar& loop) {
      return provenance_.bounded_by(split.split->position, loop) && !loops.contains(loop);
    });
  }

  // Positions that a loop counts must all be there: levels that it walks, and those below them, are not cut otherwise.
  bool keeps_whole(size_t k, size_t level) const {
    auto walked = walked_.find(k);
    return walked != walked_.end() && level >= walked->second;
  }

  // Those that loops cut come first, then sparse ones, so that they can be gathered by.
  std::vector<size_t> fetch_order() const {
    std::vector<size_t> order;
    for (size_t k = 1; k < accesses_.size(); k++) order.push_back(k);
    auto rank = [&](size_t k) {
      return std::tuple{!accesses_[k].split, depends_[k].empty(), accesses_[k].access.tensor.format().is_dense()};
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
    return order;
  }

  // The values of one variable, as an algebra of sets; none at all: nothing.
  struct Along {
    using Coordinates = std::optional<plan::Set>;
    Distributor& of;
    const IndexVar& var;

    Coordinates never() const { return std::nullopt; }
    Coordinates always() const { return plan::Everything{}; }
    Coordinates both(const Coordinates& a, const Coordinates& b) const {
      return a && b ? Coordinates(plan::both(*a, *b)) : std::nullopt;
    }
    Coordinates either(const Coordinates& a, const Coordinates& b) const {
      return a && b ? Coordinates(plan::either(*a, *b)) : a ? a : b;
    }
    Coordinates access(const Access& n) const { return of.support(n, var); }
  };

  // Where an access may store something, along one variable.
  plan::Set support(const Access& n, const IndexVar& var) {
    if (n.tensor.origin() == Origin::Temporary) {
      // Inside of a loop over the variable, a temporary is what it begins with where its own factors are not there.
      if (use_of(n, var) != n.indices.end()) return plan::Everything{};
      return support(made_by_[n.tensor], var);
    }
    std::optional<size_t> k = find(n);
    auto use = use_of(n, var);
    if (!k || use == n.indices.end() || !fetched_.contains(*k)) return plan::Everything{};
    // A dense tensor has all coordinates of its range.
    if (n.tensor.format().is_dense() && !accesses_[*k].split) return plan::Everything{};
    size_t level = n.tensor.format().level_of(size_t(use - n.indices.begin()));
    return seen_through(*use, {*k, level});
  }

  // The first dimension that a variable leads to, as it is or through a window.
  static std::vector<IndexVar>::const_iterator use_of(const Access& n, const IndexVar& var) {
    return std::find_if(n.indices.begin(), n.indices.end(),
                        [&](const IndexVar& index) { return variable_of(index) == var; });
  }
  // The values of the variable of an index whose coordinates occur.
  static plan::Occurring seen_through(const IndexVar& index, plan::Occurring coordinates) {
    if (const Window* window = index.window()) coordinates.offset = window->offset, coordinates.stride = window->stride;
    return coordinates;
  }

  // Where assignments have an effect.
  plan::Set support(const std::vector<Assign>& assigns, const IndexVar& var) {
    Along along{*this, var};
    Along::Coordinates out;
    for (const Assign& assign : assigns)
      out = along.either(out, PresenceOf(along).other_than(assign.rhs, neutral_of(assign)));
    return out.value_or(plan::Everything{});
  }

  // Where the other operand of an operation is needed: wherever this one is there, if it swallows that otherwise.
  plan::Set needed_beside(const Binary& n, Side side, const IndexVar& var) {
    Along along{*this, var};
    auto presence = PresenceOf(along)(side == Side::Left ? n.a : n.b);
    if (!presence.fill || !swallows(n.op, side, *presence.fill, type_of(Expr(n)))) return plan::Everything{};
    return presence.where.value_or(plan::Everything{});
  }

  // What the factors around an access leave of a variable, over all its uses.
  plan::Set context(const Access& access, const IndexVar& var) {
    std::optional<plan::Set> all;
    for (const Expr& rhs : rhs_) uses_of(rhs, access, var, plan::Everything{}, all);
    return all.value_or(plan::Set(plan::Everything{}));
  }
  void uses_of(const Expr& expr, const Access& access, const IndexVar& var, const plan::Set& around,
               std::optional<plan::Set>& all) {
    if (auto* a = expr.as<Access>()) {
      if (same(*a, access)) all = all ? plan::either(*all, around) : around;
      return;
    }
    if (auto* n = expr.as<Binary>()) {
      uses_of(n->a, access, var, plan::both(around, needed_beside(*n, Side::Right, var)), all);
      uses_of(n->b, access, var, plan::both(around, needed_beside(*n, Side::Left, var)), all);
      return;
    }
    children(expr, [&](const auto& child) {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(child)>, Expr>) uses_of(child, access, var, around, all);
    });
  }

  void gather(size_t k) {
    plan::AccessPlan& a = accesses_[k];
    LoopSet more;
    for (size_t d = 0; d < a.access.indices.size(); d++) {
      plan::Projection& projection = a.projections[d];
      if (!std::holds_alternative<plan::Replicate>(projection)) continue;
      if (keeps_whole(k, a.access.tensor.format().level_of(d))) continue;
      const IndexVar& index = a.access.indices[d];
      std::optional<IndexVar> var = variable_of(index);
      plan::Set set = plan::Everything{};
      if (var) set = k > 0 ? context(a.access, *var) : support(results_, *var);
      if (!is_worth_it(set, k)) set = plan::Everything{};
      // Where coordinates come from positions, loops come to no others, and the piece has places for no others.
      if (a.by_position[d] && fetched_.contains(a.by_position[d]->access))
        set = plan::both(set, seen_through(index, *a.by_position[d]));
      if (set.is<plan::Everything>()) {
        // A window is a part of a dimension, whatever the loops cut.
        if (index.window()) projection = plan::Affine{};
        continue;
      }
      const Window* window = index.window();
      projection = window ? plan::Gather{set, window->offset, window->stride} : plan::Gather{set};
      for (size_t source : plan::sources(set)) more.insert(depends_[source].begin(), depends_[source].end());
    }
    depends_[k].insert(more.begin(), more.end());
    fetched_.insert(k);
  }

  // Only where it is cut by loops that do not cut this one anyhow: pieces that match stay as they are. What is fetched
  // inside of more loops is not there yet.
  bool is_worth_it(const plan::Set& set, size_t k) const {
    bool cuts = false, later = false;
    for (size_t source : plan::sources(set)) {
      cuts |= std::any_of(depends_[source].begin(), depends_[source].end(),
                          [&](const IndexVar& loop) { return !depends_[k].contains(loop); });
      later |= accesses_[source].loops.size() > accesses_[k].loops.size();
    }
    return cuts && !later;
  }

  // Colours share no element where every distributed loop cuts the result.
  void choose_privilege() {
    plan::AccessPlan& result = accesses_[0];
    result.privilege = plan::Privilege::Write;
    for (const Forall& loop : loops_) {
      if (loop.tags.place != LoopPlace::Distributed) continue;
      const std::vector<IndexVar>& vars = result.access.indices;
      bool cut = std::any_of(vars.begin(), vars.end(),
                             [&](const IndexVar& var) { return provenance_.bounded_by(var, loop.var); });
      if (!cut) result.privilege = plan::Privilege::Reduce;
    }
  }

  // ---- partition statements ----

  // Of a sparse result what a colour may store is known, and what it stores once it is there.
  void partition(size_t k) {
    plan::AccessPlan& out = accesses_[k];
    const Format& format = out.access.tensor.format();
    if (format.order() == 0) return;
    struct Initial {
      size_t level;
      plan::Colouring colouring;
      bool set;
    };
    std::vector<Initial> initial;
    if (out.split) initial.push_back({out.split->level, plan::Colouring::NonZero, false});
    for (size_t level = 0; level < format.order(); level++) {
      const plan::Projection& projection = out.projections[out.dims[level]];
      if (std::holds_alternative<plan::Affine>(projection))
        initial.push_back({level, plan::Colouring::Universe, false});
      if (std::holds_alternative<plan::Gather>(projection)) initial.push_back({level, plan::Colouring::Universe, true});
    }
    if (initial.empty()) return;
    auto functions = [&](size_t level) -> const plan::PartitionFunctions& {
      return functions_of(format.levels()[level]).partition;
    };
    auto append = [&](const plan::Fragment& fragment) {
      out.partitions.insert(out.partitions.end(), fragment.begin(), fragment.end());
    };
    size_t last = format.order() - 1;
    bool one = initial.size() == 1, stored = k > 0 || format.is_dense();
    std::vector<plan::Name> ends;
    for (const Initial& start : initial) {
      int along = one ? plan::Name::whole : int(out.dims[start.level]);
      plan::Level level{start.level, along};
      const plan::PartitionFunctions& f = functions(start.level);
      bool universe = start.colouring == plan::Colouring::Universe;
      append(universe ? f.init_universe(level) : f.init_non_zero(level));
      append(universe ? f.universe_entry(level) : f.non_zero_entry(level));
      if (!stored) continue;
      append(!universe   ? f.finalize_non_zero(level)
             : start.set ? f.finalize_universe_set(level)
                         : f.finalize_universe(level));
      if (one)
        for (size_t up = start.level; up-- > 0;) append(functions(up).from_child({up, along}));
      for (size_t down = start.level + 1; down <= last; down++) append(functions(down).from_parent({down, along}));
      ends.push_back({last, plan::LevelPart::Positions, along});
    }
    if (one || !stored) return;
    // Several variables meet at the values; the levels above follow from what is left there.
    append({{{last, plan::LevelPart::Positions, plan::Name::whole}, plan::Op::Intersect, ends, {}, {}}});
    plan::Fragment up = functions(last).from_child({last, plan::Name::whole});
    up.erase(up.begin());  // the positions of the last level are there already
    append(up);
    for (size_t level = last; level-- > 0;) append(functions(level).from_child({level, plan::Name::whole}));
  }

  const ConcreteStatement& original_;
  ConcreteStatement statement_;  // in which places are numbered
  const Provenance& provenance_ = statement_.provenance;
  Printer print_{ArgumentText::Name};
  std::vector<Forall> loops_;
  plan::Plan plan_;
  std::vector<plan::AccessPlan>& accesses_ = plan_.accesses;
  std::vector<LoopSet> depends_;  // of each access: the loops that cut its piece
  std::set<size_t> fetched_;
  std::map<size_t, size_t> walked_;               // accesses whose positions loops count, from this level on
  std::map<IndexVar, plan::Occurring> split_by_;  // variables whose coordinates come from the positions of an access
  std::map<TensorVar, std::vector<Assign>> made_by_;
  std::vector<Expr> rhs_;
  std::vector<Assign> results_;
};

}  // namespace

plan::Plan distribute(const ConcreteStatement& statement) { return Distributor(statement).run(); }

}  // namespace spdistal::lower
