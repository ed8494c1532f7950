// What goes into a window of a dense tensor, put in its place.
#pragma once
#include "notation/index_notation.hpp"
#include "runtime/transport/transport.hpp"
#include "tensor/home.hpp"

namespace spdistal {

/// Collective. Assigns the elements of `part`, one dimension for each variable of the left side, to those of the window, by
/// the statement's operation; what lies outside of it stays.
void assign_window(runtime::Transport& transport, const Home& part, const notation::Assignment& said, Home& whole);

}  // namespace spdistal
