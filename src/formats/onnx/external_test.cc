#include "src/formats/onnx/external.h"

#include <sys/stat.h>

#include <cstring>

#include "src/formats/onnx/test_messages.h"
#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

namespace fs = std::filesystem;
using testing::ExternalTensor;
using testing::FailsWith;
using testing::Field;
using testing::ModelOfTensor;
using testing::TemporaryFolder;

constexpr std::string_view kModel = "model/m.onnx";

// A model in a folder of its own with the data of one float at `location`.
Result<OnnxModel> OpenWith(const TemporaryFolder& folder, const std::string& location,
                           const std::string& offset = "0") {
  const std::string tensor =
      ExternalTensor("w", {1}, {{"location", location}, {"offset", offset}, {"length", "4"}});
  return OnnxModel::Open(folder.Write(kModel, ModelOfTensor(tensor)));
}

TEST(OnnxExternal, MapsEachFileOnce) {
  const TemporaryFolder folder;
  folder.Write("model/data/w.bin", "0123456789abcdef");
  const auto at = [](std::string_view name, std::string location, std::string offset) {
    return Field(5, ExternalTensor(name, {1},
                                   {{"location", std::move(location)},
                                    {"offset", std::move(offset)},
                                    {"length", "4"},
                                    {"checksum", "00"},
                                    {"prepacked_0", "x"}}));
  };
  const std::string model_bytes = testing::Model(
      at("a", "data/w.bin", "0") + at("b", "./data//w.bin", "12") + at("c", "data/w.bin", "5") +
      Field(5, ExternalTensor("d", {4}, {{"location", "data/w.bin"}})) +
      Field(5, testing::RawTensor("e", OnnxDataType::kUint8, {1}, "e")));
  const auto model = OnnxModel::Open(folder.Write(kModel, model_bytes));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->files.size(), 2u);
  EXPECT_EQ(model->files[0].name, folder / kModel);
  EXPECT_TRUE(model->files[1].mapping.has_value());
  std::string all;
  for (const OnnxTensor& tensor : model->graph.initializers) {
    EXPECT_EQ(model->Bytes(*tensor.range), *model->Read(tensor));
    all += *model->Read(tensor) + "|";
  }
  EXPECT_EQ(all, "0123|cdef|5678|0123456789abcdef|e|");
}

TEST(OnnxExternal, PathsWithoutAFolderAreOfTheCurrentOne) {
  const TemporaryFolder folder;
  folder.Write("model/w.bin", "0123");
  ASSERT_TRUE(OpenWith(folder, "w.bin").ok());
  const fs::path before = fs::current_path();
  fs::current_path(folder / "model");
  const auto model = OnnxModel::Open("m.onnx");
  fs::current_path(before);
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(*model->Read(model->graph.initializers[0]), "0123");
}

TEST(OnnxExternal, OffsetsHave64Bits) {
  const TemporaryFolder folder;
  const std::string data = folder.Write("model/w.bin", "");
  constexpr uint64_t kOffset = (uint64_t{1} << 31) + 4096;
  // A hole but for the last bytes.
  std::fstream file(data, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kOffset);
  file << "wxyz";
  file.close();
  const auto model = OpenWith(folder, "w.bin", std::to_string(kOffset));
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.initializers[0].range->offset, kOffset);
  EXPECT_EQ(*model->Read(model->graph.initializers[0]), "wxyz");
  EXPECT_THAT(OpenWith(folder, "w.bin", std::to_string(kOffset + 1)),
              FailsWith(StatusCode::kCorrupt, "takes 4 bytes at 2147487745"));
  EXPECT_THAT(OpenWith(folder, "w.bin", "18446744073709551615"),
              FailsWith(StatusCode::kCorrupt, "takes 4 bytes at 18446744073709551615"));
}

