#include "execute/move/fetch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "execute/move/fetch_state.hpp"
#include "memory/copy.hpp"
#include "runtime/partition/match.hpp"

namespace spdistal {

using runtime::Instances;
using runtime::Partition;
using runtime::Transport;

Fetch::State::State(Transport& t, const Home& home, const FetchRequest& request)
    : transport(t),
      tensor(request.access.tensor),
      name(request.access.text),
      traffic(request.traffic),
      moves(request.moves),
      copies(moves && home.format().is_dense() ? Copies::OfDevices : Copies::OfHost),
      homes(home.shares()),
      home_ranks(home.shares().grid.count(), t.size()),
      task_ranks(request.colours.count(), t.size()),
      colours(task_ranks.colours_of(t.rank())),
      pieces(size_t(colours.size())) {
  auto what = [&] { return fmt::format("what colours need of {}", name); };
  memory::Purpose purpose(what);
  runtime::Sending indices(transport.sent(), tensor, runtime::Cargo::Indices);
  if (home.format().is_dense()) plan_dense(home, request);
  else plan_sparse(home, request);
  for (FetchedPiece& p : pieces)
    if (p.own) p.pattern = p.own->shared_pattern();
  find_pieces(home);
}

size_t FetchedPiece::pattern_bytes() const {
  size_t sum = 0;
  for (const LevelArrays& level : pattern->levels())
    for (const NamedArray& of_level : level.arrays)
      if (!of_level.array.is_borrowed()) sum += of_level.array.bytes();
  return sum;
}

void Fetch::State::connect(const Home& home, const Partition& held, const Partition& needed, Instances from,
                           Instances own) {
  std::vector<runtime::Match> matches = runtime::match(transport, held, needed, runtime::Sources::AnyLocal);
  users = own;
  sources = from;
  bound = memory(home);
  exchange.emplace(transport, matches, home_ranks, task_ranks, std::move(from), std::move(own),
                   runtime::ExchangeOptions{.region = name, .traffic = traffic, .moves = moves});
}

// What is fetched is written, not read.
MemoryBound Fetch::State::memory(const Home& home) const {
  MemoryBound out;
  for (int64_t q = home.colours().lo; q < home.colours().hi; q++) add_memory(out, home.piece(q), copies);
  for (const FetchedPiece& p : pieces) {
    out.push_back(p.own ? p.own->value_address() : nullptr);
    if (p.own && copies == Copies::OfDevices) out.push_back(&p.own->value_mirror());
  }
  return out;
}

void Fetch::State::find_pieces(const Home& home) {
  for (int64_t c = colours.lo; c < colours.hi; c++)
    if (FetchedPiece& p = piece(c); p.home) p.storage = &home.piece(*p.home);
    else p.storage = &*p.own;
}

void Fetch::State::release() {
  require(!under_way, "values that are under way have memory");
  for (FetchedPiece& p : pieces) {
    p.own.reset();
    if (p.staged) *p.staged->buffer() = memory::Buffer();
  }
  exchange->release();
  brought = 0;
  released = true;
}

// The memory that `release` gave back.
void Fetch::State::allocate() {
  for (int64_t c = colours.lo; c < colours.hi; c++) {
    FetchedPiece& p = piece(c);
    const runtime::Instance& before = (*users)[c];
    if (p.pattern && !p.in_home) p.own.emplace(p.pattern, before.type());
    if (p.staged) p.staged->buffer()->reserve(runtime::bytes_for(before.layout().extent(), before.type()));
  }
  released = false;
}

void Fetch::State::place_in_home(FetchedPiece& piece, const Home& home) {
  auto* first = const_cast<std::byte*>(home.piece(piece.in_home->home).value_address() + piece.in_home->first);
  if (piece.own && piece.own->value_address() == first) return;
  // What is written lies around what is the home's.
  std::span bytes{first, size_t(piece.pattern->nnz()) * size_of(home.type())};
  piece.own.emplace(piece.pattern, home.type(), memory::Buffer::borrowed(bytes));
}

void Fetch::State::prepare(const Home& home) {
  finish();  // what a run that failed has left under way
  auto what = [&] { return fmt::format("what colours need of {}", name); };
  memory::Purpose purpose(what);
  if (released) allocate();
  // Several may continue one of the home: it comes to lie where it stays before they look where that is.
  for (const FetchedPiece& p : pieces) {
    if (!p.continues()) continue;
    auto bytes = std::ptrdiff_t(p.pattern->nnz()) * std::ptrdiff_t(size_of(home.type()));
    home.piece(p.in_home->home).make_room(size_t(bytes + p.in_home->first), size_t(-p.in_home->first));
  }
  for (FetchedPiece& p : pieces)
    if (p.in_home) place_in_home(p, home);
}

void Fetch::State::start(const Home& home) {
  find_pieces(home);
  if (home.version() == brought) return;
  MemoryBound now = memory(home);
  if (now != bound) {
    Instances fresh(colours);
    for (int64_t c = colours.lo; c < colours.hi; c++) {
      const FetchedPiece& p = piece(c);
      const runtime::Instance& before = (*users)[c];
      bool comes = p.own && !p.staged && (!p.in_home || p.continues());
      fresh.add(comes ? instance_of(*p.own, before.shared_layout(), copies) : before);
    }
    users = std::move(fresh);
    exchange->rebind(moved_to(*sources, home), *users);
    bound = std::move(now);
  }
  say_changed();
  runtime::Sending values(transport.sent(), tensor, runtime::Cargo::Values);
  exchange->start();
  under_way = true;
  brought = home.version();  // where nothing was in the way: another run after one that failed brings it
}

// What arrives is written to memory of the host, of which devices may have copies: exchanges that know of those see to it themselves.
void Fetch::State::say_changed() {
  if (copies == Copies::OfDevices) return;
  for (FetchedPiece& p : pieces)
    if (p.own) p.own->value_bytes();
}

void Fetch::State::finish() {
  if (!under_way) return;
  exchange->finish();
  under_way = false;
  say_changed();
  for (FetchedPiece& p : pieces) {
    if (!p.staged) continue;
    size_t size = size_of(p.own->type());
    const std::byte* from = p.staged->data();
    std::byte* into = p.own->value_bytes();
    for (size_t k = 0; k < p.order.size(); k++)
      if (p.order[k] >= 0) memory::copy_bytes(into + k * size, from + size_t(p.order[k]) * size, size);
  }
}

bool PieceNumbers::any() const {
  return std::ranges::any_of(dims, [](const auto& numbering) { return numbering.has_value(); });
}

Fetch::Fetch(Transport& transport, const Home& home, FetchRequest request)
    : state_(std::make_unique<State>(transport, home, request)) {}
Fetch::~Fetch() = default;
Fetch::Fetch(Fetch&&) noexcept = default;

void Fetch::prepare(const Home& home) { state_->prepare(home); }
void Fetch::start(const Home& home) { state_->start(home); }
bool Fetch::is_there() const { return !state_->under_way; }
bool Fetch::poll() { return !state_->under_way || state_->exchange->poll(); }
void Fetch::finish() { state_->finish(); }
void Fetch::release() { state_->release(); }
size_t Fetch::pattern_bytes() const {
  size_t sum = 0;
  for (const FetchedPiece& p : state_->pieces) sum += p.pattern ? p.pattern_bytes() : 0;
  return sum;
}
const Storage& Fetch::operator[](int64_t colour) const { return *state_->piece(colour).storage; }
size_t Fetch::bytes(int64_t colour) const {
  const FetchedPiece& p = state_->piece(colour);
  if (p.home) return 0;
  return p.in_home ? p.pattern_bytes() + p.in_home->ghosts : p.storage->bytes();
}
int64_t Fetch::base(int64_t colour) const { return state_->piece(colour).base; }
bool Fetch::local_values_come_first() const {
  return std::none_of(state_->pieces.begin(), state_->pieces.end(), [](const FetchedPiece& p) { return !!p.staged; });
}
plan::Travels Fetch::travels(int64_t colour) const {
  const FetchedPiece& p = state_->piece(colour);
  if (p.home || p.storage->nnz() == 0 || (p.in_home && !p.continues())) return plan::Travels::Nothing;
  if (!p.storage->format().is_dense()) return plan::Travels::Arrays;
  return p.in_home ? plan::Travels::Ghosts : plan::Travels::Values;
}
const Shares& Fetch::homes() const { return state_->homes; }
int64_t Fetch::bytes_received() const { return state_->exchange ? state_->exchange->bytes_received() : 0; }

}  // namespace spdistal
