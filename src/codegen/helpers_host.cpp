// The functions of texts in C++.
#include "codegen/helpers.hpp"

namespace spdistal::codegen {
namespace {

constexpr std::string_view complex_types = R"(
typedef __complex__ float complex64;
typedef __complex__ double complex128;
)";

constexpr std::string_view min_max = R"(
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
)";

constexpr std::string_view rank_sort = R"(
// Up to 32 by rank, in vectors: how many are smaller, and how many equal ones come before.
template <class T> static void sort_run(T* first, T* last) {
  const int n = int(last - first);
  if (n < 2) return;
  T elements[32] = {}, ranks[32] = {};
  for (int i = 0; i < n; i++) elements[i] = first[i];
  for (int j = 0; j < n; j++) {
    const T x = elements[j];
    #pragma omp simd
    for (int i = 0; i < 32; i++) ranks[i] += T((x < elements[i]) | ((x == elements[i]) & (j < i)));
  }
  for (int i = 0; i < n; i++) first[ranks[i]] = elements[i];
}
)";

constexpr std::string_view sort = R"(
// Ascending: nothing where it is sorted already, quicksort without branches, heapsort where the pivots are bad.
template <class T> static void sort(T* first, T* last, int depth = 48) {
  T* sorted = first + 1;
  while (sorted < last && !(*sorted < sorted[-1])) sorted++;
  if (sorted >= last) return;
  while (last - first > 32) {
    if (depth-- == 0) return heap_sort(first, last);
    const int64_t n = last - first;
    const T a = first[0], b = first[n / 2], c = last[-1];
    const T pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
    T* middle = first;
    for (T* at = first; at < last; at++) {
      const T x = *at;
      *at = *middle;
      *middle = x;
      middle += x < pivot;
    }
    sort(middle, last, depth);
    last = middle;
  }
  sort_run(first, last);
}
)";

constexpr std::string_view scratch = R"(
// Memory of the host's, given back at the end of the scope.
template <class T> struct scratch {
  spd_context* context;
  T* __restrict data;
  scratch(spd_call* call, int64_t count, bool zeroed)
      : context(call->context), data((T*)context->take(context, count * sizeof(T), zeroed)) {}
  scratch(const scratch&) = delete;
  ~scratch() { context->give(context, data); }
  operator T*() const { return data; }
};
)";

constexpr std::string_view own_scratch = R"(
// The same for each thread of a parallel region. Nothing may be thrown there: it is null where there is none left.
template <class T> struct own_scratch {
  spd_context* context;
  T* __restrict data;
  own_scratch(spd_call* call, int64_t count, bool zeroed) : context(call->context), data(0) {
    try { data = (T*)context->take(context, count * sizeof(T), zeroed); }
    catch (...) { context->fail(context); }
  }
  own_scratch(const own_scratch&) = delete;
  ~own_scratch() { context->give(context, data); }
  operator T*() const { return data; }
};
)";

constexpr std::string_view resize = R"(
template <class T> static T* resize(spd_call* call, spd_array& array, int64_t count) {
  return (T*)call->context->resize(call->context, &array, count, count * sizeof(T));
}
)";

constexpr std::string_view append = R"(
// A share's part of a result, put behind those of the shares before it.
template <class T> static void append(spd_call* call, spd_array& to, int64_t shares, int64_t share, scratch<T>& part, int64_t count) {
  call->context->append(call->context, &to, shares, share, (void**)&part.data, count, sizeof(T));
}
)";

constexpr std::string_view stream = R"(
// A result that is larger than the caches is written past them, which saves reading its lines first.
static bool past_caches(spd_call* call, spd_array& array, int64_t bytes) {
  return array.count * bytes > call->context->caches && (int64_t)array.data % 64 == 0;
}
// What was streamed is there for everyone.
static inline void fence() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}
typedef long long words2 __attribute__((vector_size(16)));
typedef long long words4 __attribute__((vector_size(32)));
typedef long long words8 __attribute__((vector_size(64)));
template <class T, class V> static inline void stream(T* to, V x, bool large) {
  if (!large) __builtin_memcpy(to, &x, sizeof(V));
#if defined(__clang__)
  else __builtin_nontemporal_store(x, (V*)to);
#else
#if defined(__SSE2__)
  else if constexpr (sizeof(V) == 16) __builtin_ia32_movntdq((words2*)to, (words2)x);
#endif
#if defined(__AVX__)
  else if constexpr (sizeof(V) == 32) __builtin_ia32_movntdq256((words4*)to, (words4)x);
#endif
#if defined(__AVX512F__)
  else if constexpr (sizeof(V) == 64) __builtin_ia32_movntdq512((words8*)to, (words8)x);
#endif
  else __builtin_memcpy(to, &x, sizeof(V));
#endif
}
)";

constexpr std::string_view splat = R"(
template <class V, class T> static inline V splat(T x) { return x - V{}; }
)";

// What no instruction does is tried until nobody came between; all that write to a bool write the same.
constexpr std::string_view atomic_update = R"(
template <class T, class F> static inline void atomic_update(T* to, F combined) {
  T old, next;
  __atomic_load(to, &old, __ATOMIC_RELAXED);
  do next = combined(old);
  while (!__atomic_compare_exchange(to, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
template <class T> static inline void atomic_multiply(T* to, T value) { atomic_update(to, [value](T old) { return T(old * value); }); }
template <class T> static inline void atomic_min(T* to, T value) { atomic_update(to, [value](T old) { return value < old ? value : old; }); }
template <class T> static inline void atomic_max(T* to, T value) { atomic_update(to, [value](T old) { return old < value ? value : old; }); }
static inline void atomic_or(bool* to, bool value) { if (value) __atomic_store_n(to, true, __ATOMIC_RELAXED); }
static inline void atomic_and(bool* to, bool value) { if (!value) __atomic_store_n(to, false, __ATOMIC_RELAXED); }
)";

}  // namespace

HelperTexts host_helpers() {
  return {
      {{Helper::Complex}, {"complex64", "complex128"}, std::string(complex_types)},
      {{Helper::MinMax}, {"min", "max"}, std::string(min_max)},
      {{Helper::Sort}, {"sort_run"}, std::string(rank_sort)},
      {{Helper::Sort}, {"sort"}, std::string(sort)},
      {{Helper::Scratch}, {"scratch"}, std::string(scratch)},
      {{Helper::OwnScratch}, {"own_scratch"}, std::string(own_scratch)},
      {{Helper::Resize}, {"resize"}, std::string(resize)},
      {{Helper::Append}, {"append"}, std::string(append)},
      {{Helper::Stream}, {"past_caches", "fence", "words2", "words4", "words8", "stream"}, std::string(stream)},
      {{Helper::Splat}, {"splat"}, std::string(splat)},
      {{Helper::AtomicUpdate},
       {"atomic_update", "atomic_multiply", "atomic_min", "atomic_max", "atomic_or", "atomic_and"},
       std::string(atomic_update)},
  };
}

}  // namespace spdistal::codegen
