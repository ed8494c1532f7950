#include "support/run_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/text.hpp"
#include "compile/homes.hpp"
#include "compile/substituted.hpp"
#include "execute/execute.hpp"
#include "format/fill.hpp"
#include "ir/interpret.hpp"
#include "ir/print.hpp"
#include "ir/verify.hpp"
#include "notation/arithmetic.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "runtime/transport/threads.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

using namespace notation;
using reference::OfNothing;
using runtime::Transport;

namespace {

template <class Test>
bool any_part(const Scalar& value, Test&& test) {
  return std::visit(
      [&](auto v) {
        if constexpr (requires { v.real(); }) return test(double(v.real())) || test(double(v.imag()));
        else return test(double(v));
      },
      static_cast<const ScalarVariant&>(value));
}
bool is_nan(const Scalar& value) {
  return any_part(value, [](double part) { return std::isnan(part); });
}
bool is_finite(const Scalar& value) {
  return !any_part(value, [](double part) { return !std::isfinite(part); });
}

bool maps_stored(const Assignment& assignment) {
  bool maps = false;
  each<Call>(assignment.rhs, [&](const Call& n) { maps |= n.domain == Domain::Stored; });
  return maps;
}

Format plain(const Format& format) { return filled_like(Format(format.levels(), format.mode_order()), format); }

// Does it keep in one what is no reduction? That is all that a dense one has.
bool keeps_temporaries(const ConcreteStatement& statement) {
  bool keeps = false;
  each<Where>(statement.body, [&](const Where& where) {
    each<Assign>(where.producer, [&](const Assign& n) { keeps |= n.op == AssignOp::Set || n.lhs.tensor.order() > 0; });
  });
  return keeps;
}

// What a statement makes of its tensors, in two readings: products with what is not stored are zero, or what arithmetic
// makes of them. They differ where infinities, or what is no number, come in: merged loops compute such products, others
// do not, and either is right. Where such a value comes in, sums of products may be no number that products of sums are.
class Wanted {
 public:
  explicit Wanted(reference::Arrays arrays) : arrays_(std::move(arrays)) {}

  void evaluate(const BuiltProgram& program) {
    const Assignment& assignment = program.assignment;
    const TensorVar& result = assignment.lhs.tensor;
    reference::Arrays computed = arrays_, copied = arrays_;
    if (!maps_stored(assignment))
      for (auto& [tensor, array] : computed) array.absent.clear();
    reference::evaluate(assignment, computed);
    for (const Conversion& copy : program.conversions) {
      Marks& absent = copied.at(copy.from).absent;
      Marks there = stored(copy.to, absent);
      for (size_t k = 0; k < absent.size(); k++) absent[k] = absent[k] && !there[k];
    }
    may_be_stored_ = stored(result, reference::evaluate(assignment, copied, OfNothing::Stored));
    if (keeps_temporaries(program.statement)) may_be_stored_.assign(may_be_stored_.size(), true);
    must_be_stored_ = stored(result, reference::evaluate(assignment, arrays_));
    left_out_ = std::move(arrays_.at(result));
    computed_ = std::move(computed.at(result));
  }
  // Empty, or how something differs from both readings.
  std::string difference(const reference::DenseArray& found, int run) const {
    reference::DenseArray wanted = *left_out_;
    for (size_t k = 0; k < wanted.values.size() && k < found.values.size(); k++) {
      const Scalar &here = found.values[k], &computed = computed_->values[k];
      bool beyond = !is_finite(wanted.values[k]) || !is_finite(computed);
      if (here == computed || (beyond && is_nan(here))) wanted.values[k] = here;
    }
    if (found == wanted) return stored_difference(found.absent, run);
    return fmt::format("the result is not what the statement says, run {}: {}, not {}\n", run, shown(found),
                       shown(wanted));
  }

  reference::DenseArray& of(const TensorVar& tensor) { return arrays_.at(tensor); }

 private:
  using Marks = std::vector<bool>;  // by element

  // What a tensor stores that has these elements: with all places that its levels have beside them.
  static Marks stored(const TensorVar& tensor, Marks absent) {
    reference::DenseArray elements(tensor.fill(), known_dims(tensor));
    elements.absent = std::move(absent);
    Marks out = to_array(to_storage(elements, plain(tensor.format()))).absent;
    out.flip();
    return out;
  }
  // All of a temporary is there, a reduction of nothing in it too; and copies in another order have places of their own. So what is
  // stored depends on how loops are run, between what comes of something, and what comes of anything that is there then.
  std::string stored_difference(Marks found, int run) const {
    found.flip();
    bool right = true;
    for (size_t k = 0; k < found.size(); k++) right &= found[k] ? may_be_stored_[k] : !must_be_stored_[k];
    if (right) return "";
    auto shown = [](const Marks& marks) {
      return join(marks, "", [](bool mark) { return std::string(mark ? "x" : "."); });
    };
    return fmt::format("the result stores {}, and what the statement says is {} at least, {} at most, run {}\n",
                       shown(found), shown(must_be_stored_), shown(may_be_stored_), run);
  }

