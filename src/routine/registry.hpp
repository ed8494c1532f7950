// The table of leaf routines: those that are built in, and what programs register.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "notation/concrete.hpp"
#include "routine/libraries.hpp"
#include "spdistal/leaf.hpp"

namespace spdistal::routine {

/// A routine ready to be called, and where it is from: "BLAS, libopenblas.so.0".
struct FoundRoutine {
  std::function<void(const LeafPiece&)> run;
  std::string origin = {};
};

/// How the elements of a routine's tensor lie.
enum class Storing : uint8_t { AsSaid, DenseInAnyOrder };

struct RoutineTensor {
  std::string name;
  notation::Access access;
  Storing storing;
};

class Routine {
 public:
  using Find = std::function<FoundRoutine(const Libraries&)>;

  /// Throws UserError where what is said makes no sense.
  Routine(LeafRoutine said, Find find);

  const std::string& name() const { return said_.name; }
  const LeafRoutine& said() const { return said_; }
  /// What it computes for one value of each variable.
  const notation::Assign& computes() const { return computes_; }
  /// The result first.
  const std::vector<RoutineTensor>& tensors() const { return tensors_; }
  /// Throws UserError where its library is not there, with what was looked for.
  FoundRoutine find(const Libraries& libraries) const { return find_(libraries); }
  /// "A(i,j) = B(i,k) * C(k,j) with B stored as ds, of float or double".
  std::string described() const;

 private:
  LeafRoutine said_;
  Find find_;
  notation::Assign computes_;
  std::vector<RoutineTensor> tensors_;
};

using RoutineHandle = std::shared_ptr<const Routine>;

/// All of a name, in order of preference; none: there is no routine of that name. From any thread.
std::vector<RoutineHandle> routines(std::string_view name);
/// Those there are, each name once.
std::vector<std::string> names();
/// "gemm computes …, on the CPU": what a refusal tells of all of a name.
std::string described(std::string_view name);

/// Those that are built in, one function for each library.
std::vector<Routine> blas_routines();
std::vector<Routine> cusparse_routines();

}  // namespace spdistal::routine
