// Random sequences of statements, data and looks through the C++ face, on as many ranks as there are, against their
// meaning.
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/session.hpp"
#include "notation/parse.hpp"
#include "spdistal/spdistal.hpp"
#include "support/sequence.hpp"
#include "support/sequence_meaning.hpp"

namespace spdistal {
namespace {

using test::Meaning;
using test::Sequence;
using test::SequenceTensor;
using test::Step;

// Kernels are interpreted: what is tried is their order. Read when the session is made.
const int no_compiler = setenv("SPDISTAL_COMPILER", "", 1);

runtime::Transport& world() { return Session::instance().transport(); }

class Run {
 public:
  explicit Run(const Sequence& sequence) : sequence_(sequence) {
    for (const SequenceTensor& tensor : sequence.tensors) tensors_.emplace(tensor.name, made(tensor));
  }

  /// Whether it was accepted.
  bool step(const Step& step) {
    try {
      carry_out(step);
      return true;
    } catch (const UserError&) { return false; }
  }

  reference::DenseArray look(const std::string& name) {
    Tensor<double>& tensor = tensors_.at(name);
    reference::DenseArray out(ScalarType::Float64, std::vector<int64_t>(tensor.order(), SequenceTensor::side));
    for (const auto& [at, value] : tensor.gather()) out.at(at) = Scalar(value);
    return out;
  }

 private:
  static Tensor<double> made(const SequenceTensor& tensor) {
    return Tensor<double>(std::vector<Extent>(tensor.order(), Extent(SequenceTensor::side)), tensor.format());
  }

  void insert(Tensor<double>& tensor, const Step& step) {
    for (const auto& [at, value] : entries_of(sequence_.tensor(step.tensor), step.number))
      tensor.insert(std::span<const int64_t>(at), value);
    tensor.pack();
  }

  static Statement say(Access result, notation::AssignOp op, const Expression& value) {
    switch (op) {
      case notation::AssignOp::Set: return result = value;
      case notation::AssignOp::Min: return result.min_with(value);
      case notation::AssignOp::Max: return result.max_with(value);
      default: return result += value;
    }
  }

  void say(const Step& step) {
    notation::ParseScope scope;
    for (const auto& [name, tensor] : tensors_) scope.tensors.emplace(name, tensor.var());
    notation::Assignment assignment = notation::parse_assignment(step.text, scope);
    Tensor<double>& result = tensors_.at(step.tensor);
    auto access = [&]() -> Access {
      const std::vector<IndexVar>& at = assignment.lhs.indices;
      return at.empty() ? result() : at.size() == 1 ? result(at[0]) : result(at[0], at[1]);
    };
    Expression value(assignment.rhs);
    Statement statement = say(access(), assignment.op, value);
    if (step.number == 0) return;
    IndexVar io("io"), ii("ii");
    if (notation::variables(assignment.lhs).empty()) return;
    IndexVar i = notation::variables(assignment.lhs)[0];
    try {
      if (step.number == 1) statement.schedule().split(i, io, ii, 2);
      else statement.schedule().divide(i, io, ii, 2).distribute(io);
    } catch (const UserError&) {}  // then it runs as far as it was scheduled
  }

  void carry_out(const Step& step) {
    Tensor<double>& tensor = tensors_.at(step.tensor);
    double number = double(step.number);
    switch (step.kind) {
      case Step::Kind::Say: return say(step);
      case Step::Kind::Fill: return tensor.fill(number);
      case Step::Kind::FillByPlace:
        return tensor.fill([&](std::span<const int64_t> at) { return number + (at.empty() ? 0.0 : double(at[0])); });
      case Step::Kind::FillByOld: return fill_by_old(tensor, number);
      case Step::Kind::Pack: return insert(tensor, step);
      case Step::Kind::Renew: tensor = made(sequence_.tensor(step.tensor)); return insert(tensor, step);
      case Step::Kind::Alias: tensor = Tensor<double>(tensors_.at(step.text)); return;
      case Step::Kind::Look: tensor.gather(); return;
      case Step::Kind::Compute: return tensor.compute();
      case Step::Kind::Compile: return tensor.compile();
    }
  }

