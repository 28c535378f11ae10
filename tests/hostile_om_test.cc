// .om files that lie: every answer is a Status or a run, and nothing reads outside the file.
#include <fstream>

#include "src/formats/om/layout.h"
#include "src/formats/test_bytes.h"
#include "tboost/embed.h"
#include "tboost/generate.h"
#include "tests/model_testing.h"

namespace tboost {
namespace {

using namespace testing;

class HostileOm : public ::testing::Test {
 protected:
  std::string Compile(std::string_view name, std::string_view tokenizer) {
    WriteTinyModel(name, folder_ / name, tokenizer);
    const std::string path = folder_ / fmt::format("{}.om", name);
    Must(CompileToFile(folder_ / name, path, {}));
    return path;
  }

  // Loads and, if that works, runs a little.
  Status Use(const std::string& path) {
    Result<std::unique_ptr<Model>> model = Model::Load(*runtime_, path);
    if (!model.ok()) return model.status();
    if (!(*model)->generates()) return Embed(**model, std::vector<std::string>{"hello"}).status();
    Generator generator(**model);
    const Ids prompt = {5, 4, 3};
    return generator.Generate(prompt, {.max_tokens = 3}).status();
  }

  // A copy of the file whose section `name` is changed, with sizes and checksums that fit.
  Status UseWith(const std::string& path, std::string_view name,
                 const std::function<void(std::string&)>& change) {
    const OmReader reader = Must(OmReader::Open(path));
    OmWriter writer = Must(OmWriter::Create(folder_ / "changed.om"));
    for (const OmSection& section : reader.sections()) {
      std::string bytes(Must(reader.Section(section.name)));
      if (section.name == name) change(bytes);
      Must(writer.AddSection(section.name, bytes, kOmPageAlignment));
    }
    Must(writer.Finish());
    return Use(folder_ / "changed.om");
  }

