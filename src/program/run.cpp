// Running a program from text: its data, its result, its times, and whether it is right.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "generate/generate.hpp"
#include "io/files.hpp"
#include "memory/copy.hpp"
#include "program/operations.hpp"
#include "program/program_state.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/blocks.hpp"
#include "tensor/distribute.hpp"
#include "tensor/iterate.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

std::pair<std::string, std::string> split_option(const std::string& option, std::string_view example) {
  size_t colon = option.find(':');
  if (colon == option.npos || colon + 1 == option.size())
    throw UserError(Diagnostic{
        "expected a tensor and what goes with it", {{option, 0, option.size()}}, fmt::format("write {}", example)});
  return {std::string(trim(option.substr(0, colon))), option.substr(colon + 1)};
}

// The sign of what is no number says nothing.
std::string shown(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

// Errors about the file of an option show the option.
template <class F>
auto with_option(const std::string& option, F&& f) {
  try {
    return f();
  } catch (const UserError& error) {
    Diagnostic d = error.diagnostic();
    if (d.excerpts.empty()) d.excerpts.push_back({option, option.find(':') + 1, option.size()});
    throw UserError(d);
  }
}

std::vector<notation::Access> accesses_of(const Assignment& assignment) {
  std::vector<notation::Access> out{assignment.lhs};
  each<notation::Access>(assignment.rhs, [&](const notation::Access& access) { out.push_back(access); });
  return out;
}

// The variable of a dimension, by the first access of the tensor.
IndexVar variable_along(const std::vector<notation::Access>& accesses, const TensorVar& tensor, size_t dimension) {
  auto own = std::find_if(accesses.begin(), accesses.end(), [&](const auto& a) { return a.tensor == tensor; });
  return own->indices[dimension];
}

// Data of a tensor must have the sizes that its variables have by now: from other data, or from the command line.
void check_fit(const Assignment& assignment, const TensorState& tensor, const std::vector<int64_t>& dims,
               const std::string& option) {
  std::string name = tensor.var.symbol().name();
  auto refuse = [&](const std::string& message) {
    throw UserError(Diagnostic{message, {{option, 0, option.size()}}, ""});
  };
  if (dims.size() != tensor.var.order())
    refuse(fmt::format("{} has {} dimension{}, its data {}", name, tensor.var.order(),
                       tensor.var.order() == 1 ? "" : "s", dims.size()));
  std::vector<notation::Access> accesses = accesses_of(assignment);
  for (size_t d = 0; d < dims.size(); d++) {
    std::optional<int64_t> known = tensor.var.dims()[d].value();
    if (!known || *known == dims[d]) continue;
    IndexVar var = variable_along(accesses, tensor.var, d);
    for (const notation::Access& other : accesses)
      for (size_t e = 0; e < other.indices.size(); e++)
        if (other.indices[e] == var && other.tensor != tensor.var && find_tensor(other.tensor)->home)
          refuse(fmt::format("{} is {} in {}'s {} dimension and {} in {}'s {}", var.name(), *known,
                             other.tensor.symbol().name(), ordinal(e), dims[d], name, ordinal(d)));
    refuse(fmt::format("the size of {} is {}, but {} in {}'s {} dimension", var.name(), *known, dims[d], name,
                       ordinal(d)));
  }
}

bool reads_itself(const Assignment& assignment) {
  bool reads = assignment.op != AssignOp::Set || has_windows(assignment.lhs);
  each<notation::Access>(assignment.rhs,
                         [&](const notation::Access& access) { reads |= access.tensor == assignment.lhs.tensor; });
  return reads;
}

// A fill gives every element a value, be it stored sparse.
void fill_by(TensorState& tensor, const Generator& generator, const std::vector<int64_t>& dims) {
  if (!tensor.var.format().is_dense())
    return set_entries(
        tensor, runtime::together(transport(), [&] {
          return generate_fill(generator, dims, tensor.var.type(), {transport().rank(), transport().size()});
        }));
  fill_pieces(tensor, [&](Home& home) {
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++) {
      Storage& piece = home.piece(c);
      fill(piece, generator);
      if (home.owns_all(c)) continue;
      // What lies between the elements of a share stays zero.
      size_t bytes = size_of(piece.type());
      for_each_position(piece.pattern(), [&](std::span<const int64_t> at, int64_t position) {
        if (!home.holds(c, at, position)) memory::zero_bytes(piece.value_bytes() + size_t(position) * bytes, bytes);
      });
    }
    home.changed();
  });
}

}  // namespace

bool Program::has_data() const { return !state_->text.inputs.empty() || !state_->text.generators.empty(); }

