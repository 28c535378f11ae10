#include "src/formats/raw_model.h"

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

using testing::FailsWith;
using testing::TemporaryFolder;

Result<RawModel> Make(const std::string& path, std::vector<RawTensor> tensors) {
  auto file = MappedFile::Open(path);
  std::vector<MappedFile> files;
  files.push_back(std::move(file).value());
  return RawModel::Make(std::move(files), std::move(tensors));
}

TEST(RawModel, FindsEveryOfManyNames) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", std::string(1000, 'x'));
  std::vector<RawTensor> tensors;
  for (uint64_t i = 0; i < 1000; ++i)
    tensors.push_back({.name = "t" + std::to_string(i * 7919 % 1000), .offset = i, .bytes = 1});
  auto model = Make(path, tensors);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const RawModel moved = std::move(model).value();
  for (const RawTensor& tensor : tensors) {
    ASSERT_NE(moved.Find(tensor.name), nullptr) << tensor.name;
    EXPECT_EQ(moved.Find(tensor.name)->offset, tensor.offset);
  }
}

TEST(RawModel, RefusesWhatNoReaderShouldGive) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("f", "12345678");
  EXPECT_THAT(Make(path, {{.name = "a", .bytes = 1}, {.name = "b"}, {.name = "a", .bytes = 2}}),
              FailsWith(StatusCode::kCorrupt, "\"a\" is there twice"));
  EXPECT_THAT(Make(path, {{.name = "a", .offset = 4, .bytes = 5}}),
              FailsWith(StatusCode::kCorrupt, "leave the file"));
  EXPECT_THAT(Make(path, {{.name = "a", .offset = 4, .bytes = ~uint64_t{3}}}),
              FailsWith(StatusCode::kCorrupt, "leave the file"));
  EXPECT_THAT(Make(path, {{.name = "a", .file = 1}}), FailsWith(StatusCode::kCorrupt, "file 1"));
}

}  // namespace
}  // namespace tboost
