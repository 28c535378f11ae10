#include "src/text/tokenizer/compile.h"

#include <algorithm>

#include "src/base/utf8.h"
#include "src/text/tokenizer/byte_map.h"
#include "src/text/tokenizer/tokenizer.h"

namespace tboost {
namespace {

constexpr size_t kShown = 80;  // bytes of a piece in a message

// Adds one table of added tokens, sorted by text; `bytes` collects the texts.
void AddTable(std::vector<const AddedToken*> tokens, BlobPart part, std::string* bytes,
              BlobBuilder* blob) {
  std::sort(tokens.begin(), tokens.end(),
            [](const AddedToken* a, const AddedToken* b) { return a->text < b->text; });
  std::vector<AddedRecord> records;
  for (const AddedToken* token : tokens) {
    records.push_back({token->id, token->flags, static_cast<uint32_t>(bytes->size()),
                       static_cast<uint32_t>(token->text.size())});
    *bytes += token->text;
  }
  blob->SetArray<AddedRecord>(part, records);
}

Status AddAddedTokens(const TokenizerSpec& spec, BlobBuilder* blob) {
  constexpr size_t kMaxBytes = size_t{1} << 30;
  std::vector<const AddedToken*> raw, normal;
  std::string bytes;
  size_t size = 0;
  for (const AddedToken& token : spec.added) {
    size += token.text.size();
    if (size > kMaxBytes) return UnsupportedError("tokenizer: the added tokens exceed 1 GB");
    if (!token.text.empty()) (token.normalized ? normal : raw).push_back(&token);
  }
  AddTable(std::move(raw), BlobPart::kAddedRaw, &bytes, blob);
  AddTable(std::move(normal), BlobPart::kAddedNormal, &bytes, blob);
  blob->Set(BlobPart::kAddedBytes, std::move(bytes));
  return OkStatus();
}

// The pieces "<0x00>" to "<0xFF>"; empty where there is none.
std::vector<int32_t> ByteIds(const TokenizerSpec& spec) {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    const std::optional<uint8_t> byte = ByteOfPiece(spec.pieces[id]);
    if (!byte) continue;
    ids.resize(256, -1);
    ids[*byte] = static_cast<int32_t>(id);
  }
  return ids;
}

}  // namespace

bool TokenizerSpec::Reserve(uint64_t id) {
  constexpr uint64_t kMaxIds = uint64_t{1} << 24;
  if (id >= kMaxIds) return false;
  if (id >= pieces.size()) {
    pieces.resize(id + 1);
    flags.resize(id + 1);
  }
  return true;
}

Result<std::string> CompileTokenizer(const TokenizerSpec& spec) {
  BlobBuilder blob;
  TBOOST_RETURN_IF_ERROR(PieceTable::Write(spec.pieces, spec.flags, &blob));
  TBOOST_RETURN_IF_ERROR(MergeTable::Write(spec.merges, &blob));
  TBOOST_RETURN_IF_ERROR(AddAddedTokens(spec, &blob));
  blob.SetArray<double>(BlobPart::kScores, spec.scores);
  blob.SetArray<int32_t>(BlobPart::kByteIds, ByteIds(spec));
  blob.Set(BlobPart::kPipeline, spec.pipeline.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string bytes = blob.Build();
  TBOOST_RETURN_IF_ERROR(Tokenizer::Open(bytes).status());
  return bytes;
}

MergeReader::MergeReader(TokenizerSpec* spec, size_t prefix) : spec_(spec), prefix_(prefix) {
  for (size_t id = 0; id < spec->pieces.size(); ++id) {
    ids_[spec->pieces[id]] = static_cast<uint32_t>(id);
  }
}

Status MergeReader::Add(std::string_view left, std::string_view right) {
  std::string joined(left);
  joined += right.substr(std::min(prefix_, right.size()));
  MergeRecord merge;
  for (const auto& [piece, id] : {std::pair<std::string_view, uint32_t*>(left, &merge.left),
                                  {right, &merge.right},
                                  {joined, &merge.result}}) {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) {
      return CorruptError("merge {}: \"{}\" is not in the vocabulary", spec_->merges.size(),
                          ShortenUtf8(ReplaceInvalidUtf8(piece), kShown));
    }
    *id = found->second;
  }
  spec_->merges.push_back(merge);
  return OkStatus();
}

Status MergeReader::Add(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == line.npos || line.find(' ', space + 1) != line.npos) {
    return CorruptError("merge {}: \"{}\" is not two pieces", spec_->merges.size(),
                        ShortenUtf8(ReplaceInvalidUtf8(line), kShown));
  }
  return Add(line.substr(0, space), line.substr(space + 1));
}

bool EndsAnswer(std::string_view piece) {
  static constexpr std::string_view kPieces[] = {
      "<|endoftext|>",
      "<|im_end|>",
      "<|eot_id|>",
      "<|end_of_text|>",
      "<|eom_id|>",
      "<end_of_turn>",
      "<|end|>",
      "<|return|>",
      "<|call|>",
      "<|eos|>",
      "<|end_of_turn|>",
      "<EOT>",
      "<｜end▁of▁sentence｜>",
      "<|END_OF_TURN_TOKEN|>",
      "<end_of_utterance>",
  };
  return std::find(std::begin(kPieces), std::end(kPieces), piece) != std::end(kPieces);
}

}  // namespace tboost
