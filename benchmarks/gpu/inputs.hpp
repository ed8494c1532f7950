// What kernels on a GPU are measured with: matrices and tensors that are made alike in every run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace spdistal::bench {

struct Csr {
  std::string name;
  int64_t n;
  std::vector<int32_t> pos, crd;
  std::vector<double> values;
};
Csr banded(int64_t n);
Csr uniform(int64_t n);
Csr rmat(int scale);
/// The columns further by this much, round the end.
Csr shifted(const Csr& from, int64_t by);

/// Slices, fibres in them, elements in these.
struct Csf {
  std::string name;
  int64_t dims[3];
  std::vector<int32_t> slice_pos, fibre_crd, fibre_pos, crd;
  std::vector<double> values;
};
enum class Spread : uint8_t { Fibres, Cubic };
/// So many elements: in fibres of four on average that lie anywhere, or the more the nearer to the origin.
Csf tensor(int64_t elements, Spread spread);

/// A number from 0.5 to 1.5 for each number.
double value_at(uint64_t k);

}  // namespace spdistal::bench
