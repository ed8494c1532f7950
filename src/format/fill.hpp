// Fill values: what elements that are not stored count as.
#pragma once
#include <string>
#include <string_view>

#include "spdistal/format.hpp"

namespace spdistal {

/// The fill value of a format as a value of a type; of whole numbers, inf is the largest and -inf the least. Throws UserError
/// where the type has no such value.
Scalar fill_value(const Format& format, ScalarType type);
/// Do elements that are not stored count as 0?
bool fills_with_zero(const Format& format);

/// A format with the fill value of another.
Format filled_like(const Format& format, const Format& other);

/// The same levels, order of dimensions and fill value: where the tensor is distributed is no business of one piece.
Format of_one_piece(const Format& format);

/// "inf", "-1", "0.5", "true"; a complex number is "1,-2".
std::string print_fill(const Scalar& value);
/// None where the text is no number.
std::optional<Scalar> parse_fill(std::string_view text);

}  // namespace spdistal
