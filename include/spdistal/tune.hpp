// Schedules tried on the data, and the fastest kept.
#pragma once
#include <string>
#include <vector>

namespace spdistal {

struct TuneOptions {
  double seconds = 20;  // no further schedule is tried after so long
  bool again = false;   // even where an earlier process found one for such a statement and such data
};

struct Tuned {
  struct Trial {
    std::string label, schedule;
    double seconds;  // of a run: the fastest of several, of the slowest rank
  };
  std::string schedule;            // of the fastest; it can be given as text. Empty: there is nothing to say
  std::vector<Trial> trials = {};  // fastest first; none where it was found
  bool found = false;              // kept by an earlier process
  bool by_itself = false;          // it is what is chosen where nobody says
  /// Operands that what is chosen by itself converts first, which no schedule says: it is chosen where none is given.
  std::vector<std::string> converted = {};

  /// For people.
  std::string str() const;
};

}  // namespace spdistal
