#include "codegen/helpers.hpp"

#include <fmt/format.h>

namespace spdistal::codegen {
namespace {

constexpr std::string_view min_max = R"(
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
)";

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

constexpr std::string_view insertion_sort = R"(
template <class T> static void sort_run(T* first, T* last) {
  for (T* at = first + 1; at < last; at++) {
    const T x = *at;
    T* to = at;
    for (; to > first && x < to[-1]; to--) *to = to[-1];
    *to = x;
  }
}
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

// Threads of a GPU have next to no stack: nothing calls itself.
constexpr std::string_view cuda_sort = R"(
// Ascending: nothing where it is sorted already.
template <class T> static void sort(T* first, T* last) {
  T* sorted = first + 1;
  while (sorted < last && !(*sorted < sorted[-1])) sorted++;
  if (sorted >= last) return;
  if (last - first > 32) heap_sort(first, last); else sort_run(first, last);
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

constexpr std::string_view quotient = R"(
// Of all integers: 0 where the divisor is 0, and what overflows wraps.
template <class T> static inline T quotient(T a, T b) {
  return b == 0 ? T(0) : b == -1 ? T(0ull - (unsigned long long)a) : T(a / b);
}
)";

constexpr std::string_view splat = R"(
template <class V, class T> static inline V splat(T x) { return x - V{}; }
)";

constexpr std::string_view complex_types = R"(
typedef __complex__ float complex64;
typedef __complex__ double complex128;
)";

constexpr std::string_view cuda_complex = R"(
template <class T> struct complex_of {
  T re, im;
  complex_of() = default;
  __device__ complex_of(T a, T b = 0) : re(a), im(b) {}
  template <class U> __device__ explicit complex_of(complex_of<U> z) : re(z.re), im(z.im) {}
};
typedef complex_of<float> complex64;
typedef complex_of<double> complex128;
template <class T> __device__ complex_of<T> operator+(complex_of<T> a, complex_of<T> b) { return {a.re + b.re, a.im + b.im}; }
template <class T> __device__ complex_of<T> operator-(complex_of<T> a, complex_of<T> b) { return {a.re - b.re, a.im - b.im}; }
template <class T> __device__ complex_of<T> operator-(complex_of<T> a) { return {-a.re, -a.im}; }
template <class T> __device__ complex_of<T> operator*(complex_of<T> a, complex_of<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> __device__ complex_of<T> operator/(complex_of<T> a, complex_of<T> b) {
  const T n = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
}
template <class T> __device__ bool operator==(complex_of<T> a, complex_of<T> b) { return a.re == b.re && a.im == b.im; }
template <class T> __device__ bool operator!=(complex_of<T> a, complex_of<T> b) { return !(a == b); }
template <class T> __device__ void operator+=(complex_of<T>& a, complex_of<T> b) { a = a + b; }
template <class T> __device__ void operator-=(complex_of<T>& a, complex_of<T> b) { a = a - b; }
template <class T> __device__ void operator*=(complex_of<T>& a, complex_of<T> b) { a = a * b; }
template <class T> __device__ void operator/=(complex_of<T>& a, complex_of<T> b) { a = a / b; }
template <class T> __device__ T real(complex_of<T> z) { return z.re; }
template <class T> __device__ T imag(complex_of<T> z) { return z.im; }
template <class T> __device__ complex_of<T> conj(complex_of<T> z) { return {z.re, -z.im}; }
template <class T> __device__ T abs(complex_of<T> z) { return hypot(z.re, z.im); }
)";

