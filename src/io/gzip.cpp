#include "io/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <future>
#include <limits>

#include "base/require.hpp"
#include "memory/copy.hpp"

namespace spdistal {
namespace {

constexpr size_t chunk_bytes = size_t(8) << 20;
constexpr size_t longest_line = size_t(64) << 20;

// The next chunk is inflated while the last one is in use.
class GzipText : public TextSource {
 public:
  GzipText(MappedFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {
    stream_.next_in = reinterpret_cast<Bytef*>(file_.bytes.data());
    require(inflateInit2(&stream_, 15 + 16) == Z_OK, "zlib starts");
  }
  ~GzipText() override {
    if (filling_.valid()) filling_.wait();
    inflateEnd(&stream_);
  }

  std::string_view next() override {
    lines_ += std::count(now_.text.data(), now_.text.data() + handed_, '\n');
    begins_ = inflated_;
    if (filling_.valid()) filling_.get();
    else fill();
    while (true) {
      handed_ = ended_ ? ahead_.filled : 0;
      for (int64_t at = ahead_.filled; at > 0 && handed_ == 0; at--)
        if (ahead_.text[at - 1] == '\n') handed_ = at;
      if (handed_ > 0 || ended_) break;
      if (size_t(ahead_.filled) >= longest_line)
        throw UserError(fmt::format("{}: a line is longer than {}", path_, describe_bytes(double(longest_line))));
      ahead_.text.resize(2 * ahead_.text.size());
      fill();
    }
    inflated_ = file_.bytes.size() - left();
    std::swap(now_, ahead_);
    // What follows the last line of this chunk begins the next one.
    ahead_.filled = now_.filled - handed_;
    ahead_.text.resize(std::max<int64_t>(ahead_.filled, ahead_.text.size()));
    if (ahead_.filled > 0) memory::copy_bytes(ahead_.text.data(), now_.text.data() + handed_, size_t(ahead_.filled));
    if (!ended_) filling_ = std::async(std::launch::async, [this] { fill(); });
    return {now_.text.data(), size_t(handed_)};
  }

  int64_t lines_before() const override { return lines_; }
  double progress() const override { return double(begins_) / double(file_.bytes.size()); }
  // The format cannot compress better than 1032 : 1.
  size_t limit() const override {
    return file_.bytes.size() > std::numeric_limits<size_t>::max() / 1032 ? std::numeric_limits<size_t>::max()
                                                                          : file_.bytes.size() * 1032;
  }

 private:
  struct Chunk {
    Array<char> text;
    int64_t filled = 0;
  };

  size_t left() const {
    return size_t(file_.bytes.data() + file_.bytes.size() - reinterpret_cast<std::byte*>(stream_.next_in));
  }

  // Inflates until the chunk ahead is full or the file ends.
  void fill() {
    if (ended_) return;
    ahead_.text.resize(std::max<int64_t>(int64_t(chunk_bytes), ahead_.text.size()));
    while (!ended_ && ahead_.filled < ahead_.text.size()) {
      stream_.avail_in = uInt(std::min<size_t>(left(), 1 << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(ahead_.text.data() + ahead_.filled);
      uInt room = uInt(std::min<int64_t>(ahead_.text.size() - ahead_.filled, 1 << 30));
      stream_.avail_out = room;
      int status = inflate(&stream_, Z_NO_FLUSH);
      ahead_.filled += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        // Compressed files may be put one after the other; zeros may pad the end.
        auto* rest = reinterpret_cast<const char*>(stream_.next_in);
        ended_ = std::all_of(rest, rest + left(), [](char c) { return c == 0; });
        if (!ended_) inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw UserError(fmt::format("{}: the compressed data is damaged at byte {} ({})", path_,
                                    file_.bytes.size() - left(), stream_.msg ? stream_.msg : "no gzip data"));
      } else if (left() == 0 && stream_.avail_out > 0) {
        throw UserError(
            fmt::format("{}: the compressed data ends too early, after {} bytes", path_, file_.bytes.size()));
      }
    }
  }

  MappedFile file_;
  std::string path_;
  z_stream stream_{};
  Chunk now_, ahead_;   // the chunk in use, and the one being inflated
  int64_t handed_ = 0;  // how much of `now_` was given out: its whole lines
  int64_t lines_ = 0;
  size_t inflated_ = 0, begins_ = 0;  // bytes of the file behind the chunk in use, and before it
  bool ended_ = false;
  std::future<void> filling_;
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::unique_ptr<TextSource> inflate_lines(MappedFile file, std::string path) {
  return std::make_unique<GzipText>(std::move(file), std::move(path));
}

struct TextSink::Deflater {
  z_stream stream{};
  Array<char> out{1 << 20};

  Deflater() { require(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib starts"); }
  ~Deflater() { deflateEnd(&stream); }

  void run(NewFile& file, std::string_view text, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = uInt(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = uInt(out.size());
      deflate(&stream, flush);
      file.write(out.data(), size_t(out.size()) - stream.avail_out);
    } while (stream.avail_out == 0);
  }
};

TextSink::TextSink(const std::string& path) : file_(path) {
  if (path.ends_with(".gz") || path.ends_with(".GZ")) deflater_ = std::make_unique<Deflater>();
}
TextSink::~TextSink() = default;

void TextSink::write(std::string_view text) {
  if (!deflater_) return file_.write(text.data(), text.size());
  for (size_t at = 0; at < text.size(); at += size_t(1) << 30)
    deflater_->run(file_, text.substr(at, size_t(1) << 30), Z_NO_FLUSH);
}

void TextSink::commit() {
  if (deflater_) deflater_->run(file_, {}, Z_FINISH);
  file_.commit();
}

}  // namespace spdistal
