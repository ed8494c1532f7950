// The long messages of one exchange, which go in parts (staging.hpp): gathered from instances of the host and put in their place there part
// by part, all messages by the same step. Messages that are one stretch at one end, or on devices there, are cut alike by who sends or
// receives them.
//
//   start     the first few parts of each are asked for and sent
//   advance   what has arrived is taken in, and the part after the next few is asked for and sent
//
// Always holds: whoever waits, waits for what others did in steps that they have made, so that exchanges which all ranks finish in the same
// order come to an end.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "runtime/region/exchange_plan.hpp"
#include "runtime/region/instance.hpp"
#include "runtime/region/staging.hpp"
#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

class PartedMessages {
 public:
  PartedMessages(Transport& transport, int tag) : transport_(transport), tag_(tag) {}

  bool is_long(const Message& message) const { return message.bytes > sizes_.whole; }
  /// How many bytes of a message go at a time.
  int64_t bytes_at_a_time(const Message& message) const { return is_long(message) ? sizes_.part : message.bytes; }

  /// Long ones, which stay where they are.
  void add_out(const Message& message) { add(out_, message); }
  void add_in(const Message& message) { add(in_, message); }
  void allocate();
  void release();

  /// What arrives is assigned, or put to what is there by an operation.
  void start(const Instances& from, const Instances& to, std::optional<ReduceOp> operation);
  enum class Until : uint8_t { AllIsDone, OneWouldWait };
  /// Whether all is done.
  bool advance(Until until);

 private:
  struct Parted {
    const Message* message;
    Buffer staging = {};
    // How far it has come: the pair of colours, and elements of it.
    size_t pair = 0;
    Selection::Cursor at = {};

    void move_on(Selection::Cursor to);
  };

  void add(std::vector<Parted>& to, const Message& message);
  bool has_part(const Parted& parted, int64_t step) const { return step * sizes_.part < parted.message->bytes; }
  std::span<std::byte> room(Parted& parted, int64_t step) const;
  void send(Parted& out, int64_t step);
  void receive(Parted& in, int64_t step);
  void take_in(Parted& in, int64_t step);

  Transport& transport_;
  int tag_;
  Staging sizes_ = staging();
  std::vector<Parted> out_, in_;
  int64_t steps_ = 0, step_ = 0;
  std::array<Pending, size_t(Staging::few)> sending_, receiving_;
  const Instances *from_ = nullptr, *to_ = nullptr;
  std::optional<ReduceOp> operation_;
};

}  // namespace spdistal::runtime