// As Kahan has them, so that branch cuts are where the C library's are.
constexpr std::string_view cuda_complex_math = R"(
template <class T> static __device__ complex_of<T> times_i(complex_of<T> z) { return {-z.im, z.re}; }
template <class T> static __device__ complex_of<T> sqrt(complex_of<T> z) {
  if (z.re == 0 && z.im == 0) return {T(0), z.im};
  const T r = sqrt((hypot(z.re, z.im) + fabs(z.re)) / 2);
  if (z.re >= 0) return {r, z.im / (2 * r)};
  return {fabs(z.im) / (2 * r), copysign(r, z.im)};
}
template <class T> static __device__ complex_of<T> exp(complex_of<T> z) {
  const T r = exp(z.re);
  if (z.im == 0) return {r, z.im};
  return {r * cos(z.im), r * sin(z.im)};
}
template <class T> static __device__ complex_of<T> log(complex_of<T> z) { return {log(hypot(z.re, z.im)), atan2(z.im, z.re)}; }
template <class T> static __device__ complex_of<T> pow(complex_of<T> a, complex_of<T> b) {
  if (a.re == 0 && a.im == 0) return {T(b.re == 0 && b.im == 0), T(0)};
  return exp(b * log(a));
}
template <class T> static __device__ complex_of<T> sinh(complex_of<T> z) { return {sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)}; }
template <class T> static __device__ complex_of<T> cosh(complex_of<T> z) { return {cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)}; }
template <class T> static __device__ complex_of<T> tanh(complex_of<T> z) {
  if (fabs(z.re) > 20) return {copysign(T(1), z.re), 4 * sin(z.im) * cos(z.im) * exp(-2 * fabs(z.re))};
  const T n = cosh(2 * z.re) + cos(2 * z.im);
  return {sinh(2 * z.re) / n, sin(2 * z.im) / n};
}
template <class T> static __device__ complex_of<T> sin(complex_of<T> z) { return {sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im)}; }
template <class T> static __device__ complex_of<T> cos(complex_of<T> z) { return {cos(z.re) * cosh(z.im), -sin(z.re) * sinh(z.im)}; }
template <class T> static __device__ complex_of<T> tan(complex_of<T> z) { return -times_i(tanh(times_i(z))); }
template <class T> static __device__ complex_of<T> asin(complex_of<T> z) {
  const complex_of<T> one(1), a = sqrt(one - z), b = sqrt(one + z);
  return {atan2(z.re, (a * b).re), asinh((conj(a) * b).im)};
}
template <class T> static __device__ complex_of<T> acos(complex_of<T> z) {
  const complex_of<T> one(1), a = sqrt(one - z), b = sqrt(one + z);
  return {2 * atan2(a.re, b.re), asinh((conj(b) * a).im)};
}
template <class T> static __device__ complex_of<T> atan(complex_of<T> z) {
  const T x = z.re * z.re, up = z.im + 1, down = z.im - 1;
  return {atan2(2 * z.re, 1 - x - z.im * z.im) / 2, log((x + up * up) / (x + down * down)) / 4};
}
)";

constexpr std::string_view cuda_atomic = R"(
template <class T> static __device__ void atomic_add(T* to, T value) { atomicAdd(to, value); }
static __device__ void atomic_add(int64_t* to, int64_t value) { atomicAdd((unsigned long long*)to, (unsigned long long)value); }
)";
// What no instruction does is tried until nobody came between; all that write to a bool write the same.
constexpr std::string_view cpp_atomic_update = R"(
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
constexpr std::string_view cuda_atomic_update = R"(
template <int size> struct bits_of;
template <> struct bits_of<4> { typedef unsigned type; };
template <> struct bits_of<8> { typedef unsigned long long type; };
template <class T, class F> static __device__ void atomic_update(T* to, F combined) {
  typedef typename bits_of<sizeof(T)>::type bits;
  bits seen = *(volatile bits*)to, old;
  do {
    old = seen;
    T next = combined(*(T*)&old);
    seen = atomicCAS((bits*)to, old, *(bits*)&next);
  } while (seen != old);
}
template <class T> struct times { T value; __device__ T operator()(T old) const { return old * value; } };
template <class T> struct less_of { T value; __device__ T operator()(T old) const { return value < old ? value : old; } };
template <class T> struct more_of { T value; __device__ T operator()(T old) const { return old < value ? value : old; } };
template <class T> static __device__ void atomic_multiply(T* to, T value) { atomic_update(to, times<T>{value}); }
template <class T> static __device__ void atomic_min(T* to, T value) { atomic_update(to, less_of<T>{value}); }
template <class T> static __device__ void atomic_max(T* to, T value) { atomic_update(to, more_of<T>{value}); }
static __device__ void atomic_or(bool* to, bool value) { if (value) *(volatile bool*)to = true; }
static __device__ void atomic_and(bool* to, bool value) { if (!value) *(volatile bool*)to = false; }
)";
constexpr std::string_view cuda_complex_atomic = R"(
template <class T> static __device__ void atomic_add(complex_of<T>* to, complex_of<T> value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}
)";

constexpr std::string_view cuda_claim = R"(
static __device__ int32_t claim(int32_t* at, int32_t value) { return atomicCAS(at, 0, value); }
static __device__ int64_t claim(int64_t* at, int64_t value) { return (int64_t)atomicCAS((unsigned long long*)at, 0, (unsigned long long)value); }
)";
// Runs are merged, each with the one behind it read backwards; the smaller of two elements always comes first, so that
// there may be any number of them.
constexpr std::string_view cuda_warp_sort = R"(
template <class T> static __device__ void warp_sort(T* first, T* last) {
  const unsigned n = last - first;
  for (unsigned run = 1; run < n; run *= 2)
    for (unsigned apart = run; apart; apart /= 2) {
      for (unsigned pair = threadIdx.x & 31, begin; (begin = (pair & -apart) * 2) < n; pair += 32) {
        const unsigned number = pair & (apart - 1), low = begin + number;
        const unsigned high = apart == run ? begin + 2 * run - 1 - number : low + apart;
        if (high < n) {
          const T x = first[low], y = first[high];
          if (y < x) { first[low] = y; first[high] = x; }
        }
      }
      __syncwarp();
    }
}
)";