  TemporaryFolder folder_;
  std::unique_ptr<Runtime> runtime_ = MakeRuntime(1);
};

void FixChecksum(std::string& bytes) {
  om::Header header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.table_offset > bytes.size()) return;
  const std::string_view table =
      std::string_view(bytes).substr(header.table_offset, header.sections * sizeof(om::Entry));
  header.checksum = om::HeaderChecksum(header, table);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

TEST_F(HostileOm, AnyByteMayBeWrong) {
  for (const auto& [name, tokenizer] :
       {std::pair("llama_tied", "bytelevel"), std::pair("bert", "wordpiece")}) {
    const std::string path = Compile(name, tokenizer);
    EXPECT_TRUE(Use(path).ok());
    const std::string good = Must(ReadFile(path));
    const OmReader reader = Must(OmReader::Open(path));
    // The header and the table byte by byte, sections that are parsed in 60 places each.
    std::vector<size_t> places(sizeof(om::Header));
    std::iota(places.begin(), places.end(), size_t{0});
    om::Header header;
    std::memcpy(&header, good.data(), sizeof(header));
    for (size_t i = 0; i < header.sections * sizeof(om::Entry); i += 7)
      places.push_back(header.table_offset + i);
    for (const OmSection& section : reader.sections())
      for (size_t i = 0; section.name != kWeightsSection && i < 60; ++i)
        places.push_back(section.offset + HashRandom(1, section.name).Below(i, section.size));
    int refused = 0, ran = 0;
    for (size_t place : places) {
      std::string bad = good;
      bad[place] = static_cast<char>(bad[place] ^ (1 << place % 8));
      FixChecksum(bad);
      (Use(folder_.Write("bad.om", bad)).ok() ? ran : refused)++;
    }
    EXPECT_GT(refused, 60) << name;
    EXPECT_GT(ran, 5) << name;
  }
}

TEST_F(HostileOm, AnyLengthMayBeWrong) {
  const std::string good = Must(ReadFile(Compile("llama_tied", "")));
  for (size_t i = 0; i < 200; ++i) {
    const size_t length = i < 80 ? i : good.size() * (i - 80) / 120;
    std::string bad = good.substr(0, length);
    if (bad.size() >= sizeof(om::Header)) FixChecksum(bad);
    EXPECT_FALSE(Use(folder_.Write("bad.om", bad)).ok()) << length;
  }
}

// A change of text in a section and what must come of it.
struct Lie {
  std::string_view model, section, from, to;
  StatusCode code;
  std::string_view message;
};

TEST_F(HostileOm, LiesAreFound) {
  using enum StatusCode;
  const Lie lies[] = {
      {"llama_tied", "graph", "file(0, 0,", "file(0, 64000000,", kCorrupt, "weights section"},
      {"llama_tied", "graph", "file(0, 0,", "file(0, 18446744073709551552,", kCorrupt,
       "18446744073709551552"},
      {"llama_tied", "graph", "file(0, 0,", "file(0, 4,", kCorrupt, "weights section"},
      {"llama_tied", "graph", "file(0, 0,", "file(1, 0,", kCorrupt, "does not lie in the weights"},
      {"llama_tied", "graph", "tokens", "outputs", kCorrupt, "input layout is layout[outputs"},
      {"llama_tied", "graph", "%input_ids : i32[tokens]", "%input_ids : f32[tokens]", kCorrupt,
       "embed_tokens"},
      {"llama_tied", "graph", "output logits", "output other", kCorrupt, "no output logits"},
      {"llama_tied", "manifest", "\"vocab_size\": 160", "\"vocab_size\": 161", kCorrupt, "160"},
      {"llama_tied", "manifest", "\"vocab_size\": 160", "\"vocab_size\": 99999999999", kCorrupt,
       "vocab_size is 99999999999, expected 1 to 16777216"},
      {"llama_tied", "manifest", "\"vocab_size\": 160", "\"vocab_size\": \"many\"", kCorrupt,
       "vocab_size"},
      {"llama_tied", "manifest", "\"generates\": true", "\"generates\": false", kCorrupt,
       "has no caches"},
      {"llama_tied", "manifest", "\"context_length\": 128", "\"context_length\": -1", kCorrupt,
       "context_length is -1"},
      {"llama_tied", "manifest", "\"settings\"", "\"sittings\"", kCorrupt, "no settings"},
      {"llama_tied", "manifest", "\"generation\": {", "\"generation\": 1, \"other\": {", kCorrupt,
       "settings have no generation"},
      {"llama_tied", "manifest", "\"eos_token_ids\": [", "\"eos_token_ids\": \"?\", \"other\": [",
       kOk, ""},
      {"llama_tied", "manifest", "\"architecture\": ", "\"architecture\": 1, \"other\": ", kCorrupt,
       "\"architecture\" must be a string"},
      {"llama_tied", "manifest", "{", "", kCorrupt, "manifest"},
      {"llama_tied", "manifest", "\"generates\"", "\"tiles\": 1, \"generates\"", kCorrupt,
       "tiles: expected at most 4096 products"},
      {"llama_tied", "manifest", "\"generates\"", "\"tiles\": {\"products\": []}, \"generates\"",
       kCorrupt, "\"cpu\" is missing"},
      {"bert", "manifest", "\"embedding\"", "\"bedding\"", kCorrupt, "settings have no embedding"},
      {"bert", "manifest", "\"context_length\": 48", "\"context_length\": 49", kCorrupt,
       "48 rows for indices below 49"},
      {"bert", "manifest", "\"vocab_size\": 120", "\"vocab_size\": 121", kCorrupt,
       "120 rows for indices below 121"},
      {"bert", "manifest", "\"generates\": false", "\"generates\": true", kCorrupt,
       "no output logits"},
      {"bert", "graph", "%input_ids", "%other_ids", kUnsupported, "other_ids"},
      {"bert", "graph", "output embedding", "output other", kCorrupt, "no output embedding"}};
  for (std::string_view name : {"llama_tied", "bert"}) Compile(name, "");
  for (const Lie& lie : lies) {
    SCOPED_TRACE(fmt::format("{} {}: {} -> {}", lie.model, lie.section, lie.from, lie.to));
    bool changed = false;
    const Status status =
        UseWith(folder_ / fmt::format("{}.om", lie.model), lie.section, [&](std::string& text) {
          for (size_t at = text.find(lie.from); at != std::string::npos;
               at = text.find(lie.from, at + lie.to.size())) {
            text.replace(at, lie.from.size(), lie.to);
            changed = true;
            if (lie.section == "manifest" && lie.from == "{") break;
          }
        });
    EXPECT_TRUE(changed);
    EXPECT_THAT(status, FailsWith(lie.code, lie.message));
  }
}

}  // namespace
}  // namespace tboost