  // On several ranks a function of one may not ask the others: what it sees was looked up before.
  void fill_by_old(Tensor<double>& tensor, double number) {
    if (world().size() > 1) {
      reference::DenseArray old(ScalarType::Float64, std::vector<int64_t>(tensor.order(), SequenceTensor::side));
      for (const auto& [at, value] : tensor.gather()) old.at(at) = Scalar(value);
      return tensor.fill([&](std::span<const int64_t> at) {
        return number + std::get<double>(old.at(std::vector<int64_t>(at.begin(), at.end())));
      });
    }
    tensor.fill([&](std::span<const int64_t> at) {
      return number + (at.empty() ? tensor.at({}) : at.size() == 1 ? tensor.at({at[0]}) : tensor.at({at[0], at[1]}));
    });
  }

  const Sequence& sequence_;
  std::map<std::string, Tensor<double>> tensors_;
};

std::string listed(const reference::DenseArray& array) {
  std::string out;
  for (const Scalar& value : array.values) out += " " + std::to_string(std::get<double>(value));
  return out;
}

// What goes wrong on this rank.
std::optional<std::string> fault_here(const Sequence& sequence) {
  Meaning meaning(sequence);
  Run run(sequence);
  auto compare = [&](const std::string& name) -> std::optional<std::string> {
    std::optional<reference::DenseArray> wanted = meaning.look(name);
    if (!wanted) return std::nullopt;
    reference::DenseArray found = run.look(name);
    if (found == *wanted) return std::nullopt;
    return name + " is" + listed(found) + ", not" + listed(*wanted);
  };
  for (size_t k = 0; k < sequence.steps.size(); k++) {
    const Step& step = sequence.steps[k];
    std::string where = "step " + std::to_string(k + 1) + ": ";
    bool wanted = meaning.step(step);
    if (step.kind == Step::Kind::FillByOld && !wanted) continue;  // there is no old value to start from
    bool found = run.step(step);
    if (wanted != found) return where + (wanted ? "was refused" : "was not refused");
    if (step.kind != Step::Kind::Look) continue;
    if (auto fault = compare(step.tensor)) return where + *fault;
  }
  for (const SequenceTensor& tensor : sequence.tensors) {
    Step look{Step::Kind::Look, tensor.name};
    bool wanted = meaning.step(look), found = run.step(look);
    if (wanted != found) return "at the end: " + tensor.name + (wanted ? " was refused" : " was not refused");
    if (auto fault = compare(tensor.name)) return "at the end: " + *fault;
  }
  return std::nullopt;
}

bool reduces_with_nothing(const Sequence& sequence) {
  Meaning meaning(sequence);
  for (const Step& step : sequence.steps) meaning.step(step);
  return meaning.reduces_with_nothing();
}

// The same on every rank, which all shrink alike then. What is refused on the way says nothing.
std::optional<std::string> find_fault(const Sequence& sequence) {
  if (reduces_with_nothing(sequence)) return std::nullopt;
  std::optional<std::string> here;
  try {
    here = fault_here(sequence);
  } catch (const std::exception& error) { here = std::string("it throws ") + error.what(); }
  if (world().allreduce(int64_t(here.has_value()), runtime::ReduceOp::Max) == 0) return std::nullopt;
  return here.value_or("on another rank");
}

TEST(Sequences, HaveTheResultTheyWouldHaveIfEachStatementRanWhenItIsSaid) {
  ASSERT_EQ(no_compiler, 0);
  bool alone = world().size() == 1;
  int cases = std::getenv("FULL_TESTS") ? (alone ? 40000 : 4000) : (alone ? 1400 : 200);
  int from = std::getenv("SEED") ? std::atoi(std::getenv("SEED")) : 1;
  if (std::getenv("SEED")) cases = 1;
  for (int seed = from; seed < from + cases && !HasFailure(); seed++) {
    std::mt19937_64 random{uint64_t(seed)};
    Sequence sequence = test::draw_sequence(random);
    std::optional<std::string> fault = find_fault(sequence);
    if (!fault) continue;
    Sequence small = test::shrink(sequence, find_fault);
    ADD_FAILURE() << "seed " << seed << " on " << world().size() << " ranks: " << *fault << "\n"
                  << print(sequence) << "\nshrunk: " << find_fault(small).value_or("nothing any more") << "\n"
                  << print(small);
  }
}

}  // namespace
}  // namespace spdistal