constexpr std::string_view cuda_warp = R"(
// The lanes of this one's group, which may run apart from the others of the warp.
template <int width> static __device__ unsigned group_mask() {
  return width == 32 ? 0xffffffff : ((1u << width % 32) - 1) << (threadIdx.x & 31 & ~(width - 1));
}
template <int width = 32, class T> static __device__ T warp_add(T x) {
  for (int d = width / 2; d; d /= 2) x += __shfl_xor_sync(group_mask<width>(), x, d);
  return x;
}
template <int width = 32, class T> static __device__ T warp_min(T x) {
  for (int d = width / 2; d; d /= 2) { const T y = __shfl_xor_sync(group_mask<width>(), x, d); x = y < x ? y : x; }
  return x;
}
template <int width = 32, class T> static __device__ T warp_max(T x) {
  for (int d = width / 2; d; d /= 2) { const T y = __shfl_xor_sync(group_mask<width>(), x, d); x = x < y ? y : x; }
  return x;
}
template <int width = 32, class T> static __device__ T warp_scan_add(T x) {
  for (int d = 1; d < width; d *= 2) { const T y = __shfl_up_sync(group_mask<width>(), x, d, width); if (threadIdx.x % width >= d) x += y; }
  return x;
}
template <int width = 32, class T> static __device__ T warp_scan_min(T x) {
  for (int d = 1; d < width; d *= 2) { const T y = __shfl_up_sync(group_mask<width>(), x, d, width); x = y < x ? y : x; }
  return x;
}
template <int width = 32, class T> static __device__ T warp_scan_max(T x) {
  for (int d = 1; d < width; d *= 2) { const T y = __shfl_up_sync(group_mask<width>(), x, d, width); x = x < y ? y : x; }
  return x;
}
)";

// Of the device's heap; a thread that gets none stops the kernel.
constexpr std::string_view cuda_scratch = R"(
template <class T> struct scratch {
  T* data;
  __device__ scratch(int64_t count, bool zeroed) : data((T*)malloc(count * sizeof(T) + 1)) {
    if (!data) __trap();
    if (zeroed) for (int64_t i = 0; i < count; i++) data[i] = T(0);
  }
  scratch(const scratch&) = delete;
  __device__ ~scratch() { free(data); }
  __device__ operator T*() const { return data; }
};
)";

constexpr std::string_view cuda_min_max = R"(
template <class T> static __device__ T min_of(T a, T b) { return b < a ? b : a; }
template <class T> static __device__ T max_of(T a, T b) { return a < b ? b : a; }
)";

std::string on_device(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; (at = out.find("static ", at)) != out.npos; at += 18) out.insert(at + 7, "__device__ ");
  return out;
}

}  // namespace

std::string preamble(const Spelling& spelling, const Needs& needs) {
  bool cuda = spelling.language == Language::Cuda;
  std::string out;
  auto add = [&](Helper helper, std::string_view text) {
    if (needs.helpers.contains(helper)) out += text;
  };
  add(Helper::Complex, cuda ? cuda_complex : complex_types);
  if (cuda) add(Helper::ComplexMath, cuda_complex_math);
  if (!needs.vectors.empty()) {
    out += "\n";
    for (const auto& [type, lanes] : needs.vectors)
      out += fmt::format(
          fmt::runtime(cuda ? "struct alignas({2}) {1} {{ {0} elements[{3}]; }};\n"
                            : "typedef {0} {1} __attribute__((vector_size({2}), aligned({4}), may_alias));\n"),
          spelling.types[size_t(type)], type_text(spelling, {type, ir::Type::Form::Value, lanes}),
          size_of(type) * size_t(lanes), lanes, size_of(type));
  }
  add(Helper::MinMax, cuda ? cuda_min_max : min_max);
  add(Helper::Search, cuda ? on_device(search) : std::string(search));
  add(Helper::Sort, cuda ? on_device(insertion_sort) : std::string(rank_sort));
  add(Helper::Sort, cuda ? on_device(heap_sort) : std::string(heap_sort));
  add(Helper::Sort, cuda ? on_device(cuda_sort) : std::string(sort));
  add(Helper::Scratch, cuda ? cuda_scratch : scratch);
  if (!cuda) add(Helper::OwnScratch, own_scratch);
  if (!cuda) add(Helper::Resize, resize);
  if (!cuda) add(Helper::Append, append);
  if (!cuda) add(Helper::Stream, stream);
  add(Helper::Splat, splat);
  add(Helper::Quotient, cuda ? on_device(quotient) : std::string(quotient));
  add(Helper::AtomicUpdate, cuda ? cuda_atomic_update : cpp_atomic_update);
  if (cuda) add(Helper::AtomicAdd, cuda_atomic);
  if (cuda && needs.helpers.contains(Helper::Complex)) add(Helper::AtomicAdd, cuda_complex_atomic);
  if (cuda) add(Helper::WarpReduce, cuda_warp);
  if (cuda) add(Helper::WarpSort, cuda_warp_sort);
  if (cuda) add(Helper::Claim, cuda_claim);
  return out;
}

}  // namespace spdistal::codegen
