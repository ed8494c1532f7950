// The registry of level formats. A new level is a header like its neighbours in levels/, its functions in
// src/level/, and one line here.
#pragma once
#include <variant>

#include "spdistal/levels/banded.hpp"
#include "spdistal/levels/bitmap.hpp"
#include "spdistal/levels/compressed.hpp"
#include "spdistal/levels/compressed_non_unique.hpp"
#include "spdistal/levels/dense.hpp"
#include "spdistal/levels/hashed.hpp"
#include "spdistal/levels/singleton.hpp"

namespace spdistal {

using LevelVariant = std::variant<levels::Dense, levels::Compressed, levels::CompressedNonUnique, levels::Singleton,
                                  levels::Hashed, levels::Bitmap, levels::Banded>;

}  // namespace spdistal
