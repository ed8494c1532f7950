// cusparse: products of a matrix in CSR, by NVIDIA's library.
//
// Coordinates are those of the whole tensors, while a piece of a dense operand begins with the first that is needed of it: it is
// described as beginning that much earlier, and nothing in front of it is looked at.
#include <algorithm>
#include <complex>
#include <map>
#include <memory>

#include "base/require.hpp"
#include "routine/cusparse_library.hpp"
#include "routine/registry.hpp"
#include "runtime/device/device.hpp"

namespace spdistal::routine {
namespace {

std::byte* moved(void* data, int64_t elements, ScalarType type) {
  return static_cast<std::byte*>(data) + elements * int64_t(size_of(type));
}

enum class Beginning : uint8_t { AtTheFirst, AtZero };

// A dense matrix as the library takes it.
struct DenseMatrix {
  int64_t rows, columns, leading;
  void* values;
  Cusparse::Order order;
  memory::Buffer own = {};  // where lines had to be set further apart
};

// Rows and columns are counted from the first that the piece has, or from 0. Lines that are shorter than what is counted are copied
// into longer ones.
DenseMatrix dense_of(runtime::Device& device, const LeafTensor& tensor, Beginning of_rows, Beginning of_columns) {
  const LeafLevel &rows = tensor.levels[0], &columns = tensor.levels[1];
  bool by_rows = columns.stride == 1;
  const LeafLevel &line = by_rows ? columns : rows, &lines = by_rows ? rows : columns;
  auto before = [](Beginning at, const LeafLevel& level) { return at == Beginning::AtZero ? level.first : 0; };
  int64_t before_line = before(by_rows ? of_columns : of_rows, line);
  int64_t before_lines = before(by_rows ? of_rows : of_columns, lines);
  int64_t width = std::max<int64_t>(before_line + line.extent, 1);
  int64_t apart = lines.extent <= 1 ? std::max(lines.stride, width) : lines.stride;
  DenseMatrix out{before(of_rows, rows) + rows.extent, before(of_columns, columns) + columns.extent, apart,
                  tensor.values, by_rows ? Cusparse::ByRows : Cusparse::ByColumns};
  if (apart < width) {
    size_t bytes = size_of(tensor.type);
    out.own = device.allocate(size_t(lines.extent * width) * bytes);
    out.values = moved(out.own.data(), before_line, tensor.type);
    for (int64_t k = 0; k < lines.extent; k++)
      device.copy(moved(out.values, k * width, tensor.type), moved(tensor.values, k * apart, tensor.type),
                  size_t(line.extent) * bytes);
    out.leading = width;
  }
  out.values = moved(out.values, -(before_line + before_lines * out.leading), tensor.type);
  return out;
}

// A description that the library made, and destroys.
struct Destruction {
  int (*with)(Cusparse::Handle) = nullptr;
  void operator()(Cusparse::Handle handle) const { with(handle); }
};
using Description = std::unique_ptr<void, Destruction>;

// What is kept for one pattern: descriptions, and room that the library wants.
struct Prepared {
  Description sparse = {}, operand = {}, other = {}, result = {};
  memory::Buffer room = {}, scratch = {};
};

// Zeros in a dense result.
void clear(runtime::Device& device, const LeafTensor& tensor) {
  size_t element = size_of(tensor.type);
  int64_t inner = tensor.levels.size() > 1 ? tensor.levels[1].extent : 1;
  bool by_rows = tensor.levels.size() < 2 || tensor.levels[1].stride == 1 || inner <= 1;
  int64_t lines = by_rows ? tensor.levels[0].extent : inner, length = by_rows ? inner : tensor.levels[0].extent;
  int64_t apart = by_rows ? tensor.levels[0].stride : tensor.levels[1].stride;
  if (apart == length) lines = std::min<int64_t>(1, lines), length *= by_rows ? tensor.levels[0].extent : inner;
  for (int64_t k = 0; k < lines; k++)
    device.fill(moved(tensor.values, k * apart, tensor.type), std::byte(0), size_t(length) * element);
}

class CusparseProducts {
 public:
  CusparseProducts(std::shared_ptr<const Cusparse> library, std::shared_ptr<const Cublas> blas)
      : f_(std::move(library)), blas_(std::move(blas)) {}

