// Sequences of statements, data and looks, as data: drawn at random, made smaller where they go wrong, printed as a C++
// program.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "spdistal/format.hpp"

namespace spdistal::test {

/// A tensor of doubles that the sequence starts with; every dimension has `side` elements.
struct SequenceTensor {
  std::string name;
  std::string levels;  // "", "d", "ds:1,0"
  int64_t pieces = 0;  // of its first dimension over a machine; 0: nobody said where it lives

  static constexpr int64_t side = 3;
  size_t order() const;
  Format format() const;
};

struct Step {
  enum class Kind : uint8_t {
    Say,          // a statement, with one of few schedules
    Fill,         // by one value
    FillByPlace,  // by a function of the place
    FillByOld,    // by a function that looks at the tensor
    Pack,         // other entries
    Renew,        // the name gets a new tensor with entries of its own
    Alias,        // the name gets the tensor of another name
    Look,
    Compute,
    Compile
  };
  Kind kind;
  std::string tensor;
  std::string text = {};  // the statement; the other name
  int64_t number = 0;     // a value; the seed of entries; the schedule: none, split, distributed
};

struct Sequence {
  std::vector<SequenceTensor> tensors;
  std::vector<Step> steps;

  const SequenceTensor& tensor(const std::string& name) const;
};

/// Stored elements of a tensor by the seed of a step: all of a dense one, some of others.
struct SequenceEntry {
  std::vector<int64_t> at;
  double value;
};
std::vector<SequenceEntry> entries_of(const SequenceTensor& tensor, int64_t seed);

/// With numbers that stay small whatever is computed. Either with data that comes late and `compute()`, or with handles that
/// go out of scope.
Sequence draw_sequence(std::mt19937_64& random);

std::string print(const Sequence& sequence);

/// What is wrong with a sequence, or nothing.
using FindSequenceFault = std::function<std::optional<std::string>(const Sequence&)>;
/// Leaves out steps, tensors and schedules while something is wrong.
Sequence shrink(Sequence sequence, const FindSequenceFault& find);

}  // namespace spdistal::test