  reference::Arrays arrays_;
  std::optional<reference::DenseArray> left_out_, computed_;  // the result
  Marks must_be_stored_, may_be_stored_;
};

// Every value added to itself.
void twice(Storage& storage) {
  with_type(storage.type(), [&](auto zero) {
    using T = decltype(zero);
    for (T& value : storage.values<T>()) value = T(value + value);
  });
}
void twice(reference::DenseArray& array) {
  for (size_t k = 0; k < array.values.size(); k++) {
    Scalar& value = array.values[k];
    if (array.absent.empty() || !array.absent[k])
      value = notation::convert(notation::compute(BinaryOp::Add, value, value), array.type);
  }
}

// What the tensors hold, with what they store.
reference::Arrays arrays_of(const std::map<TensorVar, Storage>& stored) {
  reference::Arrays out;
  for (const auto& [tensor, storage] : stored) out.emplace(tensor, to_array(storage));
  return out;
}

bool reads_result(const BuiltProgram& program) {
  const TensorVar& result = program.assignment.lhs.tensor;
  bool reads = program.statement.start == Start::Old;
  each<notation::Access>(program.assignment.rhs, [&](const notation::Access& a) { reads |= a.tensor == result; });
  return reads;
}

ProcessOptions options_of(const Setting& setting) {
  ProcessOptions options = options_for(setting.leaves);
  options.threads = setting.threads;
  options.check_collectives = setting.threads % 2 == 0;  // of some
  options.gpu.interpreted = std::max(1, setting.gpus);
  options.gpu.most = std::max(1, setting.gpus);
  return options;
}

// One process, everything whole.
std::optional<std::string> find_fault_here(const BuiltProgram& program) {
  const TensorVar& result = program.assignment.lhs.tensor;
  std::map<TensorVar, Storage> stored;
  for (const auto& [tensor, array] : program.arrays) stored.emplace(tensor, to_storage(array, plain(tensor.format())));
  Wanted wanted(arrays_of(stored));
  Process process(options_of(program.setting));
  std::optional<Leaf> leaf;
  std::optional<codegen::Kernel> kernel;
  for (int run = 0; run < 2; run++) {
    Storages storages;
    std::map<TensorVar, Storage> copies;
    for (const Conversion& copy : program.conversions)
      copies.emplace(copy.to, converted(copy, stored.at(copy.from), program.setting.threads));
    for (const auto& [tensor, storage] : stored) storages.emplace(tensor, &storage);
    for (const auto& [tensor, storage] : copies) storages.emplace(tensor, &storage);
    if (!leaf) {
      leaf.emplace(program.statement, storages);
      if (Result<> legal = ir::verify(leaf->kernel().function); !legal)
        return legal.refusal().str() + "\n" + ir::print(leaf->kernel().function);
      if (program.setting.leaves == Leaves::Compiled) kernel = process.jit.load(leaf->function());
    }
    Storage made = compute(*leaf, storages, process.context, [&](spd_call& call) {
      if (kernel) (*kernel)(call);
      else ir::interpret(leaf->function(), call, ir::Races::Found);
    });
    wanted.evaluate(program);
    auto with_kernel = [&](const std::string& fault) {
      return fault + "\n" + print(program.statement) + "\n" + ir::print(leaf->kernel().function);
    };
    if (Result<> sound = verify(made); !sound) return with_kernel(sound.refusal().str());
    if (std::string fault = wanted.difference(to_array(made), run); !fault.empty()) return with_kernel(fault);
    stored.insert_or_assign(result, std::move(made));
    wanted.of(result) = to_array(stored.at(result));
    for (auto& [tensor, storage] : stored)
      if (tensor != result) twice(storage), twice(wanted.of(tensor));
  }
  return std::nullopt;
}

// Numbers that are computed of numbers stay where these are.
Compiled compiled_for(Processor processor, const ConcreteStatement& loops) {
  Compiled out(loops);
  if (runs_on_gpu(loops) || outer_loops(loops.body).empty()) out.processor = processor;
  return out;
}

// Homes of the program's tensors, and the copies in another order that are made of them.
class Homed {
 public:
  Homed(Transport& transport, Process& process, const BuiltProgram& program)
      : result_shares(homes_of(program.assignment.lhs.tensor, transport.size())),
        transport_(transport),
        process_(process),
        program_(program) {
    reference::Arrays arrays;
    for (const auto& [tensor, array] : program.arrays) {
      Storage whole = to_storage(array, plain(tensor.format()));
      arrays.emplace(tensor, to_array(whole));
      homes_.emplace(tensor, scatter(transport, whole, homes_of(tensor, transport.size())));
    }
    wanted.emplace(std::move(arrays));
    if (reads_result(program)) out.emplace(std::move(homes_.at(result())));
    homes_.erase(result());
  }

