// The command line: reads options, hands them to the library, shows what comes back.
// Exit codes: 0, 1 wrong result under --check, 2 bad input or usage, 3 failure at run time.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <spdistal/error.hpp>
#include <spdistal/levels.hpp>
#include <spdistal/program.hpp>

namespace {

constexpr int kWrongResult = 1, kBadInput = 2, kFailure = 3;

// The letters of all level formats: "d Dense, s Compressed, …".
template <class... L>
std::string letters(const std::variant<L...>*) {
  std::string out;
  ((out += (out.empty() ? "" : ", ") + std::string(1, L::letter) + " " + std::string(L::name)), ...);
  return out;
}

// An error of the command line itself, in the voice of all others.
std::string usage_error(const CLI::App*, const CLI::Error& error) {
  std::string message = error.what(), hint = "spdistal --help lists the options";
  std::string option = message.substr(0, message.find(':')), rest = message.substr(message.rfind(' ') + 1);
  auto code = CLI::ExitCodes(error.get_exit_code());
  if (code == CLI::ExitCodes::RequiredError) {
    message = "there is no statement to compile";
    hint = "spdistal \"a(i) = B(i,j) * c(j)\" -f B:ds; " + hint;
  } else if (code == CLI::ExitCodes::ExtrasError) {
    message = "unexpected argument: " + message.substr(message.rfind(':') + 2);
  } else if (code == CLI::ExitCodes::ArgumentMismatch) {
    message = option + (rest == "missing" ? " needs a value" : " is given more than once");
  }
  return "error: " + message + "\nhint: " + hint + "\n";
}

// What is wrong with values is said here: how the parser words it differs between its versions.
std::string check_shown(const std::string& text) {
  for (const char* known : {"statement", "plan", "kernel", "all"})
    if (text == known) return "";
  return "'" + text + "' is none of statement, plan, kernel, all";
}
std::string check_report(const std::string& text) {
  return text == "text" || text == "json" ? "" : "'" + text + "' is none of text, json";
}
std::string check_runs(const std::string& text) {
  constexpr int most = 1000000;
  int runs = 0;
  auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), runs);
  bool all = fault == std::errc{} && stop == text.data() + text.size();
  return all && runs >= 1 && runs <= most ? ""
                                          : "'" + text + "' is no number of runs from 1 to " + std::to_string(most);
}

// "again", seconds, or both: "again,60". Says what is wrong, if anything is.
std::string read_tune(const std::string& text, spdistal::TuneOptions& into) {
  constexpr double most = 1e6;
  for (size_t from = 0, to = 0; from <= text.size(); from = to + 1) {
    to = std::min(text.find(',', from), text.size());
    std::string word = text.substr(from, to - from);
    if (word == "again") {
      into.again = true;
      continue;
    }
    auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), into.seconds);
    bool all = fault == std::errc{} && stop == word.data() + word.size();
    if (!all || !(into.seconds > 0 && into.seconds <= most))
      return "'" + word + "' is neither 'again' nor a number of seconds up to 1000000, as in --tune=again,60";
  }
  return "";
}
std::string check_tune(const std::string& text) {
  spdistal::TuneOptions options;
  return read_tune(text, options);
}

// What to do with a program beside computing it.
struct Wanted {
  std::vector<std::string> print = {};
  int runs = 0;  // to be timed
  bool check = false;
  std::string tune = {};  // empty: not at all
  std::string report = {};

  bool shows(const std::string& what) const {
    return std::count(print.begin(), print.end(), what) + std::count(print.begin(), print.end(), "all") > 0;
  }
  /// A report that a program reads has standard output for itself.
  std::ostream& out() const { return report == "json" ? std::cerr : std::cout; }
};

