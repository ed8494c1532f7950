// A program that catches nothing, on ranks that fail together, each for itself, or the last alone.
#include <spdistal/spdistal.hpp>
#include <string>

using namespace spdistal;

int main(int, char** argv) {
  const std::string where = argv[1];
  Tensor<double> B("B", {3, 3}, CSR);
  const bool last = rank() == ranks() - 1;
  if (where == "agreed") Tensor<double>::read("none.mtx", CSR);
  if (where == "alike") B.insert({1}, 1.0);
  if (where == "last" && last) B.insert({1, 2, 3}, 1.0);
  B.pack();
}
