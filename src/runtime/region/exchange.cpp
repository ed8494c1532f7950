#include "runtime/region/exchange.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/require.hpp"
#include "memory/copy.hpp"
#include "runtime/region/ends.hpp"
#include "runtime/region/exchange_plan.hpp"
#include "runtime/region/parted.hpp"
#include "runtime/transport/agree.hpp"

namespace spdistal::runtime {
namespace {

/// The one stretch of one piece that all parts of a message are, in order; length 0 where they are not, or where the piece may be
/// up to date on a device alone. `end` says which end of the parts is the piece on this rank.
Run single_run(const Message& message, const Instances& pieces, int64_t MessagePart::*end) {
  Run all{0, 0};
  if (pieces[message.parts[0].*end].mirror()) return all;
  for (const MessagePart& part : message.parts) {
    Run run = part.selection.single();
    if (run.length == 0 || part.*end != message.parts[0].*end) return {0, 0};
    if (all.length > 0 && run.offset != all.offset + all.length) return {0, 0};
    all = all.length == 0 ? run : Run{all.offset, all.length + run.length};
  }
  return all;
}

/// The end of a part of a message that is on this rank, where devices have copies of its instance.
struct PartEnd {
  End end;
  Buffer between = {};
};
/// Those of a copy.
struct CopyEnds {
  End from, to;
  Buffer between = {};
};

Buffer& room_for(const Selection& elements, Buffer& room) {
  if (room.size() == 0) room = between(elements);
  return room;
}

/// Something to add to an element's owner: a part of a message, or a copy within the rank.
struct Summand {
  int64_t from;
  size_t message, part;  // of the incoming ones
  const Copy* copy;      // or this
};

}  // namespace

struct Exchange::State {
  State(Transport& t, Instances s, Instances u, ExchangeOptions o)
      : transport(t),
        sources(std::move(s)),
        users(std::move(u)),
        options(std::move(o)),
        tag(t.fresh_tag()),
        parted(t, tag) {}

  Transport& transport;
  Instances sources, users;
  ExchangeOptions options;
  ExchangePlan plan;
  int tag;
  size_t element = 0;
  // Staging of each message; none where the message is one stretch of an instance.
  std::vector<Buffer> out_staging, in_staging;
  std::vector<size_t> out_sizes, in_sizes;
  bool has_staging = false;
  PartedMessages parted;  // long ones that take staging
  std::vector<bool> out_in_parts, in_in_parts;
  std::vector<Run> out_direct, in_direct;
  Buffer gathered;
  std::vector<int64_t> gathered_counts, gathered_offsets;  // of the collective, where it is one
  std::optional<int64_t> gathered_into;                    // the colour whose piece it fills, if there is one
  std::vector<Summand> additions;
  std::vector<std::vector<PartEnd>> out_ends, in_ends;  // of the messages, part by part
  std::vector<CopyEnds> copy_ends;
  std::vector<std::pair<Count*, Count>> counts;
  // Messages out are waited for after those in are unpacked; where there is nothing to unpack, with them.
  Pending receiving, sending;
  bool unpacks = true;
  bool started = false;

  const Instances& from() const { return options.direction == Direction::ToUsers ? sources : users; }
  const Instances& to() const { return options.direction == Direction::ToUsers ? users : sources; }
  bool collective() const { return !gathered_counts.empty(); }
  bool adds() const { return options.arrival == Arrival::Add; }

