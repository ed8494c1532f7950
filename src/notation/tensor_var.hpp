// A tensor as statements see it: identity, element type, sizes and storage, without data.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "spdistal/extent.hpp"
#include "spdistal/format.hpp"
#include "spdistal/scalar.hpp"
#include "spdistal/scalar_type.hpp"
#include "spdistal/symbol.hpp"

namespace spdistal::notation {

/// Where a tensor comes from: the user declared it, or the compiler made it while rewriting a statement.
enum class Origin : uint8_t { Declared, Temporary };

class TensorVar {
 public:
  struct Info {
    Symbol symbol;
    ScalarType type = ScalarType::Float64;
    std::vector<Extent> dims;
    Format format;
    Origin origin = Origin::Declared;
  };
  explicit TensorVar(Info info);

  const Symbol& symbol() const { return info_->symbol; }
  ScalarType type() const { return info_->type; }
  const std::vector<Extent>& dims() const { return info_->dims; }
  const Format& format() const { return info_->format; }
  Origin origin() const { return info_->origin; }
  /// What elements that are not stored count as: that of the format, in the type of the tensor.
  const Scalar& fill() const { return fill_; }
  size_t order() const { return info_->dims.size(); }

  friend bool operator==(const TensorVar& a, const TensorVar& b) { return a.info_ == b.info_; }
  friend auto operator<=>(const TensorVar& a, const TensorVar& b) { return a.symbol() <=> b.symbol(); }

 private:
  std::shared_ptr<const Info> info_;
  Scalar fill_;
};

/// The sizes of all dimensions, which are known by now.
std::vector<int64_t> known_dims(const TensorVar& tensor);

/// All levels dense, dimensions in order.
Format dense_format(size_t order);

}  // namespace spdistal::notation

template <>
struct std::hash<spdistal::notation::TensorVar> {
  size_t operator()(const spdistal::notation::TensorVar& t) const { return std::hash<spdistal::Symbol>{}(t.symbol()); }
};
