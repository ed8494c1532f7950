#include "runtime/transport/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

/// An error of one of the three kinds that all ranks know of.
template <class Error>
class Known final : public Error, public Agreed {
 public:
  using Error::Error;
};

enum class Told : uint8_t { Everyone, Nobody };

template <class Error, class Argument>
[[noreturn]] void raise_known(Told told, Argument&& argument) {
  if (told == Told::Everyone) throw Known<Error>(std::forward<Argument>(argument));
  throw Error(std::forward<Argument>(argument));
}

[[noreturn]] void raise(const Bytes& bytes, const std::string& where, Told told) {
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
  if (kind == Kind::User) raise_known<UserError>(told, std::move(diagnostic));
  if (kind == Kind::System) raise_known<SystemError>(told, std::move(diagnostic.message));
  raise_known<InternalError>(told, std::move(diagnostic.message));
}

std::string name_of(int64_t rank) { return fmt::format("rank {}: ", rank); }

// Collective. The ranks have not said the same since they last agreed.
[[noreturn]] void raise_difference(Transport& transport) {
  std::vector<std::string> texts = transport.said().texts();
  transport.said().forget();
  std::string_view hint = "every rank says the same statements with the same numbers, in the same order";
  agree_on_texts(transport, texts, "says", hint);
  throw Known<UserError>("ranks have computed statements with different numbers", std::string(hint));
}

}  // namespace

void agree(Transport& transport, const std::exception_ptr& mine, NameRank name) {
  auto agreement = Sending::agreement(transport.sent());
  int64_t number = int64_t(transport.said().number() >> 1);
  int64_t most[] = {mine != nullptr, number, -number};
  transport.allreduce(most, std::size(most), ScalarType::Int64, ReduceOp::Max);
  if (most[1] != -most[2]) raise_difference(transport);
  transport.said().agreed();
  if (most[0] == 0) return;
  std::vector<Bytes> all = share(transport, mine ? write(mine) : Bytes());
  auto first = std::ranges::find_if(all, [](const Bytes& bytes) { return !bytes.empty(); });
  bool everywhere = std::ranges::all_of(all, [&](const Bytes& bytes) { return bytes == *first; });
  raise(*first, everywhere || name == NameRank::No ? "" : name_of(first - all.begin()), Told::Everyone);
}

void raise_as_own(const Transport& transport, const std::exception_ptr& mine) {
  raise(write(mine), transport.size() > 1 ? name_of(transport.rank()) : "", Told::Nobody);
}

void agree_on_texts(Transport& transport, const std::vector<std::string>& texts, std::string_view does,
                    std::string_view hint) {
  if (transport.size() == 1) return;
  auto agreement = Sending::agreement(transport.sent());
  Writer out;
  for (const std::string& text : texts) out.put_text(text);
  Bytes mine = out.take();
  size_t hash = std::hash<std::string_view>{}({reinterpret_cast<const char*>(mine.data()), mine.size()});
  std::vector<size_t> hashes = transport.allgather(hash);
  if (std::ranges::all_of(hashes, [&](size_t other) { return other == hashes[0]; })) return;
  transport.said().forget();
  std::vector<Bytes> all = share(transport, mine);
  size_t r = size_t(std::ranges::find_if(all, [&](const Bytes& bytes) { return bytes != all[0]; }) - all.begin());
  Reader first(all[0]), other(all[r]);
  auto next = [](Reader& in) { return in.at_end() ? std::string() : in.take_text(); };
  std::string here = next(first), there = next(other);
  while (here == there && !(first.at_end() && other.at_end())) here = next(first), there = next(other);
  auto quoted = [](const std::string& text) { return text.empty() ? "nothing" : fmt::format("'{}'", text); };
  throw Known<UserError>(fmt::format("rank {} {} {}, rank 0 {}", r, does, quoted(there), quoted(here)),
                         std::string(hint));
}

void agree_same(Transport& transport, uint64_t hash, std::string_view what) {
  auto agreement = Sending::agreement(transport.sent());
  std::vector<uint64_t> all = transport.allgather(hash);
  for (size_t r = 1; r < all.size(); r++)
    if (all[r] != all[0])
      throw Known<UserError>(fmt::format("{} on rank {} is not that of rank 0", what, r),
                             "this call describes the whole; every rank makes it alike");
}

}  // namespace spdistal::runtime
