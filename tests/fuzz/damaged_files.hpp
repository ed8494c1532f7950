// Random and damaged files: whatever bytes a file has, it is read, or refused with a UserError.
#pragma once
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "io/checksum.hpp"
#include "io/files.hpp"
#include "runtime/transport/threads.hpp"
#include "tensor/pack.hpp"
#include "unit/io/scratch.hpp"

namespace spdistal {

class DamagedFiles {
 public:
  explicit DamagedFiles(uint64_t seed) : random_(seed) {
    for (const char* text :
         {"%%MatrixMarket matrix coordinate real general\n% comment\n4 5 4\n1 1 1.5\n2 3 -2e3\n\n4 5 .25\n3 3 1e-300\n",
          "%%MatrixMarket matrix coordinate complex hermitian\n3 3 2\n2 1 1 2\n3 3 1 0\n",
          "%%MatrixMarket matrix coordinate pattern symmetric\r\n9 9 3\r\n2 1\r\n3 3\r\n9 8\r\n",
          "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
          "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n"})
      seeds_.push_back({"x.mtx", text});
    for (const char* text : {"1 2 3 4.5\n2 1 7 -1\n", "# dims: 3 4\n1 2\n3 3\n", "# dims: 2 2\n1 1 1 2\n", "5\n"})
      seeds_.push_back({"x.tns", text});
    Coordinates entries({6, 5, 4}, ScalarType::Float64);
    for (int64_t e = 0; e < 12; e++) entries.add({e % 6, e * 7 % 5, e * 3 % 4}, double(e));
    for (const char* format : {"dss", "uqq:2,0,1", "sdd", "ddd"}) {
      write_storage(scratch_.path("seed.spd"), pack(entries.clone(), Format::parse(format)));
      seeds_.push_back({"x.spd", slurp(scratch_.path("seed.spd"))});
    }
    for (const char* file : {"x.npz", "x.petsc"}) {
      write_storage(scratch_.path(file), pack(read_coordinates(scratch_.file("x.mtx", seeds_[0].text)), CSR));
      seeds_.push_back({file, slurp(scratch_.path(file))});
    }
    for (size_t k = 0; k < 2; k++) {
      Storage matrix = pack(read_coordinates(scratch_.file("x.mtx", seeds_[0].text)), CSR);
      write_storage(scratch_.path(k == 0 ? "seed.mtx.gz" : "seed.tns.gz"), matrix);
      seeds_.push_back(
          {k == 0 ? "x.mtx.gz" : "x.tns.gz", slurp(scratch_.path(k == 0 ? "seed.mtx.gz" : "seed.tns.gz"))});
    }
  }

  /// Makes a file and reads it. Returns what went wrong, if anything did; the file then is `last()`.
  std::string try_one() {
    const Seed& seed = seeds_[below(seeds_.size())];
    text_ = seed.text;
    name_ = seed.name;
    if (below(20) == 0) text_ = noise(below(200));
    else
      for (size_t n = below(4) + 1; n > 0; n--) damage();
    if (name_ == "x.spd" && below(4) > 0) mend_header();
    std::string path = scratch_.file(name_, text_);
    try {
      Coordinates entries = read_coordinates(path);
      if (auto sound = entries.check(); !sound) return sound.refusal().message;
      if (name_ == "x.spd")
        if (auto sound = verify(std::get<Storage>(file_format_of(path).read(*runtime::loopback(), path, {}))); !sound)
          return sound.refusal().message;
      return {};
    } catch (const UserError&) { return {}; } catch (const std::exception& error) {
      return error.what();
    }
  }
  const std::string& last() const { return text_; }
  const std::string& last_name() const { return name_; }

 private:
  struct Seed {
    std::string name, text;
  };

  size_t below(size_t n) { return n == 0 ? 0 : size_t(random_() % n); }
  std::string noise(size_t n) {
    std::string out;
    while (out.size() < n) out += char(random_());
    return out;
  }

  void damage() {
    static const char* pieces[] = {
        "99999999999999999999", "-1",   "0",          "1e999",   "nan",        "\n", "%", "#", " ",
        "9223372036854775807",  "\r\n", "4294967296", "general", "2147483648", "\t", "1"};
    size_t at = below(text_.size() + 1), end = std::min(text_.size(), at + below(8));
    switch (below(8)) {
      case 0:
        if (at < text_.size()) text_[at] = char(text_[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < text_.size()) text_[at] = char(random_());
        break;
      case 2: text_.erase(at, end - at); break;
      case 3: text_.insert(at, pieces[below(std::size(pieces))]); break;
      case 4: text_.insert(at, text_.substr(at, end - at)); break;
      case 5: text_.resize(at); break;
      case 6:  // a number for a number
        while (at < text_.size() && !std::isdigit(static_cast<unsigned char>(text_[at]))) at++;
        for (end = at; end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end]));) end++;
        text_.replace(at, end - at, pieces[below(std::size(pieces))]);
        break;
      default:  // a word of the binary
        if (size_t words = text_.size() / 8) {
          int64_t values[] = {0, 1, -1, INT64_MAX, INT64_MIN, 4, 8, int64_t(text_.size()), int64_t(below(100))};
          std::memcpy(text_.data() + 8 * below(words), &values[below(std::size(values))], 8);
        }
    }
  }

  // A right checksum over a wrong header, so that what comes after it is reached.
  void mend_header() {
    uint64_t words = 0;
    if (text_.size() < 40) return;
    std::memcpy(&words, text_.data() + 24, 8);
    if (words > (text_.size() - 40) / 8) return;
    uint64_t sum = checksum(reinterpret_cast<const std::byte*>(text_.data()) + 40, words * 8);
    std::memcpy(text_.data() + 32, &sum, 8);
  }

  std::mt19937_64 random_;
  Scratch scratch_;
  std::vector<Seed> seeds_;
  std::string text_, name_;
};

}  // namespace spdistal
