// Random statements of index notation as text.
#pragma once
#include <random>
#include <string>

namespace spdistal::test {

/// A statement of a list of well-known ones, or one made up: sums of products of accesses of up to five dimensions, one
/// tensor several times, functions, explicit sums, numbers (zero too), divisions, windows, blocks; at times with names that look alike
/// or mean something in C++. Not every one is accepted.
std::string draw_statement(std::mt19937_64& random);

}  // namespace spdistal::test
