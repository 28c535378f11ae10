#include "src/formats/hf_folder.h"

#include <sys/stat.h>

#include "src/formats/test_bytes.h"

namespace tboost {
namespace {

namespace fs = std::filesystem;
using testing::FailsWith;
using testing::SafetensorsFile;
using testing::TemporaryFolder;

// One tensor of one byte.
std::string Shard(std::string_view name, std::string_view byte) {
  return SafetensorsFile(
      fmt::format(R"({{"{}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}})", name), byte);
}

TEST(HfFolder, ReadsConfigWeightsAndFurtherFiles) {
  const TemporaryFolder folder;
  folder.Write("config.json", R"({"model_type":"bert"})");
  folder.Write("model.safetensors", Shard("w", "7"));
  folder.Write("1_Pooling/config.json", R"({"pooling_mode_mean_tokens":true})");
  folder.Write("chat_template.jinja", "{{ x }}");
  folder.Write("tokenizer.json", "{");
  const auto model = ReadHfFolder(folder.path());
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->config["model_type"], "bert");
  EXPECT_EQ(model->weights.Bytes(*model->weights.Find("w")), "7");
  const auto pooling = model->ReadJson("1_Pooling/config.json");
  ASSERT_TRUE(pooling.ok() && pooling->has_value());
  EXPECT_EQ((**pooling)["pooling_mode_mean_tokens"], true);
  const auto text = model->ReadText("chat_template.jinja");
  ASSERT_TRUE(text.ok() && text->has_value());
  EXPECT_EQ(**text, "{{ x }}");
  const auto absent = model->ReadJson("modules.json");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->has_value());
  EXPECT_THAT(model->ReadJson("tokenizer.json"), FailsWith(StatusCode::kCorrupt, "tokenizer.json"));
  EXPECT_THAT(model->ReadText("../x"), FailsWith(StatusCode::kInvalidArgument, "leaves"));
}

TEST(HfFolder, JoinsShards) {
  const TemporaryFolder folder;
  folder.Write("config.json", "{}");
  folder.Write("one.safetensors", Shard("a", "1"));
  folder.Write("two.safetensors", Shard("b", "2"));
  const auto index = [&](std::string_view map) {
    folder.Write("model.safetensors.index.json", fmt::format(R"({{"weight_map":{}}})", map));
    return ReadHfFolder(folder.path());
  };
  const auto model = index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->weights.files().size(), 2u);
  EXPECT_EQ(model->weights.Bytes(*model->weights.Find("a")), "1");
  EXPECT_EQ(model->weights.Bytes(*model->weights.Find("b")), "2");

  EXPECT_THAT(index(R"({"a":"one.safetensors","b":"one.safetensors"})"),
              FailsWith(StatusCode::kCorrupt, "\"b\" is not in \"one.safetensors\""));
  EXPECT_THAT(index(R"({"a":"two.safetensors","b":"one.safetensors"})"),
              FailsWith(StatusCode::kCorrupt, "is not in"));
  EXPECT_THAT(index(R"({"a":"three.safetensors"})"), FailsWith(StatusCode::kNotFound, "three"));
  EXPECT_THAT(index(R"({"a":"config.json"})"), FailsWith(StatusCode::kCorrupt, "config.json"));
  fs::copy_file(folder / "one.safetensors", folder / "copy.safetensors");
  EXPECT_THAT(index(R"({"a":"one.safetensors","c":"copy.safetensors"})"),
              FailsWith(StatusCode::kCorrupt, "twice"));
}

TEST(HfFolder, RefusesShardsOutsideTheFolder) {
  const TemporaryFolder folder;
  folder.Write("secret.safetensors", Shard("a", "s"));
  folder.Write("m/config.json", "{}");
  fs::create_symlink("../secret.safetensors", folder / "m/link.safetensors");
  fs::create_directory_symlink("..", folder / "m/up");
  fs::create_directory(folder / "m/dir.safetensors");
  const std::string absolute = folder / "secret.safetensors";
  for (const std::string& name :
       {std::string("../secret.safetensors"), absolute, std::string("m/../../secret.safetensors"),
        std::string("link.safetensors"), std::string("up/secret.safetensors"), std::string(),
        std::string("a\\u0000b"), std::string("dir.safetensors")}) {
    folder.Write("m/model.safetensors.index.json",
                 fmt::format(R"({{"weight_map":{{"a":"{}"}}}})", name));
    EXPECT_FALSE(ReadHfFolder(folder / "m").ok()) << name;
  }
}

TEST(HfFolder, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "config.json").c_str(), 0600), 0);
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kIo, "not a regular file"));
  fs::remove(folder / "config.json");
  folder.Write("config.json", "{}");
  fs::create_directory(folder / "model.safetensors");
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kIo, "not a regular file"));
}

TEST(HfFolder, FollowsLinksWithinTheFolderAndTheCache) {
  const TemporaryFolder folder;
  folder.Write("blobs/123", Shard("w", "7"));
  folder.Write("snapshots/rev/blobs/c", "{}");
  fs::create_symlink("blobs/c", folder / "snapshots/rev/config.json");
  fs::create_symlink("../../blobs/123", folder / "snapshots/rev/model.safetensors");
  const auto model = ReadHfFolder(folder / "snapshots/rev/");
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_NE(model->weights.Find("w"), nullptr);
  fs::rename(folder / "snapshots", folder / "elsewhere");
  EXPECT_THAT(ReadHfFolder(folder / "elsewhere/rev"),
              FailsWith(StatusCode::kInvalidArgument, "leads out"));
}

TEST(HfFolder, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(ReadHfFolder(folder / "none"), FailsWith(StatusCode::kNotFound, "not a folder"));
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kNotFound, "config.json"));
  folder.Write("config.json", "[]");
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kCorrupt, "an object"));
  folder.Write("config.json", "{}");
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kNotFound, "model.safetensors"));
  folder.Write("pytorch_model.bin", "PK");
  EXPECT_THAT(ReadHfFolder(folder.path()), FailsWith(StatusCode::kUnsupported, "only safetensors"));
}

}  // namespace
}  // namespace tboost
