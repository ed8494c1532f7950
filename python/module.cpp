// The compiled part of the Python package: tensors whose element type is known at run time, and evaluate. What Python
// programs see is in spdistal/__init__.py.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <spdistal/spdistal.hpp>

#include "communicator.hpp"

namespace nb = nanobind;
using namespace spdistal;

namespace {

using Given = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using GivenNumbers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Keeps a Python object as long as C++ has memory of it; the last to let go may be any thread, and be there when the
// interpreter has gone with all its objects.
std::shared_ptr<const void> kept(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* held) {
            if (!nb::is_alive()) return;
            nb::gil_scoped_acquire gil;
            delete held;
          }};
}

template <class F>
decltype(auto) with_element(ScalarType type, F&& f) {
  switch (type) {
    case ScalarType::Bool: return f(bool());
    case ScalarType::Int32: return f(int32_t());
    case ScalarType::Int64: return f(int64_t());
    case ScalarType::Float32: return f(float());
    case ScalarType::Float64: return f(double());
    case ScalarType::Complex64: return f(std::complex<float>());
    default: return f(std::complex<double>());
  }
}

ScalarType type_named(const std::string& name) {
  for (ScalarType type : all_scalar_types)
    if (name_of(type) == name) return type;
  throw UserError("'" + name + "' is no element type");
}

// Errors of C++ leave with the interpreter held; what takes long runs without it.
template <class F>
auto without_interpreter(F&& f) {
  nb::gil_scoped_release free;
  return f();
}

class PyTensor : public TensorBase {
 public:
  PyTensor(const std::string& name, const std::vector<int64_t>& dims, const std::string& type,
           const std::string& format)
      : TensorBase(name, {dims.begin(), dims.end()}, Format::parse(format), type_named(type)) {}
  explicit PyTensor(const TensorBase& tensor) : TensorBase(tensor) {}

  static PyTensor read(const std::string& name, const std::string& path, const std::string& type,
                       const std::string& format) {
    Format stored = Format::parse(format);
    std::vector<Extent> sizes;  // the file tells them
    for (size_t d = 0; d < stored.order(); d++) sizes.push_back(Param());
    PyTensor out(name, std::move(sizes), std::move(stored), type_named(type));
    without_interpreter([&] { out.read_file(path); });
    return out;
  }

  void borrow(const Given& values, nb::object owner) {
    borrow_dense(values.data(), values.size(), kept(std::move(owner)));
  }
  void borrow_rows(const Given& pos, const Given& crd, const Given& values, nb::object owner) {
    borrow_compressed({pos.data(), pos.size(), pos.itemsize()}, {crd.data(), crd.size(), crd.itemsize()}, values.data(),
                      values.size(), kept(std::move(owner)));
  }
  void enter(const std::vector<GivenNumbers>& coordinates, const Given& values, bool alike) {
    std::vector<std::vector<int64_t>> columns;
    for (const GivenNumbers& column : coordinates) columns.emplace_back(column.data(), column.data() + column.size());
    pack_columns(columns, values.data(), values.size(), alike ? Entered::Alike : Entered::Parts);
  }
  void set(const Given& values) { replace_values(values.data(), values.size()); }

  nb::object values() const {
    SharedArray all = values_array();
    return with_element(type(), [&](auto zero) { return numpy<decltype(zero)>(all); });
  }
  nb::object index_array(const std::string& name, size_t level) const { return as_numpy(level_array(name, level)); }
  // None where a level has no such array.
  nb::object find_index_array(const std::string& name, size_t level) const {
    std::optional<SharedArray> found = find_array(name, level);
    return found ? as_numpy(*found) : nb::none();
  }
  // All stored elements, on every rank: a column of coordinates for each dimension, and the values.
  std::pair<std::vector<nb::object>, nb::object> gathered() const {
    return with_element(type(), [&](auto zero) {
      using T = decltype(zero);
      auto columns = std::make_shared<std::vector<std::vector<int64_t>>>(order());
      auto values = std::make_shared<std::vector<std::conditional_t<std::same_as<T, bool>, char, T>>>();
      each_element([&](std::span<const int64_t> at, const void* value) {
        for (size_t d = 0; d < at.size(); d++) (*columns)[d].push_back(at[d]);
        values->push_back(*static_cast<const T*>(value));
      });
      std::vector<nb::object> out;
      for (const std::vector<int64_t>& column : *columns)
        out.push_back(numpy<int64_t>({column.data(), column.size(), 8, columns}));
      return std::pair(out, numpy<T>({values->data(), values->size(), sizeof(T), values}));
    });
  }

