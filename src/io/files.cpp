#include "io/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "format/fill.hpp"
#include "io/formats.hpp"
#include "runtime/transport/agree.hpp"
#include "runtime/transport/threads.hpp"
#include "tensor/distribute.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

bool has_suffix(std::string_view path, std::string_view suffix) {
  if (path.size() < suffix.size()) return false;
  path.remove_prefix(path.size() - suffix.size());
  return std::equal(path.begin(), path.end(), suffix.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

Contents read_contents(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  Contents contents = file_format_of(path).read(transport, path, options);
  auto dims = std::visit([](const auto& tensor) { return tensor.dims(); }, contents);
  if (options.dims && dims != *options.dims) {
    auto show = [](const auto& sizes) {
      return sizes.empty() ? std::string("a scalar")
                           : join(sizes, " x ", [](int64_t size) { return std::to_string(size); });
    };
    throw UserError(fmt::format("{}: the tensor is {}, wanted is {}", path, show(dims), show(*options.dims)));
  }
  return contents;
}

// What does not fit the type that is wanted is refused with the file it comes from.
Coordinates converted(const std::string& path, Coordinates entries, std::optional<ScalarType> type) {
  try {
    return std::move(entries).converted(type.value_or(entries.type()));
  } catch (const UserError& error) {
    Diagnostic d = error.diagnostic();
    d.message = fmt::format("{}: {}", path, d.message);
    throw UserError(d);
  }
}

}  // namespace

std::vector<const FileFormat*> all_file_formats() {
  return {&matrix_market, &frostt, &npz, &binsparse, &binsparse_long, &petsc, &native};
}

const FileFormat& file_format_of(std::string_view path) {
  std::vector<std::string> known;
  for (const FileFormat* format : all_file_formats()) {
    std::string zipped = std::string(format->suffix) + ".gz";
    if (has_suffix(path, format->suffix) || (format->gzip && has_suffix(path, zipped))) {
      if (format->missing.empty()) return *format;
      throw UserError(fmt::format("'{}': this build of spdistal has no {} files", path, format->name),
                      fmt::format("they need {}; .npz, .tns and .spd files are always there", format->missing));
    }
    known.push_back(fmt::format("{} ({}{})", format->suffix, format->name, format->gzip ? ", also .gz" : ""));
  }
  throw UserError(fmt::format("the name '{}' tells no file format", path), "the suffixes are " + enumerate(known));
}

void check_fill(const std::string& path, const std::optional<Scalar>& said, ScalarType type,
                const ReadOptions& options) {
  if (!said || !options.format) return;
  const Format of_file = Format({Compressed}).filled(*said);
  type = options.type.value_or(type);
  if (fills_with_zero(of_file) || fill_value(of_file, type) == fill_value(*options.format, type)) return;
  const Format plain = options.format->filled(0.0);
  throw UserError(fmt::format("{}: elements that are not stored count as {} in it, and as {} in the tensor", path,
                              print_fill(*said), options.format->fill() ? print_fill(*options.format->fill()) : "0"),
                  fmt::format("give the tensor the format {}={}", plain.str(), print_fill(*said)));
}

void squeeze(Coordinates& entries, size_t order) {
  for (size_t d = entries.order(); d-- > 0 && entries.order() > order;)
    if (entries.dims()[d] == 1) entries.drop_dimension(d);
}

Coordinates read_part(runtime::Transport& transport, const std::string& path, const ReadOptions& options) {
  Contents contents = read_contents(transport, path, options);
  return runtime::together(
      transport,
      [&] {
        Coordinates entries = std::holds_alternative<Storage>(contents) ? unpack(std::get<Storage>(contents))
                                                                        : std::get<Coordinates>(std::move(contents));
        return converted(path, std::move(entries), options.type);
      },
      runtime::NameRank::No);
}

Coordinates read_coordinates(const std::string& path, const ReadOptions& options) {
  return read_part(*runtime::loopback(), path, options);
}

Storage read_storage(const std::string& path, const Format& format, const ReadOptions& options) {
  ReadOptions inner{options.type, options.dims && options.dims->size() == format.order() ? options.dims : std::nullopt};
  inner.format = format;
  // The sizes of a vector are not those of the matrix it may be stored as.
  if (file_format_of(path).matrices && format.order() < 2) inner.dims.reset();
  Contents contents = read_contents(*runtime::loopback(), path, inner);
  if (auto* storage = std::get_if<Storage>(&contents)) {
    bool same = storage->format().levels() == format.levels() &&
                storage->format().mode_order() == format.mode_order() && storage->format().fill() == format.fill() &&
                storage->type() == options.type.value_or(storage->type());
    if (same) return std::move(*storage);
    contents = unpack(*storage);
  }
  Coordinates entries = std::get<Coordinates>(std::move(contents));
  squeeze(entries, format.order());
  if (entries.order() != format.order())
    throw UserError(fmt::format("{}: the tensor has order {}, its format '{}' order {}", path, entries.order(),
                                format.str(), format.order()),
                    "a format has one level for each dimension");
  return pack(converted(path, std::move(entries), options.type), format);
}

void check_can_write(const std::string& path) {
  namespace fs = std::filesystem;
  file_format_of(path);
  std::error_code ignored;
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (fs::is_directory(path, ignored)) throw UserError(fmt::format("cannot write '{}': it is a folder", path));
  if (!fs::exists(folder, ignored))
    throw UserError(fmt::format("cannot write '{}': there is no folder '{}'", path, folder.string()));
  if (!fs::is_directory(folder, ignored))
    throw UserError(fmt::format("cannot write '{}': '{}' is no folder", path, folder.string()));
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(fmt::format("cannot write '{}': the folder '{}' takes no new files", path, folder.string()));
}

void write_home(runtime::Transport& transport, const std::string& path, const Home& home) {
  file_format_of(path).write(transport, path, home);
}

void write_storage(const std::string& path, const Storage& storage) {
  auto alone = runtime::loopback();
  write_home(*alone, path, scatter(*alone, storage.clone(), undivided(storage.dims())));
}

}  // namespace spdistal
