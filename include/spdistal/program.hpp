// A statement and all that is said about it, from text: what the command line and other languages build on.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spdistal {

/// The four descriptions of one computation, each in its own language.
struct ProgramText {
  std::string statement;                        // "a(i) = B(i,j) * c(j)"
  std::vector<std::string> formats = {};        // "B:ds", "B:ds:1,0"
  std::vector<std::string> types = {};          // "B:float"
  std::vector<std::string> sizes = {};          // "i=1000"
  std::optional<std::string> machine = {};      // "4", "2x2", "2/4,gpu"
  std::vector<std::string> distributions = {};  // "B(x,y) -> M(x)"
  std::string schedule = {};                    // "divide(i,io,ii,M.x); distribute(io)"
};

class Program {
 public:
  /// Reads and checks everything. Throws UserError with the offending text underlined.
  explicit Program(const ProgramText& text);

  /// The statement, its loops before and after the schedule, and where tensors are placed.
  std::string statement() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace spdistal