  void prepare();
  void try_collective();
  void try_gather_in_place();
  std::span<std::byte> gathered_bytes() {
    size_t bytes = size_t(gathered_offsets.back() + gathered_counts.back());
    return {gathered_into ? to()[*gathered_into].data() : gathered.data(), bytes};
  }
  void prepare_ends();
  void prepare_staging();
  void allocate_staging();
  void prepare_counts();
  void receive(size_t k);
  void send(size_t k);
  void copy(const Copy& copy, CopyEnds& ends);
  void unpack();
  void add_in_order(Range colours);
  Range colours_of_parts() const;
  void add(const Copy& copy, CopyEnds& ends);
};

Exchange::Exchange(Transport& transport, const std::vector<Match>& matches, const Mapping& source_ranks,
                   const Mapping& user_ranks, Instances sources, Instances users, ExchangeOptions options)
    : state_(std::make_unique<State>(transport, std::move(sources), std::move(users), std::move(options))) {
  State& s = *state_;
  // Each step that can fail on one rank alone is agreed on before the ranks go on.
  s.plan = together(transport, [&] {
    return plan_exchange(transport, matches, source_ranks, user_ranks, s.sources, s.users, s.options);
  });
  s.try_collective();
  together(transport, [&] { s.prepare(); });
}

Exchange::~Exchange() {
  // Messages under way refer to memory of the exchange; they are let finish, in whatever state the program is.
  if (!state_ || !state_->started) return;
  try {
    finish();
  } catch (...) {}
}
Exchange::Exchange(Exchange&&) noexcept = default;

void Exchange::State::prepare() {
  for (const Instances* instances : {&sources, &users})
    for (const Instance& instance : *instances) element = size_of(instance.type());
  if (collective()) try_gather_in_place();
  prepare_ends();
  prepare_staging();
  allocate_staging();
  unpacks = !gathered_into && std::ranges::any_of(in_direct, [](const Run& run) { return run.length == 0; });
  prepare_counts();
  // Places are known; the sets they came from may be large and are not needed again.
  for (auto* messages : {&plan.out, &plan.in})
    for (Message& message : *messages)
      for (MessagePart& part : message.parts) part.elements = Space(part.elements.dims());
  if (adds()) {
    for (size_t m = 0; m < plan.in.size(); m++)
      for (size_t p = 0; p < plan.in[m].parts.size(); p++)
        additions.push_back({plan.in[m].parts[p].from, m, p, nullptr});
    for (const Copy& copy : plan.copies) additions.push_back({copy.from, 0, 0, &copy});
    std::ranges::stable_sort(additions, {}, &Summand::from);
  }
}

void Exchange::State::try_collective() {
  if (transport.size() <= 2 || adds()) return;
  int32_t same = says_the_same_to_all(plan, transport.size());
  int64_t mine = plan.out.empty() ? 0 : plan.out[0].bytes;
  if (!transport.allreduce(same, ReduceOp::Min) || transport.allreduce(mine, ReduceOp::Max) == 0) return;
  gathered_counts = transport.allgather(mine);
  gathered_offsets.resize(gathered_counts.size());
  std::exclusive_scan(gathered_counts.begin(), gathered_counts.end(), gathered_offsets.begin(), int64_t(0));
}

void Exchange::State::try_gather_in_place() {
  if (plan.in.empty()) return;
  int64_t user = plan.in[0].parts[0].to;
  const Instance& piece = to()[user];
  // The piece is what rank 0, 1, … give, one behind the other, and nothing else.
  auto fits = [&](size_t rank, Run run) {
    return run.length * int64_t(element) == gathered_counts[rank] &&
           run.offset * int64_t(element) == gathered_offsets[rank];
  };
  if (piece.layout().extent() * int64_t(element) != gathered_offsets.back() + gathered_counts.back()) return;
  for (const Message& message : plan.in)
    if (message.parts[0].to != user || !fits(size_t(message.peer), single_run(message, to(), &MessagePart::to))) return;
  int64_t own = 0;
  for (const Copy& copy : plan.copies) {
    if (copy.to != user || from()[copy.from].shares_memory_with(piece)) return;
    own += copy.elements.bytes();
  }
  if (own != gathered_counts[size_t(transport.rank())]) return;
  if (!plan.out.empty()) {
    Message mine{transport.rank(), {}, 0};
    for (const MessagePart& part : plan.out[0].parts) {
      if (!contains(piece.layout().where(), part.elements)) return;
      mine.parts.push_back({part.from, user, Selection(piece.layout(), part.elements, piece.type()), 0, part.elements});
    }
    if (!fits(size_t(transport.rank()), single_run(mine, to(), &MessagePart::to))) return;
  }
  gathered_into = user;
  plan.copies.clear();
}

void Exchange::State::prepare_ends() {
  auto ends = [&](const std::vector<Message>& messages, std::vector<std::vector<PartEnd>>& out) {
    for (const Message& message : messages) {
      out.emplace_back();
      for (size_t p = 0; p < message.parts.size(); p++) out.back().push_back({End(options.moves)});
    }
  };
  ends(plan.out, out_ends);
  ends(plan.in, in_ends);
  for (size_t k = 0; k < plan.copies.size(); k++) copy_ends.push_back({End(options.moves), End(options.moves)});
}

// In parts goes what is long and is not one stretch, of memory of the host. What is added is so where it is one message: of several those of
// lower colours come first.
void Exchange::State::prepare_staging() {
  auto in_parts = [&](const Message& message, const Instances& pieces, int64_t MessagePart::*end) {
    return !collective() && parted.is_long(message) &&
           std::ranges::none_of(message.parts, [&](const MessagePart& part) { return pieces[part.*end].mirror(); });
  };
  for (const Message& message : plan.out) {
    out_direct.push_back(single_run(message, from(), &MessagePart::from));
    bool staged = out_direct.back().length == 0 && (!collective() || out_sizes.empty());
    out_in_parts.push_back(staged && in_parts(message, from(), &MessagePart::from));
    if (out_in_parts.back()) parted.add_out(message);
    out_sizes.push_back(staged && !out_in_parts.back() ? size_t(message.bytes) : 0);
  }
  for (const Message& message : plan.in) {
    // What is added cannot arrive in place.
    in_direct.push_back(adds() || collective() ? Run{0, 0} : single_run(message, to(), &MessagePart::to));
    bool staged = in_direct.back().length == 0 && !collective();
    in_in_parts.push_back(staged && (!adds() || plan.in.size() == 1) && in_parts(message, to(), &MessagePart::to));
    if (in_in_parts.back()) parted.add_in(message);
    in_sizes.push_back(staged && !in_in_parts.back() ? size_t(message.bytes) : 0);
  }
}

void Exchange::State::allocate_staging() {
  for (size_t bytes : out_sizes) out_staging.push_back(Buffer::uninitialized(bytes));
  for (size_t bytes : in_sizes) in_staging.push_back(Buffer::uninitialized(bytes));
  if (collective() && !gathered_into) gathered.reserve(size_t(gathered_offsets.back() + gathered_counts.back()));
  parted.allocate();
  has_staging = true;
}

void Exchange::release() {
  State& s = *state_;
  require(!s.started, "messages that are under way have memory");
  s.out_staging.clear();
  s.in_staging.clear();
  s.parted.release();
  s.gathered = Buffer();
  for (auto* ends : {&s.out_ends, &s.in_ends})
    for (std::vector<PartEnd>& parts : *ends)
      for (PartEnd& part : parts) part.between = Buffer();
  for (CopyEnds& ends : s.copy_ends) ends.between = Buffer();
  s.has_staging = false;
}

void Exchange::State::prepare_counts() {
  if (!options.traffic) return;
  auto count = [&](int64_t a, int64_t b, Count each) {
    if (adds()) each.added = each.bytes + each.copied;
    counts.emplace_back(&options.traffic->of(options.region, a, b), each);
  };
  for (const auto* messages : {&plan.out, &plan.in})
    for (const Message& message : *messages)
      for (const MessagePart& part : message.parts) count(part.from, part.to, {part.selection.bytes(), 1, 0, 0});
  for (const Copy& copy : plan.copies) count(copy.from, copy.to, {0, 0, copy.elements.bytes(), 0});
}

void Exchange::State::receive(size_t k) {
  const Message& message = plan.in[k];
  std::byte* into = in_staging[k].data();
  if (Run run = in_direct[k]; run.length > 0) into = to()[message.parts[0].to].data() + size_t(run.offset) * element;
  int64_t each = parted.bytes_at_a_time(message);
  for (int64_t at = 0; at < message.bytes; at += each)
    transport.receive({into + at, size_t(std::min(each, message.bytes - at))}, message.peer, tag, receiving);
}

void Exchange::State::send(size_t k) {
  const Message& message = plan.out[k];
  std::span<const std::byte> bytes{out_staging[k].data(), size_t(message.bytes)};
  if (Run run = out_direct[k]; run.length > 0) {
    const Instance& instance = from()[message.parts[0].from];
    bytes = {instance.data() + size_t(run.offset) * element, size_t(message.bytes)};
  } else {
    for (size_t p = 0; p < message.parts.size(); p++) {
      const MessagePart& part = message.parts[p];
      PartEnd& here = out_ends[k][p];
      const Instance& piece = from()[part.from];
      std::byte* into = out_staging[k].data() + part.offset;
      if (!End::device_of(piece)) part.selection.gather(piece.to_read(), into);
      else here.end.gather_to_host(piece, part.selection, room_for(part.selection, here.between), into);
    }
  }
  if (collective()) return transport.allgatherv(bytes, gathered_bytes(), gathered_counts, receiving);
  int64_t each = parted.bytes_at_a_time(message);
  for (int64_t at = 0; at < message.bytes; at += each)
    transport.send(bytes.subspan(size_t(at), size_t(std::min(each, message.bytes - at))), message.peer, tag,
                   unpacks ? sending : receiving);
}

// The colours that parts which are added come from; none where there are none.
Range Exchange::State::colours_of_parts() const {
  if (!adds() || plan.in.size() != 1 || !in_in_parts[0]) return {INT64_MIN, INT64_MIN};
  return {plan.in[0].parts.front().from, plan.in[0].parts.back().from + 1};
}

void Exchange::start() {
  State& s = *state_;
  require(!s.started, "an exchange is finished before it is started again");
  if (!s.has_staging) s.allocate_staging();
  s.started = true;
  if (s.collective()) {
    // All messages out are the same; the first stands for them.
    if (!s.plan.out.empty()) s.send(0);
    else s.transport.allgatherv({}, s.gathered_bytes(), s.gathered_counts, s.receiving);
  } else {
    for (size_t k = 0; k < s.plan.in.size(); k++)
      if (!s.in_in_parts[k]) s.receive(k);
    for (size_t k = 0; k < s.plan.out.size(); k++)
      if (!s.out_in_parts[k]) s.send(k);
    s.parted.start(s.from(), s.to(), s.adds() ? std::optional(s.options.operation) : std::nullopt);
  }
  if (!s.adds())
    for (size_t k = 0; k < s.plan.copies.size(); k++) s.copy(s.plan.copies[k], s.copy_ends[k]);
  else s.add_in_order({INT64_MIN, s.colours_of_parts().lo});
}

bool Exchange::poll() {
  State& s = *state_;
  return s.parted.advance(PartedMessages::Until::OneWouldWait) && s.transport.test(s.receiving) &&
         s.transport.test(s.sending);
}

void Exchange::State::unpack() {
  for (size_t k = 0; k < plan.in.size(); k++) {
    if (in_direct[k].length > 0 || in_in_parts[k]) continue;
    const std::byte* bytes =
        collective() ? gathered.data() + gathered_offsets[size_t(plan.in[k].peer)] : in_staging[k].data();
    for (size_t p = 0; p < plan.in[k].parts.size(); p++) {
      const MessagePart& part = plan.in[k].parts[p];
      const Instance& target = to()[part.to];
      if (!End::device_of(target)) {
        part.selection.scatter(bytes + part.offset, target.to_change());
        continue;
      }
      PartEnd& here = in_ends[k][p];
      memory::copy_bytes(room_for(part.selection, here.between).data(), bytes + part.offset,
                         size_t(part.selection.bytes()));
      here.end.scatter(here.between, target, part.selection);
    }
  }
}

void Exchange::State::copy(const Copy& copy, CopyEnds& ends) {
  const Instance &source = from()[copy.from], &target = to()[copy.to];
  if (!source.mirror() && !target.mirror()) return copy.elements.run(source.data(), target.data());
  copy_elements(copy.elements, source, copy.source, ends.from, target, copy.target, ends.to, ends.between);
}

// Of these colours; parts of long messages are added as they arrive.
void Exchange::State::add_in_order(Range colours) {
  for (const Summand& addition : additions) {
    if (!colours.contains(addition.from)) continue;
    if (addition.copy) {
      add(*addition.copy, copy_ends[size_t(addition.copy - plan.copies.data())]);
      continue;
    }
    if (in_in_parts[addition.message]) continue;
    const MessagePart& part = plan.in[addition.message].parts[addition.part];
    const Instance& target = to()[part.to];
    const std::byte* bytes = in_staging[addition.message].data() + part.offset;
    if (!End::device_of(target)) {
      part.selection.combine(bytes, target.to_change(), options.operation);
      continue;
    }
    PartEnd& here = in_ends[addition.message][addition.part];
    memory::copy_bytes(room_for(part.selection, here.between).data(), bytes, size_t(part.selection.bytes()));
    here.end.combine(here.between, target, part.selection, options.operation);
  }
}

void Exchange::State::add(const Copy& copy, CopyEnds& ends) {
  const Instance &piece = from()[copy.from], &target = to()[copy.to];
  if (piece.mirror() || target.mirror()) {
    ends.from.gather(piece, copy.source, room_for(copy.source, ends.between), End::device_of(target));
    return ends.to.combine(ends.between, target, copy.target, options.operation);
  }
  copy.elements.combine(piece.data(), target.data(), options.operation);
}

void Exchange::finish() {
  State& s = *state_;
  require(s.started, "an exchange is started before it is finished");
  s.started = false;
  s.parted.advance(PartedMessages::Until::AllIsDone);
  s.transport.wait(s.receiving);
  if (s.adds()) s.add_in_order({s.colours_of_parts().lo, INT64_MAX});
  else if (s.unpacks) s.unpack();
  s.transport.wait(s.sending);
  for (auto& [count, each] : s.counts) *count += each;
}

void Exchange::rebind(Instances sources, Instances users) {
  State& s = *state_;
  auto same_layouts = [](const Instances& a, const Instances& b) {
    return std::ranges::equal(a, b, {}, &Instance::shared_layout, &Instance::shared_layout);
  };
  require(!s.started && same_layouts(s.sources, sources) && same_layouts(s.users, users),
          "an exchange is given other memory of the same layout");
  s.sources = std::move(sources);
  s.users = std::move(users);
}

int64_t Exchange::bytes_received() const {
  int64_t sum = 0;
  for (const Message& message : state_->plan.in) sum += message.bytes;
  return sum;
}

bool Exchange::is_collective() const { return state_->collective(); }

}  // namespace spdistal::runtime
