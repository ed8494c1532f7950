#include "driver/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/buffer.hpp"

namespace spdistal {

double Report::imbalance() const {
  int64_t most = 0, all = 0;
  for (const PieceReport& p : pieces) most = std::max(most, p.non_zeros), all += p.non_zeros;
  return all == 0 ? 1 : double(most) * double(pieces.size()) / double(all);
}

std::string Report::str() const {
  std::string out;
  if (!schedule.empty()) out += schedule + "\n";
  std::vector<std::string> tensors;
  for (const PieceReport& p : pieces)
    for (const auto& [name, moved] : p.tensors)
      if (std::find(tensors.begin(), tensors.end(), name) == tensors.end()) tensors.push_back(name);
  out += fmt::format("{:>5}  {:>12}  {:>9}  {:>12}  {:>12}  {:>12}  {:>12}\n", "piece", "non-zeros", "ms", "received",
                     "sent", "copied", "reduced");
  PieceReport::Moved all;
  for (size_t c = 0; c < pieces.size(); c++) {
    PieceReport::Moved sum;
    for (const auto& [name, m] : pieces[c].tensors)
      sum.received += m.received, sum.sent += m.sent, sum.copied += m.copied, sum.reduced += m.reduced;
    out += fmt::format("{:>5}  {:>12}  {:>9.3f}  {:>12}  {:>12}  {:>12}  {:>12}\n", c, pieces[c].non_zeros,
                       pieces[c].seconds * 1e3, sum.received, sum.sent, sum.copied, sum.reduced);
    all.received += sum.received, all.copied += sum.copied, all.reduced += sum.reduced;
  }
  for (const std::string& name : tensors) {
    PieceReport::Moved sum;
    for (const PieceReport& p : pieces)
      if (auto m = p.tensors.find(name); m != p.tensors.end())
        sum.received += m->second.received, sum.copied += m->second.copied, sum.reduced += m->second.reduced;
    out += fmt::format("{}: {} bytes between ranks, {} copied within, {} of them added\n", name, sum.received,
                       sum.copied, sum.reduced);
  }
  out += fmt::format("{} bytes in {} messages; imbalance {:.2f}\n", all.received, messages, imbalance());
  return out;
}

}  // namespace spdistal
