#include "execute/move/window.hpp"

#include <algorithm>

#include "format/questions.hpp"
#include "notation/arithmetic.hpp"
#include "runtime/transport/agree.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {

using namespace notation;

namespace {

// From the values of the variables to the coordinates of the window.
class WindowPlace {
 public:
  explicit WindowPlace(const notation::Access& lhs) : at_(lhs.indices.size()) {
    std::vector<IndexVar> vars = variables(lhs);
    for (const IndexVar& index : lhs.indices) {
      std::optional<IndexVar> var = variable_of(index);
      const Window* window = index.window();
      dims_.push_back(
          {window ? window->offset : 0, window ? window->stride : 1,
           var ? std::optional(size_t(std::find(vars.begin(), vars.end(), *var) - vars.begin())) : std::nullopt});
    }
  }

  /// Stands until the next call.
  std::span<const int64_t> operator()(std::span<const int64_t> values) {
    for (size_t d = 0; d < dims_.size(); d++)
      at_[d] = dims_[d].offset + (dims_[d].var ? dims_[d].stride * values[*dims_[d].var] : 0);
    return at_;
  }

 private:
  struct Dim {
    int64_t offset, stride;
    std::optional<size_t> var;
  };
  std::vector<Dim> dims_;
  std::vector<int64_t> at_;
};

// Assigns to the element of a colour at these coordinates, where it holds that.
template <class T, class V>
void assign(Home& whole, int64_t colour, std::span<const int64_t> at, AssignOp op, V value) {
  Storage& piece = whole.piece(colour);
  locate(piece.pattern(), at, [&](Range positions) {
    if (!whole.holds(colour, at, positions.lo)) return;
    T& there = piece.values<T>()[size_t(positions.lo)];
    Scalar met = op == AssignOp::Set ? Scalar(value) : compute(op, Scalar(there), Scalar(value));
    there = std::get<T>(static_cast<const ScalarVariant&>(convert(met, scalar_type_of<T>())));
  });
}

bool is_dealt_by_position(const Shares& shares) {
  return std::any_of(shares.of.begin(), shares.of.end(), [](const Share& share) { return !share.positions.empty(); });
}

// The elements of the part that this rank has, where they go.
Coordinates entries_of(const Home& part, const notation::Access& lhs, const std::vector<int64_t>& dims) {
  Coordinates out(dims, part.type());
  WindowPlace place(lhs);
  with_type(part.type(), [&](auto zero) {
    for (int64_t c = part.colours().lo; c < part.colours().hi; c++) {
      std::span<const decltype(zero)> values = part.piece(c).template values<decltype(zero)>();
      for_each_owned(part, c, [&](std::span<const int64_t> at, int64_t position) {
        out.add(place(at), values[size_t(position)]);
      });
    }
  });
  return out;
}

}  // namespace

void assign_window(runtime::Transport& transport, const Home& part, const Assignment& said, Home& whole) {
  Coordinates mine = runtime::together(transport, [&] { return entries_of(part, said.lhs, whole.dims()); });
  // Where they belong: with the shares of the whole tensor. Those by position are of all its elements, so that all ranks see all.
  Format list(std::vector<LevelFormat>(whole.order(), listing_level()), whole.format().mode_order());
  bool everywhere = is_dealt_by_position(whole.shares());
  Shares shares = whole.shares();
  if (everywhere)
    for (Share& share : shares.of) share = whole_share(whole.dims());
  Home entries = pack(transport, std::move(mine), list, std::move(shares));
  runtime::together(transport, [&] {
    for (int64_t c = whole.colours().lo; c < whole.colours().hi; c++)
      with_type(whole.type(), [&](auto there) {
        with_type(part.type(), [&](auto value) {
          for_each<decltype(value)>(entries.piece(c), [&](std::span<const int64_t> at, auto v) {
            assign<decltype(there)>(whole, c, at, said.op, decltype(value)(v));
          });
        });
      });
  });
  whole.changed();
}

}  // namespace spdistal
