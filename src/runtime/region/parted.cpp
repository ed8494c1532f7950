#include "runtime/region/parted.hpp"

#include <algorithm>

namespace spdistal::runtime {
namespace {

// So many elements of a pair of colours as are left, and as there is room for.
int64_t elements_at_once(const Selection& selection, const Selection::Cursor& at, size_t room) {
  return std::min(selection.count() - at.element, int64_t(room) / selection.element_bytes());
}

}  // namespace

void PartedMessages::add(std::vector<Parted>& to, const Message& message) {
  to.push_back({&message});
  steps_ = std::max(steps_, (message.bytes + sizes_.part - 1) / sizes_.part);
}

void PartedMessages::allocate() {
  for (auto* all : {&out_, &in_})
    for (Parted& parted : *all) {
      int64_t parts = std::min(Staging::few, (parted.message->bytes + sizes_.part - 1) / sizes_.part);
      parted.staging = Buffer::uninitialized(size_t(parts * sizes_.part));
    }
}

void PartedMessages::release() {
  for (auto* all : {&out_, &in_})
    for (Parted& parted : *all) parted.staging = Buffer();
}

void PartedMessages::start(const Instances& from, const Instances& to, std::optional<ReduceOp> operation) {
  from_ = &from, to_ = &to, operation_ = operation;
  step_ = 0;
  for (auto* all : {&out_, &in_})
    for (Parted& parted : *all) parted.pair = 0, parted.at = {};
  for (Parted& in : in_)
    for (int64_t step = 0; step < Staging::few && has_part(in, step); step++) receive(in, step);
  for (Parted& out : out_)
    for (int64_t step = 0; step < Staging::few && has_part(out, step); step++) send(out, step);
}

bool PartedMessages::advance(Until until) {
  for (; step_ < steps_; step_++) {
    Pending &arriving = receiving_[size_t(step_ % Staging::few)], &leaving = sending_[size_t(step_ % Staging::few)];
    if (until == Until::AllIsDone) transport_.wait(arriving);
    else if (!transport_.test(arriving) || !transport_.test(leaving)) return false;
    int64_t next = step_ + Staging::few;
    for (Parted& in : in_) {
      if (has_part(in, step_)) take_in(in, step_);
      if (has_part(in, next)) receive(in, next);
    }
    transport_.wait(leaving);
    for (Parted& out : out_)
      if (has_part(out, next)) send(out, next);
  }
  return true;
}

std::span<std::byte> PartedMessages::room(Parted& parted, int64_t step) const {
  return {parted.staging.data() + step % Staging::few * sizes_.part,
          size_t(std::min(sizes_.part, parted.message->bytes - step * sizes_.part))};
}

void PartedMessages::Parted::move_on(Selection::Cursor to) {
  at = to;
  if (at.element == message->parts[pair].selection.count()) pair++, at = {};
}

void PartedMessages::send(Parted& out, int64_t step) {
  std::span<std::byte> all = room(out, step), left = all;
  while (!left.empty()) {
    const MessagePart& part = out.message->parts[out.pair];
    int64_t count = elements_at_once(part.selection, out.at, left.size());
    out.move_on(part.selection.gather_next((*from_)[part.from].to_read(), left.data(), out.at, count));
    left = left.subspan(size_t(count * part.selection.element_bytes()));
  }
  transport_.send(all, out.message->peer, tag_, sending_[size_t(step % Staging::few)]);
}

void PartedMessages::receive(Parted& in, int64_t step) {
  transport_.receive(room(in, step), in.message->peer, tag_, receiving_[size_t(step % Staging::few)]);
}

void PartedMessages::take_in(Parted& in, int64_t step) {
  std::span<std::byte> left = room(in, step);
  while (!left.empty()) {
    const MessagePart& part = in.message->parts[in.pair];
    int64_t count = elements_at_once(part.selection, in.at, left.size());
    std::byte* into = (*to_)[part.to].to_change();
    in.move_on(operation_ ? part.selection.combine_next(left.data(), into, *operation_, in.at, count)
                          : part.selection.scatter_next(left.data(), into, in.at, count));
    left = left.subspan(size_t(count * part.selection.element_bytes()));
  }
}

}  // namespace spdistal::runtime
