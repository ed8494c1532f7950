// Statements with windows as statements without: tensors of what the windows take, entry by entry.
#pragma once
#include "reference/join.hpp"

namespace spdistal::reference {

struct WithoutWindows {
  notation::Assignment assignment;
  EntryTable tensors;
};
/// Of a statement that assigns all of its result.
WithoutWindows without_windows(const notation::Assignment& assignment, const EntryTable& tensors);

}  // namespace spdistal::reference
