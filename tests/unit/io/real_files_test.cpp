// Real matrices and tensors, where the folder with them lies beside the repository.
#include <gtest/gtest.h>

#include <filesystem>

#include "io/files.hpp"
#include "tensor/pack.hpp"

namespace spdistal {
namespace {

std::filesystem::path data_folder() {
  for (std::filesystem::path at = SPDISTAL_SOURCE_DIR; at != at.root_path(); at = at.parent_path())
    if (auto folder = at / "shared" / "data"; std::filesystem::is_directory(folder)) return folder;
  return {};
}

struct RealFile {
  const char* name;
  std::vector<int64_t> dims;
  int64_t nnz;  // with both triangles of symmetric files
  int64_t longest_row;
};

const RealFile files[] = {
    {"LFAT5.mtx.gz", {14, 14}, 46, 5},
    {"lp_afiro.mtx.gz", {27, 51}, 102, 10},
    {"karate.mtx.gz", {34, 34}, 156, 17},
    {"west0067.mtx.gz", {67, 67}, 294, 6},
    {"chesapeake.mtx.gz", {39, 39}, 340, 33},
    {"1138_bus.mtx.gz", {1138, 1138}, 4054, 18},
    {"EVA.mtx.gz", {8497, 8497}, 6726, 552},
    {"zenios.mtx.gz", {2873, 2873}, 27191, 47},
    {"bcsstk13.mtx.gz", {2003, 2003}, 83883, 95},
    {"wiki-Vote.mtx.gz", {8297, 8297}, 103689, 893},
    {"Groebner_id2003_aug.mtx.gz", {4967, 2456}, 173670, 829},
    {"email-Enron.mtx.gz", {36692, 36692}, 367662, 1383},
    {"gowalla_user_item.mtx.gz", {29858, 40981}, 1027370, 1014},
    {"CollegeMsg.tns.gz", {1899, 1898, 193}, 33858, 0},
    {"KG_JF17K_4_ids_1based.tns.gz", {23, 6536, 6519, 6523, 6533}, 9509, 0},
    {"ICEWS14.tns.gz", {7127, 230, 7128, 365}, 90730, 0},
    {"NELL-995.tns.gz", {75492, 200, 75467}, 154213, 0},
    {"FB15k-237.tns.gz", {14541, 237, 14541}, 310116, 0},
};

TEST(RealFiles, HaveTheSizesEntriesAndLongestRowsThatTheirSourcesState) {
  std::filesystem::path folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no folder shared/data beside the repository";
  for (const RealFile& file : files) {
    SCOPED_TRACE(file.name);
    Coordinates entries = read_coordinates((folder / file.name).string());
    EXPECT_EQ(entries.dims(), file.dims);
    EXPECT_EQ(entries.size(), file.nnz);
    Storage storage = pack(std::move(entries), CSF(file.dims.size()));
    EXPECT_EQ(storage.nnz(), file.nnz);  // none twice
    EXPECT_TRUE(bool(verify(storage)));
    if (file.longest_row == 0) continue;
    int64_t longest = 0;
    const IndexArray& pos = storage.pattern().level(1)["pos"];
    for (int64_t i = 0; i + 1 < pos.size(); i++) longest = std::max(longest, pos[i + 1] - pos[i]);
    EXPECT_EQ(longest, file.longest_row);
  }
}

}  // namespace
}  // namespace spdistal
