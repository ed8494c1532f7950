// A kernel as a device runs it: grids, and between them what the host decides, computes and makes room for. Arrays are in
// the device's memory; numbers are the host's, who hands them to grids by value.
#pragma once
#include <memory>
#include <variant>
#include <vector>

#include "ir/nodes.hpp"

namespace spdistal::ir {

/// One launch: every item of a parallel loop, each by `lanes` threads; or all of it by one thread.
///
/// The parameters of its function are variables of the kernel, by their symbols, and those named here; all arrays come
/// from Array, all numbers from Argument, numbered in order.
struct Grid {
  Function function;    // one GPUBlock loop, in it one GPUThread loop
  Expr items;           // int64
  int lanes = 1;        // of threads that take an item together
  int threads = 256;    // of a block
  Var blocks;           // int64: how many there are
  bool strided = true;  // may there be fewer workers than items?

  /// An array that each worker has for itself: those of all workers stand behind each other.
  struct Own {
    Var array;
    Expr count;  // of one worker's elements
    Fill fill;
  };
  std::vector<Own> own = {};
  /// A number of the kernel that the grid assigns, and the array of one element that it leaves it in.
  struct Assigned {
    Var number, cell;
  };
  std::vector<Assigned> assigned = {};
};

struct Choice;
struct Repetition;
/// A statement is a Declare, Assign, Allocate, Resize, Shrink, Break or Return: the host's.
using DeviceStep = std::variant<Stmt, Grid, std::shared_ptr<const Choice>, std::shared_ptr<const Repetition>>;
using DeviceSteps = std::vector<DeviceStep>;

struct Choice {
  Expr cond;
  DeviceSteps yes, no;
};
/// A For, or a While where there is no variable, around grids.
struct Repetition {
  std::optional<Var> var;
  Expr lo, hi, step, cond;
  DeviceSteps body;
};

/// All of a kernel.
struct Launches {
  std::string name;
  std::vector<Param> params;
  DeviceSteps steps;
};

}  // namespace spdistal::ir