TEST(OnnxExternal, LocationsStayInTheFolder) {
  const TemporaryFolder folder;
  folder.Write("secret", "0123");
  folder.Write("model/w.bin", "0123");
  folder.Write("model/sub/w.bin", "0123");
  fs::create_symlink("../secret", folder / "model/link");
  fs::create_symlink("..", folder / "model/up");
  fs::create_symlink("/dev/zero", folder / "model/zero");
  fs::create_symlink("self", folder / "model/self");
  fs::create_symlink("sub/w.bin", folder / "model/inside");
  fs::create_hard_link(folder / "secret", folder / "model/hard");
  ASSERT_EQ(mkfifo((folder / "model/fifo").c_str(), 0600), 0);
  const std::string refused[] = {"../secret",
                                 "sub/../../secret",
                                 "sub/../w.bin",
                                 "..",
                                 ".",
                                 "/etc/passwd",
                                 "//etc/passwd",
                                 folder / "model/w.bin",
                                 std::string("w.bin\0x", 7),
                                 "link",
                                 "up/secret",
                                 "up/model/../secret",
                                 "zero",
                                 "/dev/zero",
                                 "self",
                                 "hard",
                                 "fifo",
                                 "sub",
                                 "C:\\x",
                                 "..\\secret",
                                 "*/_ORT_MEM_ADDR_/*",
                                 "missing",
                                 "w.bin/x",
                                 std::string(5000, 'x')};
  for (const std::string& location : refused) {
    const auto model = OpenWith(folder, location);
    ASSERT_FALSE(model.ok()) << location;
    EXPECT_THAT(model.status().message(), ::testing::HasSubstr("m.onnx: tensor \"w\": "));
  }
  for (const std::string location : {"w.bin", "./w.bin", "sub//w.bin", "inside", "up/model/w.bin"})
    EXPECT_TRUE(OpenWith(folder, location).ok()) << location;
  EXPECT_THAT(OpenWith(folder, "hard"), FailsWith(StatusCode::kInvalidArgument, "2 hard links"));
  EXPECT_THAT(OpenWith(folder, "link"), FailsWith(StatusCode::kInvalidArgument, "leads out of"));
  EXPECT_THAT(OpenWith(folder, "missing"),
              FailsWith(StatusCode::kNotFound, "the external data \"missing\" is not in"));
}

TEST(OnnxExternal, RefusesWrongEntries) {
  const TemporaryFolder folder;
  folder.Write("model/w.bin", "01234567");
  using Entries = std::vector<std::pair<std::string, std::string>>;
  const std::pair<Entries, std::string> cases[] = {
      {{}, "external data without a location"},
      {{{"location", "w.bin"}, {"offset", "-1"}}, "the offset \"-1\" is no 64-bit number"},
      {{{"location", "w.bin"}, {"offset", "18446744073709551616"}}, "is no 64-bit number"},
      {{{"location", "w.bin"}, {"length", "4x"}}, "the length \"4x\" is no 64-bit number"},
      {{{"location", "w.bin"}, {"length", "8"}}, "length 8, FLOAT [1] takes 4 bytes"},
      {{{"location", "w.bin"}, {"offset", "5"}}, "FLOAT [1] takes 4 bytes at 5 of"},
      {{{"location", "w.bin"}, {"ofset", "4"}}, "unknown key \"ofset\""},
      {{{"location", "w.bin"}, {"__class__", "x"}}, "unknown key \"__class__\""},
  };
  for (const auto& [entries, message] : cases) {
    const std::string bytes = ModelOfTensor(ExternalTensor("w", {1}, entries));
    EXPECT_THAT(OnnxModel::Open(folder.Write(kModel, bytes)),
                FailsWith(StatusCode::kCorrupt, message));
  }
  const std::string both = ExternalTensor("w", {1}, {{"location", "w.bin"}}) + Field(9, "0123");
  EXPECT_THAT(OnnxModel::Open(folder.Write(kModel, ModelOfTensor(both))),
              FailsWith(StatusCode::kCorrupt, "data both here and in external data"));
}

TEST(OnnxExternal, BuffersStandInForFiles) {
  const std::string bytes = testing::Model(
      Field(5, ExternalTensor("a", {1}, {{"location", "../any name"}, {"offset", "4"}})) +
      Field(5, ExternalTensor("b", {2}, {{"location", "../any name"}})));
  const OnnxBuffer buffers[] = {{"other", ""}, {"../any name", "01234567"}};
  const auto model = OnnxModel::FromBytes(bytes, "memory", buffers);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->files.size(), 2u);
  EXPECT_EQ(model->Bytes(*model->graph.initializers[0].range), "4567");
  EXPECT_EQ(model->Bytes(*model->graph.initializers[1].range).data(), buffers[1].bytes.data());
  EXPECT_THAT(
      OnnxModel::FromBytes(bytes, "memory"),
      FailsWith(StatusCode::kNotFound,
                "memory: tensor \"a\": the external data \"../any name\" is none of the 0"));
}

TEST(OnnxExternal, AMissingModelIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_THAT(OnnxModel::Open(folder / "none.onnx"), FailsWith(StatusCode::kNotFound, "none.onnx"));
  EXPECT_THAT(OnnxModel::Open(folder.path()), FailsWith(StatusCode::kIo, folder.path()));
  EXPECT_THAT(OnnxModel::Open(folder.Write("empty.onnx", "")),
              FailsWith(StatusCode::kCorrupt, "not an ONNX model"));
}

}  // namespace
}  // namespace tboost
