// Where tensors can be fetched.
#pragma once
#include <vector>

#include "notation/concrete.hpp"

namespace spdistal::schedule {

/// Can tensors be fetched at the last of these nested loops? It must be distributed or stand inside a distributed loop,
/// and nothing outside it may run in parallel inside a piece.
Result<> check_place(std::string_view command, const notation::ConcreteStatement& statement,
                     const std::vector<notation::Forall>& loops);

}  // namespace spdistal::schedule