  void spmv(const LeafPiece& piece) {
    const LeafTensor &a = piece["a"], &B = piece["B"], &c = piece["c"];
    if (!begin(piece, B, a)) return;
    int64_t before = c.levels[0].first, size = before + c.levels[0].extent;
    void* x = moved(c.values, -before, c.type);
    Prepared& kept = prepared(piece, B, {}, size, [&](Prepared& p) {
      p.sparse = described(B, size, B.values);
      p.operand = described(size, x), p.result = described(a.levels[0].extent, a.values);
      return room_for([&](size_t* bytes) {
        return f_->cusparseSpMV_bufferSize(here_->handle, Cusparse::AsItIs, one(), p.sparse.get(), p.operand.get(),
                                           beta(piece), p.result.get(), type_, Cusparse::default_algorithm, bytes);
      });
    });
    check(f_->cusparseSpMatSetValues(kept.sparse.get(), B.values), "describe a matrix");
    check(f_->cusparseDnVecSetValues(kept.operand.get(), x), "describe a vector");
    check(f_->cusparseDnVecSetValues(kept.result.get(), a.values), "describe a vector");
    check(f_->cusparseSpMV(here_->handle, Cusparse::AsItIs, one(), kept.sparse.get(), kept.operand.get(), beta(piece),
                           kept.result.get(), type_, Cusparse::default_algorithm, kept.room.data()),
          "multiply with a vector");
  }

  void spmm(const LeafPiece& piece) {
    const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"];
    if (!begin(piece, B, A)) return;
    DenseMatrix x = dense_of(*device_, C, Beginning::AtZero, Beginning::AtTheFirst);
    DenseMatrix y = dense_of(*device_, A, Beginning::AtTheFirst, Beginning::AtTheFirst);
    int64_t size = x.rows;
    // One that lies the other way than the result is its own transpose.
    int how = Cusparse::AsItIs;
    if (x.order != y.order) std::swap(x.rows, x.columns), x.order = y.order, how = Cusparse::Transposed;
    Prepared& kept = prepared(piece, B, {&x, &y}, size, [&](Prepared& p) {
      p.sparse = described(B, size, B.values);
      p.operand = described(x), p.result = described(y);
      return room_for([&](size_t* bytes) {
        return f_->cusparseSpMM_bufferSize(here_->handle, Cusparse::AsItIs, how, one(), p.sparse.get(), p.operand.get(),
                                           beta(piece), p.result.get(), type_, Cusparse::default_algorithm, bytes);
      });
    });
    check(f_->cusparseSpMatSetValues(kept.sparse.get(), B.values), "describe a matrix");
    check(f_->cusparseDnMatSetValues(kept.operand.get(), x.values), "describe a matrix");
    check(f_->cusparseDnMatSetValues(kept.result.get(), y.values), "describe a matrix");
    check(f_->cusparseSpMM(here_->handle, Cusparse::AsItIs, how, one(), kept.sparse.get(), kept.operand.get(),
                           beta(piece), kept.result.get(), type_, Cusparse::default_algorithm, kept.room.data()),
          "multiply with a matrix");
  }

  // The library takes what B stores for 1 everywhere: its values come in afterwards.
  void sddmm(const LeafPiece& piece) {
    const LeafTensor &A = piece["A"], &B = piece["B"], &C = piece["C"], &D = piece["D"];
    if (B.count == 0) return;
    begin(piece, B, A);
    DenseMatrix x = dense_of(*device_, C, Beginning::AtTheFirst, Beginning::AtTheFirst);
    DenseMatrix y = dense_of(*device_, D, Beginning::AtTheFirst, Beginning::AtZero);
    bool adds = piece.start == LeafStart::Combine;
    Prepared& kept = prepared(piece, B, {&x, &y}, y.columns, [&](Prepared& p) {
      if (adds) p.scratch = device_->allocate(size_t(B.count) * size_of(B.type));
      p.sparse = described(B, y.columns, adds ? p.scratch.data() : A.values);
      p.operand = described(x), p.other = described(y);
      return room_for([&](size_t* bytes) {
        return f_->cusparseSDDMM_bufferSize(here_->handle, Cusparse::AsItIs, Cusparse::AsItIs, one(), p.operand.get(),
                                            p.other.get(), zero(), p.sparse.get(), type_, Cusparse::default_algorithm,
                                            bytes);
      });
    });
    void* samples = adds ? kept.scratch.data() : A.values;
    check(f_->cusparseSpMatSetValues(kept.sparse.get(), samples), "describe a matrix");
    check(f_->cusparseDnMatSetValues(kept.operand.get(), x.values), "describe a matrix");
    check(f_->cusparseDnMatSetValues(kept.other.get(), y.values), "describe a matrix");
    check(f_->cusparseSDDMM(here_->handle, Cusparse::AsItIs, Cusparse::AsItIs, one(), kept.operand.get(),
                            kept.other.get(), zero(), kept.sparse.get(), type_, Cusparse::default_algorithm,
                            kept.room.data()),
          "sample a product");
    scale(samples, B);
    if (adds) add(A.values, samples, B);
  }

