#include "execute/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spdistal {

double Report::imbalance() const {
  int64_t most = 0, all = 0;
  for (const PieceReport& p : pieces) most = std::max(most, p.non_zeros), all += p.non_zeros;
  return all == 0 ? 1 : double(most) * double(pieces.size()) / double(all);
}

PieceReport::Moved Report::total(const std::string& access) const {
  PieceReport::Moved sum;
  for (const PieceReport& p : pieces)
    if (auto found = p.moved.find(access); found != p.moved.end()) {
      const PieceReport::Moved& m = found->second;
      sum.received += m.received, sum.sent += m.sent, sum.between_ranks += m.between_ranks;
      sum.copied += m.copied, sum.reduced += m.reduced;
      sum.piece = std::max(sum.piece, m.piece);
    }
  return sum;
}

std::string Report::str() const {
  std::string out =
      fmt::format("{:>5}  {:>12}  {:>9}  {:>12}  {:>12}\n", "piece", "non-zeros", "ms", "received", "sent");
  for (size_t c = 0; c < pieces.size(); c++) {
    int64_t received = 0, sent = 0;
    for (const auto& [name, m] : pieces[c].moved) received += m.received, sent += m.sent;
    out += fmt::format("{:>5}  {:>12}  {:>9.3f}  {:>12}  {:>12}\n", c, pieces[c].non_zeros, pieces[c].seconds * 1e3,
                       received, sent);
  }
  int64_t crossed = 0;
  for (const std::string& access : accesses) {
    PieceReport::Moved m = total(access);
    crossed += m.between_ranks;
    if (m.received == 0 && m.copied == 0) {
      out += fmt::format("{}: nothing moved\n", access);
      continue;
    }
    out += fmt::format("{}: {} bytes from other pieces", access, m.received);
    if (m.between_ranks > 0) out += fmt::format(", {} of them between ranks", m.between_ranks);
    if (m.copied > 0) out += fmt::format("; {} from the same piece", m.copied);
    if (m.reduced > 0) out += fmt::format("; {} added up", m.reduced);
    out += "\n";
  }
  out += fmt::format("{} bytes in {} messages between ranks; imbalance of non-zeros {:.2f}\n", crossed, messages,
                     imbalance());
  if (overlapped > 0) out += fmt::format("{} chunks of leaves ran while data was under way\n", overlapped);
  return out;
}

}  // namespace spdistal
