#include "spdistal/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

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
      sum.copied += m.copied, sum.reduced += m.reduced, sum.packed += m.packed;
      sum.piece = std::max(sum.piece, m.piece);
    }
  return sum;
}

int64_t Report::bytes_sent() const {
  int64_t sum = 0;
  for (const SentReport& s : sent) sum += s.bytes;
  return sum;
}

int64_t Report::bytes_sent(const std::string& kind) const {
  int64_t sum = 0;
  for (const SentReport& s : sent)
    if (s.kind == kind) sum += s.bytes;
  return sum;
}

int64_t Report::messages_sent() const {
  int64_t sum = 0;
  for (const SentReport& s : sent) sum += s.messages;
  return sum;
}

// ---- for people ----

namespace {

std::string table_of(const Report& report) {
  std::string out =
      fmt::format("{:>5}  {:>12}  {:>9}  {:>12}  {:>12}\n", "piece", "non-zeros", "ms", "received", "sent");
  for (size_t c = 0; c < report.pieces.size(); c++) {
    const PieceReport& piece = report.pieces[c];
    int64_t received = 0, sent = 0;
    for (const auto& [name, m] : piece.moved) received += m.received, sent += m.sent;
    out += fmt::format("{:>5}  {:>12}  {:>9.3f}  {:>12}  {:>12}\n", c, piece.non_zeros, piece.seconds * 1e3, received,
                       sent);
  }
  return out;
}

std::string line_of(const Report& report, const std::string& access) {
  PieceReport::Moved m = report.total(access);
  if (m.packed > 0) return fmt::format("{}: {} bytes packed anew at home\n", access, m.packed);
  if (m.received == 0 && m.copied == 0) return fmt::format("{}: no values moved\n", access);
  std::string out = fmt::format("{}: {} bytes from other pieces", access, m.received);
  if (m.between_ranks > 0) out += fmt::format(", {} of them between ranks", m.between_ranks);
  if (m.copied > 0) out += fmt::format("; {} from the same piece", m.copied);
  if (m.reduced > 0) out += fmt::format("; {} added up", m.reduced);
  return out + "\n";
}

std::string sent_of(const Report& report) {
  std::string out = fmt::format("{} bytes in {} messages between ranks\n", report.bytes_sent(), report.messages_sent());
  for (const SentReport& s : report.sent)
    out += fmt::format("  {} of {}{}, in {}\n", s.bytes, s.kind, s.tensor.empty() ? "" : " of " + s.tensor, s.messages);
  return out;
}

}  // namespace

std::string Report::str() const {
  std::string out = table_of(*this);
  if (!leaf.empty()) out += fmt::format("leaf {}\n", leaf);
  for (const std::string& access : accesses) out += line_of(*this, access);
  out += sent_of(*this);
  out += fmt::format("imbalance of non-zeros {:.2f}\n", imbalance());
  if (overlapped > 0) out += fmt::format("{} chunks of leaves ran while data was under way\n", overlapped);
  if (compile_seconds > 0) out += fmt::format("compiled in {:.3f} ms\n", compile_seconds * 1e3);
  return out;
}

// ---- as data ----

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\u{:04x}", int(c));
    else out += c;
  }
  return out + "\"";
}

std::string json_of(const PieceReport& piece) {
  auto moved = [](const auto& by_access) {
    const PieceReport::Moved& m = by_access.second;
    return fmt::format(
        "{}: {{\"received\": {}, \"sent\": {}, \"between_ranks\": {}, \"copied\": {}, \"reduced\": {}, "
        "\"packed\": {}, \"piece\": {}}}",
        quoted(by_access.first), m.received, m.sent, m.between_ranks, m.copied, m.reduced, m.packed, m.piece);
  };
  return fmt::format("{{\"non_zeros\": {}, \"seconds\": {:.9f}, \"moved\": {{{}}}}}", piece.non_zeros, piece.seconds,
                     join(piece.moved, ", ", moved));
}

std::string json_of(const SentReport& sent) {
  return fmt::format("{{\"tensor\": {}, \"kind\": {}, \"bytes\": {}, \"messages\": {}}}", quoted(sent.tensor),
                     quoted(sent.kind), sent.bytes, sent.messages);
}

}  // namespace

std::string Report::json() const {
  auto element = [](const auto& item) { return json_of(item); };
  return fmt::format(
      "{{\"pieces\": [{}],\n \"accesses\": [{}],\n \"leaf\": {},\n \"sent\": [{}],\n \"bytes_sent\": {}, "
      "\"messages_sent\": {}, "
      "\"imbalance\": {:.6f},\n \"compile_seconds\": {:.9f}, \"exchange_seconds\": {:.9f}, \"overlapped\": {}, "
      "\"planned\": {}}}\n",
      join(pieces, ",\n            ", element), join(accesses, ", ", quoted), quoted(leaf),
      join(sent, ",\n          ", element), bytes_sent(), messages_sent(), imbalance(), compile_seconds,
      exchange_seconds, overlapped, planned);
}

}  // namespace spdistal