 private:
  static void check(int status, const char* what) { Cusparse::check(status, what); }

  // ---- numbers, in the type of the tensors ----
  const void* one() const { return number(1); }
  const void* zero() const { return number(0); }
  const void* beta(const LeafPiece& piece) const { return number(piece.start == LeafStart::Combine ? 1 : 0); }
  const void* number(int value) const {
    static const float floats[][2] = {{0, 0}, {1, 0}};
    static const double doubles[][2] = {{0, 0}, {1, 0}};
    bool single = scalar_ == ScalarType::Float32 || scalar_ == ScalarType::Complex64;
    return single ? static_cast<const void*>(floats[value]) : doubles[value];
  }

  /// False where nothing is stored: then the result is what it has to be. The device is that of this thread from now on.
  bool begin(const LeafPiece& piece, const LeafTensor& B, const LeafTensor& result) {
    device_ = &runtime::device_at(memory::device(piece.device));
    device_->after({}, {});
    scalar_ = result.type;
    type_ = Cusparse::number_of(result.type);
    here_ = &devices_[piece.device];
    if (!here_->handle) check(f_->cusparseCreate(&here_->handle), "start");
    if (B.count > 0) return true;
    if (piece.start == LeafStart::Overwrite) clear(*device_, result);
    return false;
  }

  // ---- descriptions ----
  template <class Create, class... Arguments>
  static Description made(int (*destroy)(Cusparse::Handle), const char* what, Create create,
                          const Arguments&... arguments) {
    Cusparse::Handle out = nullptr;
    check(create(&out, arguments...), what);
    return Description(out, {destroy});
  }
  Description described(const LeafTensor& B, int64_t columns, void* values) const {
    const LeafArray &pos = B.levels[1].array("pos"), &crd = B.levels[1].array("crd");
    return made(f_->cusparseDestroySpMat, "describe a matrix", f_->cusparseCreateCsr, B.levels[0].extent, columns,
                B.count, const_cast<void*>(pos.data), const_cast<void*>(crd.data), values,
                Cusparse::number_of(pos.type), Cusparse::number_of(crd.type), Cusparse::from_zero, type_);
  }
  Description described(int64_t size, void* values) const {
    return made(f_->cusparseDestroyDnVec, "describe a vector", f_->cusparseCreateDnVec, size, values, type_);
  }
  Description described(const DenseMatrix& m) const {
    return made(f_->cusparseDestroyDnMat, "describe a matrix", f_->cusparseCreateDnMat, m.rows, m.columns, m.leading,
                m.values, type_, m.order);
  }
  template <class Ask>
  memory::Buffer room_for(Ask&& ask) const {
    size_t bytes = 0;
    check(ask(&bytes), "tell how much room it wants");
    return device_->allocate(std::max<size_t>(bytes, 1));
  }

  // Of a pattern and sizes; values may be elsewhere in every call.
  using Key = std::vector<int64_t>;
  /// What is kept for one device: handles are of the one that was the thread's when they were made.
  struct OfDevice {
    Cusparse::Handle handle = nullptr,
                     blas_handle = nullptr;  // for good: at its end a process may be without the libraries
    std::map<Key, Prepared> kept = {};
  };
  static void add_to(Key& key, const DenseMatrix& m) { key.insert(key.end(), {m.rows, m.columns, m.leading, m.order}); }
  template <class Make>
  Prepared& prepared(const LeafPiece& piece, const LeafTensor& B, const std::vector<const DenseMatrix*>& dense,
                     int64_t columns, Make&& make) {
    constexpr size_t most = 64;
    Key key{int64_t(B.levels[0].extent), B.count, columns, type_, int64_t(piece.start)};
    for (const void* array : {B.levels[1].array("pos").data, B.levels[1].array("crd").data})
      key.push_back(int64_t(reinterpret_cast<intptr_t>(array)));
    for (const DenseMatrix* m : dense) add_to(key, *m);
    if (auto known = here_->kept.find(key); known != here_->kept.end()) return known->second;
    if (here_->kept.size() >= most) forget();
    Prepared fresh;
    fresh.room = make(fresh);
    return here_->kept.emplace(std::move(key), std::move(fresh)).first->second;
  }
  void forget() {
    device_->wait(runtime::Stream{});  // what runs still has its room
    here_->kept.clear();
  }

