// The arrays of a tensor, in place.
#include <fmt/format.h>

#include "api/collective.hpp"
#include "api/session.hpp"
#include "api/state.hpp"
#include "api/waiting.hpp"
#include "base/text.hpp"
#include "memory/copy.hpp"
#include "runtime/transport/agree.hpp"
#include "spdistal/tensor.hpp"

namespace spdistal {
namespace {

// The piece of a rank, where every rank has one: what is refused is so on all of them.
const Storage& piece_of(const notation::TensorVar& var, const Home& home) {
  int64_t pieces = home.shares().grid.count();
  if (pieces != transport().size())
    throw UserError(fmt::format("{} lives in {} pieces on {} ranks: no rank has its arrays alone", shown(var), pieces,
                                transport().size()),
                    "local() goes over the elements of all pieces");
  return home.piece(home.colours().lo);
}

}  // namespace

void IndexSpan::check_width(size_t wanted) const {
  if (wanted != bytes_)
    throw UserError(fmt::format("the elements of the index array have {} bytes, not {}", bytes_, wanted),
                    "bytes() tells; operator[] reads all of them");
}

TensorBase::SharedArray TensorBase::values_array() const {
  const Home& home = *collectively([&] { return &data_of(*state_); });
  const Storage& piece = piece_of(var(), home);
  piece.lend();
  return {piece.value_bytes(), size_t(piece.nnz()), size_of(type()), piece.owner()};
}

std::optional<TensorBase::SharedArray> TensorBase::find_array(std::string_view wanted, size_t level) const {
  const Home& home = *collectively([&] { return &data_of(*state_); });
  const Storage& piece = piece_of(var(), home);
  if (level >= order())
    throw UserError(fmt::format("{} has {} levels, none with number {}", shown(var()), order(), level));
  for (const auto& [name, found] : piece.pattern().level(level).arrays)
    if (name == wanted) return SharedArray{found.data(), size_t(found.size()), size_t(found.width()), found.owner()};
  return std::nullopt;
}

int64_t TensorBase::pieces() const {
  return collectively([&] { return data_of(*state_).shares().grid.count(); });
}

TensorBase::SharedArray TensorBase::level_array(std::string_view name, size_t level) const {
  if (std::optional<SharedArray> found = find_array(name, level)) return *found;
  const LevelFormat& kind = format().levels()[level];
  std::string names = join(kind.arrays(), ", ", [](const LevelArray& each) { return each.name; });
  throw UserError(fmt::format("level {} of {} is {}, which has no array '{}'", level, shown(var()), kind.name(), name),
                  names.empty() ? "it has none: positions tell everything" : "it has " + names);
}

IndexSpan TensorBase::array(std::string_view name, size_t level) const {
  SharedArray found = level_array(name, level);
  return {found.data, found.count, found.bytes};
}

IndexSpan TensorBase::pos(size_t level) const {
  return find_array("pos", level) ? array("pos", level) : IndexSpan(nullptr, 0, sizeof(int32_t));
}

IndexSpan TensorBase::crd(size_t level) const {
  return find_array("crd", level) ? array("crd", level) : IndexSpan(nullptr, 0, sizeof(int32_t));
}

void TensorBase::changed() {
  collectively([&] {
    data_of(*state_);
    waiting().before_change(*state_);
    waiting().replaced(*state_);
    Home& home = *state_->home;
    // Whoever asks for memory to change makes the host's side the newer one: devices may have copies of the old values.
    for (int64_t c = home.colours().lo; c < home.colours().hi; c++) (void)home.piece(c).value_bytes();
    home.changed();
  });
}

void TensorBase::replace_values(const void* values, size_t count) {
  collectively([&] {
    data_of(*state_);
    runtime::together(transport(), [&] {
      const Home& home = *state_->home;
      const Storage& piece = piece_of(var(), home);
      if (piece.nnz() > 0 && !home.owns_all(home.colours().lo))
        throw UserError(fmt::format("other ranks hold elements of this rank's piece of {} too", shown(var())),
                        "insert entries and pack, or fill it");
      if (int64_t(count) != piece.nnz())
        throw UserError(fmt::format("{} stores {} values, {} were given", shown(var()), piece.nnz(), count));
    });
    waiting().before_change(*state_);
    waiting().replaced(*state_);
    Home& home = *state_->home;
    if (home.is_borrowed()) home = home.clone(transport());
    memory::copy_bytes(home.piece(home.colours().lo).value_bytes(), values, count * size_of(type()));
    home.changed();
  });
}

}  // namespace spdistal
