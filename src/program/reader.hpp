// The descriptions of one computation, read: options in the order in which they depend on each other, then the statement,
// whose tensors are made as they are met.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/state.hpp"
#include "notation/parse.hpp"
#include "spdistal/machine.hpp"
#include "spdistal/program.hpp"

namespace spdistal {

/// A tensor that is there already, and what it is like.
struct GivenTensor {
  std::string name;
  ScalarType type;
  Format format;
  std::vector<int64_t> dims;

  bool operator==(const GivenTensor&) const = default;
};

class ProgramReader {
 public:
  /// Tensors that are given are declared as they are; the text says nothing else of them.
  explicit ProgramReader(const ProgramText& text, std::vector<GivenTensor> given = {});

  /// Throws UserError with the offending text underlined.
  StatementState statement();

  /// Those of the statement, by first use.
  const std::vector<std::shared_ptr<TensorState>>& tensors() const { return tensors_; }
  /// Of variables, as they were given.
  const std::map<std::string, int64_t>& sizes() const { return sizes_; }
  /// Those with a distribution, in the order given.
  std::vector<notation::TensorVar> placed() const;

 private:
  void read_format(const std::string& option);
  void read_type(const std::string& option);
  void read_size(const std::string& option);
  void read_distribution(const std::string& option);
  void read_blocks();
  void read_windows();
  const GivenTensor* given(const std::string& name) const;
  notation::TensorVar declare(const Lexer& in, const Token& token, const std::vector<IndexVar>& indices);
  Format format_of(const Lexer& in, const Token& token, size_t order) const;
  std::vector<Extent> extents_of(const std::string& name, const std::vector<IndexVar>& indices);
  Distribution default_distribution(const Format& format) const;
  void all_used() const;

  const ProgramText& text_;
  std::vector<GivenTensor> given_;
  std::optional<Machine> machine_ = {};
  std::map<std::string, Format> formats_ = {};
  std::map<std::string, ScalarType> types_ = {};
  std::map<std::string, int64_t> sizes_ = {};
  std::map<std::string, std::pair<Distribution, std::string>> distributions_ = {};
  std::map<std::string, Param> params_ = {};
  std::set<std::string> open_ = {};  // variables of which some access has a window without an end
  std::vector<std::string> placed_ = {};
  std::vector<std::shared_ptr<TensorState>> tensors_ = {};
  notation::ParseScope scope_ = {};
};

}  // namespace spdistal