// Shows, computes, checks, times and writes, as far as was asked for.
int run(const spdistal::ProgramText& text, const Wanted& wanted) {
  spdistal::Program program(text);
  std::ostream& out = wanted.out();
  bool computes = program.has_data() || wanted.check || !wanted.report.empty() || wanted.runs > 0 ||
                  !wanted.tune.empty() || !text.outputs.empty() || wanted.shows("kernel") || wanted.shows("plan");
  if (wanted.shows("statement") || !computes) out << program.statement();
  if (!computes) return 0;

  program.load();
  if (!wanted.tune.empty()) {
    spdistal::TuneOptions options;
    read_tune(wanted.tune, options);
    out << program.tune(options).str() << std::flush;
  }
  if (wanted.shows("plan")) out << program.plan() << std::flush;
  program.compute();
  if (wanted.shows("kernel")) out << program.kernel();  // those of pieces are known once the pieces are there
  // Of the first run: later ones find what was moved in place.
  std::string moved;
  if (!wanted.report.empty()) moved = wanted.report == "json" ? program.report().json() : program.report().str();
  for (const std::string& note : program.notes()) std::cerr << "note: " << note << "\n";
  if (wanted.check) {
    spdistal::Comparison comparison = program.check();
    out << "check: " << (comparison.agrees() ? "right" : "WRONG") << ", largest relative difference "
        << comparison.difference << "\n";
    if (!comparison.agrees()) return kWrongResult;
  }
  out << program.result();
  if (wanted.runs > 0) {
    spdistal::RunTimes times = program.time(wanted.runs);
    out << "time: " << times.median * 1e3 << " ms, ";
    if (times.operations) out << *times.operations / times.median * 1e-9 << " GFLOP/s, ";
    out << times.bytes / times.median * 1e-9 << " GB/s\n";
  }
  std::cout << moved;
  program.write();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"spdistal compiles sparse tensor algebra for distributed machines.", "spdistal"};
  spdistal::ProgramText text;
  Wanted wanted;

  app.add_option("statement", text.statement, "what to compute, such as \"a(i) = B(i,j) * c(j)\"")->required();
  app.add_option(
      "-f,--format", text.formats,
      "how a tensor is stored: B:ds, B:ds:1,0 (" + letters(static_cast<const spdistal::LevelVariant*>(nullptr)) + ")");
  app.add_option("-t,--type", text.types, "element type: B:float (default double)");
  app.add_option("-n,--size", text.sizes, "size of an index variable: i=1000");
  app.add_option("-m,--machine", text.machine, "machine: 4, 2x2, 4,gpu, 2/4,gpu");
  app.add_option("-d,--distribution", text.distributions,
                 "where a tensor lives: \"B(x,y) -> M(x)\", \"B(x,y) fuse(x,y,f) -> M(~f)\"");
  app.add_option("-s,--schedule", text.schedule, "how to run it: \"divide(i,io,ii,M.x); distribute(io)\"");
  app.add_option("-i,--input", text.inputs,
                 "data of a tensor: B:file.mtx (.mtx .tns, either .gz, .npz .h5 .petsc .spd)");
  app.add_option("-g,--generate", text.generators, "generated data: B:rmat,14,8, B:banded,1000,11, c:ones, C:random");
  app.add_option("-o,--output", text.outputs, "write a tensor: a:file.mtx");
  app.add_option("--print", wanted.print, "what to show: statement, plan, kernel, all")->check(check_shown);
  app.add_option(
         "--time", wanted.runs,
         "time this many runs, after half as many to warm up: the median; GFLOP/s, counting for every product of "
         "the statement, wherever its sparse factors are all stored, a multiplication for each '*' and an addition "
         "where it is added to something (left out where that is not known); GB/s, counting every array once")
      ->check(check_runs);
  app.add_flag("--check", wanted.check, "compare with an independent evaluation; exit code 1 where they differ");
  app.add_flag(
         "--tune{20}", wanted.tune,
         "try schedules on the data, show them with their times, and take the fastest; the next call for such a "
         "statement and such data finds it; --tune=60: for so many seconds, --tune=again: even where one is found, "
         "--tune=again,60: both")
      ->check(check_tune);
  app.add_flag("--report{text}", wanted.report,
               "per piece: non-zeros, bytes moved by tensor, time; what went from rank to rank, by tensor and kind; "
               "--report=json: as data, all else on standard error")
      ->check(check_report);
  // Each option may be given several times, with one value each: a value may hold commas and brackets.
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 1) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  app.failure_message(usage_error);
  try {
    // All ranks compute, one speaks. They are connected before anything can go wrong: a launcher ends all when one ends
    // with an error, and the message of another may be lost.
    if (!spdistal::Program::leads()) std::cout.setstate(std::ios::failbit), std::cerr.setstate(std::ios::failbit);
    return spdistal::Program::on_all_ranks([&] {
      spdistal::Program::agree_on({argv + 1, argv + argc});
      try {
        app.parse(argc, argv);
      } catch (const CLI::ParseError& error) {
        int code = app.exit(error);
        return code == 0 ? 0 : kBadInput;
      }
      return run(text, wanted);
    });
  } catch (const spdistal::UserError& error) {
    std::cerr << error.what() << "\n";
    return kBadInput;
  } catch (const std::exception& error) {
    if (spdistal::Program::leads()) std::cerr.clear();  // a rank that has given up on the others speaks for itself
    std::cerr << error.what() << "\n";
    return kFailure;
  }
}
