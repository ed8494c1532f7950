#include "io/binsparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace spdistal {
namespace {

using Json = nlohmann::json;

// What is wrong, on its way to `parse`.
struct WrongDescriptor {
  std::string message;
};

constexpr BinsparseLevel dense{false, 1}, sparse{true, 1}, pairs{true, 2};

struct Named {
  std::string_view name;
  std::vector<BinsparseLevel> levels;
  std::vector<int> order;
};
// The first name of those that mean the same is written.
const std::vector<Named>& named_formats() {
  static const std::vector<Named> all{{"DVEC", {dense}, {0}},
                                      {"CVEC", {sparse}, {0}},
                                      {"DMATR", {dense, dense}, {0, 1}},
                                      {"DMAT", {dense, dense}, {0, 1}},
                                      {"DMATC", {dense, dense}, {1, 0}},
                                      {"CSR", {dense, sparse}, {0, 1}},
                                      {"CSC", {dense, sparse}, {1, 0}},
                                      {"DCSR", {sparse, sparse}, {0, 1}},
                                      {"DCSC", {sparse, sparse}, {1, 0}},
                                      {"COOR", {pairs}, {0, 1}},
                                      {"COO", {pairs}, {0, 1}},
                                      {"COOC", {pairs}, {1, 0}}};
  return all;
}

std::vector<int> in_order(size_t n) {
  std::vector<int> out(n);
  for (size_t k = 0; k < n; k++) out[k] = int(k);
  return out;
}

// Null where there is none, or it is no object.
const Json* find(const Json& object, const char* name) {
  auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}
const Json& member(const Json& object, const char* name) {
  const Json* found = find(object, name);
  if (!found) throw WrongDescriptor{fmt::format("it has no '{}'", name)};
  return *found;
}
const Json& member_of(Json::value_t kind, std::string_view what, const Json& object, const char* name) {
  const Json& found = member(object, name);
  if (found.type() != kind) throw WrongDescriptor{fmt::format("'{}' is no {}", name, what)};
  return found;
}
const std::string& text_of(const Json& object, const char* name) {
  return member_of(Json::value_t::string, "text", object, name).get_ref<const std::string&>();
}
int64_t size_in(const Json& json, std::string_view name) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > uint64_t(INT64_MAX))
    throw WrongDescriptor{fmt::format("'{}' is no size", name)};
  return json.get<int64_t>();
}

void check_version(const Json& descriptor) {
  const Json& version = member(descriptor, "version");
  std::string shown = version.is_string() ? version.get<std::string>() : version.dump();
  if (shown != "0.1" && !shown.starts_with("0.1."))
    throw WrongDescriptor{fmt::format("its version is {}, where 0.1 is read", shown)};
}

std::vector<BinsparseLevel> read_levels(const Json& custom, size_t order) {
  std::vector<BinsparseLevel> out;
  size_t dimensions = 0;
  for (const Json* level = &member(custom, "level");; level = &member(*level, "level")) {
    const std::string& kind = text_of(*level, "level_desc");
    if (kind == "element") break;
    if (kind != "dense" && kind != "sparse") throw WrongDescriptor{fmt::format("there is no level '{}'", kind)};
    int64_t rank = size_in(member(*level, "rank"), "rank");
    if (rank < 1 || uint64_t(rank) > order - dimensions)
      throw WrongDescriptor{fmt::format("its levels do not have {} dimensions together", order)};
    dimensions += size_t(rank);
    out.push_back({kind == "sparse", size_t(rank)});
  }
  if (dimensions != order) throw WrongDescriptor{fmt::format("its levels do not have {} dimensions together", order)};
  return out;
}

std::vector<int> read_transpose(const Json& custom, size_t order) {
  const Json* transpose = find(custom, "transpose");
  if (!transpose) return in_order(order);
  std::vector<int> out;
  if (transpose->is_array())
    for (const Json& element : *transpose)
      out.push_back(int(std::min<int64_t>(size_in(element, "transpose"), INT32_MAX)));
  std::vector<int> sorted = out;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != in_order(order))
    throw WrongDescriptor{fmt::format("'transpose' does not put {} dimensions in order", order)};
  return out;
}

void read_format(const Json& descriptor, BinsparseDescriptor& to) {
  const std::string& name = text_of(descriptor, "format");
  if (name == "custom") {
    const Json& custom = member(descriptor, "custom");
    to.levels = read_levels(custom, to.dims.size());
    to.order = read_transpose(custom, to.dims.size());
    return;
  }
  for (const Named& known : named_formats()) {
    if (known.name != name) continue;
    if (known.order.size() != to.dims.size())
      throw WrongDescriptor{
          fmt::format("the format {} has {} dimensions, its shape {}", name, known.order.size(), to.dims.size())};
    to.levels = known.levels, to.order = known.order;
    return;
  }
  throw WrongDescriptor{fmt::format("there is no format '{}'", name)};
}

void read_structure(const Json& descriptor, BinsparseDescriptor& to) {
  if (!find(descriptor, "structure")) return;
  const std::string& text = text_of(descriptor, "structure");
  bool upper = text.ends_with("_upper");
  std::string kind = text.substr(0, text.size() - std::min<size_t>(6, text.size()));
  constexpr std::pair<std::string_view, Symmetry> known[] = {
      {"symmetric", Symmetry::Symmetric}, {"skew_symmetric", Symmetry::Skew}, {"hermitian", Symmetry::Hermitian}};
  for (auto [name, symmetry] : known)
    if (kind == name && (upper || text.ends_with("_lower"))) to.symmetry = symmetry;
  if (to.symmetry == Symmetry::General) throw WrongDescriptor{fmt::format("there is no structure '{}'", text)};
  if (to.dims.size() != 2 || to.dims[0] != to.dims[1])
    throw WrongDescriptor{fmt::format("its structure is '{}', but it is no square matrix", text)};
  to.triangle = upper ? Triangle::Upper : Triangle::Lower;
}

