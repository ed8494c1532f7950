// Programs from text: options are read in the order in which they depend on each other.
#include "spdistal/program.hpp"

#include <fmt/format.h>

#include "api/session.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "compile/print.hpp"
#include "machine/print.hpp"
#include "program/program_state.hpp"
#include "program/reader.hpp"
#include "runtime/transport/agree.hpp"
#include "schedule/distribution.hpp"
#include "schedule/print.hpp"

namespace spdistal {

using namespace notation;

namespace {

// All that was said, one word after the other.
std::vector<std::string> words_of(const ProgramText& text) {
  std::vector<std::string> out{text.statement, text.machine.value_or(""), text.schedule};
  for (const std::vector<std::string>* options :
       {&text.formats, &text.types, &text.sizes, &text.distributions, &text.inputs, &text.generators, &text.outputs})
    out.insert(out.end(), options->begin(), options->end());
  return out;
}

}  // namespace

void Program::agree_on(const std::vector<std::string>& words) {
  runtime::agree_on_texts(Session::instance().transport(), words, "was given",
                          "all ranks run one program: start them with the same arguments");
}

Program::Program(const ProgramText& text) {
  Session::instance();  // settings that are refused are so before anything else
  agree_on(words_of(text));
  ProgramReader reader(text);
  auto statement = std::make_shared<StatementState>(reader.statement());
  state_ = std::make_shared<State>(State{text, statement, reader.placed(), reader.tensors(), reader.sizes()});
  waiting().say(state_->result(), statement);
}

std::string Program::statement() const {
  Printer names;
  std::string out = print_statement(*state_->statement, names);
  for (const TensorVar& tensor : state_->placed) {
    schedule::PlacedTensor placed = schedule::place(tensor);
    Printer own;
    std::string loops = own(placed.scheduled);
    std::string where = DistributionPrinter(*tensor.format().distribution()).statement(own.name(tensor));
    out += fmt::format("\ndistribution {}\n  {}\n{}\n", where, schedule::print(placed.commands, own), indent(loops, 2));
  }
  return out;
}

}  // namespace spdistal
