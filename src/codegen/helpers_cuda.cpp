// The functions of texts in CUDA.
#include "codegen/helpers.hpp"

namespace spdistal::codegen {
namespace {

constexpr std::string_view complex = R"(
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

// As Kahan has them: on the branch cuts, and of zero, they are what the C library's are. There the signs of zeros decide, which
// 1 - z would lose.
constexpr std::string_view complex_math = R"(
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
  if (z.im - z.im != 0 && r == 0) return {T(0), T(0)};
  if (z.im - z.im != 0 && r == 2 * r) return {r, z.im - z.im};
  return {r * cos(z.im), r * sin(z.im)};
}
template <class T> static __device__ complex_of<T> log(complex_of<T> z) { return {log(hypot(z.re, z.im)), atan2(z.im, z.re)}; }
template <class T> static __device__ complex_of<T> pow(complex_of<T> a, complex_of<T> b) { return exp(b * log(a)); }
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
  const complex_of<T> a = sqrt(complex_of<T>(1 - z.re, -z.im)), b = sqrt(complex_of<T>(1 + z.re, z.im));
  return {atan2(z.re, (a * b).re), asinh((conj(a) * b).im)};
}
template <class T> static __device__ complex_of<T> acos(complex_of<T> z) {
  const complex_of<T> a = sqrt(complex_of<T>(1 - z.re, -z.im)), b = sqrt(complex_of<T>(1 + z.re, z.im));
  return {2 * atan2(a.re, b.re), asinh((conj(b) * a).im)};
}
template <class T> static __device__ complex_of<T> atan(complex_of<T> z) {
  const T x = z.re * z.re, up = z.im + 1, down = z.im - 1;
  return {atan2(2 * z.re, 1 - x - z.im * z.im) / 2, log((x + up * up) / (x + down * down)) / 4};
}
)";

constexpr std::string_view min_max = R"(
template <class T> static __device__ T min_of(T a, T b) { return b < a ? b : a; }
template <class T> static __device__ T max_of(T a, T b) { return a < b ? b : a; }
)";

constexpr std::string_view insertion_sort = R"(
template <class T> static __device__ void sort_run(T* first, T* last) {
  for (T* at = first + 1; at < last; at++) {
    const T x = *at;
    T* to = at;
    for (; to > first && x < to[-1]; to--) *to = to[-1];
    *to = x;
  }
}
)";

// Threads of a GPU have next to no stack: nothing calls itself.
constexpr std::string_view sort = R"(
// Ascending: nothing where it is sorted already.
template <class T> static __device__ void sort(T* first, T* last) {
  T* sorted = first + 1;
  while (sorted < last && !(*sorted < sorted[-1])) sorted++;
  if (sorted >= last) return;
  if (last - first > 32) heap_sort(first, last); else sort_run(first, last);
}
)";

// Of the device's heap; a thread that gets none stops the kernel.
constexpr std::string_view scratch = R"(
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

constexpr std::string_view atomic_update = R"(
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

constexpr std::string_view atomic_add = R"(
template <class T> static __device__ void atomic_add(T* to, T value) { atomicAdd(to, value); }
static __device__ void atomic_add(int64_t* to, int64_t value) { atomicAdd((unsigned long long*)to, (unsigned long long)value); }
)";

constexpr std::string_view complex_atomic_add = R"(
template <class T> static __device__ void atomic_add(complex_of<T>* to, complex_of<T> value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}
)";

constexpr std::string_view warp = R"(
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

// Runs are merged, each with the one behind it read backwards; the smaller of two elements always comes first, so that
// there may be any number of them.
constexpr std::string_view warp_sort = R"(
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

// Devices before these copy at once.
constexpr std::string_view copies = R"(
template <class T> static __device__ void copy_ahead(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"(sizeof(T)));
#else
  *to = *from;
#endif
}
static __device__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
)";

constexpr std::string_view claim = R"(
static __device__ int32_t claim(int32_t* at, int32_t value) { return atomicCAS(at, 0, value); }
static __device__ int64_t claim(int64_t* at, int64_t value) { return (int64_t)atomicCAS((unsigned long long*)at, 0, (unsigned long long)value); }
)";

}  // namespace

HelperTexts cuda_helpers() {
  return {
      {{Helper::Complex},
       {"complex_of", "complex64", "complex128", "real", "imag", "conj", "abs"},
       std::string(complex)},
      {{Helper::ComplexMath},
       {"times_i", "sqrt", "exp", "log", "pow", "sinh", "cosh", "tanh", "sin", "cos", "tan", "asin", "acos", "atan"},
       std::string(complex_math)},
      {{Helper::MinMax}, {"min_of", "max_of"}, std::string(min_max)},
      {{Helper::Sort}, {"sort_run"}, std::string(insertion_sort)},
      {{Helper::Sort}, {"sort"}, std::string(sort)},
      {{Helper::Scratch}, {"scratch"}, std::string(scratch)},
      {{Helper::AtomicUpdate},
       {"bits_of", "atomic_update", "times", "less_of", "more_of", "atomic_multiply", "atomic_min", "atomic_max",
        "atomic_or", "atomic_and"},
       std::string(atomic_update)},
      {{Helper::AtomicAdd}, {"atomic_add"}, std::string(atomic_add)},
      {{Helper::AtomicAdd, Helper::Complex}, {"atomic_add"}, std::string(complex_atomic_add)},
      {{Helper::WarpReduce},
       {"group_mask", "warp_add", "warp_min", "warp_max", "warp_scan_add", "warp_scan_min", "warp_scan_max"},
       std::string(warp)},
      {{Helper::WarpSort}, {"warp_sort"}, std::string(warp_sort)},
      {{Helper::Claim}, {"claim"}, std::string(claim)},
      {{Helper::Copies}, {"copy_ahead", "wait_for_copies"}, std::string(copies)},
  };
}

}  // namespace spdistal::codegen