BinsparseDescriptor read(const Json& json) {
  // Some have the descriptor alone, without the name around it.
  const Json* inside = find(json, "binsparse");
  const Json& descriptor = inside ? *inside : json;
  BinsparseDescriptor out;
  check_version(descriptor);
  for (const Json& size : member_of(Json::value_t::array, "list", descriptor, "shape"))
    out.dims.push_back(size_in(size, "shape"));
  out.stored = size_in(member(descriptor, "number_of_stored_values"), "number_of_stored_values");
  read_format(descriptor, out);
  for (const auto& [array, type] : member_of(Json::value_t::object, "object", descriptor, "data_types").items())
    out.types.emplace_back(array, type.is_string() ? type.get<std::string>() : "");
  if (const Json* fill = find(descriptor, "fill")) out.filled = *fill == true;
  if (const Json* base = find(descriptor, "index_base")) out.index_base = size_in(*base, "index_base");
  if (out.index_base > 1) throw WrongDescriptor{fmt::format("its 'index_base' is {}, not 0 or 1", out.index_base)};
  read_structure(descriptor, out);
  return out;
}

std::string print_level(std::span<const BinsparseLevel> levels) {
  if (levels.empty()) return R"({"level_desc": "element"})";
  return fmt::format(R"({{"level_desc": "{}", "rank": {}, "level": {}}})", levels[0].sparse ? "sparse" : "dense",
                     levels[0].rank, print_level(levels.subspan(1)));
}

template <class T>
std::string print_list(const std::vector<T>& numbers) {
  return "[" + join(numbers, ", ", [](auto n) { return std::to_string(n); }) + "]";
}

std::string print_format(const BinsparseDescriptor& of) {
  for (const Named& known : named_formats())
    if (known.levels == of.levels && known.order == of.order) return fmt::format(R"("format": "{}")", known.name);
  std::string transpose =
      of.order == in_order(of.order.size()) ? "" : fmt::format(R"("transpose": {}, )", print_list(of.order));
  return fmt::format(R"("format": "custom", "custom": {{{}"level": {}}})", transpose, print_level(of.levels));
}

}  // namespace

Result<BinsparseDescriptor> BinsparseDescriptor::parse(std::string_view text) {
  try {
    return read(Json::parse(text));
  } catch (const Json::parse_error& wrong) {
    return Diagnostic{fmt::format("it is no JSON: at character {} something else is expected", wrong.byte), {}, {}};
  } catch (const WrongDescriptor& refusal) { return Diagnostic{refusal.message, {}, {}}; }
}

std::string BinsparseDescriptor::str() const {
  std::string arrays =
      join(types, ", ", [](const auto& array) { return fmt::format(R"("{}": "{}")", array.first, array.second); });
  return fmt::format(
      R"({{"binsparse": {{"version": "0.1.0", {}, "shape": {}, "number_of_stored_values": {},{} "data_types": {{{}}}}}}})",
      print_format(*this), print_list(dims), stored, filled ? R"( "fill": true,)" : "", arrays);
}

Result<BinsparseType> BinsparseDescriptor::type_of(std::string_view array) const {
  auto found = std::find_if(types.begin(), types.end(), [&](const auto& t) { return t.first == array; });
  if (found == types.end()) return Diagnostic{"the descriptor tells no type of it", {}, {}};
  BinsparseType out{.number = found->second};
  auto unwrap = [&](std::string_view modifier) {
    if (!out.number.starts_with(modifier) || !out.number.ends_with("]")) return false;
    out.number = out.number.substr(modifier.size(), out.number.size() - modifier.size() - 1);
    return true;
  };
  out.same = unwrap("iso[");
  out.complex = unwrap("complex[");
  constexpr std::string_view known[] = {"int8",   "int16",  "int32",   "int64",   "uint8", "uint16",
                                        "uint32", "uint64", "float32", "float64", "bint8"};
  if (std::find(std::begin(known), std::end(known), out.number) == std::end(known) ||
      (out.complex && !out.number.starts_with("float")))
    return Diagnostic{fmt::format("the descriptor gives it the type '{}'", found->second), {}, {}};
  return out;
}

Format binsparse_format(const Format& format) {
  std::vector<LevelFormat> levels = format.levels();
  size_t lists = levels.size();  // from here on, one list of coordinates
  while (lists > 0 && levels[lists - 1] == LevelFormat(Singleton)) lists--;
  lists = lists > 0 && levels[lists - 1] == LevelFormat(CompressedNonUnique) ? lists - 1 : levels.size();
  for (size_t k = 0; k < lists; k++)
    if (levels[k] != LevelFormat(Dense)) levels[k] = Compressed;
  return Format(std::move(levels), format.mode_order());
}

std::vector<BinsparseLevel> binsparse_levels(const Format& format) {
  std::vector<BinsparseLevel> out;
  for (const LevelFormat& level : format.levels())
    if (level == LevelFormat(Singleton)) out.back().rank++;
    else out.push_back({level != LevelFormat(Dense), 1});
  return out;
}

}  // namespace spdistal
