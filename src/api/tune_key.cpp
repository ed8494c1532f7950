#include "api/tune_key.hpp"

#include <fmt/format.h>

#include <bit>

#include "base/text.hpp"
#include "base/version.hpp"
#include "compile/positions.hpp"
#include "machine/print.hpp"
#include "schedule/print.hpp"

namespace spdistal {

using namespace notation;

namespace {

std::string shown_format(const TensorVar& tensor, Printer& names) {
  const auto& distribution = tensor.format().distribution();
  std::string where =
      distribution ? DistributionPrinter(*distribution).statement(names.name(tensor)) + print(distribution->machine())
                   : names.name(tensor);
  return fmt::format("{} {} {}", tensor.format().str(), name_of(tensor.type()), where);
}

// To a power of two.
int roughly(int64_t size) { return std::bit_width(uint64_t(size)); }

std::string shape(const Home& home) {
  return fmt::format("{} {}", roughly(home.nnz()),
                     join(home.dims(), " ", [](int64_t size) { return std::to_string(roughly(size)); }));
}

}  // namespace

std::string tune_key(Process& process, const ScheduledStatement& statement, const Homes& operands, int64_t pieces,
                     const std::vector<Candidate>& tried) {
  runtime::Transport& transport = process.transport();
  Printer names(ArgumentText::Name);
  names(statement.scheduled);
  std::vector<std::string> lines{
      fmt::format("version {}", version()),
      fmt::format("{} pieces, {} ranks, {} threads", pieces, transport.size(), process.context.threads),
      names(statement.assignment), schedule::print(statement.commands, names),
      fmt::format("{}, it lives {}", shown_format(statement.assignment.lhs.tensor, names),
                  statement.residence == Residence::Anywhere ? "anywhere" : "as said")};
  for (const auto& [tensor, home] : operands)
    lines.push_back(fmt::format("{} {}", shown_format(tensor, names), shape(*home)));
  if (std::optional<Walked> walked = walked_operand(statement.initial, operands))
    lines.push_back(fmt::format("skew {:.0f}, {}",
                                4 * imbalance(transport, *walked->home, std::max<int64_t>(pieces, 16)),
                                is_scattered(transport, *walked->home) ? "scattered" : "together"));
  for (const Candidate& candidate : tried) lines.push_back(candidate.label);
  return "tuned-" + process.jit.key(join(lines, "\n"));
}

}  // namespace spdistal