void Program::load_data() {
  // What cannot be written is refused before anything is read or computed.
  for (const std::string& option : state_->text.outputs) {
    std::string path = split_option(option, "a:result.mtx").second;
    with_option(option, [&] { check_can_write(path); });
  }
  for (const std::string& option : state_->text.inputs) {
    auto [name, path] = split_option(option, "B:matrix.mtx");
    TensorState& tensor = *state_->find(name);
    Coordinates entries = with_option(option, [&, file = path] { return read_entries(tensor, file); });
    check_fit(state_->statement->assignment, tensor, stored_dims(tensor.var.format(), entries.dims()), option);
    set_entries(tensor, std::move(entries));
    spread_sizes(state_->statement->assignment);
  }
  // Generators with sizes of their own first: fills take the sizes that the others give.
  for (bool fills : {false, true}) {
    if (fills) fit_sizes(state_->statement->assignment, state_->sizes);
    for (const std::string& option : state_->text.generators) {
      auto [name, spec] = split_option(option, "B:rmat,14,8, or c:ones");
      TensorState& tensor = *state_->find(name);
      Generator generator = Generator::parse(spec);
      if (generator.is_fill() != fills) continue;
      if (tensor.home)
        throw UserError(Diagnostic{fmt::format("{} has data already", name), {{option, 0, option.size()}}, ""});
      if (!fills) {
        check_fit(state_->statement->assignment, tensor, stored_dims(tensor.var.format(), generator.dims()), option);
        set_entries(tensor, runtime::together(transport(), [&] {
                      return generate(generator, tensor.var.type(), {transport().rank(), transport().size()});
                    }));
      } else {
        std::vector<int64_t> dims;
        for (size_t d = 0; d < tensor.var.order(); d++) {
          if (!tensor.var.dims()[d].value()) {
            IndexVar var = variable_along(accesses_of(state_->statement->assignment), tensor.var, d);
            if (var.window() && var.window()->of) var = *var.window()->of;
            throw UserError(
                Diagnostic{fmt::format("the {} dimension of {} has no size", ordinal(d), name),
                           {{option, 0, option.size()}},
                           fmt::format("give the size of {} with -n, such as -n {}=32", var.name(), var.name())});
          }
          dims.push_back(*tensor.var.dims()[d].value());
        }
        fill_by(tensor, generator, dims);
      }
      spread_sizes(state_->statement->assignment);
    }
  }
  for (const auto& tensor : state_->tensors) {
    bool read = false;
    each<notation::Access>(state_->statement->assignment.rhs,
                           [&](const notation::Access& a) { read |= a.tensor == tensor->var; });
    if (read && !tensor->home && tensor->var != state_->statement->assignment.lhs.tensor)
      throw UserError(
          fmt::format("{} has no data", tensor->var.symbol().name()),
          fmt::format("read it with -i {0}:file.mtx, or generate it with -g {0}:random", tensor->var.symbol().name()));
  }
}

std::string Program::kernel() {
  return collectively([&] {
    waiting().compile(state_->result());
    return state_->statement->execution->kernel();
  });
}

std::string Program::plan() {
  return collectively([&] {
    waiting().compile(state_->result());
    return state_->statement->execution->plan();
  });
}

Tuned Program::tune(const TuneOptions& options) {
  return collectively([&] { return spdistal::tune(state_->result(), options); });
}

Report Program::report() {
  return collectively([&] { return state_->statement->execution->report(); });
}

void Program::load() {
  collectively([&] { load_data(); });
}
std::string Program::result() const {
  return collectively([&] { return describe_result(); });
}
void Program::write() const {
  collectively([&] { write_outputs(); });
}
RunTimes Program::time(int runs) {
  return collectively([&] { return time_runs(runs); });
}
Comparison Program::check() {
  return collectively([&] { return compare(); });
}

int Program::on_all_ranks(const std::function<int()>& body) { return collectively(body); }

bool Program::leads() { return Session::leads(); }

void Program::compute() {
  TensorState& result = state_->result();
  // Checks and timed runs start from the old value again; what holds nothing yet is zero.
  collectively([&] {
    if (reads_itself(state_->statement->assignment) && result.home) state_->before = result.home->clone(transport());
    waiting().compute(result);
  });
}

std::string Program::describe_result() const {
  TensorState& result = state_->result();
  const Home& home = data_of(result);
  std::string name = result.var.symbol().name();
  std::string sizes = join(home.dims(), " x ", [](int64_t n) { return std::to_string(n); });
  std::string out = home.order() == 0 ? name : fmt::format("{}: {}, {} stored", name, sizes, home.nnz());
  if (home.order() > 0 && home.nnz() > 12) return out + "\n";
  Storage storage = pack(gather(transport(), home), home.format());  // a few elements
  for_each_position(storage.pattern(), [&](std::span<const int64_t> at, int64_t position) {
    std::complex<double> v = as_complex(storage, position);
    std::string where = storage.order() == 0 ? ""
                                             : fmt::format("\n  {}({})", name,
                                                           join(at, ",", [](int64_t c) { return std::to_string(c); }));
    out += fmt::format(
        "{} = {}", where,
        is_complex(storage.type()) ? fmt::format("({}, {})", shown(v.real()), shown(v.imag())) : shown(v.real()));
  });
  return out + "\n";
}

void Program::write_outputs() const {
  for (const std::string& option : state_->text.outputs) {
    auto [name, path] = split_option(option, "a:result.mtx");
    with_option(option, [&, name = name, file = path] { write_contents(*state_->find(name), file); });
  }
}

RunTimes Program::time_runs(int runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  TensorState& result = state_->result();
  for (int r = -(runs / 2); r < runs; r++) {
    // Every run computes what the first did: the result stays what it is.
    if (state_->before) result.home = state_->before->clone(transport());
    else if (reads_itself(state_->statement->assignment)) result.home.reset();
    Session::instance().wait_for_gpus();
    auto start = Clock::now();
    waiting().compute(result);
    Session::instance().wait_for_gpus();
    if (r >= 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  RunTimes out;
  out.median = seconds.empty() ? 0 : seconds[seconds.size() / 2];
  for (const auto& tensor : state_->tensors)
    if (tensor->home)
      for (int64_t c = tensor->home->colours().lo; c < tensor->home->colours().hi; c++)
        out.bytes += tensor->home->owns_nothing(c) ? 0 : double(tensor->home->piece(c).bytes());
  out.bytes = transport().allreduce(out.bytes, runtime::ReduceOp::Sum);
  out.operations =
      count_operations(transport(), state_->statement->assignment,
                       [&](const TensorVar& tensor) -> const Home& { return data_of(*state_->find(tensor)); });
  return out;
}

std::vector<std::string> Program::notes() const { return Session::instance().notes; }

}  // namespace spdistal
