// The registry of scheduling commands. A new command is a header like its neighbours here, its check and apply in
// src/schedule/commands/, and one line in the list.
#pragma once
#include <variant>

#include "spdistal/schedule/bound.hpp"
#include "spdistal/schedule/communicate.hpp"
#include "spdistal/schedule/distribute.hpp"
#include "spdistal/schedule/divide.hpp"
#include "spdistal/schedule/fuse.hpp"
#include "spdistal/schedule/parallelize.hpp"
#include "spdistal/schedule/pos.hpp"
#include "spdistal/schedule/precompute.hpp"
#include "spdistal/schedule/reorder.hpp"
#include "spdistal/schedule/rotate.hpp"
#include "spdistal/schedule/split.hpp"
#include "spdistal/schedule/substitute.hpp"
#include "spdistal/schedule/unroll.hpp"

namespace spdistal {

using Command = std::variant<  //
    Divide,                    //
    Split,                     //
    Fuse,                      //
    Pos,                       //
    Reorder,                   //
    Precompute,                //
    Parallelize,               //
    Distribute,                //
    Communicate,               //
    Unroll,                    //
    Bound,                     //
    Substitute,                //
    Rotate>;

namespace detail {
template <class Schedule, class Commands>
struct FluentCommands;
template <class Schedule, class... C>
struct FluentCommands<Schedule, std::variant<C...>> : C::template Fluent<Schedule>... {};
}  // namespace detail

}  // namespace spdistal
