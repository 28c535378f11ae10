#include "src/text/tokenizer/tokenizer.h"

#include <algorithm>

#include "src/base/json.h"
#include "src/base/utf8.h"
#include "src/text/tokenizer/added_tokens.h"
#include "src/text/tokenizer/blob.h"
#include "src/text/tokenizer/model.h"
#include "src/text/tokenizer/normalizer.h"
#include "src/text/tokenizer/pieces.h"
#include "src/text/tokenizer/pre_tokenizer.h"

namespace tboost {
namespace {

constexpr size_t kMaxPipeline = size_t{1} << 20;
constexpr size_t kMaxText = size_t{1} << 30;

const Json& Member(const Json& object, const char* key) {
  static const Json kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

Result<std::vector<int32_t>> GetIds(const Json& object, const char* key, size_t vocabulary) {
  std::vector<int32_t> ids;
  for (const Json& id : Member(object, key)) {
    if (!id.is_number_integer() || id < 0 || id >= vocabulary) {
      return CorruptError("tokenizer: \"{}\" has an id outside the vocabulary of {}", key,
                          vocabulary);
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

Result<int32_t> GetId(const Json& object, const char* key, size_t vocabulary) {
  TBOOST_ASSIGN_OR_RETURN(const int64_t id, JsonGet<int64_t>(object, key, -1, "tokenizer"));
  if (id < -1 || id >= static_cast<int64_t>(vocabulary)) {
    return CorruptError("tokenizer: {} id {} is outside the vocabulary of {}", key, id, vocabulary);
  }
  return static_cast<int32_t>(id);
}

Result<SpecialIds> GetSpecialIds(const Json& spec, size_t vocabulary) {
  SpecialIds special;
  if (spec.is_null()) return special;
  TBOOST_ASSIGN_OR_RETURN(special.bos, GetId(spec, "bos", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(special.eos, GetId(spec, "eos", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(special.unknown, GetId(spec, "unk", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(special.pad, GetId(spec, "pad", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(special.end, GetIds(spec, "end", vocabulary));
  return special;
}

// The text as spans of valid UTF-8 and of other bytes; without `bytes_ok`, as one valid span.
Pieces MakePieces(std::string_view text, bool bytes_ok) {
  Pieces pieces;
  const size_t valid = ValidUtf8Prefix(text);
  pieces.text = valid == text.size() || bytes_ok ? std::string(text) : ReplaceInvalidUtf8(text);
  if (valid == text.size() || !bytes_ok) {
    if (!pieces.text.empty()) pieces.spans.push_back({0, pieces.text.size()});
    return pieces;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t run = ValidUtf8Prefix(text.substr(at));
    if (run > 0) pieces.spans.push_back({at, at + run});
    at += run;
    size_t end = at;
    for (Utf8Step step; end < text.size(); end += static_cast<size_t>(step.size)) {
      step = DecodeUtf8(text.substr(end));
      if (step.valid) break;
    }
    if (end > at) pieces.spans.push_back({at, end, kNoToken, true});
    at = end;
  }
  return pieces;
}

}  // namespace

struct Tokenizer::Impl {
  std::string storage;  // the blob, where the tokenizer owns it
  PieceTable pieces;
  BlobArray<uint8_t> flags;
  AddedTokens added_raw, added_normal;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenizerModel> model;
  Decoder decoder;
  std::vector<int32_t> before, after;  // special tokens around a text
  size_t max_length = 0;
  bool truncate_left = false;
  bool maps_bytes = false;  // the pre-tokenizer writes bytes as stand-ins
  bool bytes_ok = false;    // any bytes can be told
  SpecialIds special;

  bool HasFlag(int32_t id, TokenFlag flag) const {
    return id >= 0 && static_cast<size_t>(id) < flags.size() &&
           (flags[static_cast<size_t>(id)] & flag);
  }

  Status Cut(std::string_view text, bool parse_special, Pieces* pieces) const;
  void Truncate(size_t limit, std::vector<int32_t>* ids) const;
};

Status Tokenizer::Impl::Cut(std::string_view text, bool parse_special, Pieces* pieces) const {
  *pieces = MakePieces(text, bytes_ok);
  added_raw.Extract(parse_special, pieces);
  if (normalizer) {
    Status status;
    pieces->Rewrite([](const Span& span) { return span.open(); },
                    [&](std::string_view span, size_t) {
                      Result<std::string> out = normalizer(span);
                      if (out.ok()) return std::move(out).value();
                      status = out.status();
                      return std::string();
                    });
    TBOOST_RETURN_IF_ERROR(status);
  }
  added_normal.Extract(parse_special, pieces);
  return pre_tokenizer ? pre_tokenizer(pieces) : OkStatus();
}

void Tokenizer::Impl::Truncate(size_t limit, std::vector<int32_t>* ids) const {
  if (ids->size() <= limit) return;
  if (truncate_left) {
    ids->erase(ids->begin(), ids->end() - static_cast<ptrdiff_t>(limit));
  } else {
    ids->resize(limit);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&& other) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&& other) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer::Impl>> Tokenizer::Parse(std::string_view bytes) {
  TBOOST_ASSIGN_OR_RETURN(const BlobView blob, BlobView::Open(bytes));
  const JsonLimits limits{.max_bytes = kMaxPipeline};
  TBOOST_ASSIGN_OR_RETURN(const Json spec,
                          ParseJson(blob.part(BlobPart::kPipeline), "tokenizer pipeline", limits));
  if (!spec.is_object()) return CorruptError("tokenizer: the pipeline is not an object");
  auto impl = std::make_unique<Impl>();
  impl->pieces = PieceTable(blob);
  impl->flags = blob.array<uint8_t>(BlobPart::kTokenFlags);
  const size_t vocabulary = impl->pieces.size();
  if (vocabulary > INT32_MAX || impl->flags.size() != vocabulary) {
    return CorruptError("tokenizer: {} pieces, {} flags", vocabulary, impl->flags.size());
  }
  const std::string_view added = blob.part(BlobPart::kAddedBytes);
  impl->added_raw = AddedTokens(blob.array<AddedRecord>(BlobPart::kAddedRaw), added);
  impl->added_normal = AddedTokens(blob.array<AddedRecord>(BlobPart::kAddedNormal), added);
  TBOOST_ASSIGN_OR_RETURN(impl->normalizer, MakeNormalizer(Member(spec, "normalizer")));
  TBOOST_ASSIGN_OR_RETURN(impl->pre_tokenizer, MakePreTokenizer(Member(spec, "pre_tokenizer")));
  TBOOST_ASSIGN_OR_RETURN(impl->model, MakeModel(Member(spec, "model"), blob));
  TBOOST_ASSIGN_OR_RETURN(impl->decoder, Decoder::FromJson(Member(spec, "decoder")));
  TBOOST_ASSIGN_OR_RETURN(impl->before, GetIds(spec, "before", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(impl->after, GetIds(spec, "after", vocabulary));
  TBOOST_ASSIGN_OR_RETURN(impl->special, GetSpecialIds(Member(spec, "special"), vocabulary));
  TBOOST_ASSIGN_OR_RETURN(const int64_t limit,
                          JsonGet<int64_t>(spec, "max_length", 0, "tokenizer"));
  if (limit < 0) return CorruptError("tokenizer: max_length is {}", limit);
  impl->max_length = static_cast<size_t>(limit);
  TBOOST_ASSIGN_OR_RETURN(impl->truncate_left,
                          JsonGet<bool>(spec, "truncate_left", false, "tokenizer"));
  impl->maps_bytes = MapsBytes(Member(spec, "pre_tokenizer"));
  impl->bytes_ok = impl->maps_bytes || impl->model->HasBytes();
  return impl;
}

Result<Tokenizer> Tokenizer::Open(std::string_view blob) {
  TBOOST_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Parse(blob));
  return Tokenizer(std::move(impl));
}

Result<Tokenizer> Tokenizer::Own(std::string blob) {
  // The views point into the string's heap memory, which moves with it: a blob is never short
  // enough to be kept inside the string object.
  TBOOST_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, Parse(blob));
  impl->storage = std::move(blob);
  return Tokenizer(std::move(impl));
}

Result<std::vector<int32_t>> Tokenizer::Encode(std::string_view text,
                                               const EncodeOptions& options) const {
  if (text.size() > kMaxText) {
    return OutOfRangeError("text of {} bytes, at most {} are supported", text.size(), kMaxText);
  }
  Pieces pieces;
  TBOOST_RETURN_IF_ERROR(impl_->Cut(text, options.parse_special, &pieces));
  if (pieces.text.size() > kMaxText) {
    return OutOfRangeError("normalised text of {} bytes, at most {} are supported",
                           pieces.text.size(), kMaxText);
  }
  std::vector<int32_t> ids;
  for (const Span& span : pieces.spans) {
    if (span.token != kNoToken) {
      ids.push_back(span.token);
    } else if (span.raw && !impl_->maps_bytes) {
      impl_->model->TokenizeBytes(pieces.view(span), &ids);
    } else if (span.end > span.begin) {
      impl_->model->Tokenize(pieces.view(span), &ids);
    }
  }
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary_size()) {
      return CorruptError("tokenizer: makes id {}, the vocabulary has {}", id, vocabulary_size());
    }
  }
  const size_t around = options.add_special_tokens ? impl_->before.size() + impl_->after.size() : 0;
  const size_t limit = options.max_length.value_or(impl_->max_length);
  if (limit > 0) {
    if (limit < around) {
      return InvalidArgumentError("max_length is {}, the special tokens alone are {}", limit,
                                  around);
    }
    impl_->Truncate(limit - around, &ids);
  }
  if (around > 0) {
    ids.insert(ids.begin(), impl_->before.begin(), impl_->before.end());
    ids.insert(ids.end(), impl_->after.begin(), impl_->after.end());
  }
  return ids;
}

Result<std::string> Tokenizer::Decode(std::span<const int32_t> ids, bool skip_special) const {
  DecodeStream stream(impl_->decoder);
  std::string out;
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= vocabulary_size()) {
      return OutOfRangeError("token id {} is outside the vocabulary of {}", id, vocabulary_size());
    }
    if (skip_special && IsSpecial(id)) continue;
    stream.Push(Piece(id), IsAdded(id), &out);
  }
  stream.Finish(&out);
  return out;
}

size_t Tokenizer::vocabulary_size() const { return impl_->pieces.size(); }
std::string_view Tokenizer::Piece(int32_t id) const {
  return id < 0 ? std::string_view() : impl_->pieces.piece(static_cast<size_t>(id));
}
std::optional<int32_t> Tokenizer::Find(std::string_view piece) const {
  for (size_t id = 0; id < vocabulary_size(); ++id) {
    const auto added = static_cast<int32_t>(id);
    if (IsAdded(added) && Piece(added) == piece) return added;
  }
  const int32_t id = impl_->pieces.Find(piece);
  return id < 0 ? std::nullopt : std::optional<int32_t>(id);
}
bool Tokenizer::IsSpecial(int32_t id) const { return impl_->HasFlag(id, kTokenSpecial); }
bool Tokenizer::IsAdded(int32_t id) const { return impl_->HasFlag(id, kTokenAdded); }
const SpecialIds& Tokenizer::special() const { return impl_->special; }
const Decoder& Tokenizer::decoder() const { return impl_->decoder; }

}  // namespace tboost