  // ---- element by element ----
  template <class F>
  void in_parts(int64_t count, F&& f) const {
    constexpr int64_t most = int64_t(1) << 30;  // counts of 32 bits
    for (int64_t first = 0; first < count; first += most) f(first, int(std::min(most, count - first)));
  }
  Cusparse::Handle blas_handle() {
    if (!here_->blas_handle) check(blas_->cublasCreate(&here_->blas_handle), "start cuBLAS");
    return here_->blas_handle;
  }
  void scale(void* values, const LeafTensor& by) {
    Cublas::Dgmm dgmm = pick(blas_->sdgmm, blas_->ddgmm, blas_->cdgmm, blas_->zdgmm);
    in_parts(by.count, [&](int64_t first, int count) {
      void* part = moved(values, first, scalar_);
      check(dgmm(blas_handle(), 0, count, 1, part, count, moved(by.values, first, scalar_), 1, part, count), "scale");
    });
  }
  void add(void* to, void* values, const LeafTensor& like) {
    Cublas::Axpy axpy = pick(blas_->saxpy, blas_->daxpy, blas_->caxpy, blas_->zaxpy);
    in_parts(like.count, [&](int64_t first, int count) {
      check(axpy(blas_handle(), count, one(), moved(values, first, scalar_), 1, moved(to, first, scalar_), 1), "add");
    });
  }
  template <class F>
  F pick(F single, F twice, F complex_single, F complex_twice) const {
    switch (scalar_) {
      case ScalarType::Float32: return single;
      case ScalarType::Float64: return twice;
      case ScalarType::Complex64: return complex_single;
      default: return complex_twice;
    }
  }

  std::shared_ptr<const Cusparse> f_;
  std::shared_ptr<const Cublas> blas_;
  runtime::Device* device_ = nullptr;  // of the call
  ScalarType scalar_ = ScalarType::Float64;
  int type_ = 0;
  std::map<int, OfDevice> devices_;
  OfDevice* here_ = nullptr;  // of the call
};

const std::vector<ScalarType> types = {ScalarType::Float32, ScalarType::Float64, ScalarType::Complex64,
                                       ScalarType::Complex128};
const std::string name = "cusparse";

// What is kept belongs to one user of the library.
FoundRoutine found(const Libraries& libraries, void (CusparseProducts::*product)(const LeafPiece&), bool by_element) {
  if (libraries.gpu == Libraries::Gpu::Interpreted)
    throw UserError("cusparse is asked for, and GPUs are interpreted",
                    "leave SPDISTAL_GPU=interpreted out on a machine with a GPU, or let the loops run");
  std::shared_ptr<const Cusparse> library = Cusparse::load(libraries.cusparse);
  auto products = std::make_shared<CusparseProducts>(library, by_element ? Cublas::load(libraries.cublas) : nullptr);
  return {[products, product](const LeafPiece& piece) { ((*products).*product)(piece); }, "NVIDIA's " + library->file};
}

}  // namespace

std::vector<Routine> cusparse_routines() {
  auto routine = [](const char* statement, std::vector<std::string> formats,
                    void (CusparseProducts::*product)(const LeafPiece&), bool by_element = false) {
    return Routine({.name = name,
                    .statement = statement,
                    .formats = std::move(formats),
                    .types = types,
                    .processor = GPU,
                    .run = {}},
                   [=](const Libraries& libraries) { return found(libraries, product, by_element); });
  };
  return {routine("a(i) = B(i,j) * c(j)", {"B:ds"}, &CusparseProducts::spmv),
          routine("A(i,j) = B(i,k) * C(k,j)", {"B:ds"}, &CusparseProducts::spmm),
          routine("A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"A:ds", "B:ds"}, &CusparseProducts::sddmm, true)};
}

}  // namespace spdistal::routine
