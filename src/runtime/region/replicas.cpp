#include "runtime/region/replicas.hpp"

#include "runtime/partition/match.hpp"

namespace spdistal::runtime {

Exchange replica_refresh(Transport& transport, const Region& region, Traffic* traffic, DeviceMoves* moves) {
  Mapping ranks(region.held().colours(), transport.size());
  std::vector<Match> matches = match(transport, region.held(), region.held(), Sources::Owners);
  std::erase_if(matches, [](const Match& m) { return m.source == m.user; });
  return Exchange(transport, matches, ranks, ranks, region.instances(), region.instances(),
                  {.region = region.name(), .traffic = traffic, .moves = moves});
}

}  // namespace spdistal::runtime
