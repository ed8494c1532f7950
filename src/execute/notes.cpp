#include "execute/notes.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/transport/deal.hpp"

namespace spdistal {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void RunNotes::begin() {
  if (!over) return;
  over = false;
  traffic.clear();
  sent.clear();
  held.clear();
  compile_seconds = exchange_seconds = 0;
  overlapped = planned = 0;
}

void RunNotes::expect(int64_t colours) {
  stored.assign(size_t(colours), 0);
  packed.assign(size_t(colours), 0);
  seconds.assign(size_t(colours), 0);
}

void RunNotes::note_piece(size_t access, const Tasks& tasks, const Tasks::Pieces& pieces) {
  for (int64_t c = tasks.colours().lo; c < tasks.colours().hi; c++) {
    held[{access, c}] = std::max(held[{access, c}], int64_t(pieces[access]->bytes(c)));
  }
}

void RunNotes::note_pieces(const plan::Plan& plan, const Tasks& tasks, const Tasks::Pieces& pieces) {
  for (size_t k = 1; k < pieces.size(); k++) {
    note_piece(k, tasks, pieces);
    if (plan.accesses[k].access.tensor.format().is_dense()) continue;
    for (int64_t c = tasks.colours().lo; c < tasks.colours().hi; c++)
      stored[size_t(c - tasks.colours().lo)] += (*pieces[k])[c].nnz();
  }
}

std::string home_region(const plan::Plan& plan) { return plan.accesses[0].text + " home"; }

namespace {

// By tensor, the result first, and by kind.
std::vector<SentReport> in_order(const runtime::Ledger& sent, const plan::Plan& plan) {
  auto place_of = [&](const runtime::Ledger::Entry& e) {
    auto access = std::ranges::find(plan.accesses, e.about, &plan::AccessPlan::tensor);
    return std::tuple{e.about.empty(), access - plan.accesses.begin(), e.about, e.cargo};
  };
  std::vector<runtime::Ledger::Entry> entries = sent.entries();
  std::erase_if(entries, [](const auto& e) { return e.bytes == 0; });
  std::ranges::sort(entries, {}, place_of);
  std::vector<SentReport> out;
  for (const auto& e : entries) out.push_back({e.about, std::string(runtime::name_of(e.cargo)), e.bytes, e.messages});
  return out;
}

}  // namespace

Report collect(runtime::Transport& transport, const RunNotes& notes, const plan::Plan& plan, const Tasks& tasks,
               const Shares& result) {
  // What arrived at pieces of this rank is counted here.
  struct Arrived {
    int64_t from, to;
    int64_t access;
    runtime::Count count;
  };
  size_t accesses = plan.accesses.size();
  std::vector<Arrived> arrived;
  runtime::Mapping task_ranks(tasks.grid().count(), transport.size());
  runtime::Mapping home_ranks(result.grid.count(), transport.size());
  for (size_t k = 0; k < accesses; k++) {
    auto pairs = notes.traffic.regions().find(k == 0 ? home_region(plan) : plan.accesses[k].text);
    if (pairs == notes.traffic.regions().end()) continue;
    for (const auto& [pair, count] : pairs->second)
      if ((k == 0 ? home_ranks : task_ranks).rank_of(pair.second) == transport.rank())
        arrived.push_back({pair.first, pair.second, int64_t(k), count});
  }
  runtime::Writer w;
  w.put(notes.compile_seconds);
  w.put(notes.exchange_seconds);
  w.put(notes.overlapped);
  w.put(tasks.colours().size());
  for (int64_t c = tasks.colours().lo; c < tasks.colours().hi; c++) {
    w.put(notes.stored[size_t(c - tasks.colours().lo)]);
    w.put(notes.packed[size_t(c - tasks.colours().lo)]);
    w.put(notes.seconds[size_t(c - tasks.colours().lo)]);
    for (size_t k = 1; k < accesses; k++) {
      auto found = notes.held.find({k, c});
      w.put(found == notes.held.end() ? int64_t(0) : found->second);
    }
  }
  w.put(notes.sent.entries().size());
  for (const runtime::Ledger::Entry& e : notes.sent.entries()) {
    w.put_text(e.about);
    w.put(e.cargo);
    w.put(e.bytes);
    w.put(e.messages);
  }
  w.put_all(std::span<const Arrived>(arrived));

  Report out;
  out.planned = notes.planned;
  for (const plan::AccessPlan& access : plan.accesses) out.accesses.push_back(access.text);
  out.pieces.resize(size_t(std::max(tasks.grid().count(), result.grid.count())));
  runtime::Ledger sent;
  int64_t next = 0;
  for (const runtime::Bytes& bytes : runtime::share(transport, w.take())) {
    runtime::Reader r(bytes);
    out.compile_seconds = std::max(out.compile_seconds, r.take<double>());
    out.exchange_seconds = std::max(out.exchange_seconds, r.take<double>());
    out.overlapped += r.take<int64_t>();
    for (int64_t n = r.take<int64_t>(); n > 0; n--) {
      PieceReport& p = out.pieces[size_t(next++)];
      p.non_zeros = r.take<int64_t>();
      if (int64_t packed = r.take<int64_t>()) p.moved[plan.accesses[0].text].packed = packed;
      p.seconds = r.take<double>();
      for (size_t k = 1; k < accesses; k++)
        if (int64_t held = r.take<int64_t>()) p.moved[plan.accesses[k].text].piece = held;
    }
    for (size_t n = r.take<size_t>(); n > 0; n--) {
      std::string about = r.take_text();
      runtime::Cargo cargo = r.take<runtime::Cargo>();
      int64_t bytes_sent = r.take<int64_t>(), messages = r.take<int64_t>();
      sent.add(about, cargo, bytes_sent, messages);
    }
    while (!r.at_end()) {
      Arrived a = r.take<Arrived>();
      const std::string& access = plan.accesses[size_t(a.access)].text;
      int64_t all = a.count.bytes + a.count.copied;
      PieceReport::Moved& m = out.pieces[size_t(a.to)].moved[access];
      (a.from == a.to ? m.copied : m.received) += all;
      m.between_ranks += a.count.bytes;
      m.reduced += a.count.added;
      if (size_t(a.from) < out.pieces.size() && a.from != a.to) out.pieces[size_t(a.from)].moved[access].sent += all;
    }
  }
  out.sent = in_order(sent, plan);
  return out;
}

}  // namespace spdistal
