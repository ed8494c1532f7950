// The functions that texts call: the names they define, and those of complex numbers for devices, compiled for the host.
#include "codegen/helpers.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <regex>
#include <set>

#include "codegen/files.hpp"
#include "codegen/jit.hpp"
#include "codegen/process.hpp"
#include "codegen/reserved.hpp"

namespace spdistal::codegen {
namespace {

std::set<std::string> defined_in(const std::string& text) {
  static const std::regex structs(R"(struct (\w+))"), types(R"(\ntypedef [^;{]*?(\w+)( __attribute__[^;]*)?;)"),
      functions(R"(\n(template <[^;{}()]*> )?(static |__device__ |inline )+[^;{}()=]*[ *&](\w+)\()");
  std::set<std::string> out;
  auto find = [&](const std::regex& pattern, size_t group) {
    for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
      out.insert((*found)[group]);
  };
  find(structs, 1), find(types, 1), find(functions, 3);
  return out;
}

TEST(Helpers, StateAllNamesThatTheyDefine) {
  std::set<std::string> reserved(reserved_words().begin(), reserved_words().end());
  for (Language language : {Language::Cpp, Language::Cuda})
    for (const HelperText& helper : helper_texts(language)) {
      std::set<std::string> stated(helper.names.begin(), helper.names.end());
      EXPECT_EQ(stated, defined_in(helper.text)) << helper.text;
      for (const std::string& name : stated) EXPECT_TRUE(reserved.contains(name)) << name;
    }
}

std::string complex_texts() {
  std::string out = "#include <math.h>\n#define __device__\n";
  for (const HelperText& helper : helper_texts(Language::Cuda))
    if (helper.needed_by == std::vector{Helper::Complex} || helper.needed_by == std::vector{Helper::ComplexMath})
      out += helper.text;
  return out;
}

using Complex = std::complex<double>;

struct ComplexFunction {
  const char* name;
  Complex (*of_host)(const Complex&);
};
constexpr ComplexFunction functions[] = {{"sqrt", std::sqrt}, {"exp", std::exp},   {"log", std::log},
                                         {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},
                                         {"sinh", std::sinh}, {"cosh", std::cosh}, {"tanh", std::tanh},
                                         {"asin", std::asin}, {"acos", std::acos}, {"atan", std::atan}};

class OfDevices : public ::testing::Test {
 protected:
  // Each function as one of parts: f(re, im, out).
  void SetUp() override {
    std::string text = complex_texts();
    for (const ComplexFunction& f : functions)
      text += std::string("extern \"C\" void of_") + f.name +
              "(double a, double b, double* out) { complex128 z = " + f.name +
              "(complex128(a, b)); out[0] = z.re; out[1] = z.im; }\n";
    text +=
        "extern \"C\" void of_pow(double a, double b, double c, double d, double* out) { complex128 z = "
        "pow(complex128(a, b), complex128(c, d)); out[0] = z.re; out[1] = z.im; }\n";
    ASSERT_TRUE(write_file(folder_.file("f.cpp"), text));
    std::optional<std::string> compiler = find_program(JitOptions::default_compiler(), JitOptions{}.search_path);
    if (!compiler) GTEST_SKIP() << "no C++ compiler on this machine";
    Finished made = run(*compiler, {"-O1", "-fPIC", "-shared", "-o", folder_.file("f.so"), folder_.file("f.cpp")});
    ASSERT_EQ(made.status, 0) << made.output;
    library_ = dlopen(folder_.file("f.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library_) << dlerror();
  }
  ~OfDevices() override {
    if (library_) dlclose(library_);
  }
  Complex device(const std::string& name, const Complex& z) {
    double out[2];
    reinterpret_cast<void (*)(double, double, double*)>(dlsym(library_, ("of_" + name).c_str()))(z.real(), z.imag(),
                                                                                                 out);
    return {out[0], out[1]};
  }
  Complex power(const Complex& a, const Complex& b) {
    double out[2];
    using Call = void (*)(double, double, double, double, double*);
    reinterpret_cast<Call>(dlsym(library_, "of_pow"))(a.real(), a.imag(), b.real(), b.imag(), out);
    return {out[0], out[1]};
  }

  PrivateFolder folder_{"/tmp"};
  void* library_ = nullptr;
};

void expect_same(double found, double wanted, const std::string& what) {
  if (std::isnan(wanted)) EXPECT_TRUE(std::isnan(found)) << what;
  else if (std::isinf(wanted)) EXPECT_EQ(found, wanted) << what;
  else EXPECT_NEAR(found, wanted, 1e-12 * std::max(1.0, std::abs(wanted))) << what;
}

TEST_F(OfDevices, FunctionsOfComplexNumbersAreThoseOfTheCLibraryOnTheirCutsToo) {
  const double parts[] = {0.0, -0.0, 0.5, -0.5, 2.0, -2.0, 3.25};
  for (const ComplexFunction& f : functions)
    for (double re : parts)
      for (double im : parts) {
        Complex z(re, im), found = device(f.name, z), wanted = f.of_host(z);
        std::string what = std::string(f.name) + " of " + std::to_string(re) + ", " + std::to_string(im);
        expect_same(found.real(), wanted.real(), what);
        expect_same(found.imag(), wanted.imag(), what);
      }
}

TEST_F(OfDevices, PowersOfZeroAreThoseOfTheCLibrary) {
  for (Complex b : {Complex(2), Complex(-1), Complex(0), Complex(1, 1), Complex(-2, 0.5)}) {
    Complex found = power(0, b), wanted = std::pow(Complex(0), b);
    expect_same(found.real(), wanted.real(), "of " + std::to_string(b.real()));
    expect_same(found.imag(), wanted.imag(), "of " + std::to_string(b.real()));
  }
}

}  // namespace
}  // namespace spdistal::codegen
