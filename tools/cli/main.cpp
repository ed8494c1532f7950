// The command line: reads options, hands them to the library, shows what comes back.
// Exit codes: 0, 2 bad input or usage, 3 failure at run time.
#include <CLI/CLI.hpp>
#include <iostream>
#include <spdistal/error.hpp>
#include <spdistal/program.hpp>

namespace {

constexpr int kBadInput = 2, kFailure = 3;

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"spdistal compiles sparse tensor algebra for distributed machines.", "spdistal"};
  spdistal::ProgramText text;
  std::string machine;
  std::vector<std::string> print;

  app.add_option("statement", text.statement, "what to compute, such as \"a(i) = B(i,j) * c(j)\"")->required();
  app.add_option("-f,--format", text.formats,
                 "how a tensor is stored: B:ds, B:ds:1,0 (d dense, s compressed, u non-unique, q singleton)");
  app.add_option("-t,--type", text.types, "element type: B:float (default double)");
  app.add_option("-n,--size", text.sizes, "size of an index variable: i=1000");
  app.add_option("-m,--machine", machine, "machine: 4, 2x2, 4,gpu, 2/4,gpu");
  app.add_option("-d,--distribution", text.distributions,
                 "where a tensor lives: \"B(x,y) -> M(x)\", \"B(x,y) fuse(x,y,f) -> M(~f)\"");
  app.add_option("-s,--schedule", text.schedule, "how to run it: \"divide(i,io,ii,M.x); distribute(io)\"");
  app.add_option("--print", print, "what to show: statement")->check(CLI::IsMember({"statement"}));
  // Each option may be given several times, with one value each: a value may hold commas and brackets.
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 1) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int code = app.exit(error);
    return code == 0 ? 0 : kBadInput;
  }
  if (!machine.empty()) text.machine = machine;

  try {
    spdistal::Program program(text);
    std::cout << program.statement();
    return 0;
  } catch (const spdistal::UserError& error) {
    std::cerr << error.what() << "\n";
    return kBadInput;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return kFailure;
  }
}
