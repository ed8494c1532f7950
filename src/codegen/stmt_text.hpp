// Statements of kernel IR as C-family text, the way a person writes loops.
#pragma once
#include <fmt/format.h>

#include <set>
#include <string>

#include "codegen/expr_text.hpp"
#include "codegen/reserved.hpp"

namespace spdistal::codegen {

class StmtText {
 public:
  StmtText(const Spelling& spelling, Needs& needs)
      : spelling_(spelling), needs_(needs), expr_(spelling, names_, needs) {
    for (const std::string& word : reserved_words()) names_.reserve(word);
  }

  /// The body of a function: parameters unpacked from `call`, then statements, indented once.
  void function_body(const ir::Function& f);
  /// Parameters as those of a function: "double* __restrict__ a, const int32_t n".
  std::string parameter_list(const ir::Function& f);
  /// Statements alone, in the current scope.
  void stmt(const ir::Stmt& s);

  std::string take() { return std::move(out_); }
  /// The parts that were defined, as functions that stand before the one they are of.
  std::string take_parts() { return std::move(parts_text_); }
  ir::ScopedNames& names() { return names_; }
  ExprText& expr() { return expr_; }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... args) {
    out_.append(2 * depth_, ' ');
    out_ += fmt::format(format, std::forward<A>(args)...) + "\n";
  }

  void param(const ir::Param& p);
  void stream_to(const ir::Param& p);
  void block(const ir::Block& n);
  void assign(const ir::Assign& n);
  void store(const ir::Store& n);
  void barrier(const ir::Barrier& n);
  void loop(const ir::For& n);
  void gpu_loop(const ir::For& n);
  void conditional(const ir::If& n, std::string_view lead);
  bool takes_memory(const ir::Allocate& n) const;
  bool takes_memory(const ir::Stmt& s) const;
  void allocate(const ir::Allocate& n, Helper scratch = Helper::Scratch);
  void parallel(const ir::Parallel& n);
  void guarded(const std::string& head, const ir::Stmt& body, std::string_view last);
  void resize(const ir::Resize& n);
  void append(const ir::Append& n);
  void define(const ir::Define& n);
  void perform(const ir::Perform& n);

  /// `head` with a body: on the next line where it is one simple statement, in braces otherwise.
  void compound(const std::string& head, const ir::Stmt& body, std::string_view last = "");
  /// A value that stays the same while a loop runs, in one word; others are put into a constant first.
  bool is_steady(const ir::Expr& e) const;

  const Spelling& spelling_;
  Needs& needs_;
  ir::ScopedNames names_;
  ExprText expr_;
  std::set<Symbol> mutable_;
  std::map<Symbol, int> at_once_;  // arrays of which several elements are loaded or stored at once on a GPU
  std::set<Symbol> copied_;        // arrays in shared memory that are filled while threads go on
  std::set<Symbol> appended_;      // what shares allocate and then append
  std::map<Symbol, ir::Source> sources_;
  std::map<Symbol, ir::Var> large_;  // of arrays that are streamed to: are they larger than the caches?
  bool fenced_ = false;              // each share ends by waiting for what it streamed
  /// A part as a function of its own: what it takes along are parameters too.
  struct PartFunction {
    std::string name;
    std::vector<ir::Var> taken_along;
    bool takes_call;
  };
  std::map<Symbol, PartFunction> parts_;
  std::string parts_text_;
  std::string out_;
  size_t depth_ = 1;
};

/// Where a parameter stands: "call->tensors[1].levels[1].arrays[0]".
std::string source_text(const ir::Source& at);

}  // namespace spdistal::codegen
