#include "runtime/transport/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "runtime/transport/bytes.hpp"
#include "runtime/transport/deal.hpp"
#include "spdistal/error.hpp"

namespace spdistal::runtime {
namespace {

enum class Kind : uint8_t { None, User, System, Internal };

/// An error as bytes: its kind, and a diagnostic of which only user errors have more than a message.
Bytes write(const std::exception_ptr& error) {
  Writer out;
  auto put = [&](Kind kind, const Diagnostic& diagnostic) {
    out.put(kind);
    out.put_text(diagnostic.message);
    out.put_text(diagnostic.hint);
    out.put(diagnostic.excerpts.size());
    for (const Excerpt& excerpt : diagnostic.excerpts) {
      out.put_text(excerpt.text);
      out.put(excerpt.begin);
      out.put(excerpt.end);
    }
  };
  try {
    std::rethrow_exception(error);
  } catch (const UserError& e) { put(Kind::User, e.diagnostic()); } catch (const SystemError& e) {
    put(Kind::System, {e.what(), {}, {}});
  } catch (const std::bad_alloc&) { put(Kind::System, {"out of memory", {}, {}}); } catch (const std::exception& e) {
    put(Kind::Internal, {e.what(), {}, {}});
  } catch (...) { put(Kind::Internal, {"an error of an unknown kind", {}, {}}); }
  return out.take();
}

[[noreturn]] void raise(const Bytes& bytes, const std::string& where) {
  Reader in(bytes);
  Kind kind = in.take<Kind>();
  Diagnostic diagnostic;
  diagnostic.message = in.take_text();
  diagnostic.hint = in.take_text();
  for (size_t n = in.take<size_t>(); n > 0; n--) {
    std::string text = in.take_text();
    size_t begin = in.take<size_t>(), end = in.take<size_t>();
    diagnostic.excerpts.push_back({std::move(text), begin, end});
  }
  diagnostic.message = where + diagnostic.message;
  if (kind == Kind::User) throw UserError(std::move(diagnostic));
  if (kind == Kind::System) throw SystemError(diagnostic.message);
  throw InternalError(diagnostic.message);
}

}  // namespace

void agree(Transport& transport, const std::exception_ptr& mine, NameRank name) {
  bool failed = transport.allreduce(int32_t(mine != nullptr), ReduceOp::Max) != 0;
  if (!failed) return;
  std::vector<Bytes> all = share(transport, mine ? write(mine) : Bytes());
  auto first = std::ranges::find_if(all, [](const Bytes& bytes) { return !bytes.empty(); });
  bool everywhere = std::ranges::all_of(all, [&](const Bytes& bytes) { return bytes == *first; });
  raise(*first, everywhere || name == NameRank::No ? "" : fmt::format("rank {}: ", first - all.begin()));
}

void agree_same(Transport& transport, uint64_t hash, std::string_view what) {
  std::vector<uint64_t> all = transport.allgather(hash);
  for (size_t r = 1; r < all.size(); r++)
    if (all[r] != all[0])
      throw UserError(fmt::format("{} on rank {} is not that of rank 0", what, r),
                      "this call describes the whole; every rank makes it alike");
}

}  // namespace spdistal::runtime
