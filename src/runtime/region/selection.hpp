// Some elements of an instance in a given order, as places in its memory: runs to copy where they are long, a list of
// places where they are not. Made once, used for every message.
#pragma once
#include <cstddef>
#include <vector>

#include "memory/buffer.hpp"
#include "runtime/region/layout.hpp"
#include "runtime/transport/transport.hpp"
#include "spdistal/scalar_type.hpp"

namespace spdistal::runtime {

struct Run {
  int64_t offset, length;
  bool operator==(const Run&) const = default;
};

class Selection {
 public:
  /// The elements of the set, in canonical order.
  Selection(const Layout& layout, const Space& set, ScalarType type);

  int64_t count() const { return count_; }
  int64_t element_bytes() const { return int64_t(size_of(type_)); }
  int64_t bytes() const { return count_ * element_bytes(); }
  /// The one run of all the elements; length 0 where they are not one run.
  Run single() const { return single_; }
  /// All places, one by one: int32_t where the layout is no larger, else int64_t.
  Buffer places() const;
  bool has_narrow_places() const { return is_narrow_; }
  /// to[k] = memory[place k], memory[place k] = from[k], memory[place k] = memory[place k] op from[k].
  void gather(const std::byte* memory, std::byte* to) const { gather_next(memory, to, Cursor(), count_); }
  void scatter(const std::byte* from, std::byte* memory) const { scatter_next(from, memory, Cursor(), count_); }
  void combine(const std::byte* from, std::byte* memory, ReduceOp op) const {
    combine_next(from, memory, op, Cursor(), count_);
  }

  /// How far one has come who takes some elements at a time.
  struct Cursor {
    int64_t element = 0;
    size_t run = 0;
    int64_t in_run = 0;
  };
  /// The same for so many elements from there on; where that leads.
  Cursor gather_next(const std::byte* memory, std::byte* to, Cursor at, int64_t count) const;
  Cursor scatter_next(const std::byte* from, std::byte* memory, Cursor at, int64_t count) const;
  Cursor combine_next(const std::byte* from, std::byte* memory, ReduceOp op, Cursor at, int64_t count) const;

 private:
  template <class Runs, class Places>
  Cursor walk(Cursor at, int64_t count, Runs&& runs, Places&& places) const;

  ScalarType type_;
  bool is_narrow_;
  int64_t count_ = 0;
  Run single_{0, 0};
  // One of these three.
  std::vector<Run> runs_;
  std::vector<int32_t> narrow_;
  std::vector<int64_t> wide_;
};

/// Elements from one instance to another of the same rank, run by run.
class LocalCopy {
 public:
  LocalCopy(const Layout& from, const Layout& to, const Space& set, ScalarType type);
  void run(const std::byte* from, std::byte* to) const;
  /// to[place] = to[place] op from[place].
  void combine(const std::byte* from, std::byte* to, ReduceOp op) const;
  /// Every element has the same place on both sides: nothing to do where the memory is the same.
  bool in_place() const { return in_place_; }
  int64_t bytes() const { return bytes_; }

  struct Step {
    int64_t from, to, length;
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  ScalarType type_;
  size_t element_;
  std::vector<Step> steps_;
  bool in_place_ = true;
  int64_t bytes_ = 0;
};

}  // namespace spdistal::runtime
