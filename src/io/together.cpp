#include "io/together.hpp"

#include <optional>

#include "base/require.hpp"
#include "runtime/transport/deal.hpp"
#include "tensor/distribute.hpp"

namespace spdistal {

void write_together(runtime::Transport& transport, const std::string& path, size_t bytes,
                    const std::function<void(FilePart& file)>& put) {
  write_together(
      transport, path,
      [&](NewFile& file) {
        file.resize(bytes);
        return runtime::Bytes();
      },
      [&](FilePart& file, runtime::Reader) { put(file); });
}

void write_together(runtime::Transport& transport, const std::string& path,
                    const std::function<runtime::Bytes(NewFile& file)>& lay_out,
                    const std::function<void(FilePart& file, runtime::Reader told)>& put) {
  std::optional<NewFile> file;
  runtime::Writer told;
  runtime::together(
      transport,
      [&] {
        if (transport.rank() != 0) return;
        runtime::Bytes tells = lay_out(file.emplace(path));
        told.put_text(file->beside());
        told.put_all(std::span<const std::byte>(tells));
      },
      runtime::NameRank::No);
  runtime::Bytes all = std::move(share(transport, told.take())[0]);
  runtime::Reader in(all);
  std::string beside = in.take_text();
  runtime::together(transport, [&] {
    FilePart part(beside);
    put(part, in);
    part.close();
  });
  runtime::together(
      transport,
      [&] {
        if (file) file->commit();
      },
      runtime::NameRank::No);
}

std::vector<int64_t> LinesPart::counts(size_t dimension) const {
  std::vector<int64_t> out(size_t(lines.size()), 0);
  for (int64_t line : entries.column(dimension)) {
    require(lines.contains(line), "a rank has the entries of its own lines");
    out[size_t(line - lines.lo)]++;
  }
  return out;
}

LinesPart lines_part(runtime::Transport& transport, const Home& home, const Format& format) {
  Home cut = redistribute(transport, home, format, blocked(format, home.dims(), transport.size()));
  LinesPart out{runtime::together(transport, [&] { return owned_elements(cut); }), {}};
  out.lines = block(home.dims()[size_t(format.mode_order()[0])], transport.size(), transport.rank());
  out.before = transport.exclusive_scan(out.entries.size());
  out.all = transport.allreduce(out.entries.size(), runtime::ReduceOp::Sum);
  return out;
}

}  // namespace spdistal
