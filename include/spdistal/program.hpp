// A statement and all that is said about it, from text: what the command line and other languages build on.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spdistal/report.hpp"
#include "spdistal/tune.hpp"

namespace spdistal {

/// The descriptions of one computation, each in its own language.
struct ProgramText {
  std::string statement;                        // "a(i) = B(i,j) * c(j)"
  std::vector<std::string> formats = {};        // "B:ds", "B:ds:1,0"
  std::vector<std::string> types = {};          // "B:float"
  std::vector<std::string> sizes = {};          // "i=1000"
  std::optional<std::string> machine = {};      // "4", "2x2", "2/4,gpu"
  std::vector<std::string> distributions = {};  // "B(x,y) -> M(x)"
  std::string schedule = {};                    // "divide(i,io,ii,M.x); distribute(io)"
  std::vector<std::string> inputs = {};         // "B:matrix.mtx"
  std::vector<std::string> generators = {};     // "B:rmat,14,8", "c:ones"
  std::vector<std::string> outputs = {};        // "a:result.mtx"

  bool operator==(const ProgramText&) const = default;
};

/// How a run went.
struct RunTimes {
  double median = 0;  // seconds
  double bytes = 0;   // of one run: every array of every tensor read or written once
  /// Multiplications and additions of one run: for every product of the statement and every combination of coordinates at
  /// which its sparse factors are stored, one for each '*' and one where the product is added to something. Nothing where
  /// the statement is no sum of products, or one has more than two sparse factors.
  std::optional<double> operations = {};
};
struct Comparison {
  double difference = 0;  // the largest relative difference of an element
  double tolerance = 0;
  bool agrees() const { return difference <= tolerance; }
};

class Program {
 public:
  /// Collective. Reads and checks everything but data. Throws UserError with the offending text underlined, and where
  /// ranks have other texts than the first.
  explicit Program(const ProgramText& text);

  /// The statement, its loops before and after the schedule, and where tensors are placed.
  std::string statement() const;

  /// Is there data for anything? Without, a program can only be looked at.
  bool has_data() const;
  /// Reads and generates the data. Throws UserError where a tensor has none.
  void load();
  /// The text of the kernel. Needs the data.
  std::string kernel();
  /// The distributed program: partitions, what moves, what is launched. Needs the data.
  std::string plan();
  void compute();
  /// Collective. Tries schedules on the data and takes the fastest (`TensorBase::tune`).
  Tuned tune(const TuneOptions& options = {});
  /// Collective. What the last run did, piece by piece.
  Report report();
  /// Collective. Is this the rank that speaks for all? Connects to the others where that has not been done. Settings of
  /// the environment that are refused are so when a program is made, on all ranks alike.
  static bool leads();
  /// Collective. Throws UserError on all ranks, naming one, where ranks were not given the same words: those of a command
  /// line, say.
  static void agree_on(const std::vector<std::string>& words);
  /// Collective. Runs what all ranks do, such as all of a program. An error that the other ranks do not know of (memory ran
  /// out) comes out with the rank named, and ends them when this rank ends; `leads` then says that it is to say so.
  static int on_all_ranks(const std::function<int()>& body);
  /// The result in a line or two: sizes, stored elements, a small one whole.
  std::string result() const;
  /// Writes what was asked for.
  void write() const;
  /// Runs it `runs` times after half as many to warm up.
  RunTimes time(int runs);
  /// Evaluates the statement independently of the compiler and compares.
  Comparison check();
  /// What a user should know about how it ran.
  std::vector<std::string> notes() const;

 private:
  // What the collective calls above do, but for how they end where one rank fails.
  void load_data();
  std::string describe_result() const;
  void write_outputs() const;
  RunTimes time_runs(int runs);
  Comparison compare();

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace spdistal
