// Inside the interpreter: a function is turned into closures over a frame, with every variable resolved to a slot and
// every operation to its type. A value with lanes takes as many slots, and is computed lane by lane.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <vector>

#include "ir/evaluate.hpp"
#include "ir/nodes.hpp"
#include "spdistal/abi.h"

namespace spdistal::ir {

/// What happened to an element in a Parallel: who stored it (atomically or not), and who loaded it.
struct Touch {
  static constexpr int64_t nobody = -1, several = -2;
  uint64_t region = 0;
  int64_t stored_by = nobody, loaded_by = nobody;
  bool atomic = false;
};

struct GpuLaunch;

struct Frame {
  struct alignas(16) Slot {
    std::array<std::byte, 16> bytes;
  };
  /// The memory of an Allocate: `bytes` of them, all of the same value.
  static std::vector<Slot> filled(size_t bytes, int value) {
    Slot slot;
    slot.bytes.fill(std::byte(value));
    return std::vector<Slot>((bytes + sizeof(Slot) - 1) / sizeof(Slot), slot);
  }
  struct Array {
    void* data = nullptr;
    int64_t count = 0;
    spd_array* source = nullptr;  // of a parameter
    bool shared = true;           // by threads: not allocated by one of them
    std::vector<Touch> touches;   // of elements, kept from the first access in a Parallel on
    int64_t appended = 0;         // by shares so far
  };
  std::vector<Slot> slots;
  std::vector<Array> arrays;
  std::vector<std::vector<Slot>> memory;  // of allocations, one entry per Allocate
  spd_call* call = nullptr;
  int code = 0;                    // that the function returns
  int64_t thread = Touch::nobody;  // of the Parallel that runs, where races are looked for
  uint64_t region = 0;             // counts the Parallels that ran
  GpuLaunch* launch = nullptr;     // of the GPU kernel that runs

  template <class T>
  T& value(size_t slot) {
    return *reinterpret_cast<T*>(slots[slot].bytes.data());
  }
};

template <class T>
using Eval = std::function<T(Frame&)>;

enum class Flow : uint8_t { Next, Break, Return };
using Exec = std::function<Flow(Frame&)>;

[[noreturn]] void out_of_bounds(const std::string& array, int64_t index, int64_t count);

enum class Use : uint8_t { Load, Store, Atomic };
/// Compares an access with those of other threads.
void touch(Frame& f, Frame::Array& array, int64_t index, Use access, const std::string& name);
inline void touched(Frame& f, Frame::Array& array, int64_t index, Use access, const std::string& name) {
  if (f.thread >= 0 && array.shared) [[unlikely]]
    touch(f, array, index, access, name);
}

/// Where the variables of a function live, and how its expressions are computed.
class Slots {
 public:
  size_t declare_value(const Var& v);
  size_t declare_array(const Var& v);
  size_t value(const Var& v) const;
  size_t array(const Var& v) const;
  size_t values() const { return next_value_; }
  size_t arrays() const { return next_array_; }

  /// Computes lane `lane` of an expression whose scalar type is T.
  template <class T>
  Eval<T> eval(const Expr& e, int lane = 0) const;
  /// An int32 or int64 as int64.
  Eval<int64_t> integer(const Expr& e) const;

 private:
  template <class T>
  Eval<T> binary(const Binary& n, int lane) const;
  Eval<bool> compare(const Binary& n, int lane) const;
  template <class T>
  Eval<T> math(const Call& n, int lane) const;
  template <class T>
  Eval<T> search(const Search& n) const;

  std::map<Symbol, size_t> values_, arrays_;
  size_t next_value_ = 0, next_array_ = 0;
};

/// f(args…) of one argument type; exists as exists_for says.
template <class T>
T evaluate_math(Math f, T a, T b);
template <class T>
typename T::value_type evaluate_real_part(Math f, T a);

}  // namespace spdistal::ir
