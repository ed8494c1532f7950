#include "spdistal/symbol.hpp"

#include <atomic>

namespace spdistal {

Symbol::Symbol(std::string name) {
  static std::atomic<uint64_t> next{1};
  info_ = std::make_shared<const Info>(Info{std::move(name), next++});
}

}  // namespace spdistal
