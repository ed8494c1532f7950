// Writing elements of the result: each as it comes, or as the sum of what a loop adds up.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "lower/iterate/loop.hpp"

namespace spdistal::lower {

// ---- one element ----
void write_result(Context& c, const Scope& s, const notation::Assign& assign);
/// Writes an element that has its place.
void write_element(Context& c, const Scope& s, const ir::Expr& value, notation::AssignOp op);
/// Runs `fill` where the element is: a shared pattern may not have the one that was looked up in it.
void where_element_is(Context& c, const Scope& s, const std::function<void()>& fill);
void store(Context& c, const ir::Var& array, const ir::Expr& at, const ir::Expr& value,
           ir::StoreMode mode = ir::StoreMode::Set);
/// Combines an element with a value, in the wider of the two types, as in C++.
void store_combined(Context& c, notation::AssignOp op, const ir::Var& array, const ir::Expr& at, const ir::Expr& value);
/// Are all its coordinates known?
bool element_known(const Context& c, const Scope& s);
/// Under which condition a value is stored at all: empty where it always is.
std::optional<ir::Expr> presence(const Context& c, const Scope& s, const notation::Assign& assign);

/// Runs `fill` where entries of a result that is assembled are put down, not where they are only counted.
void when_filling(Context& c, const Scope& s, const std::function<void()>& fill);
bool may_fill(const Scope& s);

// ---- sums (reduce.cpp) ----
/// Lowers a loop whose turns all add to the same elements.
void reduce(Context& c, const Scope& s, const ForallLoop& loop);
/// What the assignments inside add up to.
ir::Expr sum_of(Context& c, const Scope& s, const Inside& inside);
/// Adds what a share's turns add up to to the element, together with other threads.
void add_sum_of_share(Context& c, const Scope& s, const Inside& walk);

// ---- elements whose coordinates are not all known (open_elements.cpp) ----
/// Zeroes those that what is known here leaves open; the same scope where they are not to be had.
Scope with_rest_zeroed(Context& c, const Scope& s);
/// Runs `fill` with its additions going to an array of this thread's, then adds that to the result.
void sum_apart(Context& c, const Scope& s, const Inside& fill);

}  // namespace spdistal::lower
