#include "support/placed_program.hpp"

#include <algorithm>

#include "base/require.hpp"
#include "base/text.hpp"
#include "compile/homes.hpp"
#include "machine/parse.hpp"
#include "notation/concretize.hpp"
#include "notation/parse.hpp"
#include "notation/print.hpp"
#include "reference/evaluate.hpp"
#include "schedule/parse.hpp"
#include "support/elements.hpp"
#include "support/formats.hpp"
#include "support/random_tensor.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal::test {

using namespace notation;
using runtime::Transport;

namespace {

// Of a dimension: the values of a variable, or just as far as a window goes.
int64_t size_along(const IndexVar& index, const std::map<std::string, int64_t>& sizes) {
  const Window* window = index.window();
  if (!window) return sizes.at(Printer().name(index));
  if (window->end) return *window->end;
  int64_t values = window->of ? size_along(*window->of, sizes) : 1;
  return values == 0 ? window->offset : window->offset + window->stride * (values - 1) + 1;
}

}  // namespace

PlacedProgram parse_placed(const PlacedText& text) {
  Machine machine = parse_machine(text.machine);
  std::map<std::string, Distribution> distributions;
  for (const std::string& d : text.distributions) {
    ParsedDistribution parsed = parse_distribution(d, machine);
    distributions.emplace(parsed.tensor, parsed.distribution);
  }
  ParseScope scope;
  scope.declare = [&](const Lexer&, const Token& name, const std::vector<IndexVar>& indices) {
    std::string tensor(name.text);
    std::vector<Extent> dims;
    for (const IndexVar& index : indices) dims.push_back(size_along(index, text.sizes));
    Format format = format_of(text.formats, tensor, indices.size());
    if (auto placed = distributions.find(tensor); placed != distributions.end())
      format = Format(format, placed->second);
    return TensorVar({Symbol(tensor), ScalarType::Float64, dims, format});
  };
  Assignment assignment = parse_assignment(text.statement, scope);
  ConcreteStatement loops = concretize(assignment).value();
  ConcreteStatement scheduled = schedule::apply_text(text.schedule, {scope, &machine}, loops).statement;
  std::map<std::string, TensorVar> tensors(scope.tensors.begin(), scope.tensors.end());
  return {assignment, scheduled, std::move(tensors), text.reversed};
}

reference::Arrays draw_data(const PlacedProgram& program, uint64_t seed, int64_t one_in) {
  std::mt19937_64 random{seed};
  auto number = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  reference::Arrays out;
  for (const auto& [name, tensor] : program.tensors) {
    reference::DenseArray array(ScalarType::Float64, known_dims(tensor));
    bool sparse = !tensor.format().is_dense();
    each_element(array.dims, [&](const std::vector<int64_t>& at, size_t position) {
      bool stored = !sparse || (at[0] % 3 != 0 && number(1, one_in) == 1);
      if (stored) array.values[position] = Scalar(double(number(1, 4)));
    });
    out.emplace(tensor, std::move(array));
  }
  return out;
}

GpuOptions& gpus_of_tests() {
  static GpuOptions gpus{.kind = GpuOptions::Kind::Interpreted};
  return gpus;
}

ProcessOptions options_for(Leaves leaves) {
  ProcessOptions options = ProcessOptions::from_environment();
  options.gpu = gpus_of_tests();
  if (leaves == Leaves::Interpreted) options.jit.compiler = "";
  options.threads = leaves == Leaves::Compiled ? 2 : 1;
  options.overlap_bytes = 0;  // always
  return options;
}

PlacedRun::PlacedRun(Transport& transport, const PlacedProgram& program, const reference::Arrays& data, Leaves leaves,
                     const ChangePlan& change)
    : transport_(transport), program_(program), process_(options_for(leaves)), compiled_(program.statement) {
  process_.connect(std::shared_ptr<Transport>(&transport, [](Transport*) {}));
  std::map<TensorVar, Shares> shares;
  for (const auto& [name, tensor] : program.tensors) {
    Shares places = homes_of(tensor, transport.size());
    if (std::find(program.reversed.begin(), program.reversed.end(), name) != program.reversed.end())
      std::reverse(places.of.begin(), places.of.end());
    if (tensor != program.assignment.lhs.tensor)
      homes_.emplace(tensor, scatter(transport, to_storage(data.at(tensor), tensor.format()), places));
    shares.emplace(tensor, std::move(places));
  }
  if (change) compiled_.replace_plan(change(compiled_.plan()));
  bound_.emplace(process_, compiled_, shares.at(program.assignment.lhs.tensor));
}

void PlacedRun::compute() {
  Homes operands;
  for (const auto& [tensor, home] : homes_) operands.emplace(tensor, &home);
  bound_->compute(operands, result_);
  require(result_.has_value(), "a run leaves its result at home");
}

void PlacedRun::fill(const std::string& tensor, double value) {
  spdistal::fill<double>(homes_.at(program_.tensors.at(tensor)), [&](std::span<const int64_t>) { return value; });
}

const Home& PlacedRun::home(const std::string& tensor) const { return homes_.at(program_.tensors.at(tensor)); }

reference::DenseArray PlacedRun::gathered_result() {
  const Format& format = result_->format();
  return to_array(pack(gather(transport_, *result_), Format(format.levels(), format.mode_order())));
}

std::string find_fault(Transport& transport, const PlacedText& text, uint64_t seed, Leaves leaves,
                       const ChangePlan& change) {
  PlacedProgram program = parse_placed(text);
  reference::Arrays data = draw_data(program, seed);
  Printer names;
  std::string about = text.statement + "  " + text.formats + "\n" + text.schedule + " on " + text.machine + "\n" +
                      join(text.distributions, "; ", [](const std::string& d) { return d; }) + "\nseed " +
                      std::to_string(seed) + ", " + std::to_string(transport.size()) + " ranks\n";
  try {
    PlacedRun run(transport, program, data, leaves, change);
    reference::Arrays wanted = data;
    reference::evaluate(program.assignment, wanted);
    const reference::DenseArray& right = wanted.at(program.assignment.lhs.tensor);
    for (int round = 0; round < 2; round++) {
      run.compute();
      if (Result<> sound = verify(transport, run.result()); !sound)
        return about + "round " + std::to_string(round) + ": " + sound.refusal().str();
      reference::DenseArray found = run.gathered_result();
      if (!(found == right))
        return about + "round " + std::to_string(round) + ": " + shown(found) + ", not " + shown(right) + "\n" +
               plan::print(run.plan());
    }
  } catch (const std::exception& error) { return about + error.what(); }
  return "";
}

}  // namespace spdistal::test
