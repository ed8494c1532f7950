#include "codegen/helpers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spdistal::codegen {
namespace {

constexpr std::string_view search = R"(
// The first position in [lo, hi) whose element is not less than the value, and the first whose element is greater.
template <class T, class I, class V> static inline I lower_bound(const T* array, I lo, I hi, V value) {
  while (lo < hi) {
    const I middle = lo + (hi - lo) / 2;
    if (array[middle] < value) lo = middle + 1; else hi = middle;
  }
  return lo;
}
template <class T, class I, class V> static inline I upper_bound(const T* array, I lo, I hi, V value) {
  while (lo < hi) {
    const I middle = lo + (hi - lo) / 2;
    if (value < array[middle]) hi = middle; else lo = middle + 1;
  }
  return lo;
}
)";

constexpr std::string_view heap_sort = R"(
template <class T> static void heap_sort(T* first, T* last) {
  const int64_t n = last - first;
  for (int64_t start = n / 2, end = n; end > 1;) {
    T x;
    if (start > 0) x = first[--start]; else { x = first[--end]; first[end] = first[0]; }
    int64_t at = start;
    for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && first[child] < first[child + 1]) child++;
      if (!(x < first[child])) break;
      first[at] = first[child];
      at = child;
    }
    first[at] = x;
  }
}
)";

constexpr std::string_view quotient = R"(
// Of all integers: 0 where the divisor is 0, and what overflows wraps.
template <class T> static inline T quotient(T a, T b) {
  return b == 0 ? T(0) : b == -1 ? T(0ull - (unsigned long long)a) : T(a / b);
}
)";

constexpr std::string_view whole = R"(
// A float cut towards zero: where there is no such integer the nearest one, and 0 for what is no number.
template <class T, class F> static inline T whole(F x) {
  const F bound = F(1ull << (8 * sizeof(T) - 1));
  const T last = T((1ull << (8 * sizeof(T) - 1)) - 1);
  return x >= bound ? last : x < -bound ? T(-last - 1) : x == x ? T(x) : T(0);
}
)";

std::string on_device(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; (at = out.find("static ", at)) != out.npos; at += 18) out.insert(at + 7, "__device__ ");
  return out;
}

// What both languages have, as a function of the host or of a device.
HelperTexts with_common(HelperTexts own, Language language) {
  HelperTexts out = {
      {{Helper::Search}, {"lower_bound", "upper_bound"}, std::string(search)},
      {{Helper::Sort}, {"heap_sort"}, std::string(heap_sort)},
      {{Helper::Quotient}, {"quotient"}, std::string(quotient)},
      {{Helper::Whole}, {"whole"}, std::string(whole)},
  };
  for (HelperText& helper : out)
    if (language == Language::Cuda) helper.text = on_device(helper.text);
  std::move(own.begin(), own.end(), std::back_inserter(out));
  std::stable_sort(out.begin(), out.end(),
                   [](const HelperText& a, const HelperText& b) { return a.needed_by[0] < b.needed_by[0]; });
  return out;
}

std::string vector_types(const Spelling& spelling, const Needs& needs) {
  std::string out = needs.vectors.empty() ? "" : "\n";
  for (const auto& [type, lanes] : needs.vectors)
    out +=
        fmt::format(fmt::runtime(spelling.language == Language::Cuda
                                     ? "struct alignas({2}) {1} {{ {0} elements[{3}]; }};\n"
                                     : "typedef {0} {1} __attribute__((vector_size({2}), aligned({4}), may_alias));\n"),
                    spelling.types[size_t(type)], type_text(spelling, {type, ir::Type::Form::Value, lanes}),
                    size_of(type) * size_t(lanes), lanes, size_of(type));
  return out;
}

}  // namespace

const HelperTexts& helper_texts(Language language) {
  static const HelperTexts host = with_common(host_helpers(), Language::Cpp),
                           cuda = with_common(cuda_helpers(), Language::Cuda);
  return language == Language::Cuda ? cuda : host;
}

std::string preamble(const Spelling& spelling, const Needs& needs) {
  std::string out = vector_types(spelling, needs);
  for (const HelperText& helper : helper_texts(spelling.language)) {
    auto needed = [&](Helper h) { return needs.helpers.contains(h); };
    if (std::all_of(helper.needed_by.begin(), helper.needed_by.end(), needed)) out += helper.text;
  }
  return out;
}

}  // namespace spdistal::codegen