  // All that the statement reads; what `out` held before with it.
  Homes operands() {
    Homes all;
    for (const auto& [tensor, home] : homes_) all.emplace(tensor, &home);
    if (reads_result(program_)) all.emplace(result(), &*out);
    for (const Conversion& copy : program_.conversions) {
      std::optional<Home>& made = copies_[copy.to];
      Execution(process_, compiled_for(program_.processor, copy.statement))
          .compute(all, homes_of(copy.to, transport_.size()), made);
      all.emplace(copy.to, &*made);
    }
    return all;
  }

  // Other values in other memory, where the operands are not what the last run made.
  void change() {
    for (auto& [tensor, home] : homes_) {
      for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
        Storage next = home.piece(c).clone();
        twice(next);
        home.piece(c) = std::move(next);
      }
      home.changed();
      twice(wanted->of(tensor));
    }
  }

  reference::DenseArray found() const { return to_array(pack(gather(transport_, *out), plain(result().format()))); }

  Shares result_shares;
  std::optional<Home> out;
  std::optional<Wanted> wanted;

 private:
  const TensorVar& result() const { return program_.assignment.lhs.tensor; }

  Transport& transport_;
  Process& process_;
  const BuiltProgram& program_;
  std::map<TensorVar, Home> homes_;
  std::map<TensorVar, std::optional<Home>> copies_;
};

using Handed = std::function<int64_t()>;

std::optional<std::string> find_fault_in_pieces(Transport& transport, const BuiltProgram& program,
                                                const Handed& handed) {
  const TensorVar& result = program.assignment.lhs.tensor;
  Process process(options_of(program.setting));
  process.connect(std::shared_ptr<Transport>(&transport, [](Transport*) {}));
  if (program.processor == GPU) process.gpus();
  Homed homed(transport, process, program);
  Compiled compiled = compiled_for(program.processor, program.statement);
  check_substituted(process, compiled, program.processor);
  BoundPlan bound(process, compiled, homed.result_shares);
  for (int run = 0; run < 2; run++) {
    Homes operands = homed.operands();
    int64_t before = handed ? handed() : 0;
    bound.compute(operands, homed.out);
    int64_t left = handed ? handed() - before : 0;
    homed.wanted->evaluate(program);
    auto with_plan = [&](const std::string& fault) {
      return fault + "\n" + print(program.statement) + "\n" + plan::print(compiled.plan()) + bound.kernel();
    };
    if (handed) {
      left = transport.allreduce(left, runtime::ReduceOp::Sum);
      Report report = bound.report();
      if (report.bytes_sent() != left)
        return with_plan(fmt::format("{} bytes left ranks in run {}, reported are\n{}", left, run, report.str()));
    }
    if (Result<> sound = verify(transport, *homed.out); !sound) return with_plan(sound.refusal().str());
    reference::DenseArray found = homed.found();
    if (std::string fault = homed.wanted->difference(found, run); !fault.empty()) return with_plan(fault);
    homed.wanted->of(result) = found;
    homed.change();
  }
  return std::nullopt;
}

bool is_local(const Transport& transport, const BuiltProgram& program) {
  bool distributed = transport.size() > 1;
  for (const auto& [tensor, array] : program.arrays) distributed |= tensor.format().distribution().has_value();
  each<Forall>(program.statement.body,
               [&](const Forall& loop) { distributed |= loop.tags.place == LoopPlace::Distributed; });
  return !distributed;
}

}  // namespace

std::optional<std::string> find_fault(Transport& transport, const BuiltProgram& program, const Handed& handed) {
  try {
    return is_local(transport, program) ? find_fault_here(program) : find_fault_in_pieces(transport, program, handed);
  } catch (const UserError&) { throw; } catch (const std::exception& error) {
    return error.what();
  }
}

std::optional<std::string> find_fault(const BuiltProgram& program) {
  std::optional<std::string> fault;
  std::mutex mutex;
  try {
    runtime::run_ranks(program.setting.ranks, [&](Transport& transport) {
      if (std::optional<std::string> here = find_fault(transport, program)) {
        std::lock_guard lock(mutex);
        if (!fault) fault = here;
        throw std::runtime_error(*here);  // ranks that wait for this one are stopped
      }
    });
  } catch (const UserError&) {
    if (!fault) throw;
  } catch (const std::exception& error) {
    if (!fault) fault = error.what();
  }
  return fault;
}

}  // namespace spdistal::test
