// What a rank notes down of a run, and how the report is put together from the notes of all ranks.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "execute/tasks.hpp"
#include "runtime/region/traffic.hpp"
#include "runtime/transport/sent.hpp"
#include "spdistal/report.hpp"

namespace spdistal {

/// By a clock that only goes forward.
double seconds_now();

/// Of a run, and of all that was prepared for it since the one before.
struct RunNotes {
  runtime::Traffic traffic;
  runtime::Ledger sent;
  std::map<std::pair<size_t, int64_t>, int64_t> held;  // by access and colour: bytes of the largest piece
  std::vector<int64_t> stored;                         // of the colours of this rank: elements of sparse operands
  std::vector<int64_t> packed;                         // likewise: bytes of a sparse result that do not stay
  std::vector<double> seconds;                         // likewise: in the leaf, compilation aside
  double compile_seconds = 0;
  double exchange_seconds = 0;
  int64_t overlapped = 0;  // chunks that ran while data was under way
  int64_t planned = 0;     // fetches
  bool over = true;        // the run is: what comes next belongs to another

  /// A new page, where the run is over.
  void begin();
  /// A run, which is over when this ends, however that comes.
  class Page {
   public:
    explicit Page(RunNotes& notes) : notes_(notes) { notes.begin(); }
    ~Page() { notes_.over = true; }
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;

   private:
    RunNotes& notes_;
  };
  /// So many colours of this rank take part.
  void expect(int64_t colours);
  /// Runs f, and adds the time that it takes to another; what it compiles is counted apart.
  template <class F>
  void timed(double& into, F&& f);
  /// Runs f, which makes kernels.
  template <class F>
  decltype(auto) compiling(F&& f);
  /// The pieces at hand of accesses: they may be gone when somebody asks for a report.
  void note_pieces(const plan::Plan& plan, const Tasks& tasks, const Tasks::Pieces& pieces);
  void note_piece(size_t access, const Tasks& tasks, const Tasks::Pieces& pieces);
};

/// The name under which what goes home is counted, apart from what is fetched of the same tensor.
std::string home_region(const plan::Plan& plan);

/// Collective.
Report collect(runtime::Transport& transport, const RunNotes& notes, const plan::Plan& plan, const Tasks& tasks,
               const Shares& result);

// ---- implementation ----

template <class F>
void RunNotes::timed(double& into, F&& f) {
  double begin = seconds_now(), compiled = compile_seconds;
  f();
  into += seconds_now() - begin - (compile_seconds - compiled);
}

template <class F>
decltype(auto) RunNotes::compiling(F&& f) {
  struct Clock {
    double& into;
    double begin = seconds_now();
    ~Clock() { into += seconds_now() - begin; }
  } clock{compile_seconds};
  return f();
}

}  // namespace spdistal