 private:
  PyTensor(const std::string& name, std::vector<Extent> sizes, Format format, ScalarType type)
      : TensorBase(name, std::move(sizes), std::move(format), type) {}
  // An array of numpy over memory that C++ keeps for it.
  template <class T>
  static nb::object numpy(const SharedArray& array) {
    nb::capsule owner(new std::shared_ptr<const void>(array.owner),
                      [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
    auto* data = const_cast<T*>(static_cast<const T*>(array.data));
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {array.count}, owner));
  }
  static nb::object as_numpy(const SharedArray& index) {
    if (index.bytes == sizeof(bool)) return numpy<bool>(index);
    return index.bytes == 4 ? numpy<int32_t>(index) : numpy<int64_t>(index);
  }
};

using Texts = std::vector<std::string>;
using GivenTensors = std::vector<std::pair<std::string, PyTensor>>;

std::vector<std::pair<std::string, TensorBase>> bases(const GivenTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled part of spdistal.";
  nb::exception<UserError>(m, "UserError", PyExc_ValueError);
  nb::exception<SystemError>(m, "SystemError", PyExc_RuntimeError);

  nb::class_<PyTensor>(m, "Tensor")
      .def(nb::init<const std::string&, const std::vector<int64_t>&, const std::string&, const std::string&>())
      .def_static("read", &PyTensor::read)
      .def("borrow", &PyTensor::borrow)
      .def("borrow_rows", &PyTensor::borrow_rows)
      .def("enter", &PyTensor::enter)
      .def("set_values", &PyTensor::set)
      .def("changed", &PyTensor::changed)
      .def("values", &PyTensor::values)
      .def("array", &PyTensor::index_array)
      .def("find_array", &PyTensor::find_index_array)
      .def("gathered", &PyTensor::gathered)
      .def("write", [](const PyTensor& t, const std::string& path) { t.write(path); })
      .def_prop_ro("dims", [](const PyTensor& t) { return t.dims(); })
      .def_prop_ro("type", [](const PyTensor& t) { return std::string(name_of(t.type())); })
      .def_prop_ro("format", [](const PyTensor& t) { return t.format().str(); })
      .def_prop_ro("pieces", [](const PyTensor& t) { return t.pieces(); })
      .def_prop_ro("nnz", [](const PyTensor& t) { return t.nnz(); });

  nb::class_<Evaluation>(m, "Evaluation")
      .def_prop_ro("result", [](const Evaluation& e) { return PyTensor(e.result()); })
      .def("statement", &Evaluation::statement)
      .def("kernel", &Evaluation::kernel)
      .def("plan", &Evaluation::plan)
      .def("report", [](const Evaluation& e) {
        Report report = e.report();
        return std::pair(report.json(), report.str());
      });

  nb::class_<Tuned::Trial>(m, "Trial")
      .def_ro("label", &Tuned::Trial::label)
      .def_ro("schedule", &Tuned::Trial::schedule)
      .def_ro("seconds", &Tuned::Trial::seconds);
  nb::class_<Tuned>(m, "Tuned")
      .def_ro("schedule", &Tuned::schedule)
      .def_ro("trials", &Tuned::trials)
      .def_ro("found", &Tuned::found)
      .def_ro("by_itself", &Tuned::by_itself)
      .def_ro("converted", &Tuned::converted)
      .def("__str__", &Tuned::str);

  m.def("evaluate", [](const std::string& statement, const GivenTensors& tensors, Texts formats, Texts types,
                       Texts sizes, std::optional<std::string> machine, Texts distributions, std::string schedule) {
    auto given = bases(tensors);
    return without_interpreter([&] {
      return evaluate(statement, given, {formats, types, sizes, machine, distributions, schedule});
    });
  });
  m.def("tune",
        [](const std::string& statement, const GivenTensors& tensors, Texts formats, Texts types, Texts sizes,
           std::optional<std::string> machine, Texts distributions, std::string schedule, double seconds, bool again) {
          auto given = bases(tensors);
          return without_interpreter([&] {
            return tune(statement, given, {formats, types, sizes, machine, distributions, schedule}, {seconds, again});
          });
        });
  bind_runtime(m);
  m.def("rank", &rank);
  m.def("ranks", &ranks);
}
