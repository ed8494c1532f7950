// Errors are collective: what one rank finds wrong is thrown on all, as one message that names the rank, before any
// rank goes on to wait for one that has given up.
#pragma once
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/transport/transport.hpp"

namespace spdistal::runtime {

/// Whether an error says which rank it comes from. Of what is wrong with a file, say, it does not matter who read it.
enum class NameRank { Yes, No };

/// What errors are besides that all ranks throw because they agreed on them.
class Agreed {
 public:
  virtual ~Agreed() = default;
};

/// Collective. Returns where no rank brings an error (nullptr). Otherwise throws on every rank the error of the lowest
/// rank that has one, of the same kind (UserError, SystemError, InternalError; others become InternalError), with the
/// rank named unless all ranks bring the same. Where the ranks have said different things before (`Transport::said`), that
/// is thrown instead.
void agree(Transport& transport, const std::exception_ptr& mine, NameRank name = NameRank::Yes);

/// Collective. Runs `body`, then agrees on how it ended. The body itself calls no collectives.
template <class F>
auto together(Transport& transport, F&& body, NameRank name = NameRank::Yes) {
  std::exception_ptr error;
  if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
    try {
      body();
    } catch (...) { error = std::current_exception(); }
    agree(transport, error, name);
  } else {
    std::optional<std::invoke_result_t<F>> result;
    try {
      result.emplace(body());
    } catch (...) { error = std::current_exception(); }
    agree(transport, error, name);
    return std::move(*result);
  }
}

/// Runs one thing after another until one fails; what it threw is kept, to be agreed on.
class Attempts {
 public:
  template <class F>
  void operator()(F&& body) {
    if (error_) return;
    try {
      body();
    } catch (...) { error_ = std::current_exception(); }
  }
  const std::exception_ptr& error() const { return error_; }

 private:
  std::exception_ptr error_;
};

/// Throws an error of this rank alone again, of the same kind, as `agree` would: with the rank named where there are
/// several.
[[noreturn]] void raise_as_own(const Transport& transport, const std::exception_ptr& mine);

/// Collective. Throws a UserError on every rank where not all bring the same texts: "rank 2 <does> 'b.mtx', rank 0 'a.mtx'",
/// of the first that differs.
void agree_on_texts(Transport& transport, const std::vector<std::string>& texts, std::string_view does,
                    std::string_view hint);

/// Collective. Throws a UserError on every rank where not all bring the same number (a hash of the arguments of a call
/// that must be made alike): "<what> on rank 2 is not that of rank 0".
void agree_same(Transport& transport, uint64_t hash, std::string_view what);

}  // namespace spdistal::runtime
